"""`judge annotate export` and `import`: labels as files for other commands, and from others."""

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

_Kind = Annotated[Kinds | None, typer.Option(help="What was labelled; default: the only one.")]


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
    """Write the labels of a folder as a file that agree, calibrate, score and next read.

    Example: judge annotate export labels --out human.csv

    Args:
        folder (DIR): Of the labels.
        condition: Whose labels, where there are both.
        labels_as: A row for each person and item, or one for each item.
        results: What was labelled, if it is elsewhere by now.
        annotator: Whose nuggets, where several edited a topic.

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
    """Put label files of others beside the labels of a folder, to compare and to adjudicate.

    Example: judge annotate import theirs.csv --dir labels

    Args:
        files: Label files of others.
        folder: Folder of the labels.
        condition: Of all of them; default: as the files say.
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
