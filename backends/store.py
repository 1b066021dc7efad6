"""The database of the reply cache: diskcache that holds bytes alone and never unpickles."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import diskcache

from ..records.reading.problems import InputError

LOOK_S = 1.0  # between two looks at what other processes filed
FAULTS = (OSError, sqlite3.Error, diskcache.Timeout)  # what a disk or another process can do
_NO_DATABASE = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)
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

    def remove(self, file_path: str) -> None:
        """No file is ours, so a row that names one gets nothing deleted."""


class Store(diskcache.Cache):  # type: ignore[misc]
    """diskcache's database with one statement for a look and one for a batch: 3 times cheaper."""

    _FIND = "SELECT value FROM Cache WHERE key = ? AND raw = 1 AND mode = 1 AND filename IS NULL"
    _FILE = (
        "INSERT INTO Cache"
        " (key, raw, store_time, access_time, access_count, tag, size, mode, value)"
        " VALUES (?, 1, ?, ?, 0, ?, 0, 1, ?) ON CONFLICT (key, raw) DO UPDATE SET"
        " store_time = excluded.store_time, tag = excluded.tag, mode = 1, filename = NULL,"
        " value = excluded.value"
    )

    def find(self, key: bytes) -> bytes | None:
        """The bytes filed under a key; a row of any other kind counts as not there."""
        rows = self._sql(self._FIND, (key,)).fetchall()
        return rows[0][0] if rows and isinstance(rows[0][0], bytes) else None

    def file(self, replies: Mapping[bytes, tuple[bytes, str]]) -> None:
        """Write replies with their tags in one transaction, in the order of their keys."""
        now = time.time()
        rows = [(key, now, now, tag, value) for key, (value, tag) in sorted(replies.items())]
        with self._transact(retry=True):
            self._con.executemany(self._FILE, rows)

    def keys_after(self, row: int) -> Iterator[tuple[int, bytes]]:
        """Row number and key of the rows that came after this one."""
        yield from self._sql(
            "SELECT rowid, key FROM Cache WHERE rowid > ? AND raw = 1 AND typeof(key) = 'blob'"
            " ORDER BY rowid",
            (row,),
        )

    def last_row(self) -> int:
        """Number of the newest row, 0 if there is none."""
        return int(self._sql("SELECT COALESCE(MAX(rowid), 0) FROM Cache").fetchone()[0])

    def count_by_tag(self) -> dict[str, int]:
        """Number of rows by tag."""
        rows = self._sql("SELECT tag, COUNT(*) FROM Cache GROUP BY tag ORDER BY tag")
        return {str(tag): int(n) for tag, n in rows.fetchall()}


class KnownKeys:
    """Tells at once that a key is not in the store, most of the time: 2 MB of bits.

    What other processes file is seen within LOOK_S; until then it is asked for once more.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._bits = bytearray(2**21)  # one for each value of a key's first three bytes
        self._last_row = 0
        self._looked_at = -math.inf

    def may_hold(self, key: bytes) -> bool:
        """False: the key is not there. True: look."""
        if time.monotonic() - self._looked_at > LOOK_S:
            self._look()
        place = int.from_bytes(key[:3], "big")
        return bool(self._bits[place >> 3] & 1 << (place & 7))

    def add(self, keys: Iterable[bytes]) -> None:
        """Note keys that were filed."""
        for key in keys:
            place = int.from_bytes(key[:3], "big")
            self._bits[place >> 3] |= 1 << (place & 7)

    def _look(self) -> None:
        last = self._store.last_row()
        start = self._last_row if last >= self._last_row else 0  # cleared, and counting anew
        self.add(key for _, key in self._store.keys_after(start))
        self._last_row = last
        self._looked_at = time.monotonic()


def open_store(folder: Path) -> Store:
    """The store in a folder of ours. Raises: one of FAULTS."""
    return Store(
        str(folder),
        disk=JsonDisk,
        eviction_policy="none",
        cull_limit=0,
        statistics=0,
        size_limit=2**40,
        sqlite_cache_size=2**10,  # pages; diskcache's 32 MB and 64 MB are for hot caches
        sqlite_mmap_size=0,
    )


def as_input_error(folder: Path, error: Exception) -> InputError:
    """One of FAULTS in the terms of a user; only a broken cache is to be deleted."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _NO_DATABASE:
        return InputError(
            f"{folder}: not a usable reply cache ({error}); name another or delete it"
        )
    why = str(error) or type(error).__name__
    return InputError(
        f"{folder}: the reply cache cannot be used ({why}); mend that or set run.cache"
    )


@contextmanager
def told_as_input(folder: Path) -> Iterator[None]:
    """Turn FAULTS into an InputError that names the cache."""
    try:
        yield
    except FAULTS as error:
        raise as_input_error(folder, error) from None
