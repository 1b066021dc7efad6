"""`judge score`: scores of stored judgements."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .terminal import shown


def score(
    path: Annotated[
        Path,
        typer.Argument(
            exists=True, help="A results folder, nugget assignments, or support assignments."
        ),
    ],
    topics: Annotated[
        Path | None, typer.Option(exists=True, help="Topics that every run must answer.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Score rows, one JSON object a line.")
    ] = False,
) -> None:
    """Score stored judgements again, without a model. Example: judge score results/demo --json"""
    from ..programs.score import score_path
    from ..records.problems import Problems
    from .tables import leaderboard, write_rows

    problems = Problems()
    rows = score_path(path, problems, topics=topics)
    if as_json:
        write_rows(rows)
    else:
        sys.stdout.write(leaderboard(rows))
    list_problems(problems)


def list_problems(problems: object) -> None:
    """Tell on stderr what the readers left out or doubted, by kind, with the first place."""
    from ..records.problems import Problems

    assert isinstance(problems, Problems)
    for kind, n in problems.counts().items():
        first = next(row for row in problems if row.kind == kind)
        sys.stderr.write(f"{n:>7,} {kind} ({first.action}), first at {shown(str(first))}\n")
