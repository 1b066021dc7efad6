"""`judge show`: an answer with its judgements, where a run fails, and what all runs miss."""

from __future__ import annotations

import typer

from ...views.table import View
from ..options import AsJson, Output, print_result
from ..signatures import File, Folder
from ..stopping import list_problems
from ..tables import escape


def show(
    context: typer.Context,
    results: Folder,
    run: str | None = None,
    of_topic: str | None = None,
    *,
    topic: str | None = None,
    measure: str | None = None,
    by: str | None = None,
    labels: File | None = None,
    passages: bool = False,
    as_json: AsJson = False,
) -> None:
    """Show what a results folder has, where a run fails, or how an answer was judged.

    Examples: judge show results/demo / judge show results/demo thin
    / judge show results/demo thin demo-bees / judge show results/demo --topic demo-bees

    Args:
        results: A results folder.
        run: Name of a run; shows where it fails.
        of_topic (TOPIC): Show the run's answer to this topic with its judgements.
        topic: Show what each run misses on this topic.
        measure: Measure to order by; default: the first in the folder.
        by: Means by group of topics: domain, category or documents (by length).
        labels: Human labels to show beside the judge's.
        passages: Also print the cited passages.
    """
    from ...programs.analysis.answers.show import show_answer, show_summary
    from ...programs.analysis.groups import make_group_table, read_group_means
    from ...records.reading.problems import InputError, Problems
    from ..stopping import open_results

    if of_topic is not None and topic is not None:
        raise InputError("--topic: the topic is given twice; wanted RUN TOPIC, or --topic alone")
    problems = Problems()
    (folder,) = open_results(context, [results])
    topic = of_topic if of_topic is not None else topic
    if by is not None:
        if (run, topic, labels, passages) != (None, None, None, False):
            raise InputError(f"--by {by}: shows all runs; give only the folder and --measure")
        names = None if measure is None else [measure]
        (means,) = read_group_means([folder], by, names, problems)
        Output(as_json=as_json).print(
            means.rows(), lambda _: View(tables=[make_group_table(means)])
        )
        list_problems(problems)
        return
    hint = ""
    if run is not None and topic is not None:
        try:
            view = show_answer(folder, run, topic, problems, labels=labels, passages=passages)
        except InputError:  # the problems may explain it
            list_problems(problems)
            raise
        if not passages and any(judged.get("passage") for judged in view.data["judged"]):
            hint = "\nAdd --passages to print the cited passages.\n"
    elif labels is not None or passages:
        name = "--labels" if labels is not None else "--passages"
        raise InputError(f"{name}: only for one answer; give its run and topic too")
    else:
        view = show_summary(folder, run, topic, problems, measure=measure, named=results)
    print_result([view.data], lambda: escape(view.text + hint), as_json=as_json)
    list_problems(problems)
