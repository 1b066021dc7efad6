"""Writes files whole or line by line, and locks them; an error of the disk names the file.

Links are not followed.
"""

from __future__ import annotations

import errno
import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from .reading.problems import InputError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Write to `path` inside. Raises: InputError with the path, for any OSError."""
    try:
        yield
    except OSError as error:
        raise explain_disk_error(path, error) from None


@contextmanager
def temporary() -> Iterator[None]:
    """Write to a temporary file inside. Raises: InputError with its folder."""
    with writing(Path(tempfile.gettempdir())):
        yield


def explain_disk_error(path: Path, error: OSError) -> InputError:
    """Make the error of the disk about a file, in one line."""
    return InputError(f"{path}: cannot be written ({error.strerror or error})")


class NewFile:
    """A file that is written from its beginning, with `write`, until `close`.

    Its folder is created. An existing file or link is removed first, so that nothing is written
    to the target of a link.

    Raises: InputError with the file's name, for any error of the disk.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            self._stream = path.open("xb")

    def write(self, data: bytes) -> None:
        """Append bytes."""
        try:
            self._stream.write(data)
        except OSError as error:
            raise explain_disk_error(self.path, error) from None

    def flush(self) -> None:
        """Hand all written bytes to the operating system."""
        with writing(self.path):
            self._stream.flush()

    def close(self) -> None:
        """Write pending bytes and close the file. A second call does nothing."""
        with writing(self.path):
            self._stream.close()

    def __enter__(self) -> NewFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def write_file(path: Path, content: bytes | str) -> None:
    """Write a whole file, text as UTF-8, or nothing: a partial file is removed. See NewFile."""
    try:
        with NewFile(path) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except InputError:
        with suppress(OSError):
            path.unlink()
        raise


def rename(path: Path, to: Path) -> None:
    """Rename a file; it replaces an existing one. Raises: InputError with its name."""
    with writing(to):
        path.replace(to)


def remove(path: Path) -> None:
    """Remove a file or link, if there is one. Raises: InputError with its name."""
    with writing(path):
        path.unlink(missing_ok=True)


def check_no_link(path: Path) -> None:
    """Raise InputError for a link, because data would be written elsewhere."""
    if path.is_symlink():
        raise InputError(f"{path}: is a link, and links are not followed; remove it")


def check_file(path: Path) -> None:
    """Raise InputError for a path that is not a regular file: a pipe might wait forever."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a regular file; move it away, or choose another folder")


def own_folder(path: Path) -> Path:
    """Return a folder inside one that we write, created if needed.

    Raises: InputError for a link, and for errors of the disk.
    """
    check_no_link(path)
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


_HOW = os.O_CREAT | os.O_RDWR | os.O_APPEND | os.O_NOFOLLOW


class Appending:
    """Appends whole lines: a partial line of a full disk is cut off before the next is written.

    Args:
        path: the file, created if needed, like its folder; neither may be a link.
        end: bytes to keep; the rest, a line cut by a kill, is removed.
        is_synced: lines are on the disk when `write` returns, not only with the operating system;
            so is the file's name.

    Raises: InputError with the file's name, for errors of the disk.
    """

    def __init__(self, path: Path, end: int, *, is_synced: bool = False) -> None:
        self.path, self.end, self._is_synced = path, end, is_synced
        self._is_torn = True  # bytes after `end` are not ours
        own_folder(path.parent)
        check_no_link(path)
        check_file(path)
        with writing(path):
            self._file = os.open(path, _HOW, 0o644)
            if is_synced:
                _sync_folder(path.parent)
        self.write(b"")

    def write(self, lines: bytes | bytearray) -> None:
        """Append lines; all of them are with the operating system when this returns, or none."""
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
            raise explain_disk_error(self.path, error) from None
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


class Lock:
    """A lock from creation until `close`; the file is created if needed.

    Args:
        path: the file, not a link. busy: the error text if another process has the lock.

    Raises: InputError with `busy`, and for errors of the disk.
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
        """Release the lock."""
        os.close(self._file)


def write_lines(path: Path, objects: Iterable[Any]) -> int:
    """Write one JSON object per line; returns their number."""
    n = 0
    with NewFile(path) as file:
        for row in objects:
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            n += 1
    return n


def check_elsewhere(folder: Path, out: Path) -> None:
    """Raise InputError if an export would be written into the results that it comes from."""
    if out.resolve() == folder.resolve():
        raise InputError(f"{out}: is the results folder; choose another --out")
