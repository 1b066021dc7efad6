"""Dense retrieval: the passages whose vectors are closest to the query's, by exact search."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..records.reading.problems import InputError, need
from ..records.rows import Passage
from .corpus import in_batches, passage_text
from .index_files import new_index, open_index, read_ids, write_ids
from .scored import Encoder, Ranked, Scored, Vectors, check_queries

N_ROWS = 16384  # scored at once; with N_QUERIES, 32 MB of scores
N_QUERIES = 512


class BestRows:
    """For each query, the `hits` highest scores so far; ties in the order of the rows."""

    def __init__(self, n_queries: int, hits: int) -> None:
        self._hits = hits
        self._rows = [np.zeros(0, np.int64)] * n_queries
        self._scores = [np.zeros(0, np.float32)] * n_queries

    def add(self, first_row: int, scores: Vectors) -> None:
        """Add scores (n_queries, n_rows) of the rows from `first_row` on; blocks come in order."""
        rows = np.arange(first_row, first_row + scores.shape[1])
        for i, new in enumerate(scores):
            both = np.concatenate([self._scores[i], new])
            best = _best(both, self._hits)
            self._rows[i] = np.concatenate([self._rows[i], rows])[best]
            self._scores[i] = both[best]

    def make_rankings(self, passage_ids: Sequence[str], above: float = -np.inf) -> list[Ranked]:
        """Make a ranking for each query from the rows with a score above this one."""
        return [
            as_ranked(rows, scores, passage_ids, above)
            for rows, scores in zip(self._rows, self._scores, strict=True)
        ]


def as_ranked(
    rows: Iterable[int], scores: Iterable[float], passage_ids: Sequence[str], above: float = -np.inf
) -> Ranked:
    """Turn rows and their scores, best first, into ids of passages and scores."""
    return [
        Scored(passage_ids[row], float(score))
        for row, score in zip(rows, scores, strict=True)
        if score > above
    ]


def _best(scores: Vectors, hits: int) -> NDArray[np.int64]:
    """Positions of the `hits` highest scores, best first; ties in order."""
    positions = np.arange(len(scores))
    if len(scores) > hits:
        edge = np.partition(scores, -hits)[-hits]
        positions = np.flatnonzero(scores >= edge)
    best: NDArray[np.int64] = positions[np.argsort(-scores[positions], kind="stable")][:hits]
    return best


KIND = "dense"
VECTORS, FAISS = "vectors.f32", "index.faiss"
N_TRAINING = 100_000  # vectors, spread over the collection, to train a FAISS index


class Dense:
    """An index of vectors on disk; scores are dot products, ties are in collection order.

    Search is exact and reads the vectors from disk, unless the index is a FAISS index, which is
    held in memory and may miss passages.

    >>> from tempfile import TemporaryDirectory
    >>> from nuggetjudge.retrieval import HashingEncoder  # or a SentenceEncoder
    >>> passages = [Passage(id="a", text="Purring cats."), Passage(id="b", text="Rain.")]
    >>> with TemporaryDirectory() as folder:
    ...     index = Path(folder, "index")
    ...     built = Dense.build(passages, HashingEncoder(), index)
    ...     opened = Dense.open(index, HashingEncoder())  # another time
    ...     opened.search(["why do cats purr?"], 1)[0][0].passage_id
    'a'
    """

    def __init__(self, encoder: Encoder, passage_ids: Sequence[str], index: Any) -> None:
        self.encoder = encoder
        self.passage_ids = passage_ids
        self._index = index  # vectors (n_passages, n_dimensions), or a FAISS index

    @classmethod
    def build(
        cls,
        passages: Iterable[Passage],
        encoder: Encoder,
        folder: Path,
        *,
        faiss: str | None = None,
        batch: int = 256,
    ) -> Dense:
        """Encode passages and store their vectors in a folder; see new_index.

        Memory holds the ids, a batch of texts and, with FAISS, its index.

        Args:
            passages: with different ids, one or more.
            faiss: a factory string of FAISS, such as "Flat", "HNSW32" or "IVF256,Flat"; None:
                exact search without FAISS.
            batch: passages that are encoded and written together.

        Raises: InputError like new_index, or if FAISS is missing or rejects the string
            for these passages; ValueError for batch < 1 or no passage.
        """
        if batch < 1:
            raise ValueError(f"batch must be 1 or more, got {batch}")
        if faiss is not None:
            need("faiss", "dense")
        with new_index(folder, KIND, {"encoder": encoder.name, "faiss": faiss}) as draft:
            passage_ids: list[str] = []
            with (draft.path / VECTORS).open("wb") as stream:
                for some in in_batches(passages, batch):
                    vectors = encoder.passages([passage_text(passage) for passage in some])
                    vectors.astype("<f4").tofile(stream)
                    passage_ids += (passage.id for passage in some)
            write_ids(draft.path, passage_ids)
            draft.n_passages = len(passage_ids)
            if faiss is not None and passage_ids:
                _write_faiss(draft.path, len(passage_ids), faiss)
        return cls.open(folder, encoder)

    @classmethod
    def open(cls, folder: Path, encoder: Encoder, *, faiss_search: str | None = None) -> Dense:
        """Open an index.

        Args:
            faiss_search: parameters of FAISS's search, such as "nprobe=16" for IVF, which
                otherwise looks into 1 of its lists, or "efSearch=64" for HNSW.

        Raises: InputError like open_index, for an encoder other than the index's own, and if
            FAISS is missing or rejects the parameters.
        """
        info = open_index(folder, KIND, {"encoder": encoder.name})
        if info.settings["faiss"] is None:
            index = _vectors(folder / VECTORS, info.n_passages)
        else:
            index = _read_faiss(folder / FAISS, faiss_search)
        return cls(encoder, read_ids(folder), index)

    def search(self, queries: Sequence[str], hits: int) -> list[Ranked]:
        """Return the nearest passages of each query, best first; see `Retriever.search`.

        Args:
            queries: the texts to search for.
            hits: the maximum number of passages for each query, >= 1.
        """
        check_queries(queries, hits)
        search = self._search_exactly if isinstance(self._index, np.ndarray) else self._ask_faiss
        rankings: list[Ranked] = []
        for start in range(0, len(queries), N_QUERIES):
            rankings += search(self.encoder.queries(queries[start : start + N_QUERIES]), hits)
        return rankings

    def _search_exactly(self, queries: Vectors, hits: int) -> list[Ranked]:
        best = BestRows(len(queries), hits)
        for row in range(0, len(self._index), N_ROWS):
            best.add(row, queries @ self._index[row : row + N_ROWS].T)
        return best.make_rankings(self.passage_ids)

    def _ask_faiss(self, queries: Vectors, hits: int) -> list[Ranked]:
        scores, rows = self._index.search(queries, min(hits, len(self.passage_ids)))
        is_hit = rows >= 0  # FAISS marks missing hits with -1
        return [
            as_ranked(rows[i][is_hit[i]], scores[i][is_hit[i]], self.passage_ids)
            for i in range(len(queries))
        ]


def _vectors(path: Path, n_passages: int) -> Vectors:
    return np.memmap(path, "<f4", mode="r").reshape(n_passages, -1)


def _read_faiss(path: Path, search: str | None) -> Any:
    faiss = need("faiss", "dense")
    try:
        index = faiss.read_index(str(path))
    except RuntimeError as error:
        raise InputError(f"{path}: corrupt index ({_reason(error)}); create it again") from None
    try:
        if search is not None:
            faiss.ParameterSpace().set_index_parameters(index, search)
    except RuntimeError as error:
        raise InputError(f"{path}: FAISS rejects {search!r} ({_reason(error)})") from None
    return index


def _write_faiss(folder: Path, n_passages: int, factory: str) -> None:
    """Replace the vectors by a FAISS index."""
    faiss = need("faiss", "dense")
    vectors = _vectors(folder / VECTORS, n_passages)
    try:
        index = faiss.index_factory(vectors.shape[1], factory, faiss.METRIC_INNER_PRODUCT)
        if not index.is_trained:
            index.train(np.ascontiguousarray(vectors[:: -(-n_passages // N_TRAINING)]))
        for row in range(0, n_passages, N_ROWS):
            index.add(np.ascontiguousarray(vectors[row : row + N_ROWS]))
    except RuntimeError as error:
        what = f"FAISS rejects {factory!r} for {n_passages} passages ({_reason(error)})"
        raise InputError(what) from None
    faiss.write_index(index, str(folder / FAISS))
    del vectors
    (folder / VECTORS).unlink()


def _reason(error: RuntimeError) -> str:
    """FAISS's message without the place in its source."""
    return re.split(r"\.(?:cpp|h):\d+: ", str(error).strip())[-1]
