"""Vectors kept between runs: an encoder sees each text once."""

from __future__ import annotations

import hashlib
import sqlite3
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from ..backends.cache import default_folder, make_private
from ..records.reading.problems import InputError
from .scored import Encoder, Vectors

FOLDER, FILE = "vectors", "vectors.sqlite"
BATCH = 1024  # texts encoded and kept in one transaction: what a kill can lose
_WAIT_S = 60.0  # for another process that writes
_AT_ONCE = 500  # keys in one look


class CachedEncoder:
    """An encoder whose vectors stay on disk, by its name and the text.

    Any number of processes may share the folder. What is kept is kept whole: a killed process
    loses the vectors of its last batch at most. A vector that the disk refuses is not lost to the
    caller: it warns (RuntimeWarning), and from then on nothing more is kept.

    Args:
        encoder: makes the vectors that are not there yet.
        folder: None: the user's own cache directory. Made, or made again, private.

    Attributes:
        n_found, n_made: texts answered from the disk and by the encoder; a text that comes twice
            in one call is made once.

    Raises: InputError if the folder cannot be used, is somebody else's, or its file is no cache.

    >>> from tempfile import TemporaryDirectory
    >>> from nuggetjudge.retrieval import HashingEncoder  # or a SentenceEncoder
    >>> with TemporaryDirectory() as folder:
    ...     encoder = CachedEncoder(HashingEncoder(n_buckets=64), Path(folder))
    ...     encoder.passages(["a cat", "a dog"]).shape, encoder.n_found, encoder.n_made
    ((2, 64), 0, 2)
    """

    def __init__(self, encoder: Encoder, folder: Path | None = None) -> None:
        self.encoder = encoder
        self.name = encoder.name
        self.n_found = self.n_made = 0
        self._path = (folder or default_folder(FOLDER)) / FILE
        self._keeps = True
        make_private(self._path.parent, "cache of vectors")
        self._rows = _open(self._path)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One row per passage."""
        return self._vectors("passage", self.encoder.passages, texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query."""
        return self._vectors("query", self.encoder.queries, texts)

    def close(self) -> None:
        """Let go of the file."""
        self._rows.close()

    def _vectors(
        self, role: str, encode: Callable[[Sequence[str]], Vectors], texts: Sequence[str]
    ) -> Vectors:
        if not texts:
            return encode(texts)
        keys = [self._key(role, text) for text in texts]
        vectors = self._find(keys)
        self.n_found += sum(key in vectors for key in keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in vectors}
        new = list(missing)
        for start in range(0, len(new), BATCH):
            some = new[start : start + BATCH]
            made = encode([missing[key] for key in some]).astype("<f4")
            rows = {key: row.tobytes() for key, row in zip(some, made, strict=True)}
            self.n_made += len(rows)
            self._keep(rows)
            vectors |= rows
        if len({len(vectors[key]) for key in keys}) > 1:
            raise _unusable(self._path, "vectors of one encoder differ in length")
        joined = b"".join(vectors[key] for key in keys)
        return np.frombuffer(joined, "<f4").astype(np.float32).reshape(len(texts), -1)

    def _key(self, role: str, text: str) -> bytes:
        keyed = "\0".join((self.name, role, text))
        return hashlib.sha256(keyed.encode("utf-8", "surrogatepass")).digest()

    def _find(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        vectors: dict[bytes, bytes] = {}
        with _as_input_error(self._path):
            for start in range(0, len(keys), _AT_ONCE):
                some = keys[start : start + _AT_ONCE]
                marks = ",".join("?" * len(some))
                look = f"SELECT key, value FROM vectors WHERE key IN ({marks})"
                vectors.update(self._rows.execute(look, some))
        return vectors

    def _keep(self, rows: dict[bytes, bytes]) -> None:
        if not self._keeps:
            return
        try:
            with self._rows:
                self._rows.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows.items())
        except sqlite3.Error as error:
            self._keeps = False
            text = f"{self._path}: vectors are kept no longer ({error}); none is lost"
            warnings.warn(text, RuntimeWarning, stacklevel=4)


def stored_vectors(folder: Path) -> tuple[int, int]:
    """How many vectors are in a folder, and their bytes on disk. Raises: InputError."""
    path = folder / FILE
    if not path.exists():
        return 0, 0
    with closing(_open(path)) as rows, _as_input_error(path):
        [(n,)] = rows.execute("SELECT COUNT(*) FROM vectors")
    return n, path.stat().st_size


def clear_vectors(folder: Path) -> None:
    """Forget the vectors in a folder. Raises: InputError."""
    path = folder / FILE
    with closing(_open(path)) as rows, _as_input_error(path):
        with rows:
            rows.execute("DELETE FROM vectors")
        rows.execute("VACUUM")


def _open(path: Path) -> sqlite3.Connection:
    with _as_input_error(path):
        rows = sqlite3.connect(path, timeout=_WAIT_S, check_same_thread=False)
        rows.execute("PRAGMA journal_mode = WAL")
        rows.execute("PRAGMA synchronous = NORMAL")
        with rows:
            rows.execute(
                "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, value BLOB NOT NULL)"
            )
    return rows


@contextmanager
def _as_input_error(path: Path) -> Iterator[None]:
    """Turn what SQLite raises into an InputError that names the file."""
    try:
        yield
    except sqlite3.Error as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, why: object) -> InputError:
    return InputError(
        f"{path}: not a usable cache of vectors ({why}); delete it or name another folder"
    )
