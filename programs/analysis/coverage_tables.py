"""Compare orders of runs by contexts and by reports, as in the CRUX paper."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from ...metrics.answer_scores import IN_0_TO_1
from ...metrics.coverage import ETA, coverage
from ...metrics.inference import Draws, Interval
from ...metrics.rank_correlation import kendall_tau, tau_intervals, taus
from ...records.rows import ScoreRow
from ..config.sections import CoverageConfig
from ..inputs import ORACLES
from ..protocols.coverage.topic import (
    CoverageData,
    TopicView,
    context_board,
    coverage_rows,
    relevance_rows,
    report_board,
    topic_board,
)
from ..protocols.scoreboard import Scoreboard

MIN_RUNS = 3  # runs for a tau; two runs have only two orders
COVERAGE, REPORT = "coverage", "report_coverage"


@dataclass(frozen=True)
class RunTau:
    """Kendall's tau-b of runs by two measures, without oracles.

    Attributes:
        tau: in [-1, 1], with an interval by topic; None with fewer than 3 runs, or if one measure
            gives all runs the same value.
        n_runs: runs with both values.
        n_unjudged: missing ratings behind the values of both measures.
    """

    tau: Interval
    n_runs: int
    n_unjudged: int


@dataclass(frozen=True)
class Variant:
    """Coverage of contexts and reports under one setting: a row of Table 2 or 3.

    Attributes:
        contexts, reports: run -> mean coverage, with bounds for missing ratings.
        to_reports: tau of contexts and reports of the same runs, without an interval.
        to_base: tau of these contexts and the contexts under the base settings.
    """

    settings: CoverageConfig
    contexts: dict[str, ScoreRow]
    reports: dict[str, ScoreRow]
    to_reports: RunTau
    to_base: RunTau


def measure_taus(
    data: CoverageData,
    settings: CoverageConfig,
    **draws: Unpack[Draws],
) -> dict[str, RunTau]:
    """Return tau of each measure of contexts with the coverage of reports: Figure 5.

    The measures of `coverage_rows` come first, then those of `relevance_rows`.

    Args:
        draws: options of intervals, see metrics/rank_correlation.py.
    """
    by_measure = score_rows(data, settings)
    reports = by_measure.pop(REPORT, [])
    by_measure.pop("report_density", None)
    return {
        measure: _with_interval(reports, of_measure, draws)
        for measure, of_measure in by_measure.items()
    }


def score_rows(data: CoverageData, settings: CoverageConfig) -> dict[str, list[ScoreRow]]:
    """Return the rows of each measure, without Z*, y* and runs that retrieved P** itself."""
    bounds = {*ORACLES, *find_oracles(data, settings)}
    by_measure: dict[str, list[ScoreRow]] = {}
    for row in (*coverage_rows(data, settings), *relevance_rows(data, settings)):
        if row.run_id not in bounds:
            by_measure.setdefault(row.measure, []).append(row)
    return by_measure


def find_oracles(data: CoverageData, settings: CoverageConfig) -> set[str]:
    """Return runs whose contexts are the required passages of every topic, in any order."""
    views = {topic: TopicView(data, topic, settings) for topic in data.questions}
    if not any(view.required for view in views.values()):
        return set()
    return {
        run_id
        for run_id, rankings in data.rankings.items()
        if all(
            set(rankings.get(topic, ())[: view.k]) == set(view.required)
            for topic, view in views.items()
        )
    }


def by_eta(
    data: CoverageData, settings: CoverageConfig, etas: Sequence[int] = (1, 2, 3, 4, 5)
) -> list[Variant]:
    """Return coverage by eta, compared with the order at eta 3: Table 2.

    Answerable questions depend on eta; the passages of a context are those of `settings`.
    """
    own, oracles = _sizes(data, settings), find_oracles(data, settings)
    base = _context_means(data, settings.model_copy(update={"eta": ETA}), own)
    return [
        _variant(data, settings.model_copy(update={"eta": eta}), base, own, oracles=oracles)
        for eta in etas
    ]


def by_k(
    data: CoverageData, settings: CoverageConfig, ks: Sequence[int], *, is_cut: bool = True
) -> list[Variant]:
    """Return coverage by context size k, compared with the order of `settings`: Table 3.

    Args:
        is_cut: whether rankings as long as a context of `settings` were cut there, as in a
            results folder. For a larger context, their means have only bounds.
    """
    sizes, oracles = _sizes(data, settings), find_oracles(data, settings)
    base = _context_means(data, settings, sizes)
    variants = []
    for k in ks:
        of_k = settings.model_copy(update={"k": k})
        cut = sizes if is_cut else None
        variants.append(_variant(data, of_k, base, _sizes(data, of_k), cut, oracles=oracles))
    return variants


def _variant(
    data: CoverageData,
    settings: CoverageConfig,
    base: Mapping[str, ScoreRow],
    sizes: Mapping[str, _Size],
    cut: Mapping[str, _Size] | None = None,
    *,
    oracles: Collection[str],
) -> Variant:
    contexts = _context_means(data, settings, sizes, cut)
    reports = _report_means(data, settings)
    compared = {run: row for run, row in contexts.items() if run not in oracles}
    to_reports, to_base = compare_orders(compared, reports), compare_orders(base, compared)
    return Variant(settings, contexts, reports, to_reports, to_base)


class _Size(NamedTuple):
    """Number of passages in a context; `n_open`: missing ratings that could change it."""

    k: int
    n_open: int


def _sizes(data: CoverageData, settings: CoverageConfig) -> dict[str, _Size]:
    """Return the sizes of contexts by topic."""
    views = {topic: TopicView(data, topic, settings) for topic in data.questions}
    is_open = settings.k == "required"
    return {topic: _Size(view.k, view.n_open * is_open) for topic, view in views.items()}


def _context_means(
    data: CoverageData,
    settings: CoverageConfig,
    sizes: Mapping[str, _Size],
    cut: Mapping[str, _Size] | None = None,
) -> dict[str, ScoreRow]:
    """Return mean coverage by run.

    Args:
        sizes: sizes of contexts by topic.
        cut: lengths at which rankings were cut; later passages are unknown.
    """
    board = Scoreboard(data.topics)
    board.ensure_runs(data.rankings)
    context_board(board, data, [COVERAGE])
    is_open: set[str] = set()
    for topic_id, (k, n_open) in sizes.items():
        view = TopicView(data, topic_id, settings)
        topic_board(board, view)
        for run_id, rankings in data.rankings.items():
            if topic_id not in rankings:
                continue
            context = view.matrix(rankings[topic_id][:k])
            if len(context) < k and cut and len(context) == cut[topic_id].k:
                is_open.add(run_id)
                unknown = np.full((k - len(context), context.shape[1]), np.nan)
                context = np.vstack([context, unknown])
            covered = coverage(context, view.answerable, settings.eta)
            if n_open or (covered.value is None and covered.low is not None):
                covered = covered.widen(IN_0_TO_1, n_open)
            board.add(run_id, topic_id, {COVERAGE: covered})
    means = select_means(board.rows())
    for run_id in is_open:
        means[run_id] = means[run_id].model_copy(update={"value": None})
    return means


def _report_means(data: CoverageData, settings: CoverageConfig) -> dict[str, ScoreRow]:
    board = Scoreboard(data.topics)
    board.ensure_runs(data.reports)
    report_board(board, data, [REPORT])
    for topic_id in data.questions:
        view = TopicView(data, topic_id, settings)
        topic_board(board, view)
        for run_id, reports in data.reports.items():
            if topic_id in reports:
                board.add(run_id, topic_id, {REPORT: view.report_coverage(reports[topic_id])})
    return select_means(board.rows())


def _with_interval(
    reports: Sequence[ScoreRow], contexts: Sequence[ScoreRow], draws: Draws
) -> RunTau:
    sides = select_means(reports), select_means(contexts)
    plain = compare_orders(*sides)
    if plain.tau.value is None:
        return plain
    runs = _pair_runs(*sides)
    cells = _cells(reports, runs), _cells(contexts, runs)
    means: dict[str, Any] = {
        "truth_runs": _values(sides[0], runs),
        "judged_runs": _values(sides[1], runs),
    }
    intervals = tau_intervals(taus(*cells, **means), *cells, **means, **draws)
    return replace(plain, tau=intervals["run_level"]["tau_b"])


def compare_orders(truth: Mapping[str, ScoreRow], judged: Mapping[str, ScoreRow]) -> RunTau:
    """Return tau of runs with a value on both sides, without an interval."""
    runs = _pair_runs(truth, judged)
    tau = None
    if len(runs) >= MIN_RUNS:
        sides = (list(_values(side, runs).values()) for side in (truth, judged))
        tau = kendall_tau(*sides)
    n_unjudged = sum(side[run].n_unjudged or 0 for side in (truth, judged) for run in runs)
    return RunTau(Interval(tau, None, None, 0), len(runs), n_unjudged)


def _pair_runs(truth: Mapping[str, ScoreRow], judged: Mapping[str, ScoreRow]) -> list[str]:
    """Return runs with a value on both sides."""
    return [
        run
        for run, row in truth.items()
        if row.value is not None and run in judged and judged[run].value is not None
    ]


def select_means(rows: Iterable[ScoreRow]) -> dict[str, ScoreRow]:
    """Return the row with the mean of each run."""
    return {row.run_id: row for row in rows if row.topic_id == "all"}


def _cells(rows: Iterable[ScoreRow], runs: Collection[str]) -> dict[tuple[str, str], float | None]:
    return {
        (row.run_id, row.topic_id): row.value
        for row in rows
        if row.topic_id != "all" and row.run_id in runs
    }


def _values(rows: Mapping[str, ScoreRow], runs: Iterable[str]) -> dict[str, float]:
    """Return means of runs, rounded to 12 digits so that equal means are tied."""
    return {run: round(value, 12) for run in runs if (value := rows[run].value) is not None}
