"""BM25 without Java: bm25s computes the scores, from the same terms as Lucene."""

from __future__ import annotations

from array import array
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

    A passage of l terms, in which term t of the query occurs f times, while n of N passages hold
    t, gains for each t of the query (twice for a repeated t)

        ln(1 + (N - n + 0.5) / (n + 0.5)) * f / (f + k1 * (1 - b + b * l / mean l))

    Source: Kamphuis et al., ECIR 2020 (Which BM25 do you mean?), row "Lucene (accurate)".
    Differs: Lucene itself keeps l in one byte, and so rounds the length of longer passages.

    >>> passages = [Passage(id="a", text="A ship in harbour."), Passage(id="b", text="Rain.")]
    >>> bm25 = Bm25.build(passages)
    >>> [(hit.passage_id, round(hit.score, 4)) for hit in bm25.search(["harbours"], 10)[0]]
    [('a', 0.3431)]
    """

    def __init__(self, model: Any, passage_ids: Sequence[str]) -> None:
        """Use `build` or `open`; `model` is a bm25s.BM25 over passages in the order of the ids."""
        self._model = model
        self._passage_ids = passage_ids

    @classmethod
    def build(cls, passages: Iterable[Passage], *, k1: float = K1, b: float = B) -> Bm25:
        """Count the terms of the passages; each is read once and its text is not kept.

        Memory: 4 bytes for each term of each passage and, at the peak, 28 for each different one;
        the ids, and the vocabulary.

        Args:
            k1: how slowly further occurrences of a term stop counting, 0 or more.
            b: how much a passage's length counts, 0 to 1.

        Raises: ValueError for k1 or b out of range, or no passages.
        """
        import bm25s

        if not (0 <= k1 < np.inf and 0 <= b <= 1):
            raise ValueError(f"k1 must be 0 or more and b from 0 to 1, got {k1} and {b}")
        passage_ids, numbers, vocabulary = _in_numbers(passages)
        model = bm25s.BM25(k1=k1, b=b, method="lucene", csc_backend="scipy")
        with np.errstate(invalid="ignore"):  # 0 / 0 where no passage has a term
            model.index((numbers, vocabulary), create_empty_token=False, show_progress=False)
        return cls(model, passage_ids)

    def save(self, folder: Path) -> None:
        """Save the index in a folder, replacing an index there. Raises: like `new_index`."""
        settings = {"k1": self.k1, "b": self.b, "analysis": ANALYSIS}
        with new_index(folder, KIND, settings) as draft:
            self._model.save(draft.path, show_progress=False)
            write_ids(draft.path, self._passage_ids)
            draft.n_passages = len(self)

    @classmethod
    def open(cls, folder: Path) -> Bm25:
        """Open a saved index; its scores stay on disk until a query needs them.

        Raises: InputError if there is none, or it is corrupt or was made from other terms.
        """
        import bm25s

        open_index(folder, KIND, {"analysis": ANALYSIS})
        try:
            model = bm25s.BM25.load(folder, mmap=True, show_progress=False)
            return cls(model, read_ids(folder))
        except (OSError, ValueError, KeyError, TypeError) as error:
            again = "create it again with `judge index`"
            raise InputError(f"{folder}: corrupt index ({error}); {again}") from None

    @property
    def k1(self) -> float:
        """The k1 of BM25: the larger, the more a repeated term counts."""
        return float(self._model.k1)

    @property
    def b(self) -> float:
        """The b of BM25, in [0, 1]: the larger, the more the length of a passage counts."""
        return float(self._model.b)

    def __len__(self) -> int:
        return len(self._passage_ids)

    def search(self, queries: Sequence[str], hits: int) -> list[Ranked]:
        """Return the best passages that share a term with each query.

        Equal scores are in collection order. A query of stop words and unknown words finds nothing.

        Args:
            queries: the texts to search for.
            hits: the maximum number of passages for each query, >= 1.

        Raises: ValueError for a blank query, with its position, or hits < 1.
        """
        check_queries(queries, hits)
        return [self._search(query, hits) for query in queries]

    def _search(self, query: str, hits: int) -> Ranked:
        term_ids = self._model.get_tokens_ids(list(terms(query)))
        if not term_ids:
            return []
        scores = self._model.get_scores_from_ids(term_ids)
        rows = np.flatnonzero(scores)
        if len(rows) > hits:
            least = np.partition(scores[rows], -hits)[-hits]
            rows = rows[scores[rows] >= least]
        best = rows[np.argsort(-scores[rows], kind="stable")[:hits]]
        return [Scored(self._passage_ids[position], float(scores[position])) for position in best]


def _in_numbers(passages: Iterable[Passage]) -> tuple[list[str], list[array[int]], dict[str, int]]:
    """Ids of the passages, the numbers of the terms of each, and the number of each term."""
    passage_ids: list[str] = []
    # bm25s also accepts lists of terms, but then holds a Python object for each term and passage.
    numbers: list[array[int]] = []
    vocabulary: dict[str, int] = {}
    for passage in passages:
        words = terms(passage_text(passage))
        numbers.append(array("i", (vocabulary.setdefault(t, len(vocabulary)) for t in words)))
        passage_ids.append(passage.id)
    if not passage_ids:
        raise ValueError("no passages, wanted one or more")
    return passage_ids, numbers, vocabulary
