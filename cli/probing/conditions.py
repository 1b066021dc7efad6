"""`judge probe SOURCE`: what moves when one thing about the judge is changed."""

from __future__ import annotations

from typing import Any

from .kind import Kind, Wanted


def conditions(wanted: Wanted, judge: str, config: Any) -> Kind:
    """Ask under other conditions; `wanted` says which."""
    from ...programs.analysis.probe.probe import LIMIT, Probed, probing_conditions
    from ...programs.analysis.tables.probes import conditions_view
    from ...records.reading.problems import Problems

    kinds = _kinds(wanted.conditions)
    options = wanted.options(kinds=kinds)
    probing = probing_conditions(wanted.source, judge, config, Problems(), options)
    limit = wanted.sample or LIMIT
    about = wanted.about(conditions=kinds, limit=limit, seed=wanted.seed, repeats=wanted.repeats)
    return Kind(probing, Probed, about, conditions_view, missing="never compared")


def _kinds(text: str | None) -> Any:
    from ...programs.analysis.probe.conditions import KINDS
    from ...records.reading.problems import InputError

    if text is None:
        return KINDS
    names = [name.strip() for name in text.split(",")]
    if unknown := [name for name in names if name not in KINDS]:
        raise InputError(f"--conditions {unknown[0]!r}: wanted some of {', '.join(KINDS)}")
    return tuple(kind for kind in KINDS if kind in names)
