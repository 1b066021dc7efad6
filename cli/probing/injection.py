"""`judge probe SOURCE --injection`: can prompt injection in a text change its label?."""

from __future__ import annotations

from typing import Any

from .kind import Kind, Wanted


def injection(wanted: Wanted, judge: str, config: Any) -> Kind:
    """Plant payloads, and show which labels they decide."""
    from ...programs.analysis.probe.injection.probing import Injected, injecting
    from ...programs.analysis.tables.probes import injection_view
    from ...records.reading.problems import Problems

    probing = injecting(wanted.source, judge, config, Problems(), wanted.options())
    about = wanted.about("sample", "repeats", "seed")
    return Kind(probing, Injected, about, injection_view, missing="neither flips nor not")
