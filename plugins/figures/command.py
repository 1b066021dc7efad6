"""`judge figure`: results as figures of a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import typer

from ...cli.signatures import ExistingPath
from ...cli.stopping import list_problems
from ...cli.tables import write_text


def figure(
    context: typer.Context,
    what: Literal[
        "leaderboard",
        "tau",
        "topics",
        "length",
        "groups",
        "labels",
        "confusion",
        "measures",
        "annotators",
        "filter",
    ],
    results: list[ExistingPath],
    *,
    out: Path,
    measure: str | None = None,
    labels: ExistingPath | None = None,
    by: str | None = None,
    levels: str | None = None,
    run_groups: ExistingPath | None = None,
    width: Literal["column", "page"] = "column",
) -> None:
    """Draw a figure for a paper, without a browser, and print a caption for it.

    Examples: judge figure leaderboard results/demo --out leaderboard.pdf
    / judge figure tau results/demo --labels labels.jsonl --out tau.pdf

    Args:
        what: leaderboard: means with intervals; tau: the runs' scores by two judges; topics:
            scores by run and topic; length: score and words; groups: a radar by domain or
            category, lines by length of the documents; labels: the labels of each judge;
            confusion: two judges' labels, in percent; measures: tau-b of every two measures of
            coverage; annotators: coverage by the judge and by each annotator; filter: scores of
            the key point filter of a build, and false positives by threshold.
        results: Results folders, or files of judgements or scores. tau and confusion take two, or
            one and --labels.
        measure: What to draw; default: the first main measure.
        labels: Labels of people: for annotators, as the other side of tau and confusion, or to
            correct the scores of a leaderboard.
        by: For groups: domain, category or documents; default: category.
        levels (NAMES): What a point of tau and length is: some of runs,topics,cells (a run and a
            topic); default: runs.
        run_groups: File with lines of run, tab, group: shapes and colours of tau and length.

    Output:
        out: The file to write, .pdf, .svg or .png.
        width: One column (3.3 inches), or the page (6.9 inches).
    """
    from ...cli.stopping import open_results
    from ...records.reading.problems import Problems
    from .drawing import write_figure

    problems = Problems()
    folders = open_results(context, results)
    caption = write_figure(
        *(what, folders, out, problems),
        measure=measure,
        labels=labels,
        by=by,
        levels=levels,
        run_groups=run_groups,
        width=width,
    )
    list_problems(problems)
    write_text(f"{out}\n{caption}\n")
