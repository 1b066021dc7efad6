"""Leaderboards: means of runs with intervals, and which runs differ significantly."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from pathlib import Path

from ...metrics.inference import LEVEL
from ...records.reading.problems import InputError, Problems, did_you_mean
from ...records.rows import ScoreRow
from ..protocols.program import Folder, Program
from ..protocols.table import choose, programs
from ..scoring.topic_scores import TopicScores, scores_by_topic
from .compare_runs import (
    DRAWS,
    HOLM,
    Floats,
    PairDifferences,
    choose_test,
    find_differences,
    make_run_rows,
    make_score_table,
)

# With more scores (or pairs times topics), runs are not tested: it would take over 4 s.
MAX_TESTED = 20_000
MAX_PAIRED = 300_000


@dataclass(frozen=True)
class Line:
    """A run on a leaderboard.

    Attributes:
        means: its mean rows, by measure.
        intervals: intervals by topic, by measure, if there are any.
        answered: answered topics, and topics on which the measure is defined, by measure with
            intervals.
        is_different_from_next: whether it differs significantly from the run on the next line, by
            the first measure; None: not tested.
    """

    run_id: str
    means: Mapping[str, ScoreRow]
    intervals: Mapping[str, tuple[float, float]]
    answered: Mapping[str, tuple[int, int]]
    is_different_from_next: bool | None = None

    def value(self, measure: str) -> float | None:
        """Return the mean; None without a judgement.

        If nothing of the answers was judged, the value is None. If topics have no answer, it
        is 0.
        """
        row = self.means.get(measure)
        if row is None or (row.n_unjudged and not row.n):
            return None
        is_empty = row.n == 0 == row.value and row.n_answered and measure != "length"
        return None if is_empty else row.value


@dataclass(frozen=True, kw_only=True)
class Group:
    """The first run by a measure, and the runs that are not significantly worse.

    Attributes:
        test: see `choose_test`; "": not tested, for the reason `untested`.
        tested: the runs with scores by topic, in order, without the oracles of coverage.
        leading: the first run and those that are not significantly worse; empty: not tested, or
            too few topics (`least_topics`).
        not_compared: runs without a common topic with the first.
        least_topics: see `PairDifferences`.
    """

    test: str
    untested: str
    tested: Sequence[str]
    leading: Sequence[str]
    not_compared: Sequence[str] = ()
    least_topics: int | None = None


def find_group(
    tested: Sequence[str],
    test: str,
    against_first: Iterable[tuple[str, bool | None, float | None]],
    *,
    untested: str = "",
    least_topics: int | None = None,
) -> Group:
    """Find the group of the first run.

    Args:
        against_first: for each other run, whether it differs significantly from the first (None:
            no common topic), and by how much the first is better.
    """
    rows = list(against_first)
    leading = [run for run, differs, by in rows if differs is False or (differs and (by or 0) <= 0)]
    return Group(
        test=test,
        untested=untested,
        tested=tested,
        leading=[*tested[:1], *leading] if test and least_topics is None else [],
        not_compared=[run for run, differs, _ in rows if differs is None],
        least_topics=least_topics,
    )


@dataclass(frozen=True, kw_only=True)
class Leaderboard(Group):
    """The measures of a task, best run first.

    Attributes:
        title: what the task evaluates, in a word or two; "": measures of no task.
        measures: in order; the first orders and tests the runs.
        n_official: how many of `measures` are the official measures of the track or paper.
        level: level of intervals; a pair differs significantly if p < 1 - level.
        is_of_answered: whether the first measure's mean covers only answered topics; otherwise
            an unanswered topic counts 0.
        n_pairs: pairs of tested runs. n_significant: pairs that differ significantly.
    """

    title: str
    n_official: int
    measures: Sequence[str]
    lines: Sequence[Line]
    level: float
    is_of_answered: bool
    n_significant: int
    n_pairs: int


def leaderboards(
    rows: Sequence[ScoreRow],
    path: Path,
    *,
    topics: Sequence[str] | None = None,
    measures: Sequence[str] = (),
    sort: str | None = None,
    with_all_intervals: bool = False,
) -> list[Leaderboard]:
    """Make the leaderboard of each task, with intervals and tests of `compare_runs`.

    Args:
        rows: scores by topic and their means, of the results in `path`.
        topics: the topics that every run must answer; None: those of the folder.
        measures: the measures to show; default: all.
        sort: a measure that orders the runs everywhere, and is the first column where it exists.
        with_all_intervals: intervals for all measures, not only for the first of each task.

    Raises: InputError for an unknown measure.
    """
    means = [row for row in rows if row.topic_id == "all"]
    measure_names = dict.fromkeys(row.measure for row in means)
    check_measures(measure_names, [*measures, *([sort] if sort is not None else [])], path)
    folder = Folder(path, Problems(), topics=list(topics) if topics is not None else None)
    scores = scores_by_topic(rows, folder, folder.topics, choose(folder.programs))
    by_run: dict[str, dict[str, ScoreRow]] = {}
    for row in means:
        by_run.setdefault(row.run_id, {})[row.measure] = row
    groups = group_measures(set(measure_names), folder.programs)
    return [
        _leaderboard(program, _first(of_group, sort), by_run, scores, sort, with_all_intervals)
        for program, group in groups
        if (of_group := [m for m in group if not measures or m in measures])
    ]


def check_measures(names: Collection[str], wanted: Sequence[str], path: Path) -> None:
    """Raise InputError for an unknown measure; list the known measures."""
    if missing := [name for name in wanted if name not in names]:
        there = f"there is {', '.join(names)}{did_you_mean(missing[0], names)}"
        raise InputError(f"{path}: no measure {missing[0]!r}; {there}")


def group_measures(
    present: set[str], ran: Collection[str] = ()
) -> list[tuple[Program | None, list[str]]]:
    """Group measures by leaderboard: those of each task, then all others.

    Args:
        ran: the tasks that gave the measures. Without it, or for other measures, all tasks are
            searched.
    """
    groups, left = _group(present, choose(ran))
    if left:
        groups, left = _group(present, programs())
    return [(program, group) for program, group in (*groups, (None, left)) if group]


def _group(
    present: set[str], programs: Iterable[Program]
) -> tuple[list[tuple[Program | None, list[str]]], list[str]]:
    groups: list[tuple[Program | None, list[str]]] = []
    left = sorted(present)
    for program in programs:
        shown = [m for name in program.shown for m in left if m.partition("@")[0] == name]
        groups.append((program, shown))
        left = [m for m in left if m not in shown]
    return groups, left


def _first(measures: list[str], sort: str | None) -> list[str]:
    return sorted(measures, key=lambda name: name != sort)


def _leaderboard(
    program: Program | None,
    measures: Sequence[str],
    by_run: Mapping[str, Mapping[str, ScoreRow]],
    scores: TopicScores,
    sort: str | None,
    with_all_intervals: bool,
) -> Leaderboard:
    first = measures[0]
    by = first if sort is None else sort
    runs = [run for run, means in by_run.items() if means.keys() & set(measures)]
    runs.sort(key=lambda run: _best_first(by_run[run].get(by), run))
    intervals: dict[str, dict[str, tuple[float, float]]] = {run: {} for run in runs}
    answered: dict[str, dict[str, tuple[int, int]]] = {run: {} for run in runs}
    tested, table = [], None
    for measure in measures if with_all_intervals else measures[:1]:
        present = [run for run in runs if run in scores.values.get(measure, ())]
        if not present:
            continue
        values = make_score_table(scores, measure, present)
        if measure == first:
            tested, table = present, values
        for row in make_run_rows(scores, measure, present, values, DRAWS):
            run, n_topics = row["run_id"], len(scores.topics[measure])
            answered[run][measure] = n_topics - row["n_unanswered"], n_topics
            if row["low"] is not None and _is_same(row["mean"], by_run[run][measure].value):
                intervals[run][measure] = row["low"], row["high"]
    untested, found = _test_pairs(tested, table)
    pairs = list(combinations(tested, 2)) if found else []
    differs = {pair: _differs(p) for pair, p in zip(pairs, found.p if found else (), strict=True)}
    apart = {one: differs[one, other] for one, other in pairwise(tested) if differs}
    of_first = zip(tested[1:], found.p, found.differences, strict=False) if found else ()
    group = find_group(
        tested,
        found.test if found else "",
        [(run, _differs(p), by) for run, p, by in of_first],
        untested=untested,
        least_topics=found.least_topics if found else None,
    )
    return Leaderboard(
        **vars(group),
        title="" if program is None else program.name.capitalize(),
        n_official=1 if program is None else program.n_official,
        measures=measures,
        lines=[
            Line(run, by_run[run], intervals[run], answered[run], apart.get(run)) for run in runs
        ],
        level=LEVEL,
        is_of_answered=scores.is_of_answered(first),
        n_significant=sum(map(bool, differs.values())),
        n_pairs=len(pairs),
    )


def _test_pairs(runs: Sequence[str], table: Floats | None) -> tuple[str, PairDifferences | None]:
    """Test the pairs of runs, in order; return None and the reason if they were not tested."""
    if table is None or len(runs) < 2:
        return "", None
    n_pairs, how = math.comb(len(runs), 2), "judge compare tests them (choose runs with --runs)"
    if table.size > MAX_TESTED:
        return f"{table.size:,} scores take long; {how}", None
    if n_pairs * len(table) > MAX_PAIRED and choose_test(table) == HOLM:
        return f"{n_pairs:,} pairs take long; {how}", None
    found = find_differences(table, DRAWS)
    if all(p is None for p in found.p):
        return "no common judged topic of two runs", None
    return "", found


def _differs(p: float | None) -> bool | None:
    return None if p is None else p < 1 - LEVEL


def _is_same(mean: float | None, value: float | None) -> bool:
    """Return whether the resampled mean equals the shown mean."""
    return mean is not None and value is not None and abs(mean - value) < 1e-9


def _best_first(row: ScoreRow | None, run: str) -> tuple[float, str]:
    value = None if row is None else row.value
    return (1.0 if value is None else -value, run)


def rank_rows(
    rows: Sequence[ScoreRow], measures: Sequence[str], sort: str | None
) -> Iterator[ScoreRow]:
    """Return score rows of these measures (default: all), with runs ordered by `sort`."""
    means = {row.run_id: row for row in rows if (row.topic_id, row.measure) == ("all", sort)}
    in_order = rows
    if sort is not None:
        in_order = sorted(rows, key=lambda row: _best_first(means.get(row.run_id), row.run_id))
    return (row for row in in_order if not measures or row.measure in measures)
