"""What retrieval passes around: passages with scores, and what finds, encodes or reorders them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]  # (n_texts, n_dimensions)


class Scored(NamedTuple):
    """A passage and what a retriever or reranker makes of it; higher is better."""

    passage_id: str
    score: float


Ranked = list[Scored]  # best first


class Retriever(Protocol):
    """A first stage: finds passages of a collection."""

    def search(self, queries: Sequence[str], hits: int) -> list[Ranked]:
        """The best `hits` passages of each query, best first; fewer where fewer match.

        Raises: ValueError for a blank query, with its position, or hits < 1.
        """
        ...


class Encoder(Protocol):
    """Turns texts into vectors whose dot product says how near they are."""

    name: str  # of the model and all settings that change a vector; keys caches and indexes

    def passages(self, texts: Sequence[str]) -> Vectors:
        """One row per passage."""
        ...

    def queries(self, texts: Sequence[str]) -> Vectors:
        """One row per query."""
        ...


class Reranker(Protocol):
    """Puts the passages of one query into another order, and may leave some out."""

    def rerank(self, query: str, ranked: Sequence[Scored], texts: Mapping[str, str]) -> Ranked:
        """The new ranking.

        Args:
            ranked: best first.
            texts: of every passage in `ranked`, by id.
        """
        ...


@runtime_checkable
class Counted(Protocol):
    """What counts as it works, as RankLlm does the replies to its windows."""

    counts: Counter[str]


def by_rank(passage_ids: Iterable[str]) -> Ranked:
    """A ranking that came without scores: 1, 1/2, 1/3, ..."""
    return [Scored(name, 1 / rank) for rank, name in enumerate(passage_ids, 1)]


def best_first(scores: Mapping[str, float], hits: int | None = None) -> Ranked:
    """Passages by falling score, equal ones in the order given; at most `hits`."""
    ranked = sorted(scores.items(), key=lambda item: -item[1])
    return [Scored(*item) for item in ranked[:hits]]


def by_text(
    ranked: Sequence[Scored],
    texts: Mapping[str, str],
    scores_of: Callable[[Sequence[str]], Iterable[float]],
) -> Ranked:
    """Passages by the scores of their texts, equal ones in the order they had.

    `scores_of` gets each text once: in two rows of a batch a model would give it two scores that
    differ by a hair. It is not called where there is none.
    """
    distinct = list(dict.fromkeys(texts[name] for name, _ in ranked))
    score_of = dict(zip(distinct, scores_of(distinct), strict=True)) if distinct else {}
    return best_first({name: score_of[texts[name]] for name, _ in ranked})


def check_queries(queries: Sequence[str], hits: int) -> None:
    """Raise ValueError for what no retriever can search with."""
    if hits < 1:
        raise ValueError(f"hits must be 1 or more, got {hits}")
    for position, query in enumerate(queries):
        if not query.strip():
            raise ValueError(f"query {position} is blank, wanted words to search for")
