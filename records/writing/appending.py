"""A file that grows by whole lines, whatever the disk takes of one."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path

from ..reading.problems import InputError
from .files import check_no_link, own_folder, refused, writing

_HOW = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW


class Appending:
    """Appends whole lines: half a one, of a full disk, is cut off before the next is written.

    Args:
        path: the file, made if it is not there, as is its folder; neither may be a link.
        end: bytes of it that are kept; what stands behind them, a line torn by a kill, goes.

    Raises: InputError that names the file, for what the disk refuses.
    """

    def __init__(self, path: Path, end: int) -> None:
        self.path, self.end = path, end
        self._is_torn = True  # what stands behind `end` is none of ours
        own_folder(path.parent)
        check_no_link(path)
        with writing(path):
            self._file = os.open(path, _HOW, 0o644)
        self.write(b"")

    def write(self, lines: bytes | bytearray) -> None:
        """Append lines; they are with the operating system when this returns, or none of them."""
        try:
            if self._is_torn:
                self._cut()
            self._is_torn, left = True, lines
            while left:
                if not (n_taken := os.write(self._file, left)):
                    raise OSError(errno.EIO, os.strerror(errno.EIO))
                left = left[n_taken:]
        except OSError as error:
            with suppress(OSError):
                self._cut()
            raise refused(self.path, error) from None
        self._is_torn = False
        self.end += len(lines)

    def sync(self) -> None:
        """Have all of it on the disk, not with the operating system alone."""
        with writing(self.path):
            os.fsync(self._file)

    def lock(self) -> None:
        """Keep all others from locking it until it is closed. Raises: InputError if one has."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError(f"{self.path}: is open in another process, end that first") from None

    def _cut(self) -> None:
        os.ftruncate(self._file, self.end)
        self._is_torn = False

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
