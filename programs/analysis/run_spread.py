"""Lowest, median and highest scores over runs, and means of groups of runs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from ...records.labels import run_aliases
from ...records.reading.problems import InputError, Problems
from ...records.rows import ScoreRow
from ...records.scores import read_run_groups
from ...views.table import Column, Kind, Row, Table
from ..inputs import ORACLES
from ..protocols.program import Folder
from ..protocols.table import choose
from ..scoring.topic_scores import TopicScores, scores_by_topic
from .compare_runs import make_score_table
from .leaderboards import Leaderboard
from .tables.leaderboards import make_measure_column

OTHER = "other"
_ORDERS: dict[str, Callable[..., Any]] = {
    "min": np.nanmin,
    "median": np.nanmedian,
    "max": np.nanmax,
}


@dataclass(frozen=True)
class Spread:
    """A measure over several runs.

    Attributes:
        runs: `min`, `median` or `max`, or the name of a group.
        n_runs: number of runs. n_unjudged: excluded (run, topic) with missing judgements.
        value: for `min`, `median` and `max`, the mean over topics of each topic's lowest, median
            or highest score; for a group, the mean of its runs. None: nothing was judged.
    """

    runs: str
    measure: str
    n_runs: int
    n_unjudged: int
    value: float | None


def match_groups(path: Path, runs: Collection[str], problems: Problems) -> dict[str, str]:
    """Return the group of each run, or `other`; names match with and without a team prefix.

    The oracles of coverage belong to no group.

    Raises: InputError if the file is wrong or names no run of the results.
    """
    runs = [run for run in runs if run not in ORACLES]
    groups = read_run_groups(path, problems)
    problems.raise_errors()
    names = {run: name for name, run in run_aliases(runs, groups).items()}
    found = {run: groups.get(names.get(run, run), OTHER) for run in runs}
    if set(found.values()) <= {OTHER}:
        first = next(iter(runs), "")
        raise InputError(f"--run-groups {path}: names no run of the results, such as {first}")
    return found


def measure_spread(
    rows: Sequence[ScoreRow],
    path: Path,
    board: Leaderboard,
    topics: Sequence[str] | None,
    groups: Mapping[str, str],
) -> list[Spread]:
    """Return the rows below a leaderboard, for each of its measures.

    An unanswered topic counts 0, as in the run's mean. Source: arXiv:2411.09607, the last rows of
    Tables 6 to 8.

    Args:
        rows: scores by topic of the results in `path`. topics: topics that every run must answer.
        groups: group by run; {}: none.
    """
    folder = Folder(path, Problems(), topics=list(topics) if topics is not None else None)
    scores = scores_by_topic(rows, folder, folder.topics, choose(folder.programs))
    spreads: list[Spread] = []
    for measure in (name for name in board.measures if name in scores.values):
        spreads += _measure(scores, measure)
        for group in sorted(set(groups.values())):
            lines = [line for line in board.lines if groups.get(line.run_id) == group]
            known = [mean for line in lines if (mean := line.value(measure)) is not None]
            n_missing = _count_missing(scores, measure, [line.run_id for line in lines])
            mean = fmean(known) if known else None
            spreads.append(Spread(group, measure, len(lines), n_missing, mean))
    return spreads


def _measure(scores: TopicScores, measure: str) -> Iterator[Spread]:
    runs = list(scores.values[measure])
    table = make_score_table(scores, measure, runs)
    judged = table[~np.isnan(table).all(axis=1)]
    n_unjudged = _count_missing(scores, measure, runs)
    for name, order in _ORDERS.items():
        value = float(np.mean(order(judged, axis=1))) if judged.size else None
        yield Spread(name, measure, len(runs), n_unjudged, value)


def _count_missing(scores: TopicScores, measure: str, runs: Iterable[str]) -> int:
    """Count scores of these runs with missing judgements; undefined scores do not count."""
    rows = scores.rows[measure]
    of_runs = (rows[run].get(topic) for run in runs for topic in scores.topics[measure])
    return sum(row is not None and row.value is None and row.n_unjudged != 0 for row in of_runs)


def make_spread_table(board: Leaderboard, spreads: Sequence[Spread]) -> Table:
    """Make a table: rows min, median, max and groups; the columns of the leaderboard."""
    measures = [name for name in board.measures if any(one.measure == name for one in spreads)]
    columns = [Column("runs", Kind.NAME), Column("n_runs", Kind.COUNT, "n")]
    columns += [make_measure_column(board, name) for name in measures]
    by = {(one.runs, one.measure): one for one in spreads}
    rows = [
        Row([name, by[name, measures[0]].n_runs, *(by[name, each].value for each in measures)])
        for name in dict.fromkeys(one.runs for one in spreads)
    ]
    notes = ["min, median and max: mean over topics of the lowest, median and highest score"]
    if n_unjudged := max((one.n_unjudged for one in spreads), default=0):
        notes.append(f"{n_unjudged:,} missing scores of a run and topic are excluded")
    return Table(f"{board.title} over runs".strip(), columns, rows, notes=notes)


def as_rows(spreads: Sequence[Spread]) -> Iterator[dict[str, Any]]:
    """Return the rows for JSON."""
    return map(asdict, spreads)
