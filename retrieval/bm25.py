"""BM25 without Java: bm25s holds the scores, terms are made as Lucene makes them."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..records.reading.problems import InputError
from ..records.rows import Passage
from .corpus import passage_text
from .defaults import K1, B
from .english import ANALYSIS, terms
from .index_files import new_index, open_index, read_ids, write_ids
from .scored import Ranked, Scored, check_queries

KIND = "bm25"


class Bm25:
    """BM25 over the English terms of title and text, in the variant that Lucene computes.

    A passage of l terms, f of them the query's term t, which n of N passages hold, earns for each
    t of the query, twice where it stands there twice,

        ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * l / mean l))

    Source: Kamphuis et al., ECIR 2020 (Which BM25 do you mean?), row "Lucene (accurate)".
    Differs: Lucene itself keeps l in one byte, and so rounds the length of longer passages.

    >>> passages = [Passage(id="a", text="A ship in harbour."), Passage(id="b", text="Rain.")]
    >>> bm25 = Bm25.build(passages)
    >>> bm25.search(["harbours"], 10)
    [[Scored(passage_id='a', score=0.3431...)]]
    """

    def __init__(self, model: Any, passage_ids: Sequence[str]) -> None:
        """Use `build` or `open`; `model` is a bm25s.BM25 over passages in the order of the ids."""
        self._model = model
        self._passage_ids = passage_ids

    @classmethod
    def build(cls, passages: Iterable[Passage], *, k1: float = K1, b: float = B) -> Bm25:
        """Count the terms of the passages, each of which is read once and not kept.

        Memory: 16 bytes for each different term of each passage at the peak, and the ids.

        Args:
            k1: how slowly more occurrences of a term stop to count, 0 or more.
            b: how much a passage's length counts, 0 to 1.

        Raises: ValueError for k1 or b out of range, or no passages.
        """
        import bm25s

        if not (0 <= k1 < np.inf and 0 <= b <= 1):
            raise ValueError(f"k1 must be 0 or more and b from 0 to 1, got {k1} and {b}")
        passage_ids, vocabulary, counts = _count(passages)
        model = bm25s.BM25(k1=k1, b=b, method="lucene")
        model.vocab_dict = vocabulary
        model.nonoccurrence_array = None  # of other variants
        model.scores = _weigh(counts, k1, b)
        return cls(model, passage_ids)

    def save(self, folder: Path) -> None:
        """Keep the index in a folder, replacing the index there. Raises: as `new_index`."""
        settings = {"k1": self.k1, "b": self.b, "analysis": ANALYSIS}
        with new_index(folder, KIND, settings) as draft:
            self._model.save(draft.path, show_progress=False)
            write_ids(draft.path, self._passage_ids)
            draft.n_passages = len(self)

    @classmethod
    def open(cls, folder: Path) -> Bm25:
        """Open a saved index; its scores stay on disk until a query needs them.

        Raises: InputError if there is none, or it is corrupt or was made with other terms.
        """
        import bm25s

        open_index(folder, KIND, {"analysis": ANALYSIS})
        try:
            model = bm25s.BM25.load(folder, mmap=True, show_progress=False)
            return cls(model, read_ids(folder))
        except (OSError, ValueError, KeyError, TypeError) as error:
            again = "make it again with `judge index`"
            raise InputError(f"{folder}: corrupt index ({error}); {again}") from None

    @property
    def k1(self) -> float:
        """How slowly more occurrences of a term stop to count."""
        return float(self._model.k1)

    @property
    def b(self) -> float:
        """How much a passage's length counts."""
        return float(self._model.b)

    def __len__(self) -> int:
        return len(self._passage_ids)

    def search(self, queries: Sequence[str], hits: int) -> list[Ranked]:
        """The best passages that share a term with the query; equal scores in collection order.

        A query of stop words and unknown words finds nothing.

        Raises: ValueError for a blank query, with its place, or hits < 1.
        """
        check_queries(queries, hits)
        return [self._search(query, hits) for query in queries]

    def _search(self, query: str, hits: int) -> Ranked:
        term_ids = self._model.get_tokens_ids(list(terms(query)))
        if not term_ids:
            return []
        scores = self._model.get_scores_from_ids(term_ids)
        found = np.flatnonzero(scores)
        if len(found) > hits:
            least = np.partition(scores[found], -hits)[-hits]
            found = found[scores[found] >= least]
        best = found[np.argsort(-scores[found], kind="stable")[:hits]]
        return [Scored(self._passage_ids[place], float(scores[place])) for place in best]


def _count(passages: Iterable[Passage]) -> tuple[list[str], dict[str, int], Any]:
    """Ids of the passages, numbers of the terms, and a CSC matrix of counts (passages, terms)."""
    from scipy.sparse import csr_matrix

    passage_ids: list[str] = []
    vocabulary: dict[str, int] = {}
    # bm25s would take all terms as lists of int and need twice the memory.
    term_ids, counts, ends = array("i"), array("f"), array("q", [0])
    for passage in passages:
        found = Counter(terms(passage_text(passage)))
        term_ids.extend(vocabulary.setdefault(term, len(vocabulary)) for term in found)
        counts.extend(found.values())
        ends.append(len(term_ids))
        passage_ids.append(passage.id)
    if not passage_ids:
        raise ValueError("no passages, wanted one or more")
    rows = np.frombuffer(counts, "f4"), np.frombuffer(term_ids, "i4"), np.frombuffer(ends, "i8")
    by_passage = csr_matrix(rows, shape=(len(passage_ids), len(vocabulary)))
    return passage_ids, vocabulary, by_passage.tocsc()


def _weigh(counts: Any, k1: float, b: float) -> dict[str, Any]:
    """What each term adds to each passage, in the form in which bm25s keeps it."""
    n_passages = counts.shape[0]
    lengths = np.asarray(counts.sum(axis=1)).ravel()
    damping = k1 * (1 - b + b * lengths / (lengths.mean() or 1))
    n_holding = np.diff(counts.indptr)
    rarity = np.log1p((n_passages - n_holding + 0.5) / (n_holding + 0.5))
    weights = counts.data
    weights /= weights + damping.astype("f4")[counts.indices]
    weights *= np.repeat(rarity.astype("f4"), n_holding)
    return {
        "data": weights,
        "indices": counts.indices,
        "indptr": counts.indptr,
        "num_docs": n_passages,
    }
