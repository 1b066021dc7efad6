import numpy as np
import pytest
from scipy import stats

from nuggetjudge.metrics.inference import (
    SHARE,
    SIGNED,
    UNBOUNDED,
    Interval,
    interval,
    jackknife_interval,
    mean_interval,
    resampling,
    topic_draws,
)


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
