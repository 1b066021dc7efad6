"""The fit beneath the methods: topic shifts, spread, and a maximum that is one."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import logistic

from nuggetjudge.calibration.fits import fit_ordinal


def simulated(seed=0, n=300, n_topics=6):
    rng = np.random.default_rng(seed)
    scores, topics = rng.random(n), rng.integers(0, n_topics, n)
    shifts = rng.normal(0, 1, n_topics)
    return scores, np.digitize(4 * scores + shifts[topics] + rng.logistic(size=n), [1, 3]), topics


# The penalised likelihood written out anew, and maximised by a method without derivatives.
def test_shifts_are_where_a_direct_search_finds_them():
    scores, labels, topics = simulated()

    def loss(at):
        slope, low, step, *shifts = at
        thresholds = np.array([-np.inf, low, low + np.exp(step), np.inf])
        line = slope * scores + np.array(shifts)[topics]
        chance = logistic.cdf(thresholds[labels + 1] - line) - logistic.cdf(
            thresholds[labels] - line
        )
        return -np.log(chance).sum() + sum(u**2 for u in shifts) / 2 / 0.7**2

    fit = fit_ordinal(scores, labels, topics, spread=0.7)
    best = minimize(loss, np.zeros(9), method="BFGS", options={"gtol": 1e-6})
    assert fit.slope == pytest.approx(best.x[0], abs=1e-3)
    assert fit.shifts == pytest.approx(best.x[3:], abs=1e-3)
    penalty = (fit.shifts**2).sum() / 2 / 0.7**2
    assert fit.log_likelihood - penalty == pytest.approx(-best.fun, abs=1e-6)


# Integrated over a grid instead of by Laplace: slope and threshold flat, one shift a topic.
def test_evidence_prefers_the_spreads_that_integration_prefers():
    rng = np.random.default_rng(3)
    scores, topics = rng.random(40), np.repeat([0, 1], 20)
    labels = (rng.logistic(size=40) < 3 * scores - 1.5 + np.array([1.2, -1.2])[topics]).astype(int)
    standard = (scores - scores.mean()) / scores.std()
    slopes, thresholds = np.linspace(-2, 6, 21), np.linspace(-6, 6, 31)
    shifts = np.linspace(-12, 12, 61)
    line = slopes[:, None, None, None] * standard + shifts[:, None] - thresholds[:, None, None]
    each = np.where(labels == 1, logistic.logcdf(line), logistic.logcdf(-line))

    def integrated(spread):
        prior = np.exp(-((shifts / spread) ** 2) / 2) / spread
        per_topic = [(np.exp(each[..., topics == t].sum(-1)) * prior).sum(-1) for t in (0, 1)]
        return np.log((per_topic[0] * per_topic[1]).sum())

    laplace = [fit_ordinal(scores, labels, topics, spread=s).evidence for s in (0.5, 1.5)]
    grid = [integrated(s) for s in (0.5, 1.5)]
    assert laplace[1] - laplace[0] == pytest.approx(grid[1] - grid[0], abs=0.05)


def test_a_weight_of_two_is_the_item_twice():
    scores, labels, topics = simulated(2, n=80)
    twice = fit_ordinal(np.tile(scores, 2), np.tile(labels, 2), np.tile(topics, 2))
    weighted = fit_ordinal(scores, labels, topics, weights=np.full(80, 2.0))
    assert weighted.slope == pytest.approx(twice.slope, rel=1e-6)
    assert weighted.shifts == pytest.approx(twice.shifts, abs=1e-6)
