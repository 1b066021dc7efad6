"""Shares of labels, for tests/metrics/test_ranges.py."""

from nuggetjudge.plugins.annotate.live.quality import share


def labels(rng, topics):
    """The share of so many labels stays within its range."""
    counted = share(int(rng.integers(0, len(topics) + 1)), len(topics))
    assert 0 <= counted.low <= counted.value <= counted.high <= 1
    yield from ()


MADE = [labels]
