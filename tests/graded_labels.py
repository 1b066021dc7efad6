"""Labelled sentence and passage pairs that the lexical judge can nearly tell apart, made up."""

from __future__ import annotations

import csv
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
LABELS = ("none", "partial", "full")
SYLLABLES = [a + b for a in "bdfgklmnprtv" for b in "aeiou"]
WORDS = [a + b for a in SYLLABLES for b in SYLLABLES]


def support_rows(
    n_topics: int = 6, n_items: int = 12, *, lean: Mapping[str, float] | None = None, seed: int = 0
) -> list[Row]:
    """Rows of a label file for the support judge.

    A passage holds some of its sentence's 20 words; people say partial from 40% of them on and
    full from 70% on, and any other label at random to one item in ten.

    Args:
        lean: topic -> how much more of the words people want there.
    """
    rng = random.Random(seed)
    rows = []
    for t in range(n_topics):
        topic = f"t{t:02}"
        for i in range(n_items):
            words = rng.sample(WORDS, 20)
            n_stated = rng.randrange(21)
            cuts = [share + (lean or {}).get(topic, 0.0) for share in (0.4, 0.7)]
            label = LABELS[sum(n_stated / 20 >= cut for cut in cuts)]
            if rng.random() < 0.1:
                label = rng.choice(LABELS)
            in_passage = [*words[:n_stated], *rng.sample(WORDS, 10)]
            row = {"topic_id": topic, "run_id": "r", "sentence_id": i, "passage_id": f"p{i}"}
            row |= {"sentence": " ".join(words), "passage": " ".join(in_passage), "label": label}
            rows.append(row)
    return rows


def write_csv(path: Path, rows: Sequence[Row], **options: Any) -> Path:
    """Write a header and one row each."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), **options)
        writer.writeheader()
        writer.writerows(rows)
    return path
