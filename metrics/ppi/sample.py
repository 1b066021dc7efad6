"""Items of a score of which some have a human label, and how those were drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Sample:
    """The items of one score, those with a human label among them, and how they were drawn.

    Labels are taken to be a random draw within each stratum: a topic, or a topic's items of one
    run. A stratum may hold items of other runs too, hence its two counts.

    Raises: ValueError if lengths differ or a value is out of range; it names the index.
    """

    judged: Floats  # (n,) what the judge says the item earns
    human: Floats  # (n,) what people say it earns; nan = not labelled
    weights: Floats  # (n,) >= 0; what the item is worth in the score
    topics: Ints  # (n,) in 0 .. n_topics - 1
    n_topics: int  # topics that the score averages over, also those without an item here
    strata: Ints  # (n,) name of the item's stratum
    stratum_labels: Ints  # (n,) labels drawn in that stratum
    stratum_items: Ints  # (n,) items in it
    by_own_topics: bool = False  # a topic without an item here is left out, where it counts 0 else

    def __post_init__(self) -> None:
        n = len(self.judged)
        for name in ("human", "weights", "topics", "strata", "stratum_labels", "stratum_items"):
            if len(getattr(self, name)) != n:
                raise ValueError(f"{len(getattr(self, name))} {name} for {n} judged gains")
        counts = (self.stratum_labels >= self.is_labelled) & (
            self.stratum_labels <= self.stratum_items
        )
        for name, fits in (
            ("judged", np.isfinite(self.judged)),
            ("human", ~np.isinf(self.human)),
            ("weights", np.isfinite(self.weights) & (self.weights >= 0)),
            ("topics", (self.topics >= 0) & (self.topics < self.n_topics)),
            ("stratum_labels", counts),
        ):
            if not fits.all():
                i = int(np.argmin(fits))
                raise ValueError(f"{name}[{i}] is {getattr(self, name)[i]}, out of range")

    @property
    def is_labelled(self) -> NDArray[np.bool_]:
        """(n,) whether people labelled the item."""
        return ~np.isnan(self.human)

    @property
    def is_counted(self) -> NDArray[np.bool_]:
        """(n_topics,) whether the score averages over the topic."""
        if not self.by_own_topics:
            return np.ones(self.n_topics, dtype=np.bool_)
        counted: NDArray[np.bool_] = np.bincount(self.topics, self.weights, self.n_topics) > 0
        return counted

    @property
    def n_labels(self) -> int:
        """Labelled items that weigh in the score."""
        return int((self.is_labelled & (self.weights > 0)).sum())


def sample(
    judged: Sequence[float] | Floats,
    human: Sequence[float] | Floats,
    weights: Sequence[float] | Floats,
    topics: Sequence[int] | Ints,
    *,
    strata: Sequence[int] | Ints | None = None,
    n_topics: int | None = None,
) -> Sample:
    """A sample whose strata hold no other items; by default the strata are the topics.

    Args: as the fields of `Sample`; `n_topics` by default counts the topics up to the highest.

    >>> sample([1, 0, 1], [1, float("nan"), 0], [0.5, 0.5, 1], [0, 0, 1]).stratum_labels.tolist()
    [1, 1, 1]
    """
    at = np.asarray(topics, dtype=np.int64)
    names = at if strata is None else np.asarray(strata, dtype=np.int64)
    h = np.asarray(human, dtype=np.float64)
    _, stratum = np.unique(names, return_inverse=True)
    return Sample(
        judged=np.asarray(judged, dtype=np.float64),
        human=h,
        weights=np.asarray(weights, dtype=np.float64),
        topics=at,
        n_topics=int(at.max(initial=-1)) + 1 if n_topics is None else n_topics,
        strata=names,
        stratum_labels=np.bincount(stratum, ~np.isnan(h)).astype(np.int64)[stratum],
        stratum_items=np.bincount(stratum)[stratum],
    )
