"""What a cascade's labels are worth at each share that goes on, beside what it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...metrics.inference import (
    BEYOND_CHANCE,
    SHARE,
    SIGNED_DIFFERENCE,
    Array,
    Draws,
    Ends,
    Interval,
    resampling,
)
from ...metrics.jury import escalated, mixed_counts
from ...metrics.label_coefficients import accuracy, cohen_kappa
from ..jury.ballots import Codes
from .chance import Floats
from .stored import Stored

SHARES = tuple(i / 10 for i in range(11))
CHEAP, RANDOM, PANEL, DEAR = "confidence", "random", "panel", "dear"


@dataclass(frozen=True)
class Point:
    """Labels of which a share was given by the dear judge, beside people's.

    Attributes:
        way: `confidence`: the least sure went on; `random`: any, of the first stage; `random NAME`:
            of its first judge alone; `panel`: none, all cheap judges' median; `dear`: all.
        share: that went on, in [0, 1]. n, n_unlabelled: items with a label, and without (expected).
        kappa, linear, quadratic: the last two None without an order. accuracy, binary: share that
            is the same, and kappa, on two sides of the cut; None without one.
        less_dear: the objective less that of the dear judge alone.
        calls: for an item, on average.
    """

    way: str
    share: float
    n: float
    n_unlabelled: float
    kappa: Interval
    linear: Interval | None
    quadratic: Interval | None
    accuracy: Interval | None
    binary: Interval | None
    less_dear: Interval
    calls: float


def curve(
    stored: Stored,
    confidence: Floats,
    shares: Sequence[float],
    draws: Draws,
) -> list[Point]:
    """The points of every way at every share, those of the confidence first.

    Args:
        confidence: (n,) of the first stage's labels, nan: none.
    """
    return _Curve(stored, confidence, draws).all(shares)


class _Curve:
    def __init__(self, stored: Stored, confidence: Floats, draws: Draws) -> None:
        self.stored, self.confidence = stored, confidence
        self.sample = resampling(stored.topics, **draws)
        self.k = len(stored.scale.labels)
        self.n_cheap = max(1, len(stored.members))
        everywhere = np.ones(len(stored.truth))
        self.dear = self._counts(stored.cheap, everywhere)
        self.of_dear = self._drawn(self.dear)

    def all(self, shares: Sequence[float]) -> list[Point]:
        """See `curve`."""
        stored, n = self.stored, len(self.stored.truth)
        alone, first = stored.votes[:, 0], f"{RANDOM} {stored.names[0]}"
        points = []
        for share in shares:
            goes = escalated(self.confidence, share)
            points.append(self._point(CHEAP, share, stored.cheap, goes, self.n_cheap))
        for share in shares:
            any_of = np.full(n, share)
            points.append(self._point(RANDOM, share, stored.cheap, any_of, self.n_cheap))
        for share in shares if len(stored.names) > 1 else ():
            points.append(self._point(first, share, alone, np.full(n, share), 1))
        none = np.zeros(n)
        if len(stored.members) > 1:
            points.append(self._point(PANEL, 0.0, stored.panel, none, self.n_cheap))
        return [*points, self._point(DEAR, 1.0, stored.cheap, none + 1, 0)]

    def _counts(self, cheap: Codes, goes: Floats) -> Floats:
        stored, n_topics = self.stored, self.sample.draws.shape[1]
        at = self.sample.topic_of
        return mixed_counts(stored.truth, cheap, stored.dear, goes, at, n_topics, self.k)

    def _point(self, way: str, share: float, cheap: Codes, goes: Floats, n_cheap: int) -> Point:
        counts = self._counts(cheap, goes)
        figures = self._drawn(counts)
        ordered = self.stored.scale.is_ordered
        name = "quadratic" if ordered else "kappa"
        labelled = counts[:, :, : self.k]
        return Point(
            way=way,
            share=share,
            n=float(labelled.sum()),
            n_unlabelled=float(counts[:, :, self.k].sum()),
            kappa=self._interval(figures["kappa"]),
            linear=self._interval(figures["linear"]) if ordered else None,
            quadratic=self._interval(figures["quadratic"]) if ordered else None,
            accuracy=self._interval(figures["accuracy"], SHARE) if "accuracy" in figures else None,
            binary=self._interval(figures["binary"]) if "binary" in figures else None,
            less_dear=self._interval(figures[name] - self.of_dear[name], SIGNED_DIFFERENCE),
            calls=n_cheap + share,
        )

    def _drawn(self, counts: Floats) -> dict[str, Array]:
        """(1 + resamples,) each figure on all topics, then on each drawn sample."""
        labelled = counts[:, :, : self.k]
        drawn = np.tensordot(self.sample.draws.astype(np.float64), labelled, axes=1)
        whole = np.concatenate([labelled.sum(0)[None], drawn])
        figures = {"kappa": cohen_kappa(whole)}
        if self.stored.scale.is_ordered:
            figures["linear"] = cohen_kappa(whole, "linear")
            figures["quadratic"] = cohen_kappa(whole, "quadratic")
        if (cut := self.stored.scale.cut) is not None:
            sides = np.stack([whole[:, :, :cut].sum(2), whole[:, :, cut:].sum(2)], 2)
            two = np.stack([sides[:, :cut].sum(1), sides[:, cut:].sum(1)], 1)
            figures |= {"accuracy": accuracy(two), "binary": cohen_kappa(two)}
        return figures

    def _interval(self, drawn: Array, ends: Ends = BEYOND_CHANCE) -> Interval:
        first = None if np.isnan(drawn[0]) else float(drawn[0])
        return self.sample.interval(first, drawn[1:], ends)
