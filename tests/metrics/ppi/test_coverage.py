"""Intervals of corrected scores hold what they promise as often as they say, in simulations.

Topics differ, items differ within topics, and so do the judge's errors.
"""

import math
from functools import reduce
from operator import add

import numpy as np
import pytest

from nuggetjudge.metrics.ppi.estimates import estimate, moments
from nuggetjudge.metrics.ppi.intervals import interval_like_these, interval_of_these
from nuggetjudge.metrics.ppi.sample import Sample, sample

NAN = math.nan


def logistic(x):
    return 1 / (1 + np.exp(-x))


def true_score(mean):
    """The mean over all topics there could be, of logistic(mean + N(0, 1.25)), by quadrature."""
    at, weights = np.polynomial.hermite_e.hermegauss(80)
    return float(weights @ logistic(mean + np.sqrt(1.25) * at) / weights.sum())


def draw_runs(rng, n_topics, means, n_items, skill):
    """Gains by people and judge, (n_runs, n_topics, n_items) each; skill 0: the judge guesses."""
    shape = (len(means), n_topics, 1)
    topic = rng.normal(0, 1, (1, n_topics, 1)) + rng.normal(0, 0.5, shape)
    share = logistic(np.array(means)[:, None, None] + topic) + np.zeros(n_items)
    human = (rng.random(share.shape) < share) * 1.0
    lean = np.where(human == 1, skill + 0.5, -skill) + rng.normal(0, 0.5, shape)
    return human, (rng.random(share.shape) < logistic(lean)) * 1.0


def covered(skill, *, n_topics, means, n_items, n_labels, replicates):
    """How often each interval holds what it should: (like these, of these), over replicates."""
    rng = np.random.default_rng(11)
    n_runs, per_topic = len(means), len(means) * n_items
    topics = np.repeat(np.arange(n_topics), n_items)
    same = np.ones(n_topics * n_items, dtype=np.int64)
    weights = np.full(n_topics * n_items, 1 / (n_topics * n_items))
    truths = [true_score(mean) for mean in means]
    covers = []
    for _ in range(replicates):
        human, judged = draw_runs(rng, n_topics, means, n_items, skill)
        order = rng.permuted(np.tile(np.arange(per_topic), (n_topics, 1)), axis=1)
        drawn = (order < n_labels).reshape(n_topics, n_runs, n_items).transpose(1, 0, 2)
        labels = np.where(drawn, human, NAN).reshape(n_runs, -1)
        samples = [
            Sample(
                judged[run].ravel(),
                labels[run],
                weights,
                topics,
                n_topics,
                topics,
                n_labels * same,
                per_topic * same,
            )
            for run in range(n_runs)
        ]
        lam = reduce(add, map(moments, samples)).lam
        for run, one in enumerate(samples):
            estimated = estimate(one, lam)
            like, these = interval_like_these(estimated), interval_of_these(estimated)
            in_these = these.low <= human[run].mean() <= these.high
            covers.append((like.low <= truths[run] <= like.high, in_these))
    return np.mean(covers, axis=0)


@pytest.mark.parametrize("skill", [0.0, 1.0, 2.5])
def test_intervals_of_one_run_cover_92_to_98_percent(skill):
    design = {"n_topics": 20, "means": [-0.3], "n_items": 30, "n_labels": 6}
    like, these = covered(skill, **design, replicates=600)
    assert 0.92 <= like <= 0.98
    assert 0.92 <= these <= 0.98


@pytest.mark.slow
@pytest.mark.parametrize("skill", [0.0, 1.0, 2.5])
def test_intervals_of_ten_runs_with_two_dozen_labels_each_cover_92_to_98_percent(skill):
    means = list(np.linspace(-1, 1, 10))
    design = {"n_topics": 20, "means": means, "n_items": 12, "n_labels": 12}
    like, these = covered(skill, **design, replicates=80)
    assert 0.92 <= like <= 0.98
    assert these >= 0.92  # wider than need be where the judge errs in few of the labels


@pytest.mark.parametrize("skill", [1.0, 3.0])
def test_intervals_hold_with_six_topics_and_few_labels_each(skill):
    design = {"n_topics": 6, "means": [0.2], "n_items": 40, "n_labels": 4}
    like, these = covered(skill, **design, replicates=500)
    assert 0.92 <= like <= 0.985
    assert these >= 0.92


def test_a_good_judge_makes_the_interval_of_these_topics_much_narrower():
    rng = np.random.default_rng(5)
    human, judged = draw_runs(rng, 20, [-0.3], 30, 2.5)
    topics = np.repeat(np.arange(20), 30)
    labels = np.where(rng.permuted(np.tile(np.arange(30), (20, 1)), axis=1) < 6, human[0], NAN)
    one = sample(judged.ravel(), labels.ravel(), np.full(600, 1 / 600), topics)
    with_judge = interval_of_these(estimate(one, moments(one).lam))
    alone = interval_of_these(estimate(one, 0.0))
    assert (with_judge.high - with_judge.low) < 0.7 * (alone.high - alone.low)


SKILLS_AND_LABELS = [
    (2.5, 6),
    *(pytest.param(*design, marks=pytest.mark.slow) for design in ((0.0, 6), (1.0, 30), (2.5, 30))),
]


@pytest.mark.slow
@pytest.mark.parametrize(("skill", "n_labels"), SKILLS_AND_LABELS)
def test_labels_of_half_of_the_topics_cover_92_to_98_percent_and_a_judge_helps(skill, n_labels):
    rng = np.random.default_rng(3)
    topics, weights = np.repeat(np.arange(20), 30), np.full(600, 1 / 600)
    covers, widths, truth = [], [], true_score(-0.3)
    for _ in range(300):
        human, judged = draw_runs(rng, 20, [-0.3], 30, skill)
        order = rng.permuted(np.tile(np.arange(30), (20, 1)), axis=1)
        labelled = (order < n_labels) & (rng.permutation(20) < 10)[:, None]
        items = sample(judged.ravel(), np.where(labelled, human[0], NAN).ravel(), weights, topics)
        interval = interval_like_these(estimate(items, moments(items).lam))
        alone = interval_like_these(estimate(items, 0.0))
        covers.append(interval.low <= truth <= interval.high)
        widths.append((interval.high - interval.low) / (alone.high - alone.low))
    assert 0.92 <= np.mean(covers) <= 0.98
    assert np.mean(widths) < (0.98 if skill == 0 else 0.88)
