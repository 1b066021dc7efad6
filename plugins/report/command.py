"""`judge report`: results as one HTML file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from ...cli.signatures import ExistingPath, Folder, OptionRules
from ...cli.stopping import list_problems
from ...cli.tables import escape


def report(
    context: typer.Context,
    results: list[Folder],
    *,
    labels: list[ExistingPath] | None = None,
    out: Path = Path("report.html"),
    texts: Literal["all", "evidence", "none"] = "all",
    max_mb: Annotated[float, OptionRules(min=0)] = 25.0,
) -> None:
    """Write a web page that shows results: one HTML file that works offline.

    Example: judge report results/demo --out demo.html

    Args:
        results: Results folders.
        labels: Labels from people for the judged items; repeat it for each kind.

    Output:
        out: The file to write.
        texts: Texts of answers to include: all, only the sentences with judgements, or none.
        max_mb: Megabytes of texts at most; more is cut.
    """
    from ...cli.stopping import open_results
    from ...records.reading.problems import Problems
    from .page import write_report
    from .source import Source
    from .texts import Wanted

    problems = Problems()
    folders = open_results(context, results)
    source = Source(folders, problems, labels=labels or [], named=results)
    write_report(source, out, Wanted(texts, max_mb))
    list_problems(problems)
    sys.stdout.write(f"{escape(str(out)) if sys.stdout.isatty() else out}\n")
