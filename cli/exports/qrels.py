"""`judge export qrels`: grades as the TREC RAG track takes them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..tables import shown
from ..views.partial import opened


def qrels(
    context: typer.Context,
    results: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="A results folder of relevance.")
    ],
    out: Annotated[Path, typer.Option(help="The file.", rich_help_panel="Output")],
    run_id: Annotated[
        str, typer.Option(help="What the judgments are called, in the last column.")
    ] = "nuggetjudge",
) -> None:
    """Write grades as qrels of six columns, with a confidence, as the TREC RAG track takes them.

    Example: judge export qrels results/relevance --out grades.tsv --run-id my-judge
    """
    from ...exports.qrels import write_folder

    found = write_folder(opened(context, [results])[0], out, run_id)
    said = f"{found.n:,} grades, {found.n_sure:,} with a confidence of the judge, the others 1"
    missing = f"; {found.n_unjudged:,} passages not judged are left out" if found.n_unjudged else ""
    sys.stderr.write(shown(f"{said}{missing}. Written: {out}\n"))
