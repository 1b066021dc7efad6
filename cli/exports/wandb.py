"""`judge export wandb`: results as a run of Weights & Biases."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from ..tables import write_note
from ..views.partial import opened
from .folders import Results


def wandb(
    context: typer.Context,
    results: Results,
    *,
    project: str,
    name: str | None = None,
    mode: Literal["offline", "online"] = "offline",
    out: Path = Path("."),
) -> None:
    """Write results as a W&B run: config, scores with intervals, a table by question, the report.

    Example: judge export wandb results/demo --project rag

    Args:
        project: Of W&B.
        name: Of the run there; default: that of the folder.
        mode: offline: into files, nothing is sent; online: with your own login.

    Output:
        out: Folder for the files of W&B.
    """
    from ...exports.wandb_runs import write_folder

    folder = opened(context, [results])[0]
    written = write_folder(folder, project, name or results.resolve().name, mode, out)
    sent = "sent, and written" if mode == "online" else "nothing was sent; to send it: wandb sync"
    write_note(f"W&B run, {sent} {written}\n")
