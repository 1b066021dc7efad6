"""A judge's errors, counted and undone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics.ppi.error_rates import ErrorRates, error_rates, true_shares


def test_rates_are_counted_by_hand():
    human = np.array([1, 1, 1, 1, 0, 0])
    judged = np.array([1, 1, 1, 0, 0, 1])
    rates = error_rates(human, judged, np.ones(6), 2)
    assert (rates.sensitivity, rates.specificity, rates.n) == (0.75, 0.5, 6)
    weighted = error_rates(human, judged, np.array([1, 1, 1, 3, 1, 3]), 2)
    assert (weighted.sensitivity, weighted.specificity) == (0.5, 0.25)


# Rogan and Gladen (1978): true = (observed + specificity - 1) / (sensitivity + specificity - 1).
@pytest.mark.parametrize(
    ("observed", "expected"),
    [(0.45, 0.25 / 0.6), (0.2, 0.0), (0.05, 0.0), (0.8, 1.0), (0.95, 1.0), (0.5, 0.5)],
)
def test_two_labels_follow_rogan_and_gladen_within_0_and_1(observed, expected):
    rates = ErrorRates(np.array([[0.8, 0.2], [0.2, 0.8]]), n=10)
    shares = true_shares(np.array([1 - observed, observed]), rates)
    assert shares[1] == pytest.approx(expected, abs=1e-6)
    assert shares.sum() == pytest.approx(1)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5), st.integers(0, 2**32 - 1))
def test_what_the_table_did_to_true_shares_is_undone(parts, seed):
    true = np.array(parts) / sum(parts)
    k = len(true)
    noise = np.random.default_rng(seed).dirichlet(np.ones(k), size=k)
    table = 0.7 * np.eye(k) + 0.3 * noise
    shares = true_shares(true @ table, ErrorRates(table, n=100))
    assert shares == pytest.approx(true, abs=1e-6)


def test_a_judge_that_cannot_tell_labels_apart_gives_nothing():
    assert true_shares(np.array([0.5, 0.5]), ErrorRates(np.array([[0.6, 0.4]] * 2), n=9)) is None


@pytest.mark.parametrize(("sensitivity", "false"), [(0.55, 0.5), (0.6, 0.53)])
def test_a_judge_that_hardly_tells_labels_apart_gives_nothing(sensitivity, false):
    """Of labels that differ by .05 or .07, undoing the errors multiplies chance by 14 and more."""
    table = np.array([[1 - false, false], [1 - sensitivity, sensitivity]])
    assert true_shares(np.array([0.5, 0.5]), ErrorRates(table, n=1000)) is None


def test_a_judge_that_tells_them_apart_by_an_eighth_is_undone():
    table = np.array([[0.5, 0.5], [0.375, 0.625]])
    shares = true_shares(np.array([0.45, 0.55]), ErrorRates(table, n=1000))
    assert shares == pytest.approx([0.6, 0.4], abs=1e-6)


def test_a_label_that_people_never_gave_has_no_rate_and_no_share():
    rates = error_rates(np.array([0, 0, 1, 1]), np.array([0, 2, 1, 1]), np.ones(4), 3)
    assert np.isnan(rates.table[2]).all()
    assert true_shares(np.array([0.3, 0.5, 0.2]), rates)[2] == 0
    only = error_rates(np.array([1, 1]), np.array([1, 0]), np.ones(2), 2)
    assert (only.sensitivity, only.specificity) == (0.5, None)
    assert true_shares(np.array([0.5, 0.5]), only) is None


def test_bad_labels_are_named_by_their_place():
    with pytest.raises(ValueError, match=r"judged\[1\] is 2, wanted 0 to 1"):
        error_rates(np.array([0, 1]), np.array([0, 2]), np.ones(2), 2)
    with pytest.raises(ValueError, match="1 weights for 2 human labels"):
        error_rates(np.array([0, 1]), np.array([0, 1]), np.ones(1), 2)
    with pytest.raises(ValueError, match="3 shares for 2 labels"):
        true_shares(np.ones(3) / 3, ErrorRates(np.eye(2), n=2))
    with pytest.raises(ValueError, match="3 labels have no sensitivity"):
        _ = ErrorRates(np.eye(3), n=3).sensitivity
