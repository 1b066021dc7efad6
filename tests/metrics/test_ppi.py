"""Corrected scores: what they estimate, and intervals that hold it as often as they say."""

import math
from dataclasses import replace
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from nuggetjudge.metrics.ppi import (
    ErrorRates,
    Sample,
    correct_shares,
    count_error_rates,
    difference,
    estimate,
    interval_like_these,
    interval_of_these,
    labels_needed,
    moments,
    sample,
)

NAN = math.nan


def by_hand():
    """Two topics of equal weight; of the first, 2 of 4 items have a label, of the other both."""
    return sample(
        judged=[1, 0, 1, 1, 1, 0],
        human=[1, 0, NAN, NAN, 1, 1],
        weights=[1 / 8] * 4 + [1 / 4] * 2,
        topics=[0, 0, 0, 0, 1, 1],
    )


def test_without_the_judge_it_is_the_mean_of_the_topics_means_of_labels():
    estimated = estimate(by_hand(), lam=0.0)
    assert estimated.value == pytest.approx((0.5 + 1) / 2)
    # Cochran (1977), eq. 5.7: sum of W^2 (1 - share) s^2 / n, with W = 1/2, s^2 = 1/2, n = 2.
    assert estimated.label_variance == pytest.approx(0.5**2 * 0.5 * 0.5 / 2)
    assert (estimated.n_labels, estimated.n_items, estimated.n_labelled_topics) == (4, 6, 2)


# 5 labels in each of 2 strata: each stratum's mean takes one degree of freedom, and lam, which is
# tuned on the same labels, one more.
def test_the_interval_of_these_topics_has_students_t_of_labels_less_means_less_one():
    human = [1, 0, 1, 1, 0, NAN, NAN, 0, 1, 1, 0, 1, NAN, NAN]
    estimated = estimate(sample([0] * 14, human, [1 / 14] * 14, [0] * 7 + [1] * 7), lam=0.0)
    assert estimated.label_df == pytest.approx(10 - 2 - 1)
    half = stats.t.ppf(0.975, 7) * math.sqrt(estimated.label_variance)
    interval = interval_of_these(estimated)
    assert (interval.low, interval.high) == pytest.approx(
        (estimated.value - half, estimated.value + half)
    )


def test_with_full_trust_it_is_the_judges_score_and_the_mean_error_on_labels():
    judged = (3 / 4 + 1 / 2) / 2
    error = (0 + 1 / 2) / 2
    assert estimate(by_hand(), lam=1.0).value == pytest.approx(judged + error)


@given(st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_with_every_item_labelled_it_is_the_human_score_whatever_the_judge_says(lam, seed):
    rng = np.random.default_rng(seed)
    topics = np.repeat(np.arange(4), 5)
    human = rng.random(20)
    estimated = estimate(sample(rng.random(20), human, np.full(20, 1 / 20), topics), lam)
    assert estimated.value == pytest.approx(human.mean())
    exact = interval_of_these(estimated)
    assert (exact.low, exact.high) == (estimated.value, estimated.value)
    means = human.reshape(4, 5).mean(axis=1)
    expected = stats.ttest_1samp(means, 0).confidence_interval()
    interval = interval_like_these(estimated)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


def test_the_difference_of_two_fully_labelled_runs_is_the_paired_t_interval():
    rng = np.random.default_rng(0)
    topics, weights = np.repeat(np.arange(6), 3), np.full(18, 1 / 18)
    one, other = rng.random(18), rng.random(18)
    gap = difference(
        estimate(sample(rng.random(18), one, weights, topics), 0.5),
        estimate(sample(rng.random(18), other, weights, topics), 0.5),
    )
    means = [gains.reshape(6, 3).mean(axis=1) for gains in (one, other)]
    expected = stats.ttest_rel(*means).confidence_interval()
    interval = interval_like_these(gap)
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))
    assert interval_of_these(gap).low == pytest.approx(gap.value)


def test_differences_need_the_same_topics():
    three = estimate(sample([0] * 3, [0, 1, 1], [1 / 3] * 3, [0, 1, 2]), 0.0)
    with pytest.raises(ValueError, match="over 2 and 3 topics"):
        difference(estimate(by_hand(), 0.0), three)


