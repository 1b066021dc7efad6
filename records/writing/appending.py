"""A file that grows by whole lines, whatever the disk takes of one."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from .files import check_file, check_no_link, own_folder, refused, writing

_HOW = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW


class Appending:
    """Appends whole lines: half a one, of a full disk, is cut off before the next is written.

    Args:
        path: the file, made if it is not there, as is its folder; neither may be a link.
        end: bytes of it that are kept; what stands behind them, a line torn by a kill, goes.
        is_synced: lines are on the disk when `write` returns, and not with the operating system
            alone; so is the file's name.

    Raises: InputError that names the file, for what the disk refuses.
    """

    def __init__(self, path: Path, end: int, *, is_synced: bool = False) -> None:
        self.path, self.end, self._is_synced = path, end, is_synced
        self._is_torn = True  # what stands behind `end` is none of ours
        own_folder(path.parent)
        check_no_link(path)
        check_file(path)
        with writing(path):
            self._file = os.open(path, _HOW, 0o644)
            if is_synced:
                _sync_folder(path.parent)
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
            if self._is_synced:
                os.fsync(self._file)
        except OSError as error:
            with suppress(OSError):
                self._cut()
            raise refused(self.path, error) from None
        self._is_torn = False
        self.end += len(lines)

    def _cut(self) -> None:
        os.ftruncate(self._file, self.end)
        self._is_torn = False

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
