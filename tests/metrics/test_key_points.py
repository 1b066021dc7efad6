"""Made lists against wanted ones: counts worked out by hand, and bounds that hold."""

import itertools
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import (
    Value,
    by_length,
    group_means,
    key_point_f1,
    key_point_precision,
    key_point_recall,
    mean_over_topics,
    micro_recall,
)
from nuggetjudge.metrics.answer_scores import UNDEFINED
from nuggetjudge.metrics.key_points import list_scores

LABELS, CLAIM_LABELS = ["yes", "neutral", "no"], ["yes", "no"]
recall_labels = st.lists(st.sampled_from([*LABELS, None]), max_size=5)
claim_labels = st.none() | st.lists(st.sampled_from([*CLAIM_LABELS, None]), max_size=5)


def completions(labels, known):
    """Every way to fill in the missing labels."""
    return itertools.product(*([label] if label else known for label in labels))


def claim_completions(claims):
    """As `completions`; claims that were not extracted may be any, none at all among them."""
    if claims is not None:
        return completions(claims, CLAIM_LABELS)
    return itertools.chain.from_iterable(
        itertools.product(CLAIM_LABELS, repeat=n) for n in range(3)
    )


def sure(x, n=1):
    return Value(x, n, 0, x, x)


def assert_holds(score, possible):
    """The bounds hold each value that there can be, and stand where there can be one."""
    values = [value for value in possible if value is not None]
    if score.low is None:
        assert values == []
    for value in values:
        assert score.low - 1e-12 <= value <= score.high + 1e-12
    return values


# By hand: 6 key points, 2 entailed; 5 claims, 4 of which state one; F = 2 (1/3) (4/5) / (17/15).
def test_the_three_measures_match_a_hand_count():
    recall = key_point_recall(["yes", "no", "neutral", "yes", "no", "no"])
    precision = key_point_precision(["yes", "yes", "no", "yes", "yes"])
    f1 = key_point_f1(recall, precision)
    assert (recall.value, precision.value) == (pytest.approx(1 / 3), pytest.approx(4 / 5))
    assert f1.value == pytest.approx(8 / 17)
    assert (recall.n, precision.n, f1.n, f1.n_unjudged) == (6, 5, 11, 0)


def test_missing_labels_leave_the_value_and_bound_it():
    assert key_point_recall(["yes", None, "no", "no", None]) == Value(1 / 3, 3, 2, 0.2, 0.6)
    assert key_point_precision(["yes", None]) == Value(1.0, 1, 1, 0.5, 1.0)
    assert key_point_recall([None, None]) == Value(None, 0, 2, 0.0, 1.0)


def test_a_question_without_key_points_is_undefined_on_recall_and_f1():
    assert key_point_recall([]) == UNDEFINED
    assert key_point_f1(UNDEFINED, key_point_precision(["no"])) == Value(None, 1, 0, None, None)
    assert key_point_f1(UNDEFINED, UNDEFINED) == UNDEFINED


def test_claims_that_were_not_extracted_leave_precision_open_and_one_judgement_missing():
    assert key_point_precision(None) == Value(None, 0, 1, 0.0, 1.0)
    f1 = key_point_f1(key_point_recall(["yes", "no"]), key_point_precision(None))
    assert f1 == Value(None, 2, 1, 0.0, 2 / 3)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["no", "no"], Value(0.0, 2, 0, 0.0, 0.0)),  # an answer without text
        (["no", "yes"], Value(None, 2, 0, None, None)),  # two judges contradict each other
        (["no", None], Value(0.0, 1, 1, 0.0, 0.0)),
        ([None, None], Value(None, 0, 2, 0.0, 0.0)),  # 0, or undefined
    ],
)
def test_an_answer_without_claims_has_no_precision_and_f1_only_where_it_recalls_nothing(
    labels, expected
):
    assert key_point_precision([]) == UNDEFINED
    assert key_point_f1(key_point_recall(labels), key_point_precision([])) == expected


def test_f1_is_0_where_one_side_is_0_whatever_the_other_is():
    nothing, unknown = key_point_recall(["no"]), key_point_precision(None)
    assert key_point_f1(nothing, unknown) == Value(0.0, 1, 1, 0.0, 0.0)
    assert key_point_f1(nothing, key_point_precision(["no"])) == Value(0.0, 2, 0, 0.0, 0.0)
    unjudged = key_point_recall([None])
    assert key_point_f1(unjudged, key_point_precision(["no"])) == Value(0.0, 1, 1, 0.0, 0.0)


@given(recall_labels, claim_labels)
def test_bounds_of_f1_hold_every_completion_and_are_reached(labels, claims):
    score = key_point_f1(key_point_recall(labels), key_point_precision(claims))
    recalls = {key_point_recall(filled) for filled in completions(labels, LABELS)}
    precisions = {key_point_precision(filled) for filled in claim_completions(claims)}
    possible = {key_point_f1(r, p).value for r, p in itertools.product(recalls, precisions)}
    if values := assert_holds(score, possible):
        assert (score.low, score.high) == pytest.approx((min(values), max(values)))


