"""Intervals of random battles, for tests/metrics/test_ranges.py."""

from nuggetjudge.metrics.inference import SIGNED, UNBOUNDED
from nuggetjudge.plugins.trec.arena.position import position_effect
from nuggetjudge.plugins.trec.arena.ratings import ratings

DRAWS = {"resamples": 40}


def arena(rng, topics):
    """Intervals of everything that battles are made into, each with the range of its values."""
    n = len(topics)
    first = rng.integers(0, 3, n)
    second = (first + rng.integers(1, 3, n)) % 3
    yield ratings(first, second, rng.choice([0, 0.5, 1.0], n), topics, 3, **DRAWS), UNBOUNDED
    yield position_effect(rng.choice([-1, 0, 1], n).tolist(), topics, **DRAWS), SIGNED


MADE = [arena]
