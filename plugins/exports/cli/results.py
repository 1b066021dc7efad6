"""What the commands of `judge export` share: the results folder they take, what they say after."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from ....cli.tables import write_note

Results = Annotated[Path, typer.Argument(exists=True, file_okay=False, help="A results folder.")]


def say(counts: Mapping[str, int], out: Path) -> None:
    """Say on stderr how many rows were written, and how many judgements `failed`, as 0 there."""
    rows = ", ".join(f"{name} {n:,}" for name, n in counts.items() if name != "failed")
    text = f"Rows: {rows}\n"
    if n := counts.get("failed"):
        text += (
            f"{n:,} judgements did not arrive: failed or -1 there, which its metrics take for 0\n"
        )
    write_note(f"{text}Written: {out}\n")
