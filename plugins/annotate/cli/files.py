"""`judge annotate export` and `import`: write labels for other commands, add label files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from ....cli.options import TableLayout
from ....cli.signatures import ExistingPath, File, Folder, NewFolder, OptionRules
from ....cli.stopping import list_problems
from ....cli.tables import write_text
from ....records.reading.problems import Problems
from .names import Conditions, Kinds, get_condition

_Kind = Annotated[Kinds | None, typer.Option(help="Kind of labels; default: the only one.")]


def export(
    folder: Folder,
    *,
    out: Path,
    kind: _Kind = None,
    condition: Conditions | None = None,
    labels_as: Literal["annotators", "adjudicated"] = "annotators",
    results: list[ExistingPath] | None = None,
    annotator: str | None = None,
) -> None:
    """Write the labels of a folder as one file for agree, calibrate, score and next.

    Example: judge annotate export labels --out human.csv

    Args:
        folder (DIR): Folder with the labels.
        condition: Which labels to write, if the folder has both.
        labels_as: annotators: one row per person and item; adjudicated: one row per item.
        results: The labelled results, if they have moved.
        annotator: Whose nuggets to write, if several people edited a topic.

    Output:
        out: File to write: .csv or .jsonl.
    """
    from ..out.exporting import export as write
    from ..out.exporting import summary

    problems = Problems()
    done = write(
        folder,
        out,
        problems,
        labels_as=labels_as,
        kind=kind,
        condition=get_condition(condition),
        results=results or (),
        annotator=annotator,
    )
    list_problems(problems)
    write_text("\n".join(summary(done, labels_as)) + "\n")


def take_in(
    files: list[File],
    *,
    folder: Annotated[NewFolder, OptionRules("--dir")] = Path("labels"),
    kind: _Kind = None,
    condition: Conditions | None = None,
    table: TableLayout,
) -> None:
    """Add label files from elsewhere to a folder of labels, to compare and adjudicate them.

    Example: judge annotate import theirs.csv --dir labels

    Args:
        files: Label files.
        folder: Folder with the labels.
        condition: Condition of all these labels; default: the one in the files.
    """
    from ..out.importing import import_labels

    problems = Problems()
    imported = import_labels(
        *(files, folder, problems),
        kind=kind,
        condition=get_condition(condition),
        how=table.options,
    )
    list_problems(problems)
    lines = [f"{one.n:>8,}  {one.kind} of {one.name}, {one.n_new:,} new" for one in imported]
    write_text("\n".join(lines) + "\n")
