"""`judge agree`: a judge against people, and people against each other."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from .conditions import where_of
from .terminal import shown


class Form(StrEnum):
    """How plots are written."""

    svg = "svg"
    png = "png"


def agree(
    human: Annotated[
        Path,
        typer.Argument(exists=True, help="Labels (or scores) taken as the truth, or a folder."),
    ],
    judged: Annotated[
        Path | None,
        typer.Argument(
            exists=True,
            help="Labels (or scores) to compare, or a results folder; "
            "without it the annotators of HUMAN are compared.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            help="FIELD=VALUE that rows of HUMAN must have; of one field repeated, either."
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="What to compare of folders: nuggets, support, relevance, ratings, keypoints, "
            "scores."
        ),
    ] = None,
    resamples: Annotated[
        int, typer.Option(min=0, help="Samples of topics behind the intervals; 0: no intervals.")
    ] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of the samples.")] = 0,
    level: Annotated[
        float, typer.Option(min=0.5, max=0.9999, help="Of the intervals: 0.95 for 95%.")
    ] = 0.95,
    plots: Annotated[
        Path | None,
        typer.Option(file_okay=False, help="Draw a confusion matrix, or scores, into this folder."),
    ] = None,
    plot_format: Annotated[Form, typer.Option(help="How plots are written.")] = Form.svg,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Compare two files of labels cell by cell, two files of scores by rank, or annotators.

    Example: judge agree human.jsonl results/assignments.jsonl --json
    """
    from ..programs.analysis.agree import agree as compare
    from ..programs.analysis.agree_plots import write_plots
    from ..records.reading.problems import Problems
    from .agree_text import annotators_text, labels_text, scores_text
    from .score import list_problems

    problems = Problems()
    found = compare(
        human,
        judged,
        problems,
        where_of(where or ()),
        kind,
        resamples=resamples,
        seed=seed,
        level=level,
    )
    written = [] if plots is None else write_plots(found, plots, plot_format.value)
    if as_json:
        from .tables import write_objects

        write_objects([found])
    elif judged is None:
        sys.stdout.write(shown(annotators_text(found)))
    elif found["kind"] == "scores":
        sys.stdout.write(shown(scores_text(found)))
    else:
        sys.stdout.write(shown(labels_text(found)))
    for path in written:
        sys.stderr.write(f"{shown(str(path))}\n")
    list_problems(problems)
