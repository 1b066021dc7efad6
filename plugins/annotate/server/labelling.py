"""Where people work: one task, a session for each of them, and what all of it comes to so far."""

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
        folder: of the labels; nobody else may have it open.
        sessions: of the annotators, by name. dispute_queues: of the adjudicators.
        others: what is known of people beside: who have no session now, and what was imported.

    Attributes:
        figures: what labels say so far, for the coordinator; None: only how far all are.
        changed: called after each event that was kept; must come back at once.
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
        """All who have a link, but the coordinator."""
        return [*self.sessions, *self.dispute_queues]

    @contextmanager
    def states(self) -> Iterator[Mapping[str, State]]:
        """What all who label have done, while none of them writes."""
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
        """Have the texts of the first items read by the time that somebody opens a link."""
        for session in self.sessions.values():
            for entry in session.entries[:1]:
                with suppress(InputError):  # reported where the item is asked for
                    self.task.texts(entry.cell)

    def progress(self) -> dict[str, Any]:
        """What the coordinator sees."""
        self.is_looked_at.set()
        figures = dict(self.figures()) if self.figures is not None else {"measures": []}
        far = {name: session.progress for name, session in self.sessions.items()}
        far |= {name: dispute_queue.progress for name, dispute_queue in self.dispute_queues.items()}
        figures["overlap"] = self.overlap
        figures["sessions"] = [{"annotator": name, **each._asdict()} for name, each in far.items()]
        return figures

    def close(self) -> None:
        """Close all journals, and let others have the folder."""
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
    """The labelling of a folder of labels: queues and journals as they were left.

    Args:
        adjudicators: people who decide where annotators differ, and label nothing.
        against_judge: they also decide where most people gave another label than the judge.

    Raises: InputError for a name that is none or comes twice, a folder that is open elsewhere, or
        what stands in it.
    """
    names = [check_name(name) for name in (*annotators, *adjudicators)]
    if len({name.casefold() for name in names}) < len(names):  # some disks take both for one file
        raise InputError(f"annotators {', '.join(names)}: wanted each name once")
    if adjudicators and task.kind in _VIEWS:
        raise InputError(f"--adjudicator: --kind {task.kind} has no labels that could differ")
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

        self.is_open = True

    def close(self) -> None:
        """Let others have it."""
        if self.is_open:
            os.close(self._file)
        self.is_open = False
