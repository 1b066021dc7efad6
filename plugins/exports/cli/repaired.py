"""`judge export repaired`: answers with suggested citations."""

from __future__ import annotations

from pathlib import Path

from ....cli.signatures import There
from ....cli.tables import write_note


def repaired(results: There, *, out: Path) -> None:
    """Write the runs with the suggestions that are used as first citations, the old ones beside.

    They get names of their own, so that nobody takes their scores for those of the systems.

    Example: judge export repaired results/evidence --out repaired

    Args:
        results: A results folder of judge run evidence.

    Output:
        out: Folder for the run files.
    """
    from ....programs.protocols.evidence.repaired import export_repaired

    counts = export_repaired(results, out)
    write_note(
        f"{counts['changed_sentences']:,} sentences of {counts['changed_answers']:,} of "
        f"{counts['answers']:,} answers have a new first citation. Written: {out}\n"
    )
