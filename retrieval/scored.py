"""Types of retrieval: passages with scores, and the interfaces of retrievers and rerankers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]  # (n_texts, n_dimensions)


class Scored(NamedTuple):
    """A passage and its score from a retriever or reranker; higher is better."""

    passage_id: str
    score: float


Ranked = list[Scored]  # best first


class Retriever(Protocol):
    """A first stage: finds passages of a collection."""

    def search(self, queries: Sequence[str], hits: int) -> list[Ranked]:
        """Find the best `hits` passages of each query, best first; fewer if fewer match.

        Raises: ValueError for a blank query, with its position, or hits < 1.
        """
        ...


class Encoder(Protocol):
    """Turns texts into vectors; their dot product measures similarity."""

    name: str  # of the model and all settings that change a vector; the key of caches and indexes

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Encode passages: one row per passage.

        Args:
            texts: the texts of the passages.
        """
        ...

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode queries: one row per query.

        Args:
            texts: the texts of the queries.
        """
        ...


class Reranker(Protocol):
    """Reorders the passages of one query, and may leave some out."""

    def rerank(self, query: str, ranked: Sequence[Scored], texts: Mapping[str, str]) -> Ranked:
        """Rerank passages.

        Args:
            ranked: best first.
            texts: of every passage in `ranked`, by id.
        """
        ...


@runtime_checkable
class Counted(Protocol):
    """Counts while it works, like RankLlm its windows."""

    counts: Counter[str]


def by_rank(passage_ids: Iterable[str]) -> Ranked:
    """Make scores for a ranking without scores: 1, 1/2, 1/3, ..."""
    return [Scored(name, 1 / rank) for rank, name in enumerate(passage_ids, 1)]


def best_first(scores: Mapping[str, float], hits: int | None = None) -> Ranked:
    """Sort passages by descending score, ties in the given order; at most `hits`."""
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    return [Scored(*item) for item in ranked[:hits]]


def by_text(
    ranked: Sequence[Scored],
    texts: Mapping[str, str],
    scores_of: Callable[[Sequence[str]], Iterable[float]],
) -> Ranked:
    """Sort passages by the scores of their texts; ties keep their order.

    `scores_of` gets each text once, because in two rows of a batch a model may give a text two
    slightly different scores. It is not called without texts.
    """
    distinct = list(dict.fromkeys(texts[name] for name, _ in ranked))
    score_of = dict(zip(distinct, scores_of(distinct), strict=True)) if distinct else {}
    return best_first({name: score_of[texts[name]] for name, _ in ranked})


def check_queries(queries: Sequence[str], hits: int) -> None:
    """Raise ValueError for invalid queries or hits."""
    if hits < 1:
        raise ValueError(f"hits must be 1 or more, got {hits}")
    for position, query in enumerate(queries):
        if not query.strip():
            raise ValueError(f"query {position} is blank, wanted words to search for")
