"""Least squares by topic: equal to statsmodels and truescore, and to leaving topics out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from truescore.bias import judge_error_regression, length_bias

from nuggetjudge.metrics.bias.clustered import least_squares, mean_by_topic

ALONE = [str(i) for i in range(200)]  # each row a topic of its own


def errors(seed=0, n=200):
    """Judge and human gains, and two covariates that the judge's errors go with."""
    rng = np.random.default_rng(seed)
    length, place = rng.integers(20, 400, n), rng.integers(0, 12, n)
    human = rng.choice([0, 0.5, 1], n)
    chance = 0.2 + 0.001 * length - 0.01 * place
    judged = np.where(rng.random(n) < chance, 1.0, human)
    return judged, human, length, place


def with_constant(*columns):
    return np.column_stack([np.ones(len(columns[0])), *columns])


def test_independent_rows_give_the_values_of_truescore():
    judged, human, length, place = errors()
    fit = least_squares(judged - human, with_constant(length, place), ALONE)
    theirs = judge_error_regression(judged, human, {"length": length, "place": place})
    t, z = stats.t.ppf(0.975, 199), stats.norm.ppf(0.975)  # theirs are normal intervals
    for column, effect in enumerate(theirs.effects, start=1):
        assert fit.values[column] == pytest.approx(effect.effect, abs=1e-12)
        assert fit.error(column) == pytest.approx(effect.std_error, abs=1e-12)
        bounds = fit.interval(column)
        assert bounds.high - bounds.value == pytest.approx(t / z * (effect.high - effect.effect))
    assert fit.values[0] == pytest.approx(theirs.intercept, abs=1e-12)
    alone = least_squares(judged - human, with_constant(length / 100), ALONE)
    per_hundred = length_bias(judged, human, length, per=100)
    assert alone.values[1] == pytest.approx(per_hundred.effect, abs=1e-12)
    assert alone.error(1) == pytest.approx(per_hundred.std_error, abs=1e-12)


def test_topics_of_several_rows_are_left_out_one_at_a_time_as_by_refitting():
    import statsmodels.api as sm

    judged, human, length, place = errors(3)
    x, y = with_constant(length, place), judged - human
    topics = [f"t{i % 7}" for i in range(200)]
    fit = least_squares(y, x, topics)
    whole = sm.OLS(y, x).fit()
    assert fit.values == pytest.approx(whole.params, abs=1e-10)
    kept = [np.array([t != topic for t in topics]) for topic in sorted(set(topics))]
    without = np.array([sm.OLS(y[on], x[on]).fit().params for on in kept])
    assert fit.without == pytest.approx(without, abs=1e-10)
    for column in range(3):
        moved = without[:, column] - whole.params[column]
        assert fit.error(column) == pytest.approx(np.sqrt((moved**2).sum()), abs=1e-12)
    # Near the sandwich estimate (CR1), which is known to be too small with few clusters.
    groups = np.unique(topics, return_inverse=True)[1]
    sandwich = sm.OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": groups}).bse
    assert (sandwich < [fit.error(i) for i in range(3)]).all()
    assert [fit.error(i) for i in range(3)] == pytest.approx(sandwich, rel=0.35)


def test_the_mean_has_the_interval_of_students_t():
    values = np.random.default_rng(1).normal(size=12)
    mean = mean_by_topic(values, ALONE[:12])
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (mean.low, mean.value, mean.high) == pytest.approx((low, values.mean(), high))
    unknown = mean_by_topic([0.0, 1.0], None)
    assert (unknown.value, unknown.low, unknown.n_topics) == (0.5, None, 1)
    assert mean_by_topic([], []).value is None


@pytest.mark.parametrize(
    "columns",
    [[[1, 3], [1, 3], [1, 3]], [[1, 2, 4], [1, 1, 2], [1, 5, 10]], [[1, 0], [1, 0], [1, 0]], []],
    ids=["constant", "multiple", "zero", "fewer rows than columns"],
)
def test_columns_that_cannot_be_told_apart_have_no_fit(columns):
    n = len(columns)
    assert least_squares(np.zeros(n), np.zeros((0, 2)) if not n else columns, ALONE[:n]) is None


def test_an_effect_that_one_topic_alone_shows_has_no_interval():
    x, y = with_constant([1.0, 0, 0, 0]), [1.0, 0, 0, 0]
    fit = least_squares(y, x, ["a", "b", "c", "c"])
    assert fit.values[1] == pytest.approx(1)
    assert (fit.interval(1).low, fit.interval(1).n_topics) == (None, 3)


def test_lengths_that_differ_are_refused():
    with pytest.raises(ValueError, match="2 values, 3 rows, 3 topics"):
        least_squares([0, 1], [[1], [1], [1]], list("abc"))


@given(st.permutations(range(30)), st.floats(0.1, 100))
def test_order_of_rows_changes_nothing_and_a_unit_only_scales(order, unit):
    judged, human, length, place = (values[:30] for values in errors(5))
    topics = np.array([f"t{i % 6}" for i in range(30)])
    y, x, at = judged - human, with_constant(length, place), list(order)
    one = least_squares(y, x, list(topics))
    two = least_squares(y[at], (x / [1, unit, 1])[at], list(topics[at]))
    assert two.values == pytest.approx(one.values * [1, unit, 1], rel=1e-6, abs=1e-9)
    assert two.error(1) == pytest.approx(one.error(1) * unit, rel=1e-6)


def coverage(n_draws, n_topics, seed):
    """How often a 95% interval of a slope holds the truth, topics of unequal size and level."""
    rng, hits = np.random.default_rng(seed), 0
    for _ in range(n_draws):
        sizes = rng.integers(5, 40, n_topics)
        of_row = np.repeat(np.arange(n_topics), sizes)
        length = rng.normal(size=len(of_row)) + rng.normal(size=n_topics)[of_row]
        own = rng.normal(0, 0.3, n_topics)[of_row] + rng.normal(0, 0.2, n_topics)[of_row] * length
        y = 0.1 * length + own + rng.normal(size=len(of_row))
        fit = least_squares(y, with_constant(length), [str(i) for i in of_row])
        bounds = fit.interval(1)
        hits += bounds.low <= 0.1 <= bounds.high
    return hits / n_draws


def test_intervals_hold_the_truth_where_errors_are_by_topic():
    assert coverage(150, 8, 0) > 0.88


@pytest.mark.slow
@pytest.mark.parametrize("n_topics", [5, 8, 12, 30])
def test_intervals_hold_the_truth_as_often_as_they_say(n_topics):
    assert 0.935 <= coverage(4000, n_topics, n_topics) <= 0.99
