import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from incomplete_ratings import completions, holds, pools_and_contexts

from nuggetjudge.metrics import Value, density, density_value
from nuggetjudge.metrics.coverage import answerable, coverage
from nuggetjudge.metrics.required import certain_part, required_subset
from nuggetjudge.metrics.value import UNDEFINED

lengths = st.integers(1, 500)


# By hand: 4 answers in 180 words are 1 per 45, 8 in 250 words 1 per 31.25; 31.25 : 45 = 25 : 36.
def test_density_is_the_hand_count():
    assert density(4, 180, 8, 250, weight=1) == pytest.approx(25 / 36)
    assert density(4, 180, 8, 250) == pytest.approx(5 / 6)


@given(st.integers(1, 15), lengths, st.floats(0.1, 2))
def test_the_required_passages_have_density_one(n, tokens, weight):
    assert density(n, tokens, n, tokens, weight) == 1


def test_a_text_can_be_denser_than_the_required_passages():
    assert density(8, 100, 8, 400) == 2


@pytest.mark.parametrize(
    ("n_answered", "tokens", "n_answerable", "required_tokens", "expected"),
    [
        (0, 0, 8, 100, 0.0),  # the empty context
        (0, 90, 8, 100, 0.0),
        (0, 90, 0, 0, None),  # no answerable question
        (0, 90, 8, 0, None),
        (4, 0, 8, 100, None),
    ],
)
def test_every_division_by_zero(n_answered, tokens, n_answerable, required_tokens, expected):
    assert density(n_answered, tokens, n_answerable, required_tokens) == expected


@given(st.integers(0, 15), st.integers(1, 15), lengths, lengths, lengths)
def test_density_rises_with_answers_and_falls_with_length(fewer, more, tokens, longer, required):
    few, many = sorted((fewer, more))
    short, long = sorted((tokens, longer))
    assert density(few, short, 15, required) <= density(many, short, 15, required)
    assert density(many, long, 15, required) <= density(many, short, 15, required)


def test_undecided_questions_count_at_the_rate_of_the_others():
    covered = Value(0.5, n=4, n_unjudged=4, low=0.25, high=0.75)
    assert density_value(covered, 8, 100, 100, weight=1) == covered
    assert density_value(covered, 8, 400, 100) == Value(
        0.125**0.5, n=4, n_unjudged=4, low=0.25, high=(3 / 16) ** 0.5
    )


def test_a_density_without_a_value_or_without_bounds():
    open_one = Value(None, n=0, n_unjudged=8, low=0.0, high=1.0)
    assert density_value(open_one, 8, 100, 100) == open_one
    assert density_value(open_one, 0, 100, 0) == Value(None, 0, 8, None, None)
    assert density_value(UNDEFINED, 0, 100, 0) == UNDEFINED
    empty = Value(0.0, n=0, n_unjudged=0, low=0.0, high=0.0)
    assert density_value(empty, 8, 0, 100) == empty


@given(pools_and_contexts(), lengths, lengths)
def test_bounds_hold_whatever_the_missing_ratings_say(case, tokens, required_tokens):
    ratings, pool, context = case
    is_answerable = answerable(ratings[pool])
    covered = coverage(ratings[context], is_answerable)
    bounds = density_value(covered, int(np.nansum(is_answerable)), tokens, required_tokens)
    if bounds.low is None:
        assert not np.nansum(is_answerable)
        return
    for full in completions(ratings):
        is_answerable = answerable(full[pool])
        plain = coverage(full[context], is_answerable)
        value = density(
            plain.value * is_answerable.sum(), tokens, int(is_answerable.sum()), required_tokens
        )
        assert holds(bounds, value)


@given(pools_and_contexts(), st.lists(lengths, min_size=4, max_size=4))
def test_bounds_hold_whatever_the_missing_ratings_make_of_the_required_passages(case, tokens):
    ratings, pool, context = case
    rows = ratings[pool]
    is_answerable, part = answerable(rows), certain_part(rows, range(len(rows)))
    if not np.nansum(is_answerable) or not context:
        return
    sure = sum(tokens[row] for row in part.taken)
    others = sorted(tokens[row] for row in part.others)
    between = (sure + sum(others[: part.least]), sure + sum(others[::-1][: part.most]))
    known = sum(tokens[row] for row in required_subset(rows, range(len(rows))))
    covered, n_tokens = (
        coverage(ratings[context], is_answerable),
        sum(tokens[row] for row in context),
    )
    n = int(np.nansum(is_answerable))
    bounds = density_value(covered, n, n_tokens, known, between=between)
    for full in completions(ratings):
        is_answerable = answerable(full[pool])
        required = required_subset(full[pool], range(len(pool)))
        n_answered = coverage(full[context], is_answerable).value * is_answerable.sum()
        of_required = sum(tokens[row] for row in required)
        assert holds(bounds, density(n_answered, n_tokens, int(is_answerable.sum()), of_required))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((4, -1, 8, 100), "tokens is -1"),
        ((4, 100, 8, -2), "required_tokens is -2"),
        ((9, 100, 8, 100), "n_answered is 9, wanted 0 to n_answerable = 8"),
        ((-1, 100, 8, 100), "n_answered is -1"),
        ((4, 100, 8, 100, 0), "weight is 0"),
        ((4, float("nan"), 8, 100), "tokens is nan"),
    ],
)
def test_numbers_out_of_range_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        density(*arguments)
