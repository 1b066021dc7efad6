"""`judge probe RESULTS --faults`: whether a judge sees faults that code has planted."""

from __future__ import annotations

from typing import Any

from ...views.table import View
from .kind import Kind, Wanted


def judges_of(wanted: Wanted) -> list[str]:
    """The judge that is named, else all of the results folder. Raises: InputError."""
    from ...programs.analysis.probe.faults.sources import judges_in

    return [wanted.judge] if wanted.judge is not None else judges_in(wanted.source)


def faults(wanted: Wanted, config: Any) -> Kind:
    """Plant faults, and show which of them the judges see."""
    from ...programs.analysis.probe.faults.probing import LIMIT, SelfTest, self_testing
    from ...programs.analysis.tables.probes import faults_view
    from ...records.reading.problems import Problems

    limit, judges = wanted.sample or LIMIT, judges_of(wanted)
    probing = self_testing(wanted.source, judges, config, Problems(), wanted.options())
    about = wanted.about(sample=limit, seed=wanted.seed)

    def view(result: Any, _: bool) -> View:
        return faults_view(result, limit, wanted.seed)

    return Kind(probing, SelfTest, about, view, missing="never taken as moved")
