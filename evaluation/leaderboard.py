"""A result as tables: of each program its runs, the best first, and what their scores rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..metrics.bootstrap import LEVEL
from ..programs.analysis.compare_runs import compare_scores
from ..programs.protocols.table import programs
from ..programs.scoring.result import Result as StoredResult
from ..programs.scoring.topic_scores import TopicScores, topic_scores
from ..records.reading.problems import InputError, Problems
from ..records.rows import ScoreRow
from ..records.writing.printed import figure, interval
from .tables import Table

_NOTE = (
    f"Intervals are {LEVEL:.0%}, by topic. n judgements carry the first score; what is unjudged "
    "is not counted in it{bounds}. A topic that a run did not answer counts 0."
)
_BOUNDS = " and could make it anything in the last column"


def leaderboards(result: StoredResult) -> list[Table]:
    """A table a program: its first measure with the interval by topic, the others without."""
    means: dict[str, dict[str, ScoreRow]] = {}
    for row in result.scores:
        if row.topic_id == "all":
            means.setdefault(row.measure, {})[row.run_id] = row
    try:
        scores = topic_scores(result.folder, Problems())
    except InputError:  # no scores by topic, of which intervals could be drawn
        scores = None
    return [_leaderboard(measures, means, scores) for measures in _by_program(means)]


def _by_program(present: Mapping[str, Any]) -> Iterator[list[str]]:
    """The measures of each program, as it shows them; those of none come last."""
    left = sorted(present)
    for program in programs():
        shown = [m for name in program.shown for m in left if m.partition("@")[0] == name]
        if shown:
            yield shown
        left = [m for m in left if m not in shown]
    if left:
        yield left


def _leaderboard(
    measures: Sequence[str],
    means: Mapping[str, Mapping[str, ScoreRow]],
    scores: TopicScores | None,
) -> Table:
    first, *others = measures
    ranked, asked = {}, None
    if scores is not None and first in scores.values:
        found = compare_scores(scores, first, is_tested=False)
        ranked = {run["run_id"]: run for run in found["runs"]}
        asked = found["n_topics"]
    runs = sorted(means[first].values(), key=_best_first)
    has_unjudged = any(row.n_unjudged for row in runs)
    header = ["run", first, "interval", *others, "topics answered", "n", "unjudged"]
    rows = []
    for row in runs:
        drawn = ranked.get(row.run_id, {})
        cells = [row.run_id, _value(row), interval(drawn.get("low"), drawn.get("high"))]
        cells += [_value(means[name].get(row.run_id)) for name in others]
        unanswered = drawn.get("n_unanswered")
        known = asked is not None and unanswered is not None
        cells.append(f"{asked - unanswered:,} of {asked:,}" if known else "-")
        cells += [_count(row.n), _count(row.n_unjudged)]
        if has_unjudged:
            cells.append(interval(row.low, row.high) if row.n_unjudged else "")
        rows.append(cells)
    if has_unjudged:
        header.append("bounds for unjudged")
    caption = f"{first}: {len(rows):,} runs"
    return Table(caption, header, rows, [_NOTE.format(bounds=_BOUNDS if has_unjudged else "")])


def _best_first(row: ScoreRow) -> tuple[bool, float, str]:
    return (row.value is None, -(row.value or 0), row.run_id)


def _value(row: ScoreRow | None) -> str:
    if row is None or (row.n_unjudged and not row.n):  # nothing arrived: not even a 0
        return "-"
    return figure(row.value, 0 if row.measure == "length" else 3)


def _count(n: int | None) -> str:
    return "-" if n is None else f"{n:,}"
