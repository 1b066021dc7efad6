"""Stored queues: made once for a person, a kind and a condition, and then fixed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar, get_args

from pydantic import ValidationError

from ....records.kinds import Cell
from ....records.reading.problems import InputError, unreadable
from ....records.rows import Row
from ....records.writing import check_file, rename, write_file
from ..store.events import Condition
from ..store.journal import check_name
from ..store.kinds import Kind
from ..store.state import State
from .plan import Entry, Plan
from .queue import make_queue
from .task import Task

SUFFIX = ".queue.jsonl"
_R = TypeVar("_R", bound=Row)
_FIXED = ("how", "random_share", "overlap", "seed")  # options that a queue cannot change


class Made(Row):
    """The first line of a queue file: its person, and how it was made."""

    annotator: str
    kind: Kind
    fingerprint: str
    plan: Plan


class StoredQueue(NamedTuple):
    """A stored queue."""

    made: Made
    entries: list[Entry]


def load_queue(
    folder: Path, task: Task, annotator: str, plan: Plan, state: State | None = None
) -> list[Entry]:
    """A person's queue: the stored one or, if there is none, a new one, which is stored.

    A larger `plan.n` than before adds items at the end; a smaller one gives the first positions. A
    person who has or may get an item under one condition never gets it under the other.

    Raises: InputError if the file is of other results or another plan, or cannot be written.
    """
    plan.check(task.kind)
    path = queue_path(folder, annotator, task.kind, plan.condition)
    stored: list[Entry] = []
    if path.exists():
        made, stored = read_queue(path)
        _check(path, made, task, plan)
        if made.plan.n is None or (plan.n is not None and plan.n <= made.plan.n):
            _check_cells(path, stored, task)
            return stored if plan.n is None else stored[: _count_entries(task, plan.n)]
    barred: list[Cell] = []
    others: list[list[Entry]] = []
    for one in queues_in(folder):
        if one.made.kind != task.kind or one.made.plan.condition == plan.condition:
            if one.made.kind == task.kind and one.made.annotator != annotator:
                others.append(one.entries)
        elif one.made.annotator == annotator:
            barred += (entry.cell for entry in one.entries)
    queue = make_queue(
        task, annotator, plan, state=state, earlier=stored, barred=barred, others=others
    )
    made = Made(annotator=annotator, kind=task.kind, fingerprint=task.fingerprint, plan=plan)
    lines = [made.model_dump_json(), *(e.model_dump_json(exclude_defaults=True) for e in queue)]
    part = path.with_name(f"{path.name}.part")
    write_file(part, "".join(f"{line}\n" for line in lines).encode())
    rename(part, path)
    return queue


def queue_path(folder: Path, annotator: str, kind: Kind, condition: Condition) -> Path:
    """The file of a person's queue. Raises: InputError for an invalid name."""
    return folder / f"{check_name(annotator)}.{kind}.{condition}{SUFFIX}"


def read_queue(path: Path) -> StoredQueue:
    """Read a queue. Raises: InputError with the invalid line."""
    check_file(path)
    try:
        lines = path.read_bytes().splitlines() or [b""]
    except OSError as error:
        raise unreadable(path, error) from None
    made = _parse(path, 1, lines[0], Made)
    entries = [_parse(path, at, line, Entry) for at, line in enumerate(lines[1:], 2)]
    return StoredQueue(made, entries)


def queues_in(folder: Path) -> Iterator[StoredQueue]:
    """All queues of a folder of labels, by name. Raises: InputError for an invalid one."""
    kinds, conditions = get_args(Kind), get_args(Condition)
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        _, kind, condition = path.name.removesuffix(SUFFIX).rsplit(".", 2)
        if kind in kinds and condition in conditions:
            yield read_queue(path)


def _parse(path: Path, number: int, line: bytes, of: type[_R]) -> _R:
    try:
        return of.model_validate_json(line)
    except ValidationError as error:
        why = " ".join(str(error).split("\n")[:3])
        raise InputError(f"{path}:{number}: not an entry of a queue: {why}") from None


def _check(path: Path, made: Made, task: Task, plan: Plan) -> None:
    if made.fingerprint != task.fingerprint:
        raise InputError(f"{path}: was made for other results; choose another --dir")
    for name in _FIXED:
        before, now = getattr(made.plan, name), getattr(plan, name)
        if before != now and (name != "random_share" or plan.how == "next"):
            option = {"how": "queue"}.get(name, name.replace("_", "-"))
            what = f"was made with --{option} {before}, not {now}"
            raise InputError(f"{path}: {what}; use the earlier value, or choose another --dir")


def _check_cells(path: Path, entries: Sequence[Entry], task: Task) -> None:
    cells = set(task.cells)
    for entry in entries:
        if entry.cell not in cells:
            raise InputError(f"{path}: item {' '.join(entry.cell)} is no longer in the results")


def _count_entries(task: Task, n: int) -> int:
    """The number of entries of n positions; `verify` has two for each."""
    return 2 * n if task.kind == "verify" else n
