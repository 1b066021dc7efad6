"""`judge score`: scores of stored judgements."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .conditions import where_of
from .terminal import shown


def score(
    path: Annotated[
        Path,
        typer.Argument(
            exists=True,
            help="A results folder, nugget or support assignments; with --labels any labels.",
        ),
    ],
    topics: Annotated[
        Path | None, typer.Option(exists=True, help="Topics that every run must answer.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            exists=True, help="Human labels of a random part of the items: also correct the scores."
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="FIELD=VALUE that rows of --labels must have; of one field repeated, either."
        ),
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help="Measure to correct; may be repeated; else all.")
    ] = None,
    against: Annotated[
        str | None, typer.Option(help="Run that others are compared with; else the judge's best.")
    ] = None,
    half_width: Annotated[
        float | None,
        typer.Option(help="Say how many labels an interval of this half-width takes."),
    ] = None,
    ignore_other_labels: Annotated[
        bool,
        typer.Option(
            "--ignore-other-labels",
            help="Leave out labels of topics or items that were not judged, and count them.",
        ),
    ] = False,
    level: Annotated[
        float, typer.Option(min=0.5, max=0.9999, help="Of the intervals: 0.95 for 95%.")
    ] = 0.95,
    as_json: Annotated[
        bool, typer.Option("--json", help="Score rows, one JSON object a line.")
    ] = False,
) -> None:
    """Score stored judgements again, without a model, and correct the scores with human labels.

    Examples: judge score results/demo --json
    / judge score results/demo --labels human.csv --half-width 0.02
    """
    from ..programs.scoring.score import score_path
    from ..records.reading.problems import InputError, Problems
    from .tables import leaderboard, write_objects, write_rows

    of_labels = {
        "--where": where,
        "--measure": measure,
        "--against": against is not None,
        "--half-width": half_width is not None,
        "--ignore-other-labels": ignore_other_labels,
    }
    problems = Problems()
    if labels is None:
        if idle := [name for name, given in of_labels.items() if given]:
            raise InputError(f"{', '.join(idle)}: for corrected scores alone, wanted --labels too")
        rows = score_path(path, problems, topics=topics)
        if as_json:
            write_rows(rows)
        else:
            sys.stdout.write(leaderboard(rows))
    else:
        from ..programs.scoring.corrected import corrected_scores
        from .corrected_text import corrected_rows, corrected_text

        found = corrected_scores(
            path,
            labels,
            problems,
            where=where_of(where or ()),
            topics=topics,
            measures=measure or (),
            against=against,
            half_width=half_width,
            level=level,
            ignore_others=ignore_other_labels,
        )
        if as_json:
            write_rows(found.plain)
            write_objects(corrected_rows(found))
        else:
            sys.stdout.write(leaderboard(found.plain) + "\n" * bool(found.plain))
            sys.stdout.write(corrected_text(found))
    list_problems(problems)


def list_problems(problems: object) -> None:
    """Tell on stderr what the readers left out or doubted, by kind, with the first place."""
    from ..records.reading.problems import Problems

    assert isinstance(problems, Problems)
    for kind, n in problems.counts().items():
        first = next(row for row in problems if row.kind == kind)
        sys.stderr.write(f"{n:>7,} {kind} ({first.action}), first at {shown(str(first))}\n")
