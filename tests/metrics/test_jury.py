"""What votes become: a wrong rule for ties would move labels without anybody seeing it."""

import numpy as np
import pytest

from nuggetjudge.metrics.jury import TIES, combine_votes, dawid_skene, effective_votes


# Counted by hand on a scale of 4.
@pytest.mark.parametrize(
    ("votes", "how", "between", "worst", "unjudged"),
    [
        ([0, 1, 1, 3], "vote", 1, 1, 1),
        ([0, 0, 2, 2, 3], "vote", 2, 0, None),  # the mean is 1.4
        ([0, 0, 3, 3], "vote", 0, 0, None),  # 1.5 is as near to both
        ([0, 2, 3], "median", 2, 2, 2),
        ([0, 0, 3, 3], "median", 1, 0, None),  # all from 0 to 3 lie in the middle, the mean 1.5
        ([1, 2], "median", 1, 1, None),
        ([0, 0, 3], "mean", 1, 1, 1),
        ([1, 2], "mean", 1, 1, None),
    ],
)
def test_a_tie_becomes_what_was_asked_for(votes, how, between, worst, unjudged):
    wanted = {"between": between, "worst": worst, "unjudged": unjudged}
    assert {ties: combine_votes(votes, 4, how, ties) for ties in TIES} == wanted


def test_without_votes_there_is_no_label():
    with pytest.raises(ValueError, match="wanted a vote"):
        combine_votes([], 4, "vote")


DAWID_SKENE_VOTES = np.array([[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 0, -1]])


# By hand. The shares of the votes are (1/3, 2/3), (2/3, 1/3), (1/3, 2/3), (1, 0): their means 7/12
# and 5/12. Judge 1 says 0 where 0 is true with (2/3 + 1) / (7/3) = 5/7, where 1 is true with
# (1/3) / (5/3) = 1/5; judge 2 with 6/7 and 3/5; judge 3 with (1/3) / (4/3) = 1/4 and 2/5.
def test_one_step_is_what_a_hand_computes():
    fit = dawid_skene(DAWID_SKENE_VOTES, 2, most_steps=1)
    assert fit.shares == pytest.approx([7 / 12, 5 / 12])
    assert fit.confusions[:, :, 0] == pytest.approx(
        np.array([[5 / 7, 1 / 5], [6 / 7, 3 / 5], [1 / 4, 2 / 5]])
    )
    low = 7 / 12 * (2 / 7) * (1 / 7) * (1 / 4)
    high = 5 / 12 * (4 / 5) * (2 / 5) * (2 / 5)
    assert fit.probabilities[0] == pytest.approx([low / (low + high), high / (low + high)])
    assert not fit.converged


# crowd-kit 1.4.2, DawidSkene(n_iter=3, tol=0).fit_predict_proba, on these votes of four judges.
TABLE = (
    "0001 0010 0000 0102 00-0 0000 1000 0020 0010 0-00 0100 0000 2001 0000 0010 "
    "1110 1121 0111 1110 1-11 1211 1110 1101 1111 1012 2221 2202 1222 222- 2122"
)
AFTER_3_STEPS = {
    0: (0.985224992, 0.014295172, 0.000479836),
    3: (0.836339051, 0.143833106, 0.019827843),
    15: (0.021128226, 0.978871691, 0.000000083),
    23: (0.001644654, 0.998071280, 0.000284066),
    26: (0.000000271, 0.000156036, 0.999843693),
    28: (0.000000110, 0.000227110, 0.999772780),
}


def test_the_probabilities_are_those_of_another_implementation():
    votes = np.array([[-1 if c == "-" else int(c) for c in row] for row in TABLE.split()])
    probabilities = dawid_skene(votes, 3, most_steps=3).probabilities
    for item, wanted in AFTER_3_STEPS.items():
        assert probabilities[item] == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("votes", "what"),
    [([[0, 2], [1, 1]], r"votes\[0, 1\] is 2"), ([[0, 1], [-1, -1]], r"votes\[1\] is empty")],
)
def test_what_is_no_vote_is_named(votes, what):
    with pytest.raises(ValueError, match=what):
        dawid_skene(np.array(votes), 2)


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
