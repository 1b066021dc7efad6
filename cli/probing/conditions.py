"""`judge probe SOURCE`: what moves when one thing about the judge is changed."""

from __future__ import annotations

from typing import Any

from ..tables import bounds, cell, figure, shown
from .kind import Kind, Wanted, who


def conditions(wanted: Wanted, judge: str, config: Any) -> Kind:
    """Ask under other conditions; `wanted` says which."""
    from ...programs.analysis.probe.probe import LIMIT, Probed, probing_conditions
    from ...records.reading.problems import Problems

    kinds = _kinds(wanted.conditions)
    options = wanted.options(kinds=kinds)
    probing = probing_conditions(wanted.source, judge, config, Problems(), options)
    limit = wanted.sample or LIMIT
    about = wanted.about(conditions=kinds, limit=limit, seed=wanted.seed, repeats=wanted.repeats)
    return Kind(probing, Probed, about, probe_text, missing="never compared")


def probe_text(result: Any) -> str:
    """What a probe found as a table of 100 columns; `--json` has all figures."""
    base = result.rows[0]
    best = cell(result.judge["scale"][-1])
    level = f"{base['share_best']:.1%} {best}, " if base["share_best"] is not None else ""
    gain = f"mean gain {base['mean_gain']:.3f}" if base["mean_gain"] is not None else ""
    lines = [
        f"{who(result.judge)}: {len(result.items):,} items; base: {base['what']}",
        f"base: {base['n_judged']:,} judged, {base['n_unjudged']:,} unjudged; {level}{gain}",
        "",
        f"{'condition':<16}{'n':>5}{'lost':>5}{'changed':>8}{'kappa':>7}{'interval':>15}"
        f"{'linear':>7}{'best':>8}{'interval':>16}{'runs':>7}{'tau-b':>6}",
    ]
    for row in result.rows[1:]:
        kappa, runs = row["kappa"], row["runs"] or {}
        agreed, linear, shift = kappa["unweighted"], kappa.get("linear", {}), row["best"] or {}
        lines.append(
            f"{cell(row['condition'], 16):<16}{row['n']:>5}{row['n_unjudged']:>5}"
            f"{figure(row['changed']['value']):>8}{figure(agreed['value']):>7}{bounds(agreed):>15}"
            f"{figure(linear.get('value')):>7}{figure(shift.get('value'), sign='+'):>8}"
            f"{bounds(shift, '+'):>16}{figure(runs.get('largest')):>7}"
            f"{figure(runs.get('tau_b'), 2):>6}"
        )
    lines += _effect_lines(result.effects)
    lines += ["", f"{'condition':<16}{'calls':>8}{'x base':>8}{'tokens':>12}{'x base':>8}  what"]
    for row in result.rows:
        if cost := row["cost"]:
            lines.append(
                f"{cell(row['condition'], 16):<16}{cost['calls']:>8,}"
                f"{cost['calls_of_base']:>8.2f}{cost['tokens']:>12,}"
                f"{cost['tokens_of_base']:>8.2f}  {cell(row['what'], 46)}"
            )
    return shown("\n".join(lines) + "\n")


def _effect_lines(effects: Any) -> list[str]:
    if not effects:
        return []
    head = (
        f"{'effect':<16}{'n':>5}{'lost':>5}{'gain':>8}{'interval':>16}{'best':>8}{'interval':>16}"
    )
    lines = ["", f"{head}  what"]
    for row in effects:
        sizes = "".join(
            f"{figure(row[name]['value'], sign='+'):>8}{bounds(row[name], '+'):>16}"
            for name in ("gain", "best")
        )
        counts = f"{row['effect']:<16}{row['n']:>5}{row['n_unjudged']:>5}"
        lines.append(f"{counts}{sizes}  {row['what']}")
    return lines


def _kinds(text: str | None) -> Any:
    from ...programs.analysis.probe.conditions import KINDS
    from ...records.reading.problems import InputError

    if text is None:
        return KINDS
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in KINDS]:
        raise InputError(f"--conditions {unknown[0]!r}: wanted some of {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in names)
