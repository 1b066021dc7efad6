"""`judge export repaired`: answers with suggested citations."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..tables import shown


def repaired(
    results: Annotated[
        Path, typer.Argument(exists=True, help="A results folder of judge run evidence.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for the run files.", rich_help_panel="Output")],
) -> None:
    """Write the runs with the suggestions that are used as first citations, the old ones beside.

    They get names of their own, so that nobody takes their scores for those of the systems.

    Example: judge export repaired results/evidence --out repaired
    """
    from ...programs.protocols.evidence.repaired import export_repaired

    found = export_repaired(results, out)
    sys.stderr.write(
        shown(
            f"{found['changed_sentences']:,} sentences of {found['changed_answers']:,} of "
            f"{found['answers']:,} answers have a new first citation. Written: {out}\n"
        )
    )
