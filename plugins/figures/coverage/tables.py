"""The tables that `judge coverage` prints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ....programs.analysis.coverage_tables import COVERAGE, MIN_RUNS, REPORT, RunTau, Variant
from ....programs.analysis.tables.words import (
    choose_tau_word,
    count,
    get_interval,
    write_estimate,
)
from ....programs.config.sections import CoverageConfig
from ....records.rows import ScoreRow
from ....views.numbers import format_bounds, format_share, format_short_share
from ....views.table import Cell, Column, Kind, Row, Style, Table, View
from .readings import DENSITY, REPORT_DENSITY, Scored, Spread, name_measures
from .use import NEITHER, UNRETRIEVED, UNUSED, USED, Use


class Findings(NamedTuple):
    """Everything that is computed from a results folder."""

    settings: CoverageConfig
    scored: Sequence[Scored]
    measures: Mapping[str, RunTau]
    matrix: Mapping[str, Mapping[str, RunTau]]
    spreads: Sequence[tuple[Variant, Spread, Spread]]
    sizes: Sequence[tuple[int | str, Mapping[str, RunTau]]]
    by_size: Sequence[Variant]
    uses: Sequence[Use]


def make_coverage_view(found: Findings, *, shows_all: bool) -> View:
    """The view of `judge coverage`: Tables 1 to 3, Figure 5, and how reports use contexts."""
    settings, taus = found.settings, found.measures
    has_taus = max((tau.n_runs for tau in taus.values()), default=0) >= MIN_RUNS
    tables = [_bounds(found)]
    if has_taus:
        tables.append(_taus(taus))
    if shows_all and _count_runs(found.matrix) >= MIN_RUNS:
        tables.append(_matrix(found.matrix))
    if any(context.n_runs for _, _, context in found.spreads):
        tables.append(_spreads(found.spreads))
    if has_taus:
        tables.append(_sizes(found.sizes, [variant.settings.k for variant in found.by_size]))
    if found.uses:
        tables.append(_uses(found.uses))
    if shows_all:
        etas = [(f"eta {variant.settings.eta}", variant) for variant, _, _ in found.spreads]
        ks = [(f"k {variant.settings.k}", variant) for variant in found.by_size]
        tables.append(_variants("Coverage of contexts by eta", etas, "eta 3"))
        tables.append(_variants("Coverage of contexts by size", ks, f"k {settings.k}"))
    return View(_write_verdict(taus), tables)


def make_uses_view(run_id: str, uses: Sequence[Use]) -> View:
    """The questions of a run that only its context answers, or only its report."""
    wrong = [use for use in uses if use.kind in (UNUSED, UNRETRIEVED)]
    columns = [
        Column("topic", Kind.NAME),
        Column("what", Kind.TEXT, "status"),
        Column("question", Kind.TEXT),
        Column("passage", Kind.NAME, "answered by"),
        Column("rating", Kind.COUNT, "report's rating"),
    ]
    rows = [
        Row([use.topic_id, use.kind, use.question, use.passage_id, use.report_rating])
        for use in sorted(wrong, key=lambda use: (use.kind or "", use.topic_id))
    ]
    n = Counter(use.kind for use in uses)
    verdict = (
        f"{run_id}: its context answers {n[USED] + n[UNUSED]:,} questions, of which its report "
        f"leaves out {n[UNUSED]:,}. Its report answers {n[USED] + n[UNRETRIEVED]:,}, of which "
        f"{n[UNRETRIEVED]:,} are not answered in its context."
    )
    if n[None]:
        verdict += f" {count(n[None], 'question')} not judged."
    return View(verdict, [Table("Questions that were not used, or not retrieved", columns, rows)])


def _write_verdict(taus: Mapping[str, RunTau]) -> str:
    """Say how well coverage of contexts predicts the order of the reports, and the best measure."""
    known = {name: tau for name, tau in taus.items() if tau.tau.value is not None}
    n_runs = max((tau.n_runs for tau in taus.values()), default=0)
    if n_runs < MIN_RUNS:
        return (
            "Contexts cannot be compared with reports: "
            f"only {_few(n_runs)} a context and a report; at least {MIN_RUNS} are needed."
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


def _bounds(found: Findings) -> Table:
    """Table 1: bounds above a rule, and the correlations of contexts with reports at the end."""
    alpha = name_measures(found.settings)["alpha-nDCG"]
    measures = {
        "Cov(Z)": COVERAGE,
        "alpha-nDCG": alpha,
        "Cov(y)": REPORT,
        "Den(Z)": DENSITY,
        "Den(y)": REPORT_DENSITY,
    }
    columns = [Column("run", Kind.NAME), *(Column(name, Kind.SHARE) for name in measures)]
    columns += [Column("judged", Kind.COUNT), Column("unjudged", Kind.COUNT)]
    rows = []
    for scored in found.scored:
        means = [scored.means.get(name) for name in measures.values()]
        of_both = [row for row in (scored.means.get(COVERAGE), scored.means.get(REPORT)) if row]
        n_judged = sum(row.n or 0 for row in of_both)
        n_unjudged = sum(row.n_unjudged or 0 for row in of_both)
        values: list[Cell] = [None if row is None else _above_1(row.value) for row in means]
        rows.append(Row([scored.name, *values, n_judged, n_unjudged]))
    n_bounds = sum(scored.is_bound for scored in found.scored)
    of_k = dict(found.sizes).get(found.settings.k, {})
    shown = {name: of_k[name].tau.value for name in measures if name in of_k}
    if any(value is not None for value in shown.values()):
        values = [shown.get(name) for name in measures]
        rows.append(Row(["tau-b to y", *values, None, None], Style.TRAILING))
    bounds = ", ".join(scored.name for scored in found.scored if scored.is_bound)
    notes = [f"Bounds, left out of the correlations: {bounds}."] if bounds else []
    title = "Contexts Z and the reports y written from them (Table 1)"
    return Table(title, columns, rows, rule_after=n_bounds or None, notes=notes, has_all=True)


def _above_1(value: float | None) -> Cell:
    """Show a density above 1 with three digits too."""
    return value if value is None or value <= 1 else f"{value:.3f}"


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


def _matrix(matrix: Mapping[str, Mapping[str, RunTau]]) -> Table:
    columns = [Column("tau_b", Kind.NAME, ""), *(Column(name, Kind.SHARE) for name in matrix)]
    rows = [
        Row([name, *(tau.tau.value for tau in others.values())]) for name, others in matrix.items()
    ]
    n_runs = _count_runs(matrix)
    title = f"Kendall's tau-b of every two measures over {count(n_runs, 'run')} (Figure 5)"
    return Table(title, columns, rows)


def _count_runs(matrix: Mapping[str, Mapping[str, RunTau]]) -> int:
    """How many runs have all measures."""
    return max((tau.n_runs for others in matrix.values() for tau in others.values()), default=0)


def _spreads(spreads: Sequence[tuple[Variant, Spread, Spread]]) -> Table:
    columns = [
        Column("eta", Kind.COUNT),
        Column("cov_y", Kind.SHARE, "Cov(y)"),
        Column("sd_y", Kind.SHARE, "sd"),
        Column("cov_z", Kind.SHARE, "Cov(Z)"),
        Column("sd_z", Kind.SHARE, "sd"),
        Column("tau_b", Kind.SHARE, "tau-b"),
        Column("runs", Kind.COUNT),
    ]
    rows = [
        Row(
            [
                variant.settings.eta,
                *(report.mean, report.sd, context.mean, context.sd),
                variant.to_reports.tau.value,
                context.n_runs,
            ]
        )
        for variant, report, context in spreads
    ]
    title = "Mean and standard deviation over runs, by eta (Table 2)"
    return Table(title, columns, rows)


def _sizes(
    sizes: Sequence[tuple[int | str, Mapping[str, RunTau]]], wanted: Sequence[int | str]
) -> Table:
    first = sizes[0][1]
    columns = [Column("k", Kind.TEXT), *(Column(name, Kind.SHARE) for name in first)]
    columns.append(Column("runs", Kind.COUNT))
    rows = [
        Row(
            [
                str(k),
                *(tau.tau.value for tau in taus.values()),
                max(tau.n_runs for tau in taus.values()),
            ]
        )
        for k, taus in sizes
    ]
    notes = ["Each measure is compared with Cov(y), and Den(Z) with Den(y)."]
    if left := [str(k) for k in wanted if k not in dict(sizes)]:
        notes.append(f"No k {', '.join(left)}: the contexts in the folder have fewer passages.")
    return Table("tau-b to the reports by context size (Table 3)", columns, rows, notes=notes)


def _uses(uses: Sequence[Use]) -> Table:
    columns = [
        Column("run", Kind.NAME),
        Column("used", Kind.COUNT),
        Column("unused", Kind.COUNT, "retrieved, not used"),
        Column("unused_share", Kind.SHARE, "share"),
        Column("unretrieved", Kind.COUNT, "used, not retrieved"),
        Column("unretrieved_share", Kind.SHARE, "share"),
        Column("neither", Kind.COUNT),
        Column("unjudged", Kind.COUNT),
    ]
    by_run: dict[str, Counter[str | None]] = {}
    for use in uses:
        by_run.setdefault(use.run_id, Counter())[use.kind] += 1
    rows = [
        Row(
            [
                run_id,
                n[USED],
                n[UNUSED],
                _share(n[UNUSED], n[USED]),
                n[UNRETRIEVED],
                _share(n[UNRETRIEVED], n[USED]),
                n[NEITHER],
                n[None],
            ]
        )
        for run_id, n in sorted(
            by_run.items(), key=lambda item: -(_share(item[1][UNUSED], item[1][USED]) or 0.0)
        )
    ]
    notes = [
        "Shares: of the questions that the context answers, and of those that the report answers. "
        "--run NAME lists the questions."
    ]
    return Table("Answerable questions in contexts and reports", columns, rows, notes=notes)


def _share(n: int, used: int) -> float | None:
    return n / (n + used) if n + used else None


def _variants(title: str, variants: Sequence[tuple[str, Variant]], base: str) -> Table:
    first = variants[0][1].contexts
    columns = [Column("run", Kind.NAME)]
    columns += [Column(name, Kind.SHARE, optional=1) for name, _ in variants]
    runs = sorted(first, key=lambda run: (-(first[run].value or 0.0), run))
    rows = [Row([run, *(_mean(variant.contexts[run]) for _, variant in variants)]) for run in runs]
    notes = [] if first else ["No run has contexts."]
    pairs: list[tuple[str, Callable[[Variant], RunTau]]] = [
        (f"tau-b to {base}", lambda variant: variant.to_base),
        ("tau-b to reports", lambda variant: variant.to_reports),
    ]
    for name, select in pairs:
        of_variants = [select(variant) for _, variant in variants]
        n_runs = max(tau.n_runs for tau in of_variants)
        if first and n_runs < MIN_RUNS:
            notes.append(f"No {name}: {_few(n_runs)} both values, {MIN_RUNS} are needed.")
        elif first:
            rows.append(Row([name, *(tau.tau.value for tau in of_variants)], Style.TRAILING))
    return Table(title, columns, rows, notes=notes, has_all=True)


def _few(n_runs: int) -> str:
    return f"{n_runs} run{' has' if n_runs == 1 else 's have'}"


def _mean(row: ScoreRow) -> Cell:
    """The value, with its bounds behind it where ratings are missing."""
    if not row.n_unjudged:
        return row.value
    return f"{format_share(row.value)} {format_bounds(row.low, row.high)}"


def as_object(found: Findings) -> dict[str, Any]:
    """Everything, as JSON."""
    from dataclasses import asdict

    from ....records.scores import score_row

    def variant_row(variant: Variant) -> dict[str, Any]:
        sides = {"contexts": variant.contexts, "reports": variant.reports}
        means = {
            side: {run: score_row(row) for run, row in rows.items()} for side, rows in sides.items()
        }
        taus = {"to_reports": asdict(variant.to_reports), "to_base": asdict(variant.to_base)}
        return {"eta": variant.settings.eta, "k": variant.settings.k, **means, **taus}

    return {
        "settings": found.settings.model_dump(mode="json"),
        "scores": [
            {
                "run": scored.name,
                "is_bound": scored.is_bound,
                "measures": {name: score_row(row) for name, row in scored.means.items()},
            }
            for scored in found.scored
        ],
        "to_report_coverage": {name: asdict(tau) for name, tau in found.measures.items()},
        "matrix": {
            one: {other: asdict(tau) for other, tau in others.items()}
            for one, others in found.matrix.items()
        },
        "by_eta": [
            variant_row(variant)
            | {"over_runs": {"reports": asdict(of_y), "contexts": asdict(of_z)}}
            for variant, of_y, of_z in found.spreads
        ],
        "to_reports_by_k": [
            {"k": k, **{name: asdict(tau) for name, tau in taus.items()}} for k, taus in found.sizes
        ],
        "by_k": [variant_row(variant) for variant in found.by_size],
        "uses": [asdict(use) for use in found.uses],
    }
