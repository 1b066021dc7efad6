"""Files written whole or line by line, and locked; an error of the disk names the file.

No link is followed.
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
    """Write to `path` in here. Raises: InputError that names it, for any OSError."""
    try:
        yield
    except OSError as error:
        raise explain_disk_error(path, error) from None


@contextmanager
def temporary() -> Iterator[None]:
    """Write to a temporary file in here. Raises: InputError that names its folder."""
    with writing(Path(tempfile.gettempdir())):
        yield


def explain_disk_error(path: Path, error: OSError) -> InputError:
    """The error of the disk about a file, in one line."""
    return InputError(f"{path}: cannot be written ({error.strerror or error})")


class NewFile:
    """A file that is written from its beginning, with `write`, until `close`.

    Its folder is made. A file or link that stands there goes first, so that nothing is written
    where a link points.

    Raises: InputError that names the file, whatever the disk refuses and whenever it does.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)
            self._stream = path.open("xb")

    def write(self, data: bytes) -> None:
        """Append some bytes."""
        try:
            self._stream.write(data)
        except OSError as error:
            raise explain_disk_error(self.path, error) from None

    def flush(self) -> None:
        """Have all of it with the operating system."""
        with writing(self.path):
            self._stream.flush()

    def close(self) -> None:
        """Write what waits, and close the file; a second time does nothing."""
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
    """Write a whole file, text as UTF-8, or none: half of one does not stay. See NewFile."""
    try:
        with NewFile(path) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except InputError:
        with suppress(OSError):
            path.unlink()
        raise


def rename(path: Path, to: Path) -> None:
    """Give a file another name, in the place of what has it. Raises: InputError that names it."""
    with writing(to):
        path.replace(to)


def remove(path: Path) -> None:
    """Remove a file or link, if there is one. Raises: InputError that names it."""
    with writing(path):
        path.unlink(missing_ok=True)


def check_no_link(path: Path) -> None:
    """Raise InputError for a link, since what is written there would stand elsewhere."""
    if path.is_symlink():
        raise InputError(f"{path}: is a link, which is not followed; take it away")


def check_file(path: Path) -> None:
    """Raise InputError for what is there and is not a file: a pipe could be waited for forever."""
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is not a regular file; move it away, or choose another folder")


def own_folder(path: Path) -> Path:
    """A folder within one that we write, made if it is not there.

    Raises: InputError for a link, and for what the disk refuses.
    """
    check_no_link(path)
    with writing(path):
        path.mkdir(parents=True, exist_ok=True)
    return path


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


def write_lines(path: Path, objects: Iterable[Any]) -> int:
    """Write a JSON object a line, and say how many there are."""
    n = 0
    with NewFile(path) as file:
        for row in objects:
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            n += 1
    return n


def check_elsewhere(folder: Path, out: Path) -> None:
    """Raise InputError if an export would be written among the results that it is of."""
    if out.resolve() == folder.resolve():
        raise InputError(f"{out}: is the results folder; name another --out")
