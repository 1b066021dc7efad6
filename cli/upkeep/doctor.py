"""`judge doctor`: a few real calls, and what they say about a model's endpoint."""

from __future__ import annotations

import typer

from ..flags import Given, settings
from ..hints import fit_hint
from ..options import AsJson, print_result
from ..stopping import INCOMPLETE, INPUT
from ..tables import shown


@settings()
def doctor(given: Given, what: str | None = None, *, as_json: AsJson = False) -> None:
    """Check key and endpoint of each model, and what it refuses, with the cost.

    Example: judge doctor --model hosted_vllm/qwen --api-base http://127.0.0.1:8000/v1

    Exit: 0 ready, 2 unusable, 3 usable with other settings than the config has.

    Args:
        what: A config file; without one, name --model.
    """
    from ...programs.doctor import examine_all

    is_bare = what is None and given.path is None
    reports = examine_all(given.config_of("support" if is_bare else what))
    objects = (report.as_dict() for report in reports)
    texts = (fit_hint(report.as_text(as_flags=is_bare)) for report in reports)
    print_result(objects, lambda: "".join(map(shown, texts)), as_json=as_json)
    if any(report.unusable for report in reports):
        raise typer.Exit(INPUT)
    if not all(report.is_ready for report in reports):
        raise typer.Exit(INCOMPLETE)
