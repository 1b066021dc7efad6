"""`judge show`: an answer with its judgements, where a run loses, and what all runs miss."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ..options import AsJson, told
from ..stopping import list_problems
from ..tables import shown


def show(
    context: typer.Context,
    results: Annotated[
        Path, typer.Argument(exists=True, file_okay=False, help="A results folder.")
    ],
    run: Annotated[str | None, typer.Argument(help="A run: where it loses.")] = None,
    of_topic: Annotated[
        str | None, typer.Argument(metavar="[TOPIC]", help="Its answer, with all judgements of it.")
    ] = None,
    topic: Annotated[str | None, typer.Option(help="A topic: what each run misses of it.")] = None,
    measure: Annotated[
        str | None, typer.Option(help="Measure to order by; default: the first of the folder.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            exists=True, dir_okay=False, help="People's labels, shown beside the judge's."
        ),
    ] = None,
    passages: Annotated[
        bool, typer.Option("--passages", help="Print the cited passages too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what is in a results folder, where a run loses, or why an answer was judged so.

    Examples: judge show results/demo / judge show results/demo thin
    / judge show results/demo thin demo-bees / judge show results/demo --topic demo-bees
    """
    from ...programs.analysis.answers.showing import show_answer, show_summary
    from ...records.reading.problems import InputError, Problems
    from .partial import opened

    if of_topic is not None and topic is not None:
        raise InputError("--topic: the topic is named already; wanted RUN TOPIC, or --topic alone")
    problems = Problems()
    (folder,) = opened(context, [results])
    topic = of_topic if of_topic is not None else topic
    hint = ""
    if run is not None and topic is not None:
        try:
            found = show_answer(folder, run, topic, problems, labels=labels, passages=passages)
        except InputError:  # which what was left out may explain
            list_problems(problems)
            raise
        if not passages and any(judged.get("passage") for judged in found.data["judged"]):
            hint = "\n--passages prints the cited passages.\n"
    elif labels is not None or passages:
        name = "--labels" if labels is not None else "--passages"
        raise InputError(f"{name}: shown with one answer; name its run and topic too")
    else:
        found = show_summary(folder, run, topic, problems, measure=measure, named=results)
    told([found.data], lambda: shown(found.text + hint), as_json=as_json)
    list_problems(problems)
