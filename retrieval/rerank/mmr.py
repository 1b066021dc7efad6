"""Maximal marginal relevance: passages that are relevant and unlike those before them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..fusion import check_ranked, min_max
from ..scored import Encoder, Ranked, Scored, Vectors

Relevance = Literal["scores", "encoder"]


class Mmr:
    """Take, again and again, the passage with the highest marginal relevance.

    weight * relevance - (1 - weight) * the highest cosine with a passage taken before; equal ones
    in the order they came in. This value is the score that a passage gets; for the first, the
    highest cosine is that of nothing: -1. So scores never rise, and lie in [-1, 1] at most.

    Args:
        encoder: makes the vectors; their cosines are used, of any length they may be.
        weight: of relevance, in [0, 1]; 1: relevance alone.
        hits: how many passages to keep, >= 1; None: all.
        relevance: "scores": the scores that come in, moved and stretched to [0, 1] (min-max), so
            that they weigh against cosines; "encoder": the cosine of query and passage, as in the
            paper.

    Raises: ValueError for a weight, hits or relevance that there is not.
    Source: Carbonell and Goldstein (SIGIR 1998), doi:10.1145/290941.291025.

    >>> from nuggetjudge.retrieval import HashingEncoder
    >>> ranked = [Scored("a", 3.0), Scored("b", 2.9), Scored("c", 2.0)]
    >>> texts = {"a": "a cat sat", "b": "the cat sat", "c": "dogs bark"}
    >>> [one.passage_id for one in Mmr(HashingEncoder()).rerank("pets", ranked, texts)]
    ['a', 'c', 'b']
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        weight: float = 0.5,
        hits: int | None = None,
        relevance: Relevance = "scores",
    ) -> None:
        if not 0 <= weight <= 1:
            raise ValueError(f"weight is {weight}, wanted a number from 0 to 1")
        if hits is not None and hits < 1:
            raise ValueError(f"hits must be 1 or more, got {hits}")
        if relevance not in ("scores", "encoder"):
            raise ValueError(f"relevance is {relevance!r}, wanted scores or encoder")
        self.encoder = encoder
        self.weight = weight
        self.hits = hits
        self.relevance = relevance

    def rerank(self, query: str, ranked: Sequence[Scored], texts: Mapping[str, str]) -> Ranked:
        """The new ranking.

        Raises: ValueError for a passage twice, without text or with a score that is not finite.
        """
        check_ranked(ranked)
        for position, (name, _) in enumerate(ranked):
            if name not in texts:
                raise ValueError(f"ranked[{position}]: no text of passage {name!r}")
        if not ranked:
            return []
        vectors = _of_length_one(self.encoder.passages([texts[one.passage_id] for one in ranked]))
        if self.relevance == "scores":
            relevance = np.array(min_max([one.score for one in ranked]))
        else:
            relevance = _cosines(vectors, _of_length_one(self.encoder.queries([query]))[0])
        taken: Ranked = []
        left = np.ones(len(ranked), bool)
        highest = np.full(len(ranked), -1.0)  # cosine of each passage with those taken
        for _ in ranked[: self.hits]:
            values = self.weight * relevance - (1 - self.weight) * highest
            best = int(np.argmax(np.where(left, values, -np.inf)))
            taken.append(Scored(ranked[best].passage_id, float(values[best])))
            left[best] = False
            highest = np.maximum(highest, _cosines(vectors, vectors[best]))
        return taken


def _of_length_one(vectors: Vectors) -> NDArray[np.float64]:
    """Rows of length 1; a row of zeros stays one, with cosine 0 to all."""
    rows = vectors.astype(np.float64)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    return rows


def _cosines(vectors: NDArray[np.float64], one: NDArray[np.float64]) -> NDArray[np.float64]:
    """Cosine of every row with one vector, in [-1, 1] whatever the rounding."""
    cosines: NDArray[np.float64] = np.clip(vectors @ one, -1, 1)
    return cosines
