"""The best rows of an index whose scores come block by block, none of them approximated."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from .scored import Ranked, Scored, Vectors

N_ROWS = 16384  # scored at once; with N_QUERIES, 32 MB of scores
N_QUERIES = 512


class BestRows:
    """For each query the `hits` highest scores seen so far; equal ones in the order of the rows."""

    def __init__(self, n_queries: int, hits: int) -> None:
        self._hits = hits
        self._rows = [np.zeros(0, np.int64)] * n_queries
        self._scores = [np.zeros(0, np.float32)] * n_queries

    def add(self, first_row: int, scores: Vectors) -> None:
        """Take in scores (n_queries, n_rows) of the rows from `first_row` on; blocks in order."""
        rows = np.arange(first_row, first_row + scores.shape[1])
        for i, new in enumerate(scores):
            both = np.concatenate([self._scores[i], new])
            best = _best(both, self._hits)
            self._rows[i] = np.concatenate([self._rows[i], rows])[best]
            self._scores[i] = both[best]

    def ranked(self, passage_ids: Sequence[str], above: float = -np.inf) -> list[Ranked]:
        """A ranking for each query, of the rows with a score above this one."""
        return [
            as_ranked(rows, scores, passage_ids, above)
            for rows, scores in zip(self._rows, self._scores, strict=True)
        ]


def as_ranked(
    rows: Iterable[int], scores: Iterable[float], passage_ids: Sequence[str], above: float = -np.inf
) -> Ranked:
    """Rows and their scores, best first, by the ids of the passages."""
    return [
        Scored(passage_ids[row], float(score))
        for row, score in zip(rows, scores, strict=True)
        if score > above
    ]


def _best(scores: Vectors, hits: int) -> NDArray[np.int64]:
    """Positions of the `hits` highest, best first; equal ones in their order."""
    positions = np.arange(len(scores))
    if len(scores) > hits:
        edge = np.partition(scores, -hits)[-hits]
        positions = np.flatnonzero(scores >= edge)
    best: NDArray[np.int64] = positions[np.argsort(-scores[positions], kind="stable")][:hits]
    return best
