"""A value with its counts and bounds, and means of values over topics."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import Value, mean_over_topics
from nuggetjudge.metrics.answer_scores import IN_0_TO_1, not_made


@pytest.mark.parametrize(
    "fields",
    [
        (0.5, 1, 0, None, None),  # a value without bounds
        (None, 0, 1, 0.0, None),  # one bound alone
        (0.5, 1, 1, 0.6, 0.9),  # below its lower bound
        (0.5, 1, 1, 0.1, 0.4),  # above its upper bound
        (None, 0, 1, 0.9, 0.1),  # bounds the wrong way round
        (math.nan, 1, 0, 0.0, 1.0),
        (math.nan, 1, 1, None, None),
        (0.5, -1, 0, 0.5, 0.5),
        (0.5, 1, -1, 0.5, 0.5),
    ],
)
def test_a_value_that_contradicts_itself_is_refused(fields):
    with pytest.raises(ValueError, match=r"value|counts"):
        Value(*fields)


def test_a_value_may_be_without_bounds_only_while_something_is_missing():
    length = Value(5.0, 0, 1, None, None)
    assert (length.is_unbounded, length.is_undefined) == (True, False)
    assert Value(None, 0, 0, None, None).is_undefined
    assert not not_made().is_undefined


def test_what_is_missing_beside_a_value_widens_it_and_is_counted():
    half = Value(0.5, 2, 1, 0.25, 0.75)
    assert half.widened(IN_0_TO_1, 3) == Value(0.5, 2, 4, 0.0, 1.0)
    assert half.widened((0.3, 0.6), 0) == half  # never narrower
    assert half.widened(None, 1) == Value(0.5, 2, 2, None, None)
    assert Value(None, 0, 0, None, None).widened(IN_0_TO_1, 1) == not_made()


UNJUDGED = Value(None, n=0, n_unjudged=3, low=0.0, high=1.0)
UNDEFINED = Value(None, n=0, n_unjudged=0, low=None, high=None)


def exact(value, n=1):
    return Value(value, n=n, n_unjudged=0, low=value, high=value)


@st.composite
def measured(draw):
    low, value, high = sorted(draw(st.tuples(*[st.floats(0, 1)] * 3)))
    return Value(value, n=draw(st.integers(1, 9)), n_unjudged=1, low=low, high=high)


def by_topic(max_size=8):
    any_value = st.one_of(measured(), st.just(UNJUDGED), st.just(UNDEFINED))
    return st.dictionaries(st.sampled_from("abcdefgh"), any_value, max_size=max_size)


def test_a_topic_that_the_run_did_not_answer_counts_zero_without_a_judgement():
    mean, n_topics = mean_over_topics({"t1": exact(0.6, n=5)}, ["t1", "t2", "t3"])
    assert n_topics == 3
    assert (mean.n, mean.n_unjudged) == (5, 0)
    assert (mean.low, mean.value, mean.high) == pytest.approx((0.2, 0.2, 0.2))


def test_a_topic_that_nobody_judged_leaves_the_mean_and_enters_the_bounds():
    mean, n_topics = mean_over_topics({"t1": exact(0.6), "t2": UNJUDGED}, ["t1", "t2"])
    assert (mean.value, n_topics) == (0.6, 1)
    assert (mean.low, mean.high) == (pytest.approx(0.3), pytest.approx(0.8))
    assert (mean.n, mean.n_unjudged) == (1, 3)


def test_a_topic_where_the_measure_is_undefined_enters_neither():
    mean, n_topics = mean_over_topics({"t1": exact(0.6), "t2": UNDEFINED}, ["t1", "t2"])
    assert (mean, n_topics) == (exact(0.6), 1)


def test_a_topic_without_bounds_leaves_none_to_the_mean():
    mean, n_topics = mean_over_topics({"t1": exact(9.0), "t2": not_made(None)}, None)
    assert (mean, n_topics) == (Value(9.0, 1, 1, None, None), 1)


def test_without_topics_the_mean_is_over_those_answered():
    mean, n_topics = mean_over_topics({"t1": exact(0.5), "t2": exact(1.0)}, None)
    assert (mean, n_topics) == (exact(0.75, n=2), 2)


def test_a_run_that_answered_nothing_scores_zero_and_no_topics_give_no_value():
    assert mean_over_topics({}, ["t1", "t2"]) == (exact(0.0, n=0), 2)
    assert mean_over_topics({}, None) == (UNDEFINED, 0)
    assert mean_over_topics({"t1": UNJUDGED}, None) == (UNJUDGED, 0)


def test_answered_topics_outside_the_topics_are_named():
    with pytest.raises(ValueError, match=r"2 answered topics .*\['t2', 't9'\]"):
        mean_over_topics({"t9": exact(1.0), "t1": exact(1.0), "t2": exact(1.0)}, ["t1"])


@given(by_topic())
def test_the_bounds_hold_the_mean_and_the_counts_add_up(values):
    mean, n_topics = mean_over_topics(values, "abcdefgh")
    assert n_topics == 8 - sum(value.value is None for value in values.values())
    assert mean.n == sum(value.n for value in values.values())
    assert mean.n_unjudged == sum(value.n_unjudged for value in values.values())
    assert (mean.value is None) == (n_topics == 0)
    if mean.value is not None:
        assert 0 <= mean.low <= mean.value <= mean.high <= 1
