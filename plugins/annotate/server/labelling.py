"""A labelling: one task, a session for each person, and the figures for the coordinator."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from ....records.reading.problems import InputError
from ....records.writing import own_folder
from ..store.journal import Journal, check_name
from ..store.kinds import Kind
from ..store.people import Person, list_people
from ..store.sources import keep_source
from ..store.state import State
from ..work.plan import Plan
from ..work.queue_files import load_queue
from ..work.task import Task
from .dispute_queue import DisputeQueue
from .session import Session

_VIEWS: dict[Kind, tuple[str, ...]] = {"bank": ("bank",), "verify": ("verify",)}
_ITEMS = ("item", "answer")


class Labelling:
    """A task and its sessions.

    Args:
        folder: folder of the labels; nobody else may have it open.
        sessions: sessions of the annotators, by name. dispute_queues: queues of the adjudicators.
        others: people without a session now, and imported labels.

    Attributes:
        figures: figures for the coordinator; None: only the progress.
        changed: called after each stored event; must return immediately.
    """

    figures: Callable[[], Mapping[str, Any]] | None = None
    changed: Callable[[], None] = staticmethod(lambda: None)

    def __init__(
        self,
        task: Task,
        folder: FolderLock,
        sessions: Mapping[str, Session],
        others: Sequence[Person] = (),
    ) -> None:
        self.task, self.folder, self.sessions = task, folder, sessions
        self.others = others
        self.overlap: float | None = None  # share of each queue that all annotators get
        self.dispute_queues: dict[str, DisputeQueue] = {}
        self.is_looked_at = Event()  # an item, or how far all are: what can wait, waits for it
        self.views = _VIEWS.get(task.kind, _ITEMS)

    @property
    def names(self) -> list[str]:
        """Everyone with a link except the coordinator."""
        return [*self.sessions, *self.dispute_queues]

    @contextmanager
    def states(self) -> Iterator[Mapping[str, State]]:
        """The states of all annotators, while none of them writes."""
        with ExitStack() as stack:
            here = {
                name: stack.enter_context(session.journal())
                for name, session in self.sessions.items()
            }
            by_name = {name: journal.state for name, journal in here.items()}
            for person in self.others:
                state = by_name.get(person.name, person.here)
                by_name[person.name] = replace(person, here=state).state()
            yield by_name

    def read_ahead(self) -> None:
        """Read the texts of the first items before somebody opens a link."""
        for session in self.sessions.values():
            for entry in session.entries[:1]:
                with suppress(InputError):  # reported when the item is requested
                    self.task.texts(entry.cell)

    def progress(self) -> dict[str, Any]:
        """The data of the coordinator's page."""
        self.is_looked_at.set()
        figures = dict(self.figures()) if self.figures is not None else {"measures": []}
        far = {name: session.progress for name, session in self.sessions.items()}
        far |= {name: dispute_queue.progress for name, dispute_queue in self.dispute_queues.items()}
        figures["overlap"] = self.overlap
        figures["sessions"] = [{"annotator": name, **each._asdict()} for name, each in far.items()]
        return figures

    def close(self) -> None:
        """Close all journals and release the folder."""
        for session in self.sessions.values():
            session.close()
        for dispute_queue in self.dispute_queues.values():
            dispute_queue.session.close()
        self.folder.close()


def open_labelling(
    task: Task,
    path: Path,
    annotators: Sequence[str],
    plan: Plan,
    *,
    adjudicators: Sequence[str] = (),
    against_judge: bool = False,
) -> Labelling:
    """Open the labelling of a folder of labels, with its queues and journals.

    Args:
        adjudicators: people who decide items on which annotators differ; they label nothing.
        against_judge: they also decide items on which most people differ from the judge.

    Raises: InputError for an invalid or repeated name, a folder that is open elsewhere, or invalid
        files in it.
    """
    names = [check_name(name) for name in (*annotators, *adjudicators)]
    if len({name.casefold() for name in names}) < len(names):  # some file systems ignore case
        raise InputError(f"annotators {', '.join(names)}: give each name once")
    if adjudicators and task.kind in _VIEWS:
        raise InputError(f"--adjudicator: --kind {task.kind} has no labels to adjudicate")
    with ExitStack() as opened:
        folder = FolderLock(path)
        opened.callback(folder.close)
        sessions: dict[str, Session] = {}
        for name in names:
            journal = Journal(path, name)
            opened.callback(journal.close)
            is_queued = name in annotators
            entries = load_queue(path, task, name, plan, journal.state) if is_queued else []
            sessions[name] = Session(task, entries, journal, plan.condition)
        people = list_people(path)
        keep_source(path, task.kind, task.fingerprint, task.results)
        opened.pop_all()
    task.expect(entry.cell for session in sessions.values() for entry in session.entries)
    labelling = {name: sessions[name] for name in names if name in annotators}
    others = [one for one in people if one.name not in names or one.imported.n]
    work = Labelling(task, folder, labelling, others)
    work.overlap = plan.overlap
    for name in adjudicators:
        work.dispute_queues[name] = DisputeQueue(
            task, sessions[name], work.states, against_judge=against_judge, seed=plan.seed
        )
    return work


class FolderLock:
    """Lock a folder of labels, so that no other server can open it.

    Raises: InputError if another server has it open.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        own_folder(path)
        self._file = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            what = "in use by another judge annotate; stop that one, or name another --dir"
            raise InputError(f"--dir {path}: {what}") from None

        self.is_open = True

    def close(self) -> None:
        """Release the folder."""
        if self.is_open:
            os.close(self._file)
        self.is_open = False
