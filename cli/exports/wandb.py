"""`judge export wandb`: results as a run of Weights & Biases."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..tables import shown
from ..views.partial import opened
from .folders import Results


def wandb(
    context: typer.Context,
    results: Results,
    project: Annotated[str, typer.Option(help="Of W&B.")],
    name: Annotated[
        str | None, typer.Option(help="Of the run there; default: that of the folder.")
    ] = None,
    mode: Annotated[
        Literal["offline", "online"],
        typer.Option(help="offline: into files, nothing is sent; online: with your own login."),
    ] = "offline",
    out: Annotated[
        Path, typer.Option(help="Folder for the files of W&B.", rich_help_panel="Output")
    ] = Path("."),
) -> None:
    """Write results as a W&B run: config, scores with intervals, a table by question, the report.

    Example: judge export wandb results/demo --project rag
    """
    from ...exports.wandb_runs import write_folder

    folder = opened(context, [results])[0]
    written = write_folder(folder, project, name or results.resolve().name, mode, out)
    sent = "sent, and written" if mode == "online" else "nothing was sent; to send it: wandb sync"
    sys.stderr.write(shown(f"W&B run, {sent} {written}\n"))
