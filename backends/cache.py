"""Replies kept between runs: JSON bytes in diskcache, committed in groups, never unpickled."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import diskcache
import platformdirs

from ..records.reading.problems import InputError


def default_folder(name: str) -> Path:
    """A folder in the user's cache directory, where no project can place files."""
    return Path(platformdirs.user_cache_dir("nuggetjudge", appauthor=False)) / name


def make_private(folder: Path, what: str) -> None:
    """Create a folder that only this user can read, or restrict an existing one.

    Raises: InputError if that fails or the folder belongs to another user; the error names the
        folder's purpose, `what`.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        info = folder.stat()
        if hasattr(os, "getuid") and info.st_uid != os.getuid():
            raise InputError(
                f"{folder}: the {what} belongs to another user; choose a folder of your own"
            )
        if info.st_mode & 0o077:
            folder.chmod(0o700)
    except (OSError, ValueError) as error:
        why = "it is a file" if isinstance(error, FileExistsError) else error
        raise InputError(
            f"{folder}: cannot create the {what} ({why}); choose another folder with run.cache"
        ) from None


FOLDER = "replies"
COMMIT_S = 0.15  # how long a reply waits for others; with the commit it stays under 0.2 s
BUSY_S = 60.0  # for another process to end its transaction
FAULTS = (OSError, sqlite3.Error, diskcache.Timeout)  # errors of a disk or another process
_NO_DATABASE = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_KNOWN_SETTINGS = diskcache.DEFAULT_SETTINGS | diskcache.core.METADATA


class BytesDisk(diskcache.Disk):  # type: ignore[misc]
    """How diskcache stores a value: only bytes, in the row itself. It never unpickles.

    SQLite receives `bytearray` and int, which fill the same row as bytes and bool: for bytes and
    bool, Python's sqlite3 searches for an adapter each time, in vain.
    """

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, Any]:
        """Keep bytes in the row, whatever their number."""
        if not isinstance(value, bytes) or read:
            raise TypeError(f"the reply cache holds bytes, got {type(value).__name__}")
        return 0, diskcache.core.MODE_RAW, None, bytearray(value)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> bytes:
        """Return the bytes. A row of another kind counts as missing."""
        if mode != diskcache.core.MODE_RAW or filename is not None or not isinstance(value, bytes):
            raise OSError("not a reply: refused")  # diskcache answers with the default
        return value

    def put(self, key: Any) -> tuple[Any, int]:
        """Keys are bytes."""
        if not isinstance(key, bytes):
            raise TypeError(f"reply keys are bytes, got {type(key).__name__}")
        return bytearray(key), 1

    def get(self, key: Any, raw: bool) -> bytes:
        """The key of a row, unchanged: a key of another kind is then not found."""
        return bytes(key) if isinstance(key, bytes | memoryview) else b""

    def remove(self, file_path: str) -> None:
        """Delete nothing: no row of ours names a file."""


class ReplyCache:
    """A cache of replies on disk, which several processes can share. Its folder is private.

    On an event loop, replies are committed together within 0.2 s; otherwise each at once. `kill -9`
    loses replies that are not committed yet. Other processes see committed replies.

    If a commit fails (a full disk), the cache warns (RuntimeWarning) and stores nothing more; no
    judgement is lost.

    Raises: InputError if the folder cannot be created or written, belongs to another user or holds
        no usable cache.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder(FOLDER)
        make_private(self.folder, "reply cache")
        self._lock = threading.Lock()
        self._waiting: dict[bytes, tuple[bytes, str]] = {}
        self._due = 0.0  # of time.monotonic(): when waiting replies are committed
        self._keeps = True
        with self._report_errors():
            self._check_settings()
            self._store = diskcache.Cache(
                str(self.folder),
                timeout=BUSY_S,
                disk=BytesDisk,
                eviction_policy="none",
                cull_limit=0,
                statistics=0,
                sqlite_cache_size=2**8,  # pages; diskcache's 32 MB and 64 MB are for hot caches
                sqlite_mmap_size=0,
            )

    def get(self, key: bytes) -> bytes | None:
        """The reply with this key, or None."""
        waiting = self._waiting.get(key)
        if waiting is not None:
            return waiting[0]
        try:
            reply: bytes | None = self._store.get(key)
        except FAULTS as error:
            raise self._as_input_error(error) from None
        return reply

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        """Store a reply (JSON); `tag` is its model, for `judge cache`."""
        if not self._keeps:
            return
        now = time.monotonic()
        with self._lock:
            if not self._waiting:
                self._due = now + COMMIT_S if self._commits_later() else now
            self._waiting[key] = (value, tag)
        if now >= self._due:
            self._commit_or_stop()

    def flush(self) -> None:
        """Commit waiting replies. Raises: InputError."""
        with self._report_errors():
            self._commit()

    def settle(self) -> None:
        """Commit waiting replies before data that depends on them is written; failures warn."""
        if self._waiting:
            self._commit_or_stop()

    def close(self) -> None:
        """Commit waiting replies and close the files. A second call does nothing."""
        self._commit_or_stop()
        self._keeps = False
        self._store.close()

    def clear(self, tag: str | None = None) -> int:
        """Delete all replies, or the replies of one model; returns their number."""
        with self._report_errors():
            self._commit()
            return int(self._store.clear() if tag is None else self._store.evict(tag))

    def counts(self) -> dict[str, int]:
        """Number of replies by model."""
        with self._report_errors():
            self._commit()
            tags = (self._store.get(key, tag=True)[1] for key in self._store.iterkeys())
            return dict(sorted(Counter(tag for tag in tags if tag is not None).items()))

    def volume(self) -> int:
        """Bytes on disk."""
        with self._report_errors():
            return int(self._store.volume())

    def _check_settings(self) -> None:
        """Refuse rows of the Settings table that diskcache never writes: it would run them.

        Raises: InputError.
        """
        path = self.folder / diskcache.core.DBNAME
        if not path.is_file():
            return
        with closing(sqlite3.connect(path, timeout=BUSY_S)) as database:
            try:
                most = len(_KNOWN_SETTINGS) + 1
                rows = database.execute("SELECT key, value FROM Settings LIMIT ?", (most,))
                settings = rows.fetchall()
            except sqlite3.OperationalError:  # no table yet: diskcache creates it
                return
        for name, value in settings:
            if type(value) is not type(_KNOWN_SETTINGS.get(name)):
                what = f"not a usable reply cache (unexpected setting {name!r}: {value!r})"
                raise InputError(f"{self.folder}: {what}; choose another, or delete it")

    def _commits_later(self) -> bool:
        """Schedule a commit on the running loop; False if there is no loop."""
        try:
            asyncio.get_running_loop().call_later(COMMIT_S, self._commit_or_stop)
        except RuntimeError:
            return False
        return True

    def _commit(self) -> None:
        with self._lock:
            if self._waiting:
                with self._store.transact():
                    for key, (value, tag) in sorted(self._waiting.items()):  # in the order of pages
                        self._store.set(key, value, tag=tag)
                self._waiting.clear()

    def _commit_or_stop(self) -> None:
        try:
            self._commit()
        except FAULTS as error:
            if self._keeps:
                self._keeps = False
                text = f"{self.folder}: the cache stores no more replies ({_why(error)})"
                warnings.warn(f"{text}; judgements are not lost", RuntimeWarning, stacklevel=3)

    @contextmanager
    def _report_errors(self) -> Iterator[None]:
        try:
            yield
        except FAULTS as error:
            raise self._as_input_error(error) from None

    def _as_input_error(self, error: Exception) -> InputError:
        """Explain one of FAULTS to a user; only a broken cache should be deleted."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NO_DATABASE:
            what = f"not a usable reply cache ({_why(error)}); choose another, or delete it"
        else:
            what = f"the reply cache cannot be used ({_why(error)}); fix that or set run.cache"
        return InputError(f"{self.folder}: {what}")


class RunReplies(ReplyCache):
    """The replies of one run, beside its journal. Inactive until `open` is called.

    For a run that shares no replies with others, but whose agents must not repeat their questions
    after a kill.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._is_open = False

    def open(self) -> None:
        """Store replies from now on. Raises: InputError, see ReplyCache."""
        if not self._is_open:
            super().__init__(self.folder)
            self._is_open = True

    def get(self, key: bytes) -> bytes | None:
        """See ReplyCache."""
        return super().get(key) if self._is_open else None

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        """See ReplyCache."""
        if self._is_open:
            super().put(key, value, tag)

    def settle(self) -> None:
        """See ReplyCache."""
        if self._is_open:
            super().settle()

    def close(self) -> None:
        """See ReplyCache."""
        if self._is_open:
            super().close()


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
