"""Tables 1 to 3 and Figure 5 of the CRUX paper (arXiv:2506.20051), as numbers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Literal

from ....programs.analysis.coverage_tables import (
    COVERAGE,
    REPORT,
    RunTau,
    Variant,
    compare_orders,
    find_oracles,
    score_rows,
    select_means,
)
from ....programs.config.sections import CoverageConfig
from ....programs.inputs import ORACLE_CONTEXT, ORACLE_REPORT, ORACLES
from ....programs.protocols.coverage.topic import CoverageData, TopicView, coverage_rows
from ....records.rows import ScoreRow

DENSITY, REPORT_DENSITY = "density", "report_density"
Means = dict[str, dict[str, ScoreRow]]  # measure -> run -> its mean


def name_measures(settings: CoverageConfig) -> dict[str, str]:
    """Map the paper's names of measures to ours, in the order of Figure 5.

    >>> name_measures(CoverageConfig(k=10))["alpha-nDCG"]
    'alpha_ndcg@10'
    """
    at = {"Recall": "R", "MAP": "AP", "nDCG": "nDCG", "alpha-nDCG": "alpha_ndcg"}
    ranked = {name: f"{ours}@{settings.k}" for name, ours in at.items()}
    return {"Cov(Z)": COVERAGE, **ranked, "Cov(y)": REPORT}


@dataclass(frozen=True)
class Scored:
    """A row of Table 1.

    Attributes:
        name: of the run; `Z*` with the run whose contexts are Z*, whose report is then given Z*.
        is_bound: one of the three bounds: no context, y*, Z*.
        means: measure -> its mean; a measure that the row has not is missing.
    """

    name: str
    is_bound: bool
    means: Mapping[str, ScoreRow]


def score_all(data: CoverageData, settings: CoverageConfig) -> list[Scored]:
    """The rows of Table 1: reports without a context, y*, Z*, then the runs, the best first."""
    by_run: dict[str, dict[str, ScoreRow]] = {}
    for row in coverage_rows(data, settings):
        if row.topic_id == "all":
            by_run.setdefault(row.run_id, {})[row.measure] = row
    oracles = sorted(find_oracles(data, settings))
    unaided = [run for run, means in by_run.items() if COVERAGE not in means and run not in ORACLES]
    if not data.rankings:  # nobody has contexts: these are all the runs there are
        unaided = []
    rows = [Scored(run, True, by_run[run]) for run in sorted(unaided)]
    if ORACLE_REPORT in by_run:
        rows.append(Scored(ORACLE_REPORT, True, by_run[ORACLE_REPORT]))
    for run in oracles:
        rows.append(Scored(f"{ORACLE_CONTEXT} ({run})", True, by_run[run]))
    if not oracles and ORACLE_CONTEXT in by_run:
        rows.append(Scored(ORACLE_CONTEXT, True, by_run[ORACLE_CONTEXT]))
    others = [run for run in by_run if run not in {*ORACLES, *oracles, *unaided}]
    first = COVERAGE if data.rankings else REPORT
    means = {run: by_run[run][first].value for run in others}
    others.sort(key=lambda run: (means[run] is None, -(means[run] or 0.0), run))
    return rows + [Scored(run, False, by_run[run]) for run in others]


def correlate(means: Means, settings: CoverageConfig) -> dict[str, RunTau]:
    """Table 3: each measure of contexts against Cov(y), and the density against Den(y).

    All of them over the runs that have them all.
    """
    measures = name_measures(settings)
    kept = _keep_shared_runs(means, [*measures.values(), DENSITY, REPORT_DENSITY])
    reports = kept.get(REPORT, {})
    taus = {
        name: compare_orders(reports, kept.get(ours, {}))
        for name, ours in measures.items()
        if ours != REPORT
    }
    density = compare_orders(kept.get(REPORT_DENSITY, {}), kept.get(DENSITY, {}))
    return taus | {"Den(Z)": density}


def correlate_all(means: Means, settings: CoverageConfig) -> dict[str, dict[str, RunTau]]:
    """Figure 5: Kendall's tau-b of every two measures, over the runs that have them all.

    A measure that no run has is left out: Cov(y) in a folder without reports.
    """
    names = name_measures(settings)
    shared = _keep_shared_runs(means, list(names.values()))
    kept = {name: shared[ours] for name, ours in names.items() if ours in shared}
    return {
        one: {other: compare_orders(a, b) for other, b in kept.items()} for one, a in kept.items()
    }


def _keep_shared_runs(means: Means, wanted: Sequence[str]) -> Means:
    """Those of the measures that a run has a value of, for the runs that have a value of each."""
    known = {
        name: {run: row for run, row in means.get(name, {}).items() if row.value is not None}
        for name in wanted
    }
    known = {name: rows for name, rows in known.items() if rows}
    runs = [
        run for run in next(iter(known.values()), {}) if all(run in of for of in known.values())
    ]
    return {name: {run: rows[run] for run in runs} for name, rows in known.items()}


def mean_by_run(data: CoverageData, settings: CoverageConfig) -> Means:
    """The means of each measure, without the bounds."""
    return {name: select_means(rows) for name, rows in score_rows(data, settings).items()}


def correlate_by_size(
    data: CoverageData, settings: CoverageConfig, ks: Sequence[int]
) -> Iterator[tuple[int | str, dict[str, RunTau]]]:
    """Table 3, a row a size; without sizes beyond that at which the contexts were cut."""
    views = [TopicView(data, topic, settings) for topic in data.questions]
    shortest = min((view.k for view in views if view.n_answerable), default=0)
    sizes = [k for k in ks if k < shortest or k == settings.k]
    wanted: list[Literal["required"] | int] = [*sizes]
    if settings.k == "required":
        wanted.insert(0, "required")
    for k in wanted:
        of_k = settings.model_copy(update={"k": k})
        yield k, correlate(mean_by_run(data, of_k), of_k)


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over runs, n - 1 in its denominator; None where there is none."""

    mean: float | None
    sd: float | None
    n_runs: int


def spread(means: Mapping[str, ScoreRow]) -> Spread:
    """Of the runs that have a value."""
    values = [row.value for row in means.values() if row.value is not None]
    sd = stdev(values) if len(values) > 1 else None
    return Spread(fmean(values) if values else None, sd, len(values))


def spread_by_eta(
    variants: Sequence[Variant], bounds: Collection[str]
) -> Iterator[tuple[Variant, Spread, Spread]]:
    """Table 2: of each eta the reports and the contexts of the runs, without the bounds.

    Both are of the runs that have both; in a folder without reports, contexts are of all runs.
    """
    for variant in variants:
        means = {COVERAGE: variant.contexts, REPORT: variant.reports}
        of_runs = {
            name: {
                run: row
                for run, row in rows.items()
                if run not in bounds and run in means[COVERAGE]
            }
            for name, rows in means.items()
        }
        kept = _keep_shared_runs(of_runs, [COVERAGE, REPORT])
        yield variant, spread(kept.get(REPORT, {})), spread(kept.get(COVERAGE, {}))
