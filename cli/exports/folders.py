"""`judge export parquet` and `judge export huggingface`: results files in another form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from ..tables import write_note
from ..views.partial import opened

Results = Annotated[Path, typer.Argument(exists=True, file_okay=False, help="A results folder.")]


def parquet(context: typer.Context, results: Results, *, out: Path) -> None:
    """Write each results file as Parquet, with the same columns and types for every folder.

    Example: judge export parquet results/demo --out tables

    Output:
        out: Folder for the files.
    """
    from ...exports.parquet import write_folder

    say(write_folder(opened(context, [results])[0], out), out)


def huggingface(context: typer.Context, results: Results, *, out: Path) -> None:
    """Write the results files as a Hugging Face dataset on disk; nothing is uploaded.

    Example: judge export huggingface results/demo --out dataset

    Output:
        out: Folder for the dataset.
    """
    from ...exports.huggingface import write_folder

    say(write_folder(opened(context, [results])[0], out), out)


def say(counts: Mapping[str, int], out: Path) -> None:
    """Say on stderr how many rows were written, and how many judgements `failed`, as 0 there."""
    rows = ", ".join(f"{name} {n:,}" for name, n in counts.items() if name != "failed")
    text = f"Rows: {rows}\n"
    if n := counts.get("failed"):
        text += (
            f"{n:,} judgements did not arrive: failed or -1 there, which its metrics take for 0\n"
        )
    write_note(f"{text}Written: {out}\n")
