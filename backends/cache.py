"""Replies kept between runs: JSON bytes on diskcache, in batches, none lost to kill -9."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import diskcache
import platformdirs

from ..records.problems import InputError

BATCH = 200  # replies per transaction: 3-5 times cheaper than one by one
_MODE_RAW = 1  # diskcache's mark for a value that is stored as it is


class JsonDisk(diskcache.Disk):  # type: ignore[misc]
    """A diskcache Disk that stores and returns bytes only and never unpickles (CVE-2025-69872)."""

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, Any]:
        """Keep bytes in the row itself."""
        if not isinstance(value, bytes) or read:
            raise TypeError(f"the reply cache holds bytes, got {type(value).__name__}")
        return 0, _MODE_RAW, None, sqlite3.Binary(value)

    def fetch(self, mode: int, filename: str | None, value: Any, read: bool) -> bytes:
        """Return the bytes; a row of any other kind counts as not there."""
        if mode != _MODE_RAW or filename is not None or not isinstance(value, bytes):
            raise OSError("not a reply: refused")  # diskcache answers with the default
        return value

    def put(self, key: Any) -> tuple[Any, bool]:
        """Keys are bytes."""
        if not isinstance(key, bytes):
            raise TypeError(f"reply keys are bytes, got {type(key).__name__}")
        return sqlite3.Binary(key), True

    def get(self, key: Any, raw: bool) -> Any:
        """A key that would have to be unpickled is refused."""
        if not raw:
            raise OSError("not a reply key: refused")
        return bytes(key) if isinstance(key, bytes | memoryview) else key


def default_folder() -> Path:
    """The user's own cache directory, never a project folder that others could fill."""
    return Path(platformdirs.user_cache_dir("nuggetjudge", appauthor=False)) / "replies"


class ReplyCache:
    """Replies by key. A put is durable at once in a spool file and batched into the database.

    The spool is an append-only file per process; one left by a process that died is taken into
    the database by the next that opens the cache.

    Raises: InputError if the folder belongs to somebody else or others may write to it.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_folder()
        _own_folder(self.folder)
        self._store = diskcache.Cache(
            str(self.folder),
            disk=JsonDisk,
            eviction_policy="none",
            cull_limit=0,
            statistics=0,
            size_limit=2**40,
        )
        self._lock = threading.Lock()
        self._pending: dict[bytes, tuple[bytes, str]] = {}
        self._adopt_spools()
        self._spool_path = self.folder / f"spool-{os.getpid()}-{id(self):x}"
        self._spool = os.open(self._spool_path, os.O_CREAT | os.O_RDWR | os.O_APPEND, 0o600)
        fcntl.flock(self._spool, fcntl.LOCK_EX)

    def get(self, key: bytes) -> bytes | None:
        """The reply filed under this key, or None."""
        pending = self._pending.get(key)
        if pending is not None:
            return pending[0]
        found: bytes | None = self._store.get(key)
        return found

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        """File a reply (one line of JSON); `tag` is the model it came from, for `judge cache`."""
        os.write(
            self._spool, b"%b %b %b\n" % (key.hex().encode(), tag.encode().hex().encode(), value)
        )
        with self._lock:
            self._pending[key] = (value, tag)
            full = len(self._pending) >= BATCH
        if full:
            self.flush()

    def flush(self) -> None:
        """Move what the spool holds into the database, in one transaction."""
        with self._lock:
            if not self._pending:
                return
            with self._store.transact(retry=True):
                for key, (value, tag) in self._pending.items():
                    self._store.set(key, value, tag=tag, retry=True)
            self._pending.clear()
            os.ftruncate(self._spool, 0)

    def close(self) -> None:
        """Flush and let go of the files."""
        self.flush()
        self._spool_path.unlink(missing_ok=True)
        os.close(self._spool)
        self._store.close()

    def clear(self, tag: str | None = None) -> int:
        """Forget all replies, or those of one model; returns how many."""
        self.flush()
        return int(self._store.clear() if tag is None else self._store.evict(tag))

    def counts(self) -> dict[str, int]:
        """Number of replies by model."""
        self.flush()
        rows = self._store._sql("SELECT tag, COUNT(*) FROM Cache GROUP BY tag ORDER BY tag")
        return {str(tag): int(n) for tag, n in rows.fetchall()}

    def volume(self) -> int:
        """Bytes on disk."""
        return int(self._store.volume())

    def _adopt_spools(self) -> None:
        for path in sorted(self.folder.glob("spool-*")):
            with path.open("rb+") as stream:
                try:
                    fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    continue  # its process lives
                with self._store.transact(retry=True):
                    for line in stream:
                        parts = line.split(b" ", 2)
                        if line.endswith(b"\n") and len(parts) == 3:  # else torn by a kill
                            key, tag = (
                                bytes.fromhex(parts[0].decode()),
                                bytes.fromhex(parts[1].decode()),
                            )
                            self._store.set(key, parts[2][:-1], tag=tag.decode(), retry=True)
                path.unlink(missing_ok=True)


def _own_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    info = folder.stat()
    if hasattr(os, "getuid") and info.st_uid != os.getuid():
        raise InputError(
            f"{folder}: the reply cache belongs to another user; name a folder of your own"
        )
    if info.st_mode & 0o077:
        folder.chmod(0o700)
