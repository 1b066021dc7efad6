"""The ids and texts next to the labels of an export, from the labelled results."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from ....records.kinds import Cell, find_kind
from ....records.reading.problems import InputError, Problems
from ..store.kinds import Kind
from ..store.sources import sources
from ..work.task import Task, read_task
from ..work.wording import judge_input


@dataclass(frozen=True)
class Beside:
    """The columns next to labels.

    Attributes:
        key_names: names of the ids of a cell.
        texts: cell -> its known texts, by the names that the judge uses.
        names: names of all texts, in order; every row has them.
        topics: topic -> how many of its cells were judged; None: unknown.
    """

    key_names: tuple[str, ...]
    texts: dict[Cell, dict[str, str]]
    names: tuple[str, ...] = ()
    topics: dict[str, int] | None = None


def task_in(folder: Path, kind: Kind, results: Sequence[Path], problems: Problems) -> Task | None:
    """The labelled task; None if its results are missing, with a problem that says why.

    Args:
        results: the labelled results; (): the results that `judge annotate` recorded.

    Raises: InputError if the given results are invalid or are not the labelled ones.
    """
    recorded = sources(folder).get(kind)
    if results:
        task = read_task(results, kind, problems)
        if recorded is not None and recorded.fingerprint != task.fingerprint:
            what = (
                f"not the results that were labelled in {folder}; these were {recorded.results[0]}"
            )
            problems.keep(results[0], 0, "other_results", what)
        return task
    if recorded is None:
        return None
    try:
        task = read_task(recorded.results, kind, problems)
    except InputError as error:
        problems.skip(folder, 0, "no_texts", f"without texts: {str(error).splitlines()[0]}")
        return None
    if task.fingerprint != recorded.fingerprint:
        what = f"without texts: {recorded.results[0]} has changed since the labelling"
        problems.skip(folder, 0, "no_texts", what)
        return None
    return task


def beside(kind: Kind, cells: Collection[Cell], task: Task | None, problems: Problems) -> Beside:
    """The ids and texts of these cells.

    Raises: InputError for labels of items without results, because only these name the ids.
    """
    if task is None:
        if (declared := find_kind(kind)) is None:
            what = "the names of their ids are in the results; give --results"
            raise InputError(f"labels of {kind}: {what}")
        return Beside(declared.key, {})
    task_cells = set(task.cells)
    task.expect([cell for cell in cells if cell in task_cells])
    texts: dict[Cell, dict[str, str]] = {}
    lost: list[InputError] = []
    for cell in cells:
        try:
            of_cell = task.texts(cell) if cell in task_cells else {}
        except InputError as error:
            lost.append(error)
            of_cell = {}
        texts[cell] = {
            judge_input(kind, name): _writable(of_cell[name])
            for name in task.inputs
            if name in of_cell
        }
    if others := [cell for cell in cells if cell not in task_cells]:
        what = f"{len(others):,} labelled items are not in it, such as {' '.join(others[0])}"
        problems.keep(task.results[0], 0, "other_items", what)
    if lost:
        what = f"{len(lost):,} items are without texts: {str(lost[0]).splitlines()[0]}"
        problems.keep(task.results[0], 0, "no_texts", what)
    has = {name for of_cell in texts.values() for name in of_cell}
    names = dict.fromkeys(judge_input(kind, name) for name in task.inputs)
    sizes: dict[str, int] | None = None
    if task.key_names[0] == "topic_id":
        sizes = {}
        for cell in task.cells:
            sizes[cell[0]] = sizes.get(cell[0], 0) + 1
    return Beside(task.key_names, texts, tuple(name for name in names if name in has), sizes)


def _writable(text: str) -> str:
    """The text with `?` for half a surrogate pair, which no file can hold."""
    return text.encode("utf-8", "replace").decode()
