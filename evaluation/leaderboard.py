"""A result as tables: of each program its runs, the best first, and what their scores rest on."""

from __future__ import annotations

from ..programs.analysis.leaderboards import Leaderboard, Line
from ..programs.analysis.leaderboards import leaderboards as boards_of
from ..programs.scoring.result import Result as StoredResult
from ..records.rows import ScoreRow
from ..records.writing.printed import figure, interval
from .tables import Table, judge_note

_TOLD_APART = {True: "yes", False: "no", None: ""}


def leaderboards(result: StoredResult) -> list[Table]:
    """A table a program: its first measure with the interval by topic, the others without."""
    judges = judge_note(result.judged_by)
    return [_table(board, judges) for board in boards_of(result.scores, result.folder)]


def _table(board: Leaderboard, judges: str) -> Table:
    first, *others = board.measures
    has_unjudged = any(row.n_unjudged for row in _of(board, first))
    header = ["run", first, "interval", *(["told from next"] if board.test else [])]
    header += [*others, "topics answered", "n", "unjudged", *(["if all judged"] * has_unjudged)]
    rows = []
    for line in board.lines:
        row = line.means.get(first)
        cells = [
            line.run_id,
            _value(line, first),
            interval(*line.intervals.get(first, (None, None))),
        ]
        cells += [_TOLD_APART[line.is_told_apart]] if board.test else []
        cells += [_value(line, name) for name in others]
        counts = (None, None) if row is None else (row.n, row.n_unjudged)
        cells += [_answered(line, first), *map(_count, counts)]
        if has_unjudged:
            cells.append(interval(row.low, row.high) if row is not None and row.n_unjudged else "")
        rows.append(cells)
    return Table(f"{first}: {len(rows):,} runs", header, rows, _notes(board, has_unjudged, judges))


def _notes(board: Leaderboard, has_unjudged: bool, judges: str) -> list[str]:
    parts = [f"Intervals are {board.level:.0%}, by topic; n judgements carry the first score."]
    if has_unjudged:
        parts.append("If all were judged, it would lie in the last column.")
    if not board.is_of_answered:
        parts.append("A topic that a run did not answer counts 0.")
    if board.test:
        n_apart = f"{board.n_told_apart:,} of {board.n_pairs:,}"
        parts.append(f"Pairs of runs told apart ({board.test}): {n_apart}.")
    elif board.untested:
        parts.append(f"Runs are not tested: {board.untested}.")
    return [" ".join(parts), *([judges] if judges else [])]


def _of(board: Leaderboard, measure: str) -> list[ScoreRow]:
    return [row for line in board.lines if (row := line.means.get(measure)) is not None]


def _value(line: Line, measure: str) -> str:
    value = line.value(measure)
    return "-" if value is None else figure(value, 0 if measure == "length" else 3)


def _answered(line: Line, measure: str) -> str:
    """How many of the topics that were asked; "-" where it is not known."""
    n, n_topics = line.answered.get(measure, (None, None))
    return "-" if n is None else f"{n:,} of {n_topics:,}"


def _count(n: int | None) -> str:
    return "-" if n is None else f"{n:,}"