def plus_plus(labelled, predicted, unlabelled):
    """PPI++ in plain loops: (lam, estimate, half-width at 95%), arXiv:2311.01453, section 6.

    `labelled` are human gains, `predicted` the judge's of the same items, `unlabelled` the
    judge's of all others.
    """
    n, rest = len(labelled), len(unlabelled)

    def mean(values):
        return math.fsum(values) / len(values)

    def cov(x, y):
        x_mean, y_mean = mean(x), mean(y)
        return math.fsum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)) / len(x)

    lam = cov(labelled, predicted) / ((1 + n / rest) * cov(predicted, predicted))
    rectifier = [y - lam * f for y, f in zip(labelled, predicted, strict=True)]
    value = lam * mean(unlabelled) + mean(rectifier)
    variance = lam**2 * cov(unlabelled, unlabelled) / rest + cov(rectifier, rectifier) / n
    return lam, value, 1.959964 * math.sqrt(variance)


def test_with_each_item_its_own_topic_it_is_ppi_plus_plus():
    rng = np.random.default_rng(7)
    n, rest = 400, 3600
    truth = rng.random(n + rest)
    judged = np.clip(truth + rng.normal(0, 0.2, n + rest), 0, 1)
    human = np.where(np.arange(n + rest) < n, truth, NAN)
    items = sample(judged, human, np.full(n + rest, 1 / (n + rest)), np.arange(n + rest))
    lam, value, half = plus_plus(truth[:n].tolist(), judged[:n].tolist(), judged[n:].tolist())
    # There the judge's mean is over the unlabelled items, here over all: lam differs by that.
    estimated = estimate(items, lam * (n + rest) / rest)
    assert estimated.value == pytest.approx(value, abs=1e-12)
    tuned = moments(items).lam
    assert tuned == pytest.approx(lam * (n + rest) / rest, rel=0.05)
    interval = interval_like_these(estimate(items, tuned))
    assert (interval.high - interval.low) / 2 == pytest.approx(half, rel=0.02)


def test_in_one_stratum_lam_is_that_of_ppi_plus_plus():
    rng = np.random.default_rng(8)
    truth = rng.random(500)
    judged = (truth + rng.random(500)) / 1.2
    human = np.where(np.arange(500) < 100, truth, NAN)
    strata, topics = np.zeros(500, int), np.arange(500) % 2
    items = sample(judged, human, np.full(500, 1 / 500), topics, strata=strata)
    lam, _, _ = plus_plus(truth[:100].tolist(), judged[:100].tolist(), judged[100:].tolist())
    assert moments(items).lam == pytest.approx(lam * 500 / 400, abs=1e-12)


@given(st.integers(0, 2**32 - 1))
def test_the_tuned_lam_makes_the_variance_smallest_and_saves_rho_squared(seed):
    rng = np.random.default_rng(seed)
    human = rng.random(60)
    judged = (human + rng.random(60)) / 2
    labels = np.where(rng.permutation(60) < 30, human, NAN)
    summary = moments(sample(judged, labels, np.full(60, 1 / 60), np.repeat(np.arange(3), 20)))
    best = summary.variance(summary.lam)
    assert all(best <= summary.variance(lam) + 1e-15 for lam in np.linspace(0, 1, 11))
    if 0 < summary.lam < 1:
        assert summary.label_saving(summary.lam) == pytest.approx(summary.rho**2)


def test_rho_and_saving_are_undefined_where_people_say_the_same_of_all():
    summary = moments(sample([0, 1, 0, 1], [1, 1, NAN, NAN], [1 / 4] * 4, [0, 1, 0, 1]))
    assert summary.rho is None
    assert summary.label_saving(0.0) is None


def test_a_stratum_with_one_label_has_no_interval_of_these_topics():
    estimated = estimate(sample([1, 0, 1, 0], [1, NAN, 1, 0], [1 / 4] * 4, [0, 0, 1, 1]), lam=0.0)
    interval = interval_of_these(estimated)
    assert (interval.low, interval.high) == (None, None)
    assert labels_needed(estimated, 0.1) is None


