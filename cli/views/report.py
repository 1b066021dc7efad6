"""`judge report`: results as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..stopping import list_problems


def report(
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
) -> None:
    """Write a page that shows results: one HTML file, which needs no network.

    Example: judge report results/demo --out demo.html
    """
    from ...records.reading.problems import Problems
    from ...report.page import write_report
    from ...report.source import Source

    problems = Problems()
    write_report(Source(results, problems, labels=labels or []), out)
    list_problems(problems)
    sys.stdout.write(f"{out}\n")
