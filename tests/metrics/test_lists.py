"""Made lists against wanted ones: counts worked out by hand, and bounds that hold."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics.lists import list_scores
from nuggetjudge.metrics.value import Value

answers = st.lists(st.sampled_from([True, False, None]), max_size=4)


def test_shares_of_both_lists_and_their_harmonic_mean():
    # 3 made, 2 of them wanted; 4 wanted, 1 of them made: 2 * (2/3) * (1/4) / (2/3 + 1/4) = 4/11
    scores = list_scores([True, True, False], [True, False, False, False])
    assert scores.precision == Value(2 / 3, 3, 0, 2 / 3, 2 / 3)
    assert scores.recall == Value(1 / 4, 4, 0, 1 / 4, 1 / 4)
    assert scores.f1.value == pytest.approx(4 / 11)


def test_an_item_that_was_not_judged_is_neither_matched_nor_missed():
    scores = list_scores([True, None], [None, None])
    assert scores.precision == Value(1.0, 1, 1, 0.5, 1.0)
    assert scores.recall == Value(None, 0, 2, 0.0, 1.0)
    assert scores.f1.value is None
    assert (scores.f1.low, scores.f1.high) == (0.0, 1.0)


def test_where_nothing_was_made_nothing_is_recalled_and_precision_has_no_value():
    scores = list_scores([], [False, False])
    assert scores.precision.is_undefined
    assert (scores.recall.value, scores.f1.value) == (0.0, 0.0)


def test_a_list_that_wants_nothing_is_refused():
    with pytest.raises(ValueError, match="the wanted list is empty"):
        list_scores([True], [])


@given(made=answers.filter(bool), wanted=answers.filter(bool))
def test_the_bounds_hold_whatever_the_missing_answers_are(made, wanted):
    scores = list_scores(made, wanted)
    ways = [[x] if x is not None else [True, False] for x in (*made, *wanted)]
    for way in itertools.product(*ways):
        known = list_scores(way[: len(made)], way[len(made) :])
        for name in ("precision", "recall", "f1"):
            value, exact = getattr(scores, name), getattr(known, name).value
            assert value.low - 1e-12 <= exact <= value.high + 1e-12
