"""Replies kept between runs: JSON bytes on diskcache, in batches, none lost to kill -9."""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import stat
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..records.reading.problems import InputError
from .private_folder import default_folder, make_private
from .store import FAULTS, KnownKeys, as_input_error, open_store, told_as_input

FOLDER = "replies"
BATCH = 1000  # replies per transaction: 3-5 times cheaper than one by one


class ReplyCache:
    """Replies by key. A put is durable at once in a spool file and batched into the database.

    The spool is an append-only file per process; one left by a process that died is taken into
    the database by the next that opens the cache. The folder is made, or made again, private.

    A put that fails (a full disk) loses no judgement: it warns (RuntimeWarning), and from then on
    nothing more is kept. Everything else that the disk refuses is an InputError.

    Raises: InputError if the folder cannot be made or written, belongs to somebody else or holds
        no usable cache.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder(FOLDER)
        make_private(self.folder, "reply cache")
        self._lock = threading.Lock()
        self._pending: dict[bytes, tuple[bytes, str]] = {}
        self._keeps = True
        self._spool_path = self.folder / f"spool-{os.getpid()}-{secrets.token_hex(8)}"
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_APPEND
        # Nobody adopts a spool before it is locked.
        with told_as_input(self.folder), _one_at_a_time(self.folder):
            self._store = open_store(self.folder)
            self._known = KnownKeys(self._store)
            self._adopt_spools()
            self._spool = os.open(self._spool_path, flags, 0o600)
            fcntl.flock(self._spool, fcntl.LOCK_EX)

    def get(self, key: bytes) -> bytes | None:
        """The reply filed under this key, or None."""
        pending = self._pending.get(key)
        if pending is not None:
            return pending[0]
        try:
            return self._store.find(key) if self._known.may_hold(key) else None
        except FAULTS as error:
            raise as_input_error(self.folder, error) from None

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        """File a reply (one line of JSON); `tag` is the model it came from, for `judge cache`."""
        line = f"{key.hex()} {tag.encode().hex()} ".encode() + value + b"\n"
        if not self._keeps:
            return
        try:
            with self._lock:
                if os.write(self._spool, line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                self._pending[key] = (value, tag)
                full = len(self._pending) >= BATCH
            if full:
                self._move()
        except FAULTS as error:
            self._stop(error)

    def flush(self) -> None:
        """Move what the spool holds into the database, in one transaction. Raises: InputError."""
        with told_as_input(self.folder):
            self._move()

    def _move(self) -> None:
        with self._lock:
            if not self._pending:
                return
            self._store.file(self._pending)
            self._known.add(self._pending)
            self._pending.clear()
            os.ftruncate(self._spool, 0)

    def close(self) -> None:
        """Flush and let go of the files; a second time does nothing.

        What cannot be moved stays in the spool for the next who opens the cache.
        """
        if self._spool < 0:
            return
        try:
            self._move()
            self._spool_path.unlink(missing_ok=True)
        except FAULTS as error:
            self._stop(error)
        finally:
            os.close(self._spool)
            self._spool = -1
            self._store.close()

    def clear(self, tag: str | None = None) -> int:
        """Forget all replies, or those of one model; returns how many."""
        with told_as_input(self.folder):
            self._move()
            n = int(self._store.clear() if tag is None else self._store.evict(tag))
        self._known = KnownKeys(self._store)
        return n

    def counts(self) -> dict[str, int]:
        """Number of replies by model."""
        with told_as_input(self.folder):
            self._move()
            return self._store.count_by_tag()

    def volume(self) -> int:
        """Bytes on disk."""
        with told_as_input(self.folder):
            return int(self._store.volume())

    def _stop(self, error: Exception) -> None:
        if self._keeps:
            self._keeps = False
            text = f"{self.folder}: replies are kept no longer ({error}); judgements are not lost"
            warnings.warn(text, RuntimeWarning, stacklevel=3)

    def _adopt_spools(self) -> None:
        for path in sorted(self.folder.glob("spool-*")):
            with suppress(FileNotFoundError):  # its process has just ended
                self._adopt(path)

    def _adopt(self, path: Path) -> None:
        if not stat.S_ISREG(path.lstat().st_mode):  # a pipe would never end
            raise InputError(f"{path}: not a file of a reply cache; delete or rename it")
        with path.open("rb+") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return  # its process lives
            found = (_spooled(line) for line in stream)
            self._store.file({row[0]: row[1:] for row in found if row is not None})
            path.unlink(missing_ok=True)


def _spooled(line: bytes) -> tuple[bytes, bytes, str] | None:
    """Key, reply and tag of a spool line; None if a kill or a full disk tore it."""
    parts = line.split(b" ", 2)
    if len(parts) != 3 or not line.endswith(b"\n"):
        return None
    try:
        key, tag = bytes.fromhex(parts[0].decode()), bytes.fromhex(parts[1].decode()).decode()
    except ValueError:
        return None
    return key, parts[2][:-1], tag


@contextmanager
def _one_at_a_time(folder: Path) -> Iterator[None]:
    door = os.open(folder / "door", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(door, fcntl.LOCK_EX)
        yield
    finally:
        os.close(door)
