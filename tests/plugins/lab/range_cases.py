"""Intervals of the lab, for tests/metrics/test_ranges.py."""

from nuggetjudge.metrics.bootstrap import SHARE, SIGNED
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


MADE = [faults]
