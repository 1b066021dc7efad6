"""Retrieval runs in the TREC layout: `topic Q0 document rank score tag`."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from .fields import as_int
from .lines import text_lines
from .problems import Problems
from .rows import Ranking


class _Entry(NamedTuple):
    passage_id: str
    rank: int
    score: float


def read_trec_run(path: Path, problems: Problems) -> dict[str, Ranking]:
    """Read the ranking of each topic, best score first, equal scores by rank.

    Differs: trec_eval breaks ties of the score by document id and never looks at the rank.

    Errors noted: other than 6 columns, a rank or score that is no number, a document twice in
    a topic, more than one tag in the file. A topic whose ranks contradict its scores is kept
    in the order of the scores and mentioned.
    """
    entries: dict[str, dict[str, _Entry]] = {}
    first_line: dict[str, int] = {}
    tag = None
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) != 6:
            what = f"{len(columns)} columns, wanted 6: topic Q0 document rank score tag"
            problems.error(path, number, "bad_run", what)
            continue
        topic_id, _, passage_id, written_rank, written_score, line_tag = columns
        rank, score = as_int(written_rank), _finite(written_score)
        if rank is None or score is None:
            what = f"rank {written_rank[:20]!r} and score {written_score[:20]!r}, wanted numbers"
            problems.error(path, number, "bad_run", what)
            continue
        tag = tag or line_tag
        if tag != line_tag:
            what = f"tag {line_tag!r} in a file of {tag!r}, wanted one run per file"
            problems.error(path, number, "mixed_runs", what)
            continue
        first_line.setdefault(topic_id, number)
        ranked = entries.setdefault(topic_id, {})
        if passage_id in ranked:
            what = f"{passage_id!r} occurs twice in topic {topic_id!r}, wanted it once"
            problems.error(path, number, "duplicate_candidate", what)
            continue
        ranked[passage_id] = _Entry(passage_id, rank, score)

    rankings = {}
    for topic_id, ranked in entries.items():
        best_first = sorted(ranked.values(), key=lambda entry: (-entry.score, entry.rank))
        if any(a.rank > b.rank for a, b in pairwise(best_first)):
            what = f"ranks of topic {topic_id!r} contradict its scores; ordered by score"
            problems.keep(path, first_line[topic_id], "rank_order", what)
        rankings[topic_id] = Ranking(
            run_id=tag or "",
            topic_id=topic_id,
            passage_ids=tuple(entry.passage_id for entry in best_first),
            scores=tuple(entry.score for entry in best_first),
        )
    return rankings


def _finite(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