@pytest.mark.parametrize(
    ("measure", "labels", "message"),
    [
        (key_point_recall, ["yes", "partial"], r"labels\[1\] is 'partial'"),
        (key_point_recall, "yes", r"labels\[0\] is 'y'"),
        (key_point_precision, ["neutral"], r"claims\[0\] is 'neutral'"),
    ],
)
def test_an_unknown_label_raises_instead_of_being_scored(measure, labels, message):
    with pytest.raises(ValueError, match=message):
        measure(labels)


def test_f1_of_what_is_no_share_raises():
    with pytest.raises(ValueError, match=r"recall is .* wanted it between 0 and 1"):
        key_point_f1(sure(1.5), sure(0.5))
    with pytest.raises(ValueError, match=r"precision is .* wanted it between 0 and 1"):
        key_point_f1(sure(0.5), sure(-0.5))


# By hand: 3 of 3 and 0 of 1: each question the same (1/2), each key point the same (3/4).
def test_micro_counts_key_points_and_macro_questions():
    labels = {"t1": ["yes"] * 3, "t2": ["no"]}
    macro, n = mean_over_topics({t: key_point_recall(given) for t, given in labels.items()}, None)
    assert (macro.value, n) == (0.5, 2)
    assert micro_recall(labels) == Value(0.75, 4, 0, 0.75, 0.75)
    assert micro_recall({}) == UNDEFINED


def test_groups_are_means_over_their_own_questions_and_the_rest_comes_last():
    values = {"t1": sure(1.0), "t2": sure(0.5), "t3": sure(0.0), "t4": sure(0.25)}
    groups = {"t1": "why", "t2": "how", "t3": "why", "t9": "which"}
    means = group_means(values, groups)
    assert list(means) == ["how", "why", ""]
    assert means["why"] == (Value(0.5, 2, 0, 0.5, 0.5), 2)
    assert means[""] == (Value(0.25, 1, 0, 0.25, 0.25), 1)


def test_a_question_that_was_not_answered_counts_0_in_its_group():
    values, groups = {"t1": sure(1.0)}, {"t1": "why", "t2": "why", "t3": "how"}
    means = group_means(values, groups, topics=["t1", "t2", "t3"])
    assert {name: (mean.value, n) for name, (mean, n) in means.items()} == {
        "how": (0.0, 1),
        "why": (0.5, 2),
    }
    with pytest.raises(ValueError, match="1 answered topics are not among the topics"):
        group_means(values, groups, topics=["t2"])


# By hand: quartiles of 10, 20, 30, 40, 50 are 20, 30, 40.
def test_means_by_quartile_of_length_match_a_hand_count():
    values = [sure(x) for x in (0.9, 0.1, 0.5, 0.3, 0.7)]
    breakdown = by_length(values, [50, 10, 30, 20, 40])
    assert breakdown.spearman == pytest.approx(1.0)
    assert breakdown.n == 5
    rows = [(b.shortest, b.longest, b.mean.value, b.n) for b in breakdown.bins]
    assert rows == [(10, 20, pytest.approx(0.2), 2), (30, 30, 0.5, 1), (40, 40, 0.7, 1),
                    (50, 50, 0.9, 1)]  # fmt: skip


def test_by_length_leaves_the_undefined_out_and_lets_the_unjudged_widen_the_bounds():
    values = [sure(0.5), UNDEFINED, key_point_recall([None])]
    breakdown = by_length(values, [10, 900, 10])
    assert (breakdown.spearman, breakdown.n) == (None, 1)
    assert [(b.longest, b.mean, b.n) for b in breakdown.bins] == [
        (10, Value(0.5, 1, 1, 0.25, 0.75), 1)
    ]
    assert by_length([], []).bins == ()


def test_by_length_refuses_what_it_cannot_order():
    with pytest.raises(ValueError, match="1 values for 2 lengths"):
        by_length([sure(0.5)], [1, 2])
    with pytest.raises(ValueError, match=r"lengths\[0\] is nan"):
        by_length([UNDEFINED], [float("nan")])


# The counts stand in the README of the data: 474 pairs of 15 turns, of which people matched 70.
def test_human_labels_of_key_points_give_the_counts_of_their_readme(rows):
    labels = defaultdict(list)
    for row in rows("ikat24_nugget_match/pairs.jsonl"):
        labels[row["turn_id"]].append("yes" if row["matched"] else "no")
    assert len(labels) == 15
    assert micro_recall(labels) == Value(70 / 474, 474, 0, 70 / 474, 70 / 474)


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
