"""Strengths against published coefficients, another implementation and counts by hand."""

import numpy as np
import pytest

from nuggetjudge.plugins.trec.arena.ratings import (
    as_ratings,
    bradley_terry,
    covariance,
    is_connected,
)

# Agresti, Categorical Data Analysis (2002), table 10.10: wins of the row's team over the column's
# in the American League, Eastern Division, 1987. Milwaukee, Detroit, Toronto, New York, Boston,
# Cleveland, Baltimore.
BASEBALL = np.array([
    [0, 7, 9, 7, 7, 9, 11],
    [6, 0, 7, 5, 11, 9, 9],
    [4, 6, 0, 7, 7, 8, 12],
    [6, 8, 6, 0, 6, 7, 10],
    [6, 2, 6, 7, 0, 7, 12],
    [4, 4, 5, 6, 6, 0, 6],
    [2, 4, 1, 3, 1, 7, 0],
], float)  # fmt: skip
# Turner and Firth, "Bradley-Terry Models in R" (2012), section 2.2: the coefficients, Baltimore 0.
PUBLISHED = [1.5814, 1.4364, 1.2945, 1.2476, 1.1077, 0.6839, 0.0]


def by_logistic_regression(wins):
    """The same model as a binomial GLM of statsmodels, the last run at 0."""
    import statsmodels.api as sm

    k = len(wins)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k) if wins[i, j] + wins[j, i]]
    design = np.zeros((len(pairs), k))
    for row, (i, j) in zip(design, pairs, strict=True):
        row[i], row[j] = 1, -1
    counts = np.array([[wins[i, j], wins[j, i]] for i, j in pairs])
    fit = sm.GLM(counts, design[:, :-1], family=sm.families.Binomial()).fit(tol=1e-14)
    return np.append(fit.params, 0.0), fit.cov_params()


def test_strengths_of_the_baseball_teams_are_those_that_are_published():
    strengths = bradley_terry(BASEBALL)
    assert strengths - strengths[-1] == pytest.approx(PUBLISHED, abs=5e-5)
    assert strengths.mean() == pytest.approx(0, abs=1e-12)


def test_strengths_and_their_errors_equal_a_logistic_regression_to_a_millionth():
    rng = np.random.default_rng(7)
    sparse = rng.integers(0, 6, (9, 9)) + rng.integers(0, 2, (9, 9)) / 2  # ties as half wins
    for wins in (BASEBALL, sparse * (1 - np.eye(9))):
        strengths, (params, errors) = bradley_terry(wins), by_logistic_regression(wins)
        assert strengths - strengths[-1] == pytest.approx(params, abs=1e-6)
        spread = covariance(wins, strengths)
        apart = spread[0, 0] + spread[1, 1] - 2 * spread[0, 1]
        assert apart == pytest.approx(errors[0, 0] + errors[1, 1] - 2 * errors[0, 1], abs=1e-6)


def test_two_runs_stand_apart_by_the_odds_of_their_wins():
    # 7 wins, 2 ties, 1 loss: 8 to 2 with ties as half wins, so odds of 4 to 1.
    strengths = bradley_terry(np.array([[0, 8.0], [2.0, 0]]))
    assert strengths[0] - strengths[1] == pytest.approx(np.log(4))
    ten_to_one = as_ratings(bradley_terry(np.array([[0, 10.0], [1.0, 0]])))
    assert ten_to_one[0] - ten_to_one[1] == pytest.approx(400)


def test_a_run_that_never_lost_needs_a_prior_that_is_given_by_name():
    wins = np.array([[0, 3.0, 3.0], [0, 0, 2.0], [0, 1.0, 0]])
    assert not is_connected(wins)
    with pytest.raises(ValueError, match=r"never lost to the others.*give a prior"):
        bradley_terry(wins)
    strengths = bradley_terry(wins, 1.0)
    assert np.isfinite(strengths).all()
    assert strengths[0] > strengths[1] > strengths[2]


def test_one_win_under_the_prior_solves_its_equation_by_hand():
    # One battle won, each run tied one with a mean run (strength 0). By symmetry b = (x, -x):
    # (1 - s(2x)) + (1/2 - s(x)) = 0, with s(t) = 1 / (1 + exp(-t)).
    strengths = bradley_terry(np.array([[0, 1.0], [0, 0]]), 1.0)

    def chance(t):
        return 1 / (1 + np.exp(-t))

    assert (1 - chance(2 * strengths[0])) + (0.5 - chance(strengths[0])) == pytest.approx(
        0, abs=1e-9
    )


def test_problems_beside_each_other_are_solved_as_each_alone():
    other = BASEBALL.T + 1 - np.eye(7)
    both = bradley_terry(np.stack([BASEBALL, other]))
    assert both[0] == pytest.approx(bradley_terry(BASEBALL), abs=1e-9)
    assert both[1] == pytest.approx(bradley_terry(other), abs=1e-9)


@pytest.mark.parametrize("wins", [np.ones((2, 3)), np.array([[0, -1.0], [1, 0]])])
def test_what_are_no_counts_are_refused(wins):
    with pytest.raises(ValueError, match="wins: wanted"):
        bradley_terry(wins)
