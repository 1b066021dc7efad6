"""Which items go on, and what labels are then expected to be."""

import numpy as np
import pytest

from nuggetjudge.metrics.cascade.escalation import escalated, mixed_counts, threshold_of


def test_the_least_sure_go_first_and_equals_share_what_is_left():
    goes = escalated([0.9, 0.1, 0.5, 0.5, float("nan")], 0.5)
    assert goes.tolist() == [0.0, 1.0, 0.25, 0.25, 1.0]
    assert escalated([0.2, 0.1], 0).tolist() == [0.0, 0.0]
    assert escalated([0.2, 0.1], 1).tolist() == [1.0, 1.0]


def test_expected_counts_are_the_mean_of_draws():
    rng = np.random.default_rng(0)
    truth, cheap, dear = rng.integers(0, 3, (3, 40))
    goes, topic_of = np.full(40, 0.3), np.arange(40) % 2
    expected = mixed_counts(truth, cheap, dear, goes, topic_of, 2, 3)
    drawn = [
        mixed_counts(truth, cheap, dear, rng.random(40) < 0.3, topic_of, 2, 3) for _ in range(2000)
    ]
    assert np.mean(drawn, 0) == pytest.approx(expected, abs=0.2)
    assert expected.sum() == pytest.approx(40)
    assert expected[:, :, 3].sum() == 0


def test_a_share_becomes_the_nearest_threshold():
    assert threshold_of([0.2, 0.2, 0.6, 0.8], 0.4) == (0.6, 0.5)
    assert threshold_of([0.2, 0.2, 0.6, 0.8], 0.1) == (0.2, 0.0)
    threshold, goes = threshold_of([0.2, float("nan")], 1)
    assert (threshold > 0.2, goes) == (True, 1.0)
    with pytest.raises(ValueError, match="no item has a confidence"):
        threshold_of([float("nan")], 0.5)
