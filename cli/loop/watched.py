"""The files of a config, and which of them hold something else than when they were last taken."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ...programs.config.sections import Config
from ...programs.engine.manifest import input_files
from ...records.reading.lines import hash_of
from ...records.reading.problems import InputError

Stamps = dict[Path, tuple[int, int, int]]  # when it was written, its size, which file it is
POLL_S = 0.5


class Watched:
    """A config file and all that it names, new files that its patterns fit among them.

    Args:
        path: of the config. read: the config as it is now; may raise InputError.
        poll_s: seconds between two looks.
    """

    def __init__(self, path: Path, read: Callable[[], Config], poll_s: float = POLL_S) -> None:
        self._path, self._read, self._poll_s = path, read, poll_s
        self._config: Config | None = None
        self._stamps: Stamps | None = None
        self._hashes: dict[Path, str] = {}
        self._is_failed = False

    def wait(self, most_looks: int | None = None) -> list[Path]:
        """Wait until some file holds something else and none has changed for a while.

        Args:
            most_looks: how often to look; None: for ever.

        Returns: those files, which count as taken from now on; the first time all; [] where
            nothing happened in so many looks.
        """
        looks = 0
        while most_looks is None or looks < most_looks:
            if looks:
                time.sleep(self._poll_s)
            looks += 1
            stamps = self._look()
            if stamps == self._stamps:
                continue
            if self._stamps is not None:  # somebody may be at it
                time.sleep(self._poll_s)
                if self._look() != stamps:
                    continue
            before, self._stamps = self._stamps or {}, stamps
            hashes = {
                path: self._hashes[path] if before.get(path) == stamp else _hash(path)
                for path, stamp in stamps.items()
            }
            if self._is_failed:
                changed = [path for path, stamp in stamps.items() if before.get(path) != stamp]
            else:
                paths = {**hashes, **self._hashes}
                changed = [p for p in paths if hashes.get(p) != self._hashes.get(p)]
            self._hashes = hashes
            if changed:
                self._config, self._is_failed = None, False
                return changed
        return []

    def config(self) -> Config:
        """The config as it is now. Raises: InputError."""
        self._config = self._read()
        return self._config

    def failed(self) -> None:
        """Nothing came of what was taken: a file that is written again counts, as it was too."""
        self._is_failed = True

    def _look(self) -> Stamps:
        files = [self._path]
        with suppress(InputError):  # reported when it is judged
            files += input_files(self._config or self._read())
        return {path: stamp for path in files if (stamp := _stamp(path)) is not None}


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat() if path.exists() else path.lstat()  # of a link to nothing: the link
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _hash(path: Path) -> str:
    with suppress(InputError, OSError):
        return hash_of(path)
    return ""
