"""`judge export`: what was judged, where other tools look for it; a file a command. Imports exports
and programs; only the list of commands may import it."""

from __future__ import annotations

import typer

from ....cli.options import add
from .autojudge import autojudge
from .mlflow import mlflow
from .qrels import qrels
from .repaired import repaired
from .tools import nuggetizer, ragdoll, researchrubrics

export = typer.Typer(
    help="Write results for other tools, and answers with suggested citations.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@export.callback()
def _export() -> None:
    """Write results for other tools, and answers with suggested citations."""


for command in (mlflow, repaired, ragdoll, nuggetizer, researchrubrics, autojudge, qrels):
    add(export, command)
