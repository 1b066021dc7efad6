"""Where in a file the line of each item begins: kept on disk, so that a million take no memory."""

from __future__ import annotations

import os
import tempfile

import numpy as np
from numpy.typing import NDArray

CHUNK = 4096  # places that are held at once


class Places:
    """One place for each item number; cheap where numbers come nearly in order."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  of places + 1; 0: none
        self._new: dict[int, int] = {}
        self._start = -1  # first item of the chunk that was read
        self._chunk: NDArray[np.int64] = np.empty(0, dtype=np.int64)

    def note(self, item: int, place: int) -> None:
        """Remember a place >= 0, instead of the one before."""
        self._new[item] = place
        if len(self._new) >= CHUNK:
            self._move()

    def find(self, item: int) -> int | None:
        """The place of an item, or None."""
        if (place := self._new.get(item)) is not None:
            return place
        start = item - item % CHUNK
        if start != self._start:
            found = os.pread(self._file.fileno(), 8 * CHUNK, 8 * start)
            self._start, self._chunk = start, np.frombuffer(found, dtype=np.int64)
        at = item - start
        found_at = int(self._chunk[at]) if at < len(self._chunk) else 0
        return found_at - 1 if found_at else None

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _move(self) -> None:
        """Write what is new, in one piece for each run of numbers."""
        items = np.array(sorted(self._new), dtype=np.int64)
        places = np.array([self._new[item] for item in items.tolist()], dtype=np.int64) + 1
        cuts = np.flatnonzero(np.diff(items) > 1) + 1
        for run, held in zip(np.split(items, cuts), np.split(places, cuts), strict=True):
            os.pwrite(self._file.fileno(), held.tobytes(), 8 * int(run[0]))
        self._new.clear()
        self._start = -1
