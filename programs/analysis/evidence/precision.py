"""How many suggested passages carry their sentence, by the labels of people and by cut-off."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from ....metrics.bootstrap import Draws, Interval, resampling
from ....records.labels.cells import Cell
from ....records.reading.problems import Problems
from ....records.support import read_sentence_evidence

CUTS = (0.5, 0.6, 0.7, 0.8)


class Read(NamedTuple):
    """A suggestion that people labelled; `score` None: its judge gives none."""

    topic_id: str
    label: str
    score: float | None
    shown: bool


def labelled_suggestions(evidence: Path, labels: Mapping[Cell, str]) -> list[Read]:
    """The suggestions of full support in evidence.jsonl that have a label.

    Args:
        labels: support labels by topic, run, sentence and passage.

    Raises: InputError for a broken file.
    """
    problems, labelled = Problems(), []
    for row in read_sentence_evidence(evidence, problems):
        suggestion = row.suggestion
        if suggestion is not None and suggestion.label == "full":
            cell = (row.topic_id, row.run_id, str(row.sentence), suggestion.passage_id)
            if cell in labels:
                labelled.append(Read(row.topic_id, labels[cell], suggestion.score, row.shown))
    problems.raise_errors()
    return labelled


def precision_rows(read: Sequence[Read], **draws: Unpack[Draws]) -> list[dict[str, Any]]:
    """Precision of those that the run uses, of all, and from each score on.

    Returns: rows of `chosen`, `n`, `full` and `partly` (carried at least in part), each with its
        interval over topics.
    """
    chosen = {"used": [each for each in read if each.shown], "all": read}
    for cut in CUTS:
        above = [each for each in read if each.score is not None and each.score >= cut]
        chosen[f"score >= {cut:.2f}"] = above
    labels = {"full": {"full"}, "partly": {"full", "partial"}}
    rows = []
    for name, of in chosen.items():
        topics = [each.topic_id for each in of]
        shares = {
            each: asdict(share([one.label in wanted for one in of], topics, **draws))
            for each, wanted in labels.items()
        }
        rows.append({"chosen": name, "n": len(of), **shares})
    return rows


def share(
    hits: Sequence[bool],
    topics: Sequence[str],
    weights: Sequence[float] | None = None,
    **draws: Unpack[Draws],
) -> Interval:
    """The share of hits, each with its weight (None: 1), with its interval over topics.

    >>> share([True, False], ["a", "b"], [3.0, 1.0], resamples=0).value
    0.75
    """
    return resampling(topics, **draws).mean(hits, [1.0] * len(hits) if weights is None else weights)
