"""Learned sparse retrieval: a model weights the terms of its vocabulary for each text (SPLADE)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..records.rows import Passage
from .corpus import in_batches, passage_text
from .dense import N_ROWS, BestRows
from .encoders import load_model
from .index_files import new_index, open_index, read_ids, write_ids
from .scored import Ranked, check_queries

KIND = "splade"
WEIGHTS, TERMS, STARTS = "weights.f32", "terms.i32", "starts.i64"  # the three arrays of a CSR
_AT_ONCE = 64  # queries: their weights and scores are dense


class SparseEncoder(Protocol):
    """Turns texts into weights of terms; their dot product measures similarity."""

    name: str  # of the model and all settings that change a weight; the key of indexes
    n_terms: int

    def passages(self, texts: Sequence[str]) -> Any:
        """Encode passages: a scipy csr_array (n_texts, n_terms), float32, one row per passage.

        Args:
            texts: the texts of the passages.
        """
        ...

    def queries(self, texts: Sequence[str]) -> Any:
        """Encode queries: one row per query.

        Args:
            texts: the texts of the queries.
        """
        ...


class SpladeEncoder:
    """Term weights of a sentence-transformers SparseEncoder, such as SPLADE-v3.

    Args:
        model: a folder, "package:MODULE" or a name on the hub; see `load_model`. A plain masked
            language model is pooled like SPLADE.
        batch: texts that the model gets together; its scores of every term for every token take
            at most batch * 512 * 30,522 * 4 bytes.
        device: such as "cpu" or "cuda"; None: the library chooses.

    Raises: InputError if the `dense` extra or the model is missing; ValueError for batch < 1.
    """

    def __init__(self, model: str | Path, *, batch: int = 8, device: str | None = None) -> None:
        if batch < 1:
            raise ValueError(f"batch must be 1 or more, got {batch}")
        self._model, self.name = load_model("SparseEncoder", model, device)
        self._batch = batch
        # Measured on a row, because the library gives the hidden size for a plain masked model.
        self.n_terms: int = self._model.encode_query("").shape[-1]

    def passages(self, texts: Sequence[str]) -> Any:
        """Encode passages: one row per passage.

        Args:
            texts: the texts of the passages.
        """
        return self._rows(self._model.encode_document, texts)

    def queries(self, texts: Sequence[str]) -> Any:
        """Encode queries: one row per query.

        Args:
            texts: the texts of the queries.
        """
        return self._rows(self._model.encode_query, texts)

    def term_weights(self, row: Any) -> dict[str, float]:
        """Return the terms of one row in the model's spelling, with weights, highest first.

        Args:
            row: a row of `passages` or `queries`.
        """
        tokens = self._model.tokenizer.convert_ids_to_tokens(row.indices.tolist())
        weights = dict(zip(tokens, row.data.tolist(), strict=True))
        return dict(sorted(weights.items(), key=lambda item: -item[1]))

    def _rows(self, encode: Any, texts: Sequence[str]) -> Any:
        from scipy.sparse import csr_array

        if not texts:
            return csr_array((0, self.n_terms), dtype=np.float32)
        tensor = encode(
            list(texts), batch_size=self._batch, show_progress_bar=False, save_to_cpu=True
        ).coalesce()
        weights = tensor.values().float().numpy()
        return csr_array((weights, tensor.indices().numpy()), shape=(len(texts), self.n_terms))


class Splade:
    """An index of term weights on disk; scores are dot products, and scores above 0 are hits.

    Search is exact and reads all weights from disk, once for every 64 queries; ties in
    collection order.

    Source: Formal, Piwowarski and Clinchant (SIGIR 2021), arXiv:2107.05720.

    Example:
        encoder = SpladeEncoder("naver/splade-v3")
        splade = Splade.build(stream_passages([Path("p.jsonl")], problems), encoder, Path("index"))
        splade = Splade.open(Path("index"), encoder)  # another time
        [ranked] = splade.search(["why do cats purr?"], 10)
    """

    def __init__(self, encoder: SparseEncoder, passage_ids: Sequence[str], matrix: Any) -> None:
        self.encoder = encoder
        self.passage_ids = passage_ids
        self._matrix = matrix  # csr_array (n_passages, n_terms)

    @classmethod
    def build(
        cls,
        passages: Iterable[Passage],
        encoder: SparseEncoder,
        folder: Path,
        *,
        batch: int = 256,
    ) -> Splade:
        """Encode passages and store their weights in a folder; see new_index.

        Memory holds the ids, a batch of texts, and 8 bytes for each passage.

        Args:
            passages: with different ids, one or more.
                batch: passages that are encoded and written together.

            Raises: InputError like new_index; ValueError for batch < 1 or no passage.
        """
        if batch < 1:
            raise ValueError(f"batch must be 1 or more, got {batch}")
        with new_index(folder, KIND, {"encoder": encoder.name}) as draft:
            passage_ids: list[str] = []
            lengths = [np.zeros(1, np.int64)]
            with (
                (draft.path / WEIGHTS).open("wb") as weights,
                (draft.path / TERMS).open("wb") as terms,
            ):
                for some in in_batches(passages, batch):
                    rows = encoder.passages([passage_text(passage) for passage in some])
                    rows.data.astype("<f4").tofile(weights)
                    rows.indices.astype("<i4").tofile(terms)
                    lengths.append(np.diff(rows.indptr))
                    passage_ids += (passage.id for passage in some)
            np.cumsum(np.concatenate(lengths)).astype("<i8").tofile(draft.path / STARTS)
            write_ids(draft.path, passage_ids)
            draft.n_passages = len(passage_ids)
        return cls.open(folder, encoder)

    @classmethod
    def open(cls, folder: Path, encoder: SparseEncoder) -> Splade:
        """Open an index. Raises: InputError like open_index, and for another encoder."""
        from scipy.sparse import csr_array

        info = open_index(folder, KIND, {"encoder": encoder.name})
        files = {WEIGHTS: "<f4", TERMS: "<i4", STARTS: "<i8"}
        arrays = tuple(_array(folder / name, kind) for name, kind in files.items())
        matrix = csr_array(arrays, shape=(info.n_passages, encoder.n_terms))
        return cls(encoder, read_ids(folder), matrix)

    def search(self, queries: Sequence[str], hits: int) -> list[Ranked]:
        """Find the best `hits` passages of each query, best first. See Retriever.search."""
        check_queries(queries, hits)
        rankings: list[Ranked] = []
        for start in range(0, len(queries), _AT_ONCE):
            wanted = self.encoder.queries(queries[start : start + _AT_ONCE]).toarray()
            best = BestRows(len(wanted), hits)
            for row in range(0, len(self.passage_ids), N_ROWS):
                best.add(row, (self._matrix[row : row + N_ROWS] @ wanted.T).T)
            rankings += best.make_rankings(self.passage_ids, above=0.0)
        return rankings


def _array(path: Path, kind: str) -> Any:
    """An array on disk; an empty one cannot be mapped."""
    return np.memmap(path, kind, mode="r") if path.stat().st_size else np.zeros(0, kind)