def test_a_sample_names_the_place_of_a_bad_value():
    with pytest.raises(ValueError, match=r"weights\[1\] is -1"):
        sample([0, 0], [0, 1], [1, -1], [0, 1])
    with pytest.raises(ValueError, match=r"judged\[0\] is nan"):
        sample([NAN, 0], [0, 1], [1, 1], [0, 1])
    with pytest.raises(ValueError, match=r"topics\[1\] is 2"):
        sample([0, 0], [0, 1], [1, 1], [0, 2], n_topics=2)
    with pytest.raises(ValueError, match="1 human for 2 judged gains"):
        sample([0, 0], [0], [1, 1], [0, 0], strata=[0])


def test_labels_of_one_topic_or_of_items_that_weigh_nothing_are_refused():
    with pytest.raises(ValueError, match="labels are in one topic"):
        estimate(sample([0, 0], [1, NAN], [1, 1], [0, 1]), 0.0)
    with pytest.raises(ValueError, match="no item with weight"):
        estimate(sample([0, 0], [1, NAN], [0, 1], [0, 1]), 0.0)


def partly_labelled(n_labels):
    """3 topics of 200 items; the first labels of each are 1 and 0 in turn."""
    human = np.where(np.arange(600) % 200 < n_labels, np.arange(600) % 2, NAN)
    return estimate(
        sample(np.zeros(600), human, np.full(600, 1 / 600), np.repeat(np.arange(3), 200)), 0.0
    )


def test_the_labels_needed_for_the_present_half_width_are_the_present_ones():
    estimated = partly_labelled(50)
    interval = interval_of_these(estimated)
    needed = labels_needed(estimated, (interval.high - interval.low) / 2)
    assert abs(needed.of_these - 150) <= 1


def test_the_labels_needed_are_about_those_that_reach_the_half_width():
    now, later = partly_labelled(20), partly_labelled(80)
    reached = interval_of_these(later)
    needed = labels_needed(now, (reached.high - reached.low) / 2)
    assert needed.of_these == pytest.approx(240, rel=0.05)


def test_topics_that_differ_set_a_half_width_that_no_labels_beat():
    rng = np.random.default_rng(2)
    topics = np.repeat(np.arange(10), 40)
    gains = (rng.random(400) < np.linspace(0.1, 0.9, 10)[topics]).astype(float)
    human = np.where(rng.permuted(np.tile(np.arange(40), (10, 1)), axis=1).ravel() < 10, gains, NAN)
    estimated = estimate(sample(np.zeros(400), human, np.full(400, 1 / 400), topics), 0.0)
    present = interval_like_these(estimated)
    needed = labels_needed(estimated, (present.high - present.low) / 2)
    assert abs(needed.like_these - 100) <= 1  # those that there are
    needed = labels_needed(estimated, 0.05)
    assert needed.like_these is None
    assert needed.least_half_width > 0.05
    full = interval_like_these(
        estimate(sample(np.zeros(400), gains, np.full(400, 1 / 400), topics), 0.0)
    )
    assert needed.least_half_width == pytest.approx((full.high - full.low) / 2, rel=0.15)
    reachable = labels_needed(estimated, needed.least_half_width * 1.1)
    assert reachable.of_these < reachable.like_these < 400


def test_a_difference_has_the_degrees_of_freedom_of_who_has_fewer_labels():
    few, many = partly_labelled(20), partly_labelled(50)
    assert few.label_df == pytest.approx(3 * (20 - 1) - 1)
    for one, other in ((few, many), (many, few)):
        assert difference(one, other).label_df == few.label_df


def test_a_judge_that_errs_in_none_of_its_labels_is_doubted_by_two_labels_worth():
    human = np.tile([1, 0, 1, 0] + [NAN] * 6, 2)
    items = sample(np.tile([1, 0], 10), human, [1 / 20] * 20, np.repeat([0, 1], 10))
    # Cochran (1977), eq. 5.7, as above: W = 1/2, s^2 = 1/3, n = 4 of 10, in both topics.
    variance = 2 * 0.5**2 * (1 - 0.4) * (1 / 3) / 4
    assert estimate(items, lam=0.0).label_variance == pytest.approx(variance)
    assert estimate(items, lam=1.0).label_variance == pytest.approx(2 / 8 * variance)


def test_a_half_width_is_above_0():
    with pytest.raises(ValueError, match="wanted above 0"):
        labels_needed(partly_labelled(20), 0.0)


