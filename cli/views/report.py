"""`judge report`: results as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ..stopping import list_problems


def report(
    context: typer.Context,
    results: Annotated[
        list[Path], typer.Argument(exists=True, file_okay=False, help="Results folders.")
    ],
    labels: Annotated[
        list[Path] | None,
        typer.Option(exists=True, help="People's labels of what was judged; again for each kind."),
    ] = None,
    out: Annotated[Path, typer.Option(help="The file to write.", rich_help_panel="Output")] = Path(
        "report.html"
    ),
    texts: Annotated[
        Literal["all", "evidence", "none"],
        typer.Option(
            help="Answers: all of them, the sentences that judgements are about, or none.",
            rich_help_panel="Output",
        ),
    ] = "all",
    max_mb: Annotated[
        float,
        typer.Option(
            min=0, help="Megabytes of texts; above that they are cut.", rich_help_panel="Output"
        ),
    ] = 25.0,
    split: Annotated[
        bool,
        typer.Option("--split", help="A page beside for each topic.", rich_help_panel="Output"),
    ] = False,
) -> None:
    """Write a page that shows results: one HTML file, which needs no network.

    Example: judge report results/demo --out demo.html
    """
    from ...records.reading.problems import Problems
    from ...report.answers.texts import Wanted
    from ...report.page import write_report
    from ...report.source import Source
    from .partial import opened

    problems = Problems()
    folders = opened(context, results)
    given = Source(folders, problems, labels=labels or [], named=results)
    write_report(given, out, Wanted(texts, max_mb, split))
    list_problems(problems)
    sys.stdout.write(f"{out}\n")
