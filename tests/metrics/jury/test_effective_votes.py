"""Effective votes: nine copies of a judge must not look like nine judges."""

import numpy as np
import pytest

from nuggetjudge.metrics.jury.effective_votes import effective_votes


def test_copies_of_one_judge_are_worth_one():
    errors = np.array([[1.0], [0.0], [1.0], [0.0], [0.0]])
    assert effective_votes(np.repeat(errors, 9, axis=1)).value == pytest.approx(1)


def test_judges_whose_errors_do_not_correlate_are_worth_their_number():
    errors = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    effective = effective_votes(errors)
    assert (effective.value, effective.correlation) == (pytest.approx(2), pytest.approx(0))


# By hand: each errs on one of four items, the first two on the same one (phi 1), the third on
# another (phi (0 - 1/16) / (3/16) = -1/3 with either).
def test_the_correlation_is_the_mean_over_pairs():
    errors = np.array([[1.0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0]])
    effective = effective_votes(errors)
    assert effective.correlation == pytest.approx((1 - 1 / 3 - 1 / 3) / 3)
    assert effective.value == pytest.approx(3 / (1 + 2 * effective.correlation))


def test_a_vote_that_is_not_there_is_no_error():
    errors = np.array([[1.0, 1.0], [0.0, 0.0], [np.nan, 1.0], [0.0, np.nan]])
    assert effective_votes(errors).correlation == pytest.approx(1)


def test_members_without_errors_tell_nothing():
    assert effective_votes(np.zeros((5, 3))).value is None
