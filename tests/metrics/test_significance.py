"""P-values of paired runs are those counted by hand, by Fisher and by scipy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import permutation_test

from nuggetjudge.metrics.inference import (
    SHARE,
    SIGNED,
    UNBOUNDED,
    Interval,
    compare_pairs,
    compute_randomised_hsd,
    holm,
    interval,
    jackknife_interval,
    mean_interval,
    resampling,
    topic_draws,
)

# Darwin's maize, 15 pairs, eighths of an inch. Fisher, "The design of experiments" (1935), section
# 21: 863 of the 32,768 ways to set the signs give a sum of 314 or more, and as many -314 or less.
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]


def test_p_is_the_one_that_fisher_counted():
    (test,) = compare_pairs([DARWIN], resamples=100)
    assert test.is_exact
    assert test.p == 2 * 863 / 32768
    assert (test.wins, test.ties, test.losses, test.n_topics) == (13, 0, 2, 15)


@pytest.mark.parametrize("n_topics", [2, 9, 13])
def test_exact_p_equals_scipys(n_topics):
    rows = np.random.default_rng(n_topics).normal(0.4, 1, size=(4, n_topics))
    for row, test in zip(rows, compare_pairs(rows, resamples=10), strict=True):
        wanted = permutation_test(
            (row,), lambda x, axis: x.mean(axis=axis), permutation_type="samples",
            n_resamples=np.inf, vectorized=True,
        )  # fmt: skip
        assert test.p == pytest.approx(wanted.pvalue, abs=1e-12)


def test_a_sampled_p_is_near_the_exact_one_and_never_0():
    row = np.random.default_rng(1).normal(0.3, 1, size=15)
    exact = compare_pairs([row])[0].p
    sampled = compare_pairs([[*row, 0.0]], resamples=20_000)[0]  # a tie changes no sum
    assert not sampled.is_exact
    assert sampled.p == pytest.approx(exact, abs=0.01)
    assert compare_pairs([[1.0] * 40], resamples=999)[0].p == 1 / 1000  # (0 + 1) / (999 + 1)


def test_under_no_difference_p_is_below_5_percent_in_about_5_percent():
    rows = np.random.default_rng(7).normal(size=(2000, 12))
    share = np.mean([test.p < 0.05 for test in compare_pairs(rows, resamples=10)])
    assert 0.03 < share < 0.07


def test_effect_size_is_in_standard_deviations_of_the_differences():
    assert compare_pairs([[1, 2, 3]])[0].effect_size == 2.0  # mean 2, deviation 1
    assert compare_pairs([[2, 2, 2]])[0].effect_size is None


def test_a_topic_that_a_pair_lacks_is_left_out():
    with_gap, without = (
        compare_pairs([[1, np.nan, 2, 3]])[0],
        compare_pairs([[1, 2, 3]])[0],
    )
    assert (with_gap.p, with_gap.n_topics) == (without.p, 3)
    assert with_gap.difference.value == without.difference.value == 2.0


def test_what_is_undefined_is_none_and_equal_runs_have_p_1():
    (empty,) = compare_pairs(np.empty((1, 0)))
    assert (empty.p, empty.difference.value, empty.n_topics) == (None, None, 0)
    (equal,) = compare_pairs([[0.0, 0.0, 0.0]])
    assert (equal.p, equal.effect_size, equal.ties) == (1.0, None, 3)
    (single,) = compare_pairs([[0.5]])
    assert (single.p, single.difference.low, single.effect_size) == (1.0, None, None)


@pytest.mark.parametrize(
    ("rows", "more", "message"),
    [
        ([1.0, 2.0], {}, "n_pairs, n_topics"),
        ([[np.inf]], {}, "finite"),
        ([[1.0]], {"resamples": 0}, "resamples >= 1"),
        ([[1.0]], {"level": 1.0}, "level < 1"),
    ],
)
def test_bad_arguments_are_refused(rows, more, message):
    with pytest.raises(ValueError, match=message):
        compare_pairs(rows, **more)


@pytest.mark.slow
@settings(max_examples=15)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_that_of_statsmodels(p_values):
    from statsmodels.stats.multitest import multipletests

    expected = multipletests(p_values, method="holm")[1].tolist()
    assert holm(p_values) == pytest.approx(expected, abs=1e-12)


# Three runs with 0, 1, 2 on two topics: the best and the worst mean are 2 apart only where both
# topics are permuted alike, 1 way in 6; 1 apart or more always, for each topic has a 2 and a 0
# that can at most cancel: of the 6 ways one gives 1, 1, 1 (a range of 0), so 5 in 6.
def test_hsd_equals_the_permutations_counted_by_hand():
    p = compute_randomised_hsd([[0, 1, 2], [0, 1, 2]], resamples=60_000)
    assert p[0, 2] == pytest.approx(1 / 6, abs=0.01)
    assert p[0, 1] == p[1, 2] == pytest.approx(5 / 6, abs=0.01)
    assert p[0, 0] == 1.0
    assert (p == p.T).all()


def test_hsd_of_two_runs_is_the_sign_flip_test():
    table = np.random.default_rng(3).normal(size=(10, 2))
    exact = compare_pairs([table[:, 0] - table[:, 1]])[0].p
    assert compute_randomised_hsd(table, resamples=40_000)[0, 1] == pytest.approx(exact, abs=0.01)


def test_hsd_counts_the_same_pairs_in_any_order_of_runs_and_topics():
    rng = np.random.default_rng(8)
    table = rng.normal(np.linspace(0, 0.8, 12), 1, size=(18, 12))
    runs, topics = rng.permutation(12), rng.permutation(18)
    p = compute_randomised_hsd(table, resamples=2_000)
    assert (
        compute_randomised_hsd(table[topics][:, runs], resamples=2_000) == p[np.ix_(runs, runs)]
    ).all()


@pytest.mark.parametrize("table", [[1.0], [[np.nan, 1.0]], np.empty((0, 2))])
def test_hsd_wants_all_runs_on_all_topics(table):
    with pytest.raises(ValueError, match="finite"):
        compute_randomised_hsd(table)


def test_means_as_far_apart_but_for_rounding_count_as_no_nearer():
    scores = [[0.1, 0.3], [0.2, 0.0], [0.3, 0.3], [0.2, 0.0]]  # no order of these is less apart
    assert compute_randomised_hsd(scores, resamples=100)[0, 1] == 1.0


def test_the_interval_of_a_mean_is_scipys_t_interval():
    values = np.random.default_rng(0).normal(size=12)
    exact = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    draws = topic_draws(12, resamples=20_000)
    without = (values.sum() - values) / 11
    mean = float(values.mean())
    for one, rel in (
        (mean_interval(values, UNBOUNDED), 1e-9),
        (jackknife_interval(mean, without, UNBOUNDED), 1e-9),
        (interval(mean, draws @ values / 12, 12, UNBOUNDED), 0.03),
    ):
        assert (one.low, one.high) == pytest.approx((exact.low, exact.high), rel=rel)


def test_a_share_that_all_topics_agree_on_has_the_exact_interval_of_as_many_topics():
    exact = stats.binomtest(9, 9).proportion_ci(0.95, "exact")
    one = mean_interval([1.0] * 9, SHARE)
    assert (one.low, one.high) == pytest.approx((exact.low, exact.high))
    none = mean_interval([0.0] * 9, SHARE)
    assert (none.low, none.high) == pytest.approx((0.0, 1 - exact.low))


def test_a_weighted_mean_is_that_of_the_items_that_count_in_each_drawn_sample():
    sample = resampling(["b", "a", "b", "c"], resamples=200)
    estimate = sample.mean([1, 0, 5, 1], [3, 1, 0, 0])
    a, b, _ = sample.draws.T
    drawn = 3 * b[a + b > 0] / (3 * b + a)[a + b > 0]  # samples in which nothing counts have none
    assert estimate.value == 0.75
    error = np.sqrt(3 / 2 * ((drawn - 0.75) ** 2).mean())
    half = stats.t.ppf(0.975, 2) * error / (0.75 * 0.25)  # on the logit scale
    ends = 1 / (1 + np.exp(-(np.log(3) + np.array([-half, half]))))
    assert (estimate.low, estimate.high) == pytest.approx(tuple(ends))
    assert estimate.n_topics == 3
    assert sample.mean([1, 0, 5, 1], [0, 0, 0, 0]) == Interval(None, None, None, 3)
    assert resampling(None).mean([1, 0], [1, 1]) == Interval(0.5, None, None, 0)


def test_what_has_no_interval_has_no_bounds():
    drawn = np.array([0.4, 0.5, 0.6])
    assert interval(0.5, drawn, 1, SIGNED) == Interval(0.5, None, None, 1)
    assert interval(None, drawn, 9, SIGNED) == Interval(None, None, None, 9)
    assert interval(0.5, np.array([]), 9, SIGNED) == Interval(0.5, None, None, 9)
    undefined = np.array([0.5, np.nan, np.nan])
    assert interval(0.5, undefined, 9, SIGNED) == Interval(0.5, None, None, 9)


@pytest.mark.parametrize(("topics", "resamples"), [(None, 100), ([], 100), (["a", "b"], 0)])
def test_nothing_is_drawn_without_topics_or_samples(topics, resamples):
    sample = resampling(topics, resamples=resamples)
    assert len(sample.draws) == 0
    assert sample.n_topics == len(topics or [])


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="0 topics"):
        topic_draws(0)
    with pytest.raises(ValueError, match="got -1"):
        resampling(["a"], resamples=-1)
    with pytest.raises(ValueError, match=r"and 1\.0"):
        resampling(["a"], level=1.0)


def test_a_figure_that_is_undefined_in_half_of_the_samples_has_an_interval_and_in_more_none():
    half, more = np.array([0.2, 0.8, np.nan, np.nan]), np.array([0.5, np.nan, np.nan])
    assert interval(0.5, half, 5, SIGNED).low is not None
    assert interval(0.5, more, 5, SIGNED).low is None
