"""Intervals of the lab, for tests/metrics/test_ranges.py."""

import numpy as np

from nuggetjudge.metrics.inference import SHARE, SIGNED, UNBOUNDED
from nuggetjudge.plugins.lab.changes import Anchors, Side, drift, label_shift, least_squares
from nuggetjudge.plugins.lab.evidence import share
from nuggetjudge.plugins.lab.probe.faults import Cell, rates
from nuggetjudge.plugins.lab.probe.planting import Must

SCALE, GAINS = ("none", "partial", "full"), {"none": 0.0, "partial": 0.5, "full": 1.0}


def faults(rng, topics):
    """Of labels that had to fall or to stay, and of suggestions."""
    one, other = rng.choice([*SCALE, None], (2, len(topics)), p=[0.1, 0.1, 0.7, 0.1]).tolist()
    cells = [
        Cell("negation", topic, must, before, after)
        for topic, must, before, after in zip(
            topics, rng.choice(Must.__args__, len(topics)).tolist(), one, other, strict=True
        )
    ]
    made = rates(cells, SCALE, GAINS, seed=0)
    yield made.pop("informedness"), SIGNED
    yield made, SHARE
    yield share(rng.random(len(topics)) < 0.9, topics, resamples=40), SHARE


def probe(rng, topics):
    one, other = rng.choice([*SCALE, None], (2, len(topics)), p=[0.1, 0.1, 0.7, 0.1]).tolist()
    made = label_shift([(one, other)], SCALE, GAINS, topics, resamples=40)
    yield made.changed, SHARE
    yield made, SIGNED


def bias(rng, topics):
    errors = rng.choice([-1, 0, 0.5, 1], len(topics), p=[0.1, 0.7, 0.1, 0.1])
    if (fit := least_squares(errors, rng.random((len(topics), 1)), topics)) is not None:
        yield fit.interval(0), UNBOUNDED
    at = np.unique(topics, return_inverse=True)[1]
    n = int(at.max()) + 1
    if n > 1:
        old, new = rng.choice([0.0, 0.5, 1.0], (2, len(topics)))
        weight = 1 / np.bincount(at)[at] / n
        of, total = (
            [Side(np.bincount(at, weight * f, n), np.bincount(at, weight, n), np.ones(n, bool))
             for f in (old, new)],
            np.full(len(topics), np.nan),
        )  # fmt: skip
        yield drift(*of, Anchors(at, weight, old, new, total)), SIGNED


MADE = [faults, probe, bias]
