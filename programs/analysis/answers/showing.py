"""What `judge show` and a notebook show of results: as data, and as text."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ....records.reading.problems import InputError, Problems
from ...engine.manifest import dependence_notes, read_manifest
from .answer_text import answer_text
from .overlap import by_words
from .summaries import folder_summary, run_summary, topic_summary
from .summary_text import folder_text, run_text, topic_text
from .views import answers_of
from .wording import command, wrapped


class Shown(NamedTuple):
    """The same twice: ready for JSON, and as lines for people."""

    data: dict[str, Any]
    text: str


def show_answer(
    folder: Path,
    run: str,
    topic: str,
    problems: Problems,
    *,
    labels: Path | None = None,
    passages: bool = False,
) -> Shown:
    """One answer with everything that was judged of it.

    Args:
        labels: people's, shown beside the judge's. passages: with the texts of those it cites.

    Raises: InputError for a run or topic that is not there, or did not answer.
    """
    view = next(answers_of(folder, problems, run=run, topic=topic, labels=labels), None)
    if view is None:
        others = command("judge", "show", folder, "--topic", topic)
        raise InputError(f"{folder}: {run} has no answer to topic {topic}; others: {others}")
    if labels is not None and not any(judged.people for judged in view.judged):
        what = f"no label in it is of what was judged of {run}, topic {topic}"
        problems.keep(labels, 0, "no_labels", what)
    manifest = read_manifest(folder)
    overlap, of_run = by_words(manifest), {**manifest, "data": {"run_ids": [run]}}
    notes = list(dependence_notes(of_run))
    text = answer_text(view, overlap, passages=passages)
    text += "".join(f"\n{wrapped(note)}" for note in notes)
    return Shown(view.as_row() | {"word_overlap": overlap, "dependence": notes}, text)


def show_summary(
    folder: Path,
    run: str | None,
    topic: str | None,
    problems: Problems,
    *,
    measure: str | None = None,
    named: Path | None = None,
) -> Shown:
    """Where a run loses, what each run misses of a topic, or, of neither, what is in the folder.

    Args:
        measure: to order by; None: the first of the folder.
        named: the folder in what to ask next, where `folder` stands for another; None: itself.

    Raises: InputError for a run, topic or measure that is not there.
    """
    name = named or folder
    if run is not None:
        summary = run_summary(folder, run, problems, measure)
        return Shown(summary, run_text(summary, name))
    if topic is not None:
        summary = topic_summary(folder, topic, problems, measure)
        return Shown(summary, topic_text(summary, name))
    summary = folder_summary(folder, problems, measure)
    return Shown(summary, folder_text(summary, name))
