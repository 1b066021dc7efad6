"""`judge probe RESULTS --faults`: whether a judge sees faults that code has planted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from ..tables import bounds, figure, shown
from .kind import Kind, Wanted, who


def judges_of(wanted: Wanted) -> list[str]:
    """The judge that is named, else all of the results folder. Raises: InputError."""
    from ...programs.analysis.probe.faults.sources import judges_in

    return [wanted.judge] if wanted.judge is not None else judges_in(wanted.source)


def faults(wanted: Wanted, config: Any) -> Kind:
    """Plant faults, and show which of them the judges see."""
    from ...programs.analysis.probe.faults.probing import LIMIT, SelfTest, self_testing
    from ...records.reading.problems import Problems

    limit, judges = wanted.sample or LIMIT, judges_of(wanted)
    probing = self_testing(wanted.source, judges, config, Problems(), wanted.options())
    about = wanted.about(sample=limit, seed=wanted.seed)
    text = partial(faults_text, limit=limit, seed=wanted.seed)
    return Kind(probing, SelfTest, about, text, missing="never taken as moved")


def faults_text(result: Any, limit: int, seed: int) -> str:
    """What a self-test found as tables of 100 columns; `--json` has all figures."""
    return "\n".join(_table(one, limit, seed) for one in result.tested)


def _table(one: Any, limit: int, seed: int) -> str:
    has_other = "lexical" in one.rows[-1]
    planted = f"{one.rows[-1]['planted']:,} faults planted"
    lines = [
        f"{who(one.judge)}: {planted} in {one.n_topics:,} topics; {limit} of each at most, "
        f"seed {seed}",
        "",
        f"{'':<25}{'labels that have to fall':>29}{'labels that have to stay':>27}"
        + (f"{'lexical':>19}" if has_other else ""),
        f"{'fault':<17}{'planted':>8}{'n':>5}{'fell':>8}{'interval':>16}{'n':>6}{'moved':>7}"
        f"{'interval':>14}{'lost':>5}" + (f"{'fell':>7}{'moved':>7}" if has_other else ""),
    ]
    for row in one.rows:
        if not row["planted"]:
            continue
        fell, moved = row["detection"], row["false_alarms"]
        lines.append(
            f"{row['fault']:<17}{row['planted']:>8}{fell['n']:>5}{figure(fell['value']):>8}"
            f"{bounds(fell):>16}{moved['n']:>6}{figure(moved['value']):>7}{bounds(moved):>14}"
            f"{fell['n_unjudged'] + moved['n_unjudged']:>5}"
            + (
                f"{figure(row['lexical']['detection']['value']):>7}"
                f"{figure(row['lexical']['false_alarms']['value']):>7}"
                if has_other
                else ""
            )
        )
    lines += ["", f"informedness, fell less moved: {_informed(one.rows[-1])}"]
    if has_other:
        lines[-1] += f"; lexical: {_informed(one.rows[-1]['lexical'])}"
    lines += _reasons(one.rows, "blind", "cannot see")
    lines += _reasons(one.rows, "not_planted", "not planted")
    return shown("\n".join(lines) + "\n")


def _reasons(rows: Sequence[Mapping[str, Any]], name: str, what: str) -> list[str]:
    """One line for each reason, with the faults that it is of."""
    of_reason: dict[str, list[str]] = {}
    for row in rows:
        if name in row:
            of_reason.setdefault(row[name], []).append(row["fault"])
    return [f"{what} {', '.join(names)}: {reason}" for reason, names in of_reason.items()]


def _informed(row: Mapping[str, Any]) -> str:
    informedness = row["informedness"]
    within = bounds(informedness, "+")
    return figure(informedness["value"], sign="+") + ("" if within == "-" else f" {within}")
