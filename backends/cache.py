"""Replies kept between runs: JSON bytes in diskcache, committed in batches, never unpickled."""

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
    """In the user's own cache directory, never a project folder that others could fill."""
    return Path(platformdirs.user_cache_dir("nuggetjudge", appauthor=False)) / name


def make_private(folder: Path, what: str) -> None:
    """Make a folder, or close an existing one to other users.

    Raises: InputError, which calls it a folder for the `what`, if that fails or the folder belongs
        to somebody else.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        info = folder.stat()
        if hasattr(os, "getuid") and info.st_uid != os.getuid():
            raise InputError(
                f"{folder}: the {what} belongs to another user; name a folder of your own"
            )
        if info.st_mode & 0o077:
            folder.chmod(0o700)
    except (OSError, ValueError) as error:
        why = "it is a file" if isinstance(error, FileExistsError) else error
        raise InputError(
            f"{folder}: no folder for the {what} ({why}); name another with run.cache"
        ) from None


FOLDER = "replies"
COMMIT_S = 0.15  # for which a reply waits for others; with the commit itself it is under 0.2 s
BUSY_S = 60.0  # for another process to end its transaction
FAULTS = (OSError, sqlite3.Error, diskcache.Timeout)  # what a disk or another process can do
_NO_DATABASE = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
_KNOWN_SETTINGS = diskcache.DEFAULT_SETTINGS | diskcache.core.METADATA


class BytesDisk(diskcache.Disk):  # type: ignore[misc]
    """How diskcache stores a value: bytes alone, in the row itself; refuses to unpickle any.

    SQLite is handed `bytearray` and int, which fill the same row as bytes and bool: of those
    Python's sqlite3 looks for an adapter, in vain, each time.
    """

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, Any]:
        """Keep bytes in the row, however many they are."""
        if not isinstance(value, bytes) or read:
            raise TypeError(f"the reply cache holds bytes, got {type(value).__name__}")
        return 0, diskcache.core.MODE_RAW, None, bytearray(value)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> bytes:
        """Return the bytes; a row of any other kind counts as not there."""
        if mode != diskcache.core.MODE_RAW or filename is not None or not isinstance(value, bytes):
            raise OSError("not a reply: refused")  # diskcache answers with the default
        return value

    def put(self, key: Any) -> tuple[Any, int]:
        """Keys are bytes."""
        if not isinstance(key, bytes):
            raise TypeError(f"reply keys are bytes, got {type(key).__name__}")
        return bytearray(key), 1

    def get(self, key: Any, raw: bool) -> bytes:
        """The key as it stands in its row, one of another kind too: it is not found then."""
        return bytes(key) if isinstance(key, bytes | memoryview) else b""

    def remove(self, file_path: str) -> None:
        """No file is ours, so a row that names one gets nothing deleted."""


class ReplyCache:
    """A cache of replies on disk, which several processes can share. Its folder is made private.

    On an event loop, replies are committed together within 0.2 s; elsewhere at once. `kill -9`
    loses replies that are not committed yet. Other processes see committed replies.

    If a commit fails (a full disk), the cache warns (RuntimeWarning) and keeps nothing more; no
    judgement is lost.

    Raises: InputError if the folder cannot be made or written, belongs to somebody else or holds
        no usable cache.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder(FOLDER)
        make_private(self.folder, "reply cache")
        self._lock = threading.Lock()
        self._waiting: dict[bytes, tuple[bytes, str]] = {}
        self._due = 0.0  # of time.monotonic(); when they are committed
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
        """The reply filed under this key, or None."""
        waiting = self._waiting.get(key)
        if waiting is not None:
            return waiting[0]
        try:
            reply: bytes | None = self._store.get(key)
        except FAULTS as error:
            raise self._as_input_error(error) from None
        return reply

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        """File a reply (JSON); `tag` is the model it came from, for `judge cache`."""
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
        """Commit what waits. Raises: InputError."""
        with self._report_errors():
            self._commit()

    def settle(self) -> None:
        """Commit what waits, before what rests on it is written; a full disk only warns."""
        if self._waiting:
            self._commit_or_stop()

    def close(self) -> None:
        """Commit what waits and let go of the files; a second time does nothing."""
        self._commit_or_stop()
        self._keeps = False
        self._store.close()

    def clear(self, tag: str | None = None) -> int:
        """Forget all replies, or those of one model; returns how many."""
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
        """Refuse rows of the Settings table that diskcache never writes: it runs what they name.

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
            except sqlite3.OperationalError:  # no such table: diskcache makes it
                return
        for name, value in settings:
            if type(value) is not type(_KNOWN_SETTINGS.get(name)):
                what = f"not a usable reply cache (unexpected setting {name!r}: {value!r})"
                raise InputError(f"{self.folder}: {what}; name another or delete it")

    def _commits_later(self) -> bool:
        """Have the running loop commit in a moment; False: there is none."""
        try:
            asyncio.get_running_loop().call_later(COMMIT_S, self._commit_or_stop)
        except RuntimeError:
            return False
        return True

    def _commit(self) -> None:
        with self._lock:
            if self._waiting:
                with self._store.transact():
                    for key, (value, tag) in sorted(self._waiting.items()):  # by pages
                        self._store.set(key, value, tag=tag)
                self._waiting.clear()

    def _commit_or_stop(self) -> None:
        try:
            self._commit()
        except FAULTS as error:
            if self._keeps:
                self._keeps = False
                text = f"{self.folder}: replies are kept no longer ({_why(error)})"
                warnings.warn(f"{text}; judgements are not lost", RuntimeWarning, stacklevel=3)

    @contextmanager
    def _report_errors(self) -> Iterator[None]:
        try:
            yield
        except FAULTS as error:
            raise self._as_input_error(error) from None

    def _as_input_error(self, error: Exception) -> InputError:
        """One of FAULTS in the terms of a user; only a broken cache is to be deleted."""
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NO_DATABASE:
            what = f"not a usable reply cache ({_why(error)}); name another or delete it"
        else:
            what = f"the reply cache cannot be used ({_why(error)}); mend that or set run.cache"
        return InputError(f"{self.folder}: {what}")


class RunReplies(ReplyCache):
    """Replies of one run, beside its journal: nothing until `open` is called, then a ReplyCache.

    For a run that is to keep none of its replies for others, but whose agents are not to ask twice
    when they are killed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._is_open = False

    def open(self) -> None:
        """Keep replies from now on. Raises: InputError, see ReplyCache."""
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
