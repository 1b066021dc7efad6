"""`judge annotate export` and `import`: labels as files for other commands, and from others."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..stopping import list_problems
from ..tables import shown
from .names import Conditions, Kinds, stored

_Kind = Annotated[Kinds | None, typer.Option(help="What was labelled; default: the only one.")]


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", exists=True, file_okay=False, help="Of the labels.")
    ],
    out: Annotated[
        Path, typer.Option(help="File to write: .csv or .jsonl.", rich_help_panel="Output")
    ],
    kind: _Kind = None,
    condition: Annotated[
        Conditions | None, typer.Option(help="Whose labels, where there are both.")
    ] = None,
    labels_as: Annotated[
        Literal["annotators", "adjudicated"],
        typer.Option(help="A row for each person and item, or one for each item."),
    ] = "annotators",
    results: Annotated[
        list[Path] | None,
        typer.Option(exists=True, help="What was labelled, if it is elsewhere by now."),
    ] = None,
    annotator: Annotated[
        str | None, typer.Option(help="Whose nuggets, where several edited a topic.")
    ] = None,
) -> None:
    """Write the labels of a folder as a file that agree, calibrate, score and next read.

    Example: judge annotate export labels --out human.csv
    """
    from ...annotation.out.exporting import export as write
    from ...annotation.out.exporting import summary
    from ...records.reading.problems import Problems

    problems = Problems()
    done = write(
        folder,
        out,
        problems,
        labels_as=labels_as,
        kind=kind,
        condition=stored(condition),
        results=results or (),
        annotator=annotator,
    )
    list_problems(problems)
    sys.stdout.write(shown("\n".join(summary(done, labels_as)) + "\n"))


def take_in(
    files: Annotated[
        list[Path], typer.Argument(exists=True, dir_okay=False, help="Label files of others.")
    ],
    folder: Annotated[
        Path, typer.Option("--dir", file_okay=False, help="Folder of the labels.")
    ] = Path("labels"),
    kind: _Kind = None,
    condition: Annotated[
        Conditions | None, typer.Option(help="Of all of them; default: as the files say.")
    ] = None,
) -> None:
    """Put label files of others beside the labels of a folder, to compare and to adjudicate.

    Example: judge annotate import theirs.csv --dir labels
    """
    from ...annotation.out.importing import import_labels
    from ...records.reading.problems import Problems

    problems = Problems()
    found = import_labels(files, folder, problems, kind=kind, condition=stored(condition))
    list_problems(problems)
    lines = [f"{one.n:>8,}  {one.kind} of {one.name}, {one.n_new:,} new" for one in found]
    sys.stdout.write(shown("\n".join(lines) + "\n"))
