"""Nuggets that people edited, as a bank that `judge run --nuggets` reads."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from ....records.reading.fields import read_lines
from ....records.reading.lines import is_json
from ....records.reading.problems import InputError, Problems
from ....records.writing import write_file
from ..store.people import Person
from ..work.bank import EditedBank
from ..work.task import Task

_FROM = "from"  # of a nugget of an export: the ids of those that it comes from


def export_bank(
    folder: Path,
    out: Path,
    people: Sequence[Person],
    task: Task | None,
    annotator: str | None,
    problems: Problems,
) -> tuple[int, list[str], int]:
    """Write the banks of the edited topics.

    Args:
        annotator: the person whose edits count; None if each topic was edited by one person.

    Returns: the number of topics, their editors, and the number of nuggets without importance.
    Raises: InputError if several people edited a topic and `annotator` is None, or an edit does not
        fit the nuggets.
    """
    if task is None or task.bank is None:
        raise InputError(f"{folder}: an export needs the edited nuggets; give --results")
    if out.suffix != ".jsonl":
        raise InputError(f"{out}: nuggets are JSON lines; choose a name that ends in .jsonl")
    _check_target(out)
    editors = _editors(folder, people, annotator)
    lines, n_without = [], 0
    for topic_id, person in sorted(editors.items()):
        if (bank := task.bank.banks.get(topic_id)) is None:
            what = f"{person.name} edited topic {topic_id}, which is not in the results"
            problems.skip(folder, 0, "other_topics", what)
            continue
        try:
            edited = EditedBank.of(bank, person.here.edits(topic_id))
        except ValueError as error:
            what = f"{error}; are these the edited nuggets?"
            raise InputError(f"{person.name}, topic {topic_id}: {what}") from None
        n_without += sum(nugget.importance is None for nugget in edited.as_bank().nuggets)
        lines.append(orjson.dumps(edited.as_row(), option=orjson.OPT_APPEND_NEWLINE))
    if not lines:
        raise InputError(f"{folder}: no topic of the results was edited")
    if left := sorted(set(task.bank.banks) - set(editors)):
        what = f"{len(left):,} topics that nobody edited are left out, such as {left[0]}"
        problems.skip(task.results[0], 0, "unedited", what)
    write_file(out, b"".join(lines))
    return len(lines), sorted({person.name for person in editors.values()}), n_without


def _editors(folder: Path, people: Sequence[Person], annotator: str | None) -> dict[str, Person]:
    """The editor of each topic."""
    if annotator is not None and annotator not in {person.name for person in people}:
        there = ", ".join(person.name for person in people)
        raise InputError(f"--annotator {annotator}: not in {folder}, wanted one of {there}")
    editors: dict[str, Person] = {}
    for person in people:
        for topic_id in person.here.list_edited_topics():
            if annotator not in (None, person.name):
                continue
            if (other := editors.setdefault(topic_id, person)) is not person:
                who = f"{other.name} and {person.name}"
                what = f"topic {topic_id} was edited by {who}; choose one with --annotator"
                raise InputError(f"{folder}: {what}")
    return editors


def _check_target(out: Path) -> None:
    """Raise InputError for an existing file that is not an exported bank."""
    if not out.exists():
        return
    line = next(read_lines(out, Problems()), None) if is_json(out) else None
    nuggets = line.row.get("nuggets") if line is not None else None
    if not (isinstance(nuggets, list) and all(_FROM in each for each in nuggets)):
        raise InputError(f"{out}: exists and is not an export; choose another file")
