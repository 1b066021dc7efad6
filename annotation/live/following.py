"""The figures of a folder of labels, kept up with while people label."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...records.reading.problems import Problems
from ..store.journal import SUFFIX, read_state
from .figures import figures
from .judged import Judged, read_judged
from .settings import LiveSettings
from .worker import QUIET_S, Worker


def follow(
    results: Path, folder: Path, settings: LiveSettings, *, quiet_s: float = QUIET_S
) -> Worker:
    """A worker over the journals of a folder: tell it of each event by `changed`.

    What was judged is read once, in the worker too, so that nobody waits for it. Of journals only
    what is on the disk counts.

    Args:
        results: folder or file whose judgements are labelled.
        folder: of the journals; all people's count, not only those who label now.
    """
    judged: list[Judged | None] = []

    def compute() -> dict[str, Any]:
        if not judged:
            judged.append(read_judged(results, settings.kind, Problems()))
        journals = sorted(folder.glob(f"*{SUFFIX}"))
        states = {path.name.removesuffix(SUFFIX): read_state(path) for path in journals}
        return figures(judged[0], states, settings)

    return Worker(compute, quiet_s=quiet_s)
