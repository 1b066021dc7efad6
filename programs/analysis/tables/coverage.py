"""Which measures of contexts order runs as their reports do, as tables: the verdict first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....records.rows import ScoreRow
from ....views.numbers import format_bounds, format_share, format_short_share
from ....views.table import Cell, Column, Kind, Row, Style, Table, View
from ...config.sections import CoverageConfig
from ..coverage_tables import COVERAGE, LEAST_RUNS, RunTau, Variant
from .words import choose_tau_word, count, get_interval, write_estimate


def coverage_view(
    settings: CoverageConfig,
    taus: Mapping[str, RunTau],
    of_eta: Sequence[Variant],
    of_k: Sequence[Variant],
) -> View:
    """What `judge coverage` shows: Figure 5 and Tables 2 and 3 of the CRUX paper."""
    etas = [(f"eta {variant.settings.eta}", variant) for variant in of_eta]
    ks = [(f"k {variant.settings.k}", variant) for variant in of_k]
    tables = [
        _variants("Coverage of contexts by eta (Table 2)", etas, "eta 3"),
        _variants("Coverage of contexts by size (Table 3)", ks, f"k {settings.k}"),
    ]
    has_taus = max((tau.n_runs for tau in taus.values()), default=0) >= LEAST_RUNS
    return View(_write_verdict(taus), [*([_taus(taus)] if has_taus else []), *tables])


def _write_verdict(taus: Mapping[str, RunTau]) -> str:
    """How far coverage of contexts orders the runs as their reports do, and what does best."""
    known = {name: tau for name, tau in taus.items() if tau.tau.value is not None}
    n_runs = max((tau.n_runs for tau in taus.values()), default=0)
    if n_runs < LEAST_RUNS:
        return (
            "Contexts cannot be compared with reports: "
            f"{_few(n_runs)} a context and a report, at least {LEAST_RUNS} are needed."
        )
    if (main := known.get(COVERAGE)) is None or main.tau.value is None:
        return f"Contexts cannot be compared with reports: tau-b of {COVERAGE} is undefined."
    word = choose_tau_word(main.tau.value)
    best = max(known, key=lambda name: abs(known[name].tau.value or 0.0))
    others = ""
    if abs(known[best].tau.value or 0.0) > abs(main.tau.value):
        others = f"; {best} is closest ({format_short_share(known[best].tau.value)})"
    return (
        f"By {COVERAGE} the contexts order the runs {word} their reports do: tau-b "
        f"{write_estimate(vars(main.tau))} over {count(main.n_runs, 'run')}{others}."
    )


def _taus(taus: Mapping[str, RunTau]) -> Table:
    columns = [
        Column("measure", Kind.NAME),
        Column("tau_b", Kind.SHARE, "tau-b"),
        Column("interval", Kind.INTERVAL, "95% interval"),
        Column("runs", Kind.COUNT),
        Column("unjudged", Kind.COUNT),
    ]
    rows = [
        Row(
            [name, tau.tau.value, get_interval(vars(tau.tau)), tau.n_runs, tau.n_unjudged],
            Style.LEADING if name == COVERAGE else Style.PLAIN,
        )
        for name, tau in taus.items()
    ]
    return Table("Order of runs by contexts against report_coverage (Figure 5)", columns, rows)


def _variants(title: str, variants: Sequence[tuple[str, Variant]], base: str) -> Table:
    first = variants[0][1].contexts
    columns = [Column("run", Kind.NAME)]
    columns += [Column(name, Kind.SHARE, optional=1) for name, _ in variants]
    runs = sorted(first, key=lambda run: (-(first[run].value or 0.0), run))
    rows = [Row([run, *(_mean(variant.contexts[run]) for _, variant in variants)]) for run in runs]
    notes = [] if first else ["No run has contexts."]
    for name, taus in (
        (f"tau-b to {base}", [variant.to_base for _, variant in variants]),
        ("tau-b to reports", [variant.to_reports for _, variant in variants]),
    ):
        n_runs = max(tau.n_runs for tau in taus)
        if first and n_runs < LEAST_RUNS:
            notes.append(f"No {name}: {_few(n_runs)} both values, {LEAST_RUNS} are needed.")
        elif first:
            rows.append(Row([name, *(tau.tau.value for tau in taus)], Style.TRAILING))
    return Table(title, columns, rows, notes=notes, has_all=True)


def _few(n_runs: int) -> str:
    return f"{n_runs} run{' has' if n_runs == 1 else 's have'}"


def _mean(row: ScoreRow) -> Cell:
    """The value, with its bounds behind it where ratings are missing."""
    if not row.n_unjudged:
        return row.value
    return f"{format_share(row.value)} {format_bounds(row.low, row.high)}"
