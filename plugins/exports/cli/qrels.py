"""`judge export qrels`: grades as the TREC RAG track takes them."""

from __future__ import annotations

from pathlib import Path

import typer

from ....cli.signatures import Folder
from ....cli.tables import write_note
from ....cli.views.partial import opened


def qrels(
    context: typer.Context,
    results: Folder,
    *,
    out: Path,
    run_id: str = "nuggetjudge",
) -> None:
    """Write grades as qrels of six columns, with a confidence, as the TREC RAG track takes them.

    Example: judge export qrels results/relevance --out grades.tsv --run-id my-judge

    Args:
        results: A results folder of relevance.
        run_id: What the judgments are called, in the last column.

    Output:
        out: The file.
    """
    from ..qrels import write_folder

    written = write_folder(opened(context, [results])[0], out, run_id)
    counts = (
        f"{written.n:,} grades, {written.n_sure:,} with a confidence of the judge, the others 1"
    )
    missing = (
        f"; {written.n_unjudged:,} passages not judged are left out" if written.n_unjudged else ""
    )
    write_note(f"{counts}{missing}. Written: {out}\n")
