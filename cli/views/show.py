"""`judge show`: an answer with its judgements, where a run loses, and what all runs miss."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ..options import AsJson
from ..stopping import list_problems
from ..tables import write_objects


def show(
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
    from ...programs.analysis.answers import summaries
    from ...records.reading.problems import InputError, Problems

    if of_topic is not None and topic is not None:
        raise InputError("--topic: the topic is named already; wanted RUN TOPIC, or --topic alone")
    problems = Problems()
    topic = of_topic if of_topic is not None else topic
    if run is not None and topic is not None:
        _answer(results, run, topic, labels, problems, passages=passages, as_json=as_json)
        return
    if labels is not None or passages:
        name = "--labels" if labels is not None else "--passages"
        raise InputError(f"{name}: shown with one answer; name its run and topic too")
    from . import summary_text

    found: dict[str, Any]
    if run is not None:
        found, text = summaries.run_summary(results, run, problems, measure), summary_text.run_text
    elif topic is not None:
        found = summaries.topic_summary(results, topic, problems, measure)
        text = summary_text.topic_text
    else:
        found, text = summaries.folder_summary(results, problems, measure), summary_text.folder_text
    if as_json:
        write_objects([found])
    else:
        sys.stdout.write(text(found, results))
    list_problems(problems)


def _answer(
    results: Path,
    run: str,
    topic: str,
    labels: Path | None,
    problems: Any,
    *,
    passages: bool,
    as_json: bool,
) -> None:
    from ...programs.analysis.answers.overlap import by_words
    from ...programs.analysis.answers.views import answers_of
    from ...programs.engine.manifest import read_manifest
    from ...records.reading.problems import InputError
    from .answer_text import answer_text
    from .wording import command

    view = next(answers_of(results, problems, run=run, topic=topic, labels=labels), None)
    list_problems(problems)
    if view is None:
        others = command("judge", "show", results, "--topic", topic)
        raise InputError(f"{results}: {run} has no answer to topic {topic}; others: {others}")
    overlap = by_words(read_manifest(results))
    if as_json:
        write_objects([view.as_row() | {"word_overlap": overlap}])
        return
    sys.stdout.write(answer_text(view, overlap, passages=passages))
    if not passages and any(judged.passage for judged in view.judged):
        sys.stdout.write("\n--passages prints the cited passages.\n")
