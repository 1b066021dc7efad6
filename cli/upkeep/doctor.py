"""`judge doctor`: a few real calls, and what they say about a model's endpoint."""

from __future__ import annotations

import sys
from dataclasses import replace

import typer

from ..flags import Given, settings
from ..hints import fit_hint
from ..options import AsJson
from ..stopping import INCOMPLETE, INPUT
from ..tables import write_objects


@settings(config=False)
def doctor(given: Given, what: str | None = None, *, as_json: AsJson = False) -> None:
    """Check key and endpoint of each model, and what it refuses, with the cost.

    Example: judge doctor --model hosted_vllm/qwen --api-base http://127.0.0.1:8000/v1

    Exit: 0 ready, 2 unusable, 3 usable with other settings than the config has.

    Args:
        what: A config file; without one, name --model.
    """
    from ...programs.doctor import examine_all
    from ...views.printing import print_view

    is_bare = what is None and given.path is None
    reports = examine_all(given.config_of("support" if is_bare else what))
    if as_json:
        write_objects(report.as_dict() for report in reports)
    else:
        for i, report in enumerate(reports):
            sys.stdout.write("\n" if i else "")
            fitted = replace(report, trouble=list(map(fit_hint, report.trouble)))
            print_view(fitted.as_view(as_flags=is_bare))
    if any(report.unusable for report in reports):
        raise typer.Exit(INPUT)
    if not all(report.is_ready for report in reports):
        raise typer.Exit(INCOMPLETE)
