"""Rubric scores, counted by hand: penalties, the clip, partly, and what is not judged."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.plugins.trec.rubric.scores import rubric_scores, weighted_rubric

LABELS = ("not_met", "partly", "met")
rubrics = st.lists(
    st.tuples(
        st.sampled_from([*LABELS, None]), st.integers(-5, 5).filter(bool)
    ),  # a label and its weight
    max_size=4,
)


def test_the_score_is_what_the_weights_earn_over_the_weights_above_0():
    # RAGDoll's own test of its ternary and binary score: (5 + 1 + 0) / 10, and 5 / 10.
    scores = rubric_scores(["met", "partly", "not_met"], [5, 2, 3])
    assert scores["rubric"].value == 0.6
    assert scores["rubric_strict"].value == 0.5
    assert set(scores) == {"rubric", "rubric_strict"}


def test_a_penalty_is_taken_off_and_is_no_part_of_the_denominator():
    scores = rubric_scores(["met", "met", "met"], [4, 4, -2])
    assert scores["rubric"].value == 6 / 8
    assert scores["rubric_earned"].value == 1.0
    assert rubric_scores(["met", "met", "not_met"], [4, 4, -2])["rubric"].value == 1.0
    half = rubric_scores(["met", "met", "partly"], [4, 4, -2])
    assert (half["rubric"].value, half["rubric_strict"].value) == (7 / 8, 1.0)


def test_only_the_clipped_score_ends_at_0():
    scores = rubric_scores(["not_met", "met"], [2, -5])
    assert scores["rubric"].value == 0.0
    assert scores["rubric_unclipped"].value == -2.5
    assert scores["rubric_earned"].value == 0.0


def test_what_is_not_judged_is_no_0_and_bounds_take_it_at_its_worst_and_best():
    score = rubric_scores(["met", None, None], [2, 2, -1])["rubric"]
    assert (score.value, score.n, score.n_unjudged) == (1.0, 1, 2)
    assert (score.low, score.high) == (1 / 4, 1.0)  # (2 + 0 - 1) / 4, (2 + 2 - 0) / 4


def test_a_part_with_heavy_penalties_gives_no_value_that_the_whole_cannot_have():
    score = weighted_rubric([0.0, 1.0, None], [1, -5, 9])
    assert score.value == score.low == -0.5  # -5 / 10; of the judged part alone it is -5
    assert score.high == 0.4


def test_without_a_weight_above_0_it_is_0_by_0():
    assert rubric_scores(["met"], [-2])["rubric"].is_undefined
    assert rubric_scores([], [])["rubric"].is_undefined
    assert weighted_rubric([None], [2]).value is None


@pytest.mark.parametrize(
    ("labels", "weights", "what"),
    [
        (["met", "yes"], [1, 1], r"labels\[1\] is 'yes'"),
        (["met"], [1, 2], "1 labels for 2 weights"),
        (["met"], [0], r"weights\[0\] is 0"),
        (["met"], [math.inf], r"weights\[0\] is inf"),
    ],
)
def test_wrong_arguments_are_named(labels, weights, what):
    with pytest.raises(ValueError, match=what):
        rubric_scores(labels, weights)


@given(rubrics)
def test_whatever_the_missing_verdicts_are_the_score_lies_within_the_bounds(given_rubric):
    labels, weights = [label for label, _ in given_rubric], [weight for _, weight in given_rubric]
    open_scores = rubric_scores(labels, weights)
    for filled in itertools.product(*([x] if x else LABELS for x in labels)):
        for name, whole in rubric_scores(filled, weights).items():
            score = open_scores[name]
            if whole.value is not None:
                assert score.low - 1e-12 <= whole.value <= score.high + 1e-12
