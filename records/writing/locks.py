"""A file that one process has at a time; it goes with the process, however that ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from ..reading.problems import InputError
from .files import check_file, check_no_link, own_folder, writing


class Lock:
    """Held from when it is made until `close`; the file is made if it is not there.

    Args:
        path: the file, no link. busy: what to say where another process has it.

    Raises: InputError with `busy`, and for what the disk refuses.
    """

    def __init__(self, path: Path, busy: str) -> None:
        own_folder(path.parent)
        check_no_link(path)
        check_file(path)
        with writing(path):
            self._file = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            raise InputError(busy) from None

    def close(self) -> None:
        """Let others have it."""
        os.close(self._file)
