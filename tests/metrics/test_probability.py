"""Brier score, log loss, calibration error and reliability curve, by hand and by scikit-learn."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss
from sklearn.metrics import log_loss as sklearn_log_loss

from nuggetjudge.metrics.probability import calibration_error, probability_scores, reliability_curve


def drawn(n, k, seed=0):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(k), size=n), rng.integers(0, k, n)


def test_brier_and_log_loss_equal_scikit_learn():
    p, y = drawn(100, 2)
    scores = probability_scores(p, y)
    assert scores.brier == pytest.approx(2 * brier_score_loss(y, p[:, 1]), abs=1e-12)
    assert scores.log_loss == pytest.approx(sklearn_log_loss(y, p), abs=1e-12)
    p, y = drawn(100, 4)
    assert probability_scores(p, y).log_loss == pytest.approx(
        sklearn_log_loss(y, p, labels=range(4)), abs=1e-12
    )


# Sorted .1 .2 | .6 .8: means .15 and .7, shares .5 and .5, so (2 * .35 + 2 * .2) / 4.
def test_calibration_error_by_hand():
    assert calibration_error([0.8, 0.1, 0.6, 0.2], [1, 0, 0, 1], bins=2) == pytest.approx(0.275)


# P(label >= 1): .7 and .9 of labels 0 and 1; P(label >= 2): .3 and .5, neither came.
def test_ece_of_three_labels_is_the_mean_over_the_steps():
    p = [[0.3, 0.4, 0.3], [0.1, 0.4, 0.5]]
    by_hand = (abs(0.8 - 0.5) + abs(0.4 - 0)) / 2
    assert probability_scores(p, [0, 1], bins=1).ece == pytest.approx(by_hand)


def test_bins_hold_equally_many_and_never_part_equal_probabilities():
    rows = reliability_curve([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0, 0, 1, 0, 1, 1], bins=3)
    assert [(row.low, row.high, row.n, row.share) for row in rows] == [
        (0.1, 0.2, 2, 0.0),
        (0.3, 0.4, 2, 0.5),
        (0.5, 0.6, 2, 1.0),
    ]
    assert [row.n for row in reliability_curve([0.2, 0.2, 0.2, 0.9], [0, 1, 0, 1], bins=2)] == [
        3,
        1,
    ]


def test_a_sure_and_wrong_forecast_costs_much_but_not_everything():
    scores = probability_scores([[1.0, 0.0]], [1])
    assert scores.brier == 2
    assert scores.log_loss == pytest.approx(15 * np.log(10))
    assert scores.ece == 1


def test_nothing_measured_is_none_and_not_zero():
    scores = probability_scores([], [])
    assert scores.as_dict() == {"n": 0, "brier": None, "log_loss": None, "ece": None}
    assert calibration_error([], []) is None
    assert reliability_curve([], []) == []


@pytest.mark.parametrize(
    ("p", "labels", "message"),
    [
        ([[0.5, 0.6]], [0], r"probabilities\[0\] sum to"),
        ([[0.5, 0.5], [1.5, -0.5]], [0, 0], r"probabilities\[1\] are"),
        ([[0.5, 0.5]], [2], r"labels\[0\] is .*2.*, wanted 0 to 1"),
        ([[0.5, 0.5]], [0, 1], "of n labels"),
        ([[float("nan"), 0.5]], [0], r"probabilities\[0\] are"),
    ],
)
def test_what_is_no_probability_is_named(p, labels, message):
    with pytest.raises(ValueError, match=message):
        probability_scores(p, labels)


def test_outcomes_are_zero_or_one():
    with pytest.raises(ValueError, match=r"happened\[1\] is 2"):
        calibration_error([0.1, 0.2], [0, 2])
