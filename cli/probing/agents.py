"""`judge probe ITEMS --injection` of an agent: whether passages that it finds end or steer it."""

from __future__ import annotations

from typing import Any

from .kind import Kind, Wanted


def agent_injection(wanted: Wanted, judge: str, config: Any) -> Kind:
    """Plant payloads in the passages that an agent looks at, and show what they do to it."""
    from ...programs.analysis.probe.agents.probing import InjectedAgent, injecting_agent
    from ...programs.analysis.tables.probes import agent_view
    from ...records.reading.problems import Problems

    probing = injecting_agent(wanted.source, judge, config, Problems(), wanted.options())
    about = wanted.about("sample", "repeats", "seed")
    return Kind(probing, InjectedAgent, about, agent_view, missing="neither flips nor not")
