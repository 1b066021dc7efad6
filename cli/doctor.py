"""`judge doctor`: one real call, and what it says about a model's endpoint."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from .exits import INCOMPLETE
from .terminal import shown


def doctor(
    what: Annotated[
        str | None, typer.Argument(help="A config file; without one, name --model.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="A model, or a name under models:.")] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE for any setting.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a model.")] = False,
) -> None:
    """Check key, endpoint, reply schema and log-probabilities of each model, with the cost.

    Example: judge doctor --model hosted_vllm/qwen --set
    models.default.api_base=http://127.0.0.1:8000/v1. Exit: 0 ready, 2 unusable, 3 usable with
    other settings than the config has.
    """
    from ..programs.doctor import examine_all
    from .run import resolve
    from .tables import write_objects

    config = resolve(what or "support", {}, sets, model)
    reports = examine_all(config)
    if as_json:
        write_objects(report.as_dict() for report in reports)
    else:
        for report in reports:
            sys.stdout.write(shown(report.as_text()))
    if not all(report.is_ready for report in reports):
        raise typer.Exit(INCOMPLETE)