def test_a_score_over_topics_of_its_own_is_that_of_these_topics_alone():
    rng = np.random.default_rng(8)
    topics = np.repeat([0, 2, 5], 8)  # of six; the others are of another slice
    judged, human = rng.integers(0, 2, (2, 24)).astype(float)
    human[::3] = np.nan
    alone = sample(judged, human, np.full(24, 1 / 24), np.repeat([0, 1, 2], 8))
    among = replace(
        sample(judged, human, np.full(24, 1 / 24), topics, n_topics=6), by_own_topics=True
    )
    one, other = estimate(alone, 0.7), estimate(among, 0.7)
    assert other.value == pytest.approx(one.value)
    assert other.without_topic[[0, 2, 5]] == pytest.approx(one.without_topic)
    assert other.without_topic[[1, 3, 4]] == pytest.approx(one.value)
    assert among.is_counted.tolist() == [True, False, True, False, False, True]


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
                judged[run].ravel(), labels[run], weights, topics, n_topics, topics,
                n_labels * same, per_topic * same,
            )
            for run in range(n_runs)
        ]  # fmt: skip
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


def test_rates_are_counted_by_hand():
    human = np.array([1, 1, 1, 1, 0, 0])
    judged = np.array([1, 1, 1, 0, 0, 1])
    rates = count_error_rates(human, judged, np.ones(6), 2)
    assert (rates.sensitivity, rates.specificity, rates.n) == (0.75, 0.5, 6)
    weighted = count_error_rates(human, judged, np.array([1, 1, 1, 3, 1, 3]), 2)
    assert (weighted.sensitivity, weighted.specificity) == (0.5, 0.25)


# Rogan and Gladen (1978): true = (observed + specificity - 1) / (sensitivity + specificity - 1).
@pytest.mark.parametrize(
    ("observed", "expected"),
    [(0.45, 0.25 / 0.6), (0.2, 0.0), (0.05, 0.0), (0.8, 1.0), (0.95, 1.0), (0.5, 0.5)],
)
def test_two_labels_follow_rogan_and_gladen_within_0_and_1(observed, expected):
    rates = ErrorRates(np.array([[0.8, 0.2], [0.2, 0.8]]), n=10)
    shares = correct_shares(np.array([1 - observed, observed]), rates)
    assert shares[1] == pytest.approx(expected, abs=1e-6)
    assert shares.sum() == pytest.approx(1)


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5), st.integers(0, 2**32 - 1))
def test_what_the_table_did_to_true_shares_is_undone(parts, seed):
    true = np.array(parts) / sum(parts)
    k = len(true)
    noise = np.random.default_rng(seed).dirichlet(np.ones(k), size=k)
    table = 0.7 * np.eye(k) + 0.3 * noise
    shares = correct_shares(true @ table, ErrorRates(table, n=100))
    assert shares == pytest.approx(true, abs=1e-6)


def test_a_judge_that_cannot_tell_labels_apart_gives_nothing():
    assert correct_shares(np.array([0.5, 0.5]), ErrorRates(np.array([[0.6, 0.4]] * 2), n=9)) is None


def test_a_label_that_people_never_gave_has_no_rate_and_no_share():
    rates = count_error_rates(np.array([0, 0, 1, 1]), np.array([0, 2, 1, 1]), np.ones(4), 3)
    assert np.isnan(rates.table[2]).all()
    assert correct_shares(np.array([0.3, 0.5, 0.2]), rates)[2] == 0
    only = count_error_rates(np.array([1, 1]), np.array([1, 0]), np.ones(2), 2)
    assert (only.sensitivity, only.specificity) == (0.5, None)
    assert correct_shares(np.array([0.5, 0.5]), only) is None


def test_bad_labels_are_named_by_their_place():
    with pytest.raises(ValueError, match=r"judged\[1\] is 2, wanted 0 to 1"):
        count_error_rates(np.array([0, 1]), np.array([0, 2]), np.ones(2), 2)
    with pytest.raises(ValueError, match="1 weights for 2 human labels"):
        count_error_rates(np.array([0, 1]), np.array([0, 1]), np.ones(1), 2)
    with pytest.raises(ValueError, match="3 shares for 2 labels"):
        correct_shares(np.ones(3) / 3, ErrorRates(np.eye(2), n=2))
    with pytest.raises(ValueError, match="3 labels have no sensitivity"):
        _ = ErrorRates(np.eye(3), n=3).sensitivity
