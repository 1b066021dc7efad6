"""Updates the coordinator's figures while people label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from ....records.reading.problems import Problems
from ..live.settings import LiveSettings
from ..live.worker import QUIET_S, Worker
from ..store.people import list_people
from .labelling import Labelling

if TYPE_CHECKING:
    from ..live.judged import Judged

_PATIENCE_S = 60


@contextmanager
def watch(work: Labelling, settings: LiveSettings, *, quiet_s: float = QUIET_S) -> Iterator[None]:
    """Keep the coordinator's figures up to date until the end.

    A thread computes them from the files, so neither a label nor the first item waits for them.
    """

    @cache
    def get_judged() -> Judged | None:
        from ..live.judged import read_judged

        return read_judged(work.task.results[0], settings.kind, Problems())

    def compute() -> Mapping[str, Any]:
        work.is_looked_at.wait(_PATIENCE_S)
        from ..live.figures import figures

        states = {person.name: person.state() for person in list_people(work.folder.path)}
        return figures(get_judged(), states, settings)

    worker = Worker(compute, quiet_s=quiet_s)
    work.figures, work.changed = worker.figures, worker.notify
    try:
        yield
    finally:
        worker.close()
