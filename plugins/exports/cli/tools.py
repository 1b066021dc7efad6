"""`judge export ragdoll`, `nuggetizer`, `researchrubrics`: results as those tools write theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ....cli.stopping import list_problems
from ....cli.views.partial import opened
from .results import Results, say

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the files.")]


def ragdoll(context: typer.Context, results: Results, out: Folder) -> None:
    """Write nuggets, support, relevance, rubrics as RAGDoll does, for its metrics and arena.

    Example: judge export ragdoll results/demo for-ragdoll
    """
    from ....records.reading.problems import Problems
    from ..ragdoll import write_folder

    problems = Problems()
    say(write_folder(opened(context, [results])[0], out, problems), out)
    list_problems(problems)


def nuggetizer(context: typer.Context, results: Results, out: Folder) -> None:
    """Write nuggets, assignments and metrics as nuggetizer does.

    Example: judge export nuggetizer results/demo for-nuggetizer
    """
    from ..nuggetizer import write_folder

    say(write_folder(opened(context, [results])[0], out), out)


def researchrubrics(context: typer.Context, results: Results, out: Folder) -> None:
    """Write rubrics, and the verdicts of each run, as ResearchRubrics does.

    Example: judge export researchrubrics results/rubric for-researchrubrics
    """
    from ..rubrics import write_folder

    say(write_folder(opened(context, [results])[0], out), out)
