"""Where people work: one task, a desk for each of them, and what all of it comes to so far."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...records.reading.problems import InputError
from ...records.writing.files import own_folder
from ..store.events import Kind
from ..store.journal import Journal, check_name
from ..work.kept import kept_queue
from ..work.plan import Plan
from ..work.task import Task
from .desk import Desk

_VIEWS: dict[Kind, tuple[str, ...]] = {"bank": ("bank",), "verify": ("verify",)}


class Workplace:
    """A task and its desks.

    Args:
        folder: of the labels; nobody else may have it open.
        desks: by annotator.
        figures: what labels say so far, for the coordinator; None: only how far all are.
        changed: told after each event that was kept; must come back at once.
    """

    def __init__(
        self,
        task: Task,
        folder: FolderLock,
        desks: Mapping[str, Desk],
        *,
        views: Sequence[str] = ("item",),
        practice: Sequence[Mapping[str, Any]] = (),
        figures: Callable[[], Mapping[str, Any]] | None = None,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self.task, self.folder, self.desks = task, folder, desks
        self.views, self.practice = views, practice
        self.figures, self.changed = figures, changed

    def progress(self) -> Mapping[str, Any]:
        """What the coordinator sees."""
        found = dict(self.figures()) if self.figures is not None else {"measures": []}
        found["desks"] = [
            {"annotator": name, **desk.progress._asdict()} for name, desk in self.desks.items()
        ]
        return found

    def close(self) -> None:
        """Close all journals, and let others have the folder."""
        for desk in self.desks.values():
            desk.close()
        self.folder.close()


def open_workplace(task: Task, path: Path, annotators: Sequence[str], plan: Plan) -> Workplace:
    """The workplace of a folder of labels: queues and journals as they were left.

    Raises: InputError for a name that is none or comes twice, a folder that is open elsewhere, or
        what stands in it.
    """
    names = [check_name(name) for name in annotators]
    if len({name.casefold() for name in names}) < len(names):  # some disks take both for one file
        raise InputError(f"--annotator {','.join(names)}: wanted each name once")
    folder = FolderLock(path)
    desks: dict[str, Desk] = {}
    journals: list[Journal] = []
    try:
        for name in names:
            journals.append(journal := Journal(path, name))
            entries = kept_queue(path, task, name, plan, journal.state)
            desks[name] = Desk(task, entries, journal, plan.condition)
    except BaseException:
        for journal in journals:
            journal.close()
        folder.close()
        raise
    task.expect(entry.cell for desk in desks.values() for entry in desk.entries)
    return Workplace(task, folder, desks, views=_VIEWS.get(task.kind, ("item",)))


class FolderLock:
    """A folder of labels that no other server may have open meanwhile.

    Raises: InputError if one has.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        own_folder(path)
        self._file = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise InputError(f"--dir {path}: another judge annotate has it open") from None

    def close(self) -> None:
        """Let others have it."""
        with suppress(OSError):
            os.close(self._file)
