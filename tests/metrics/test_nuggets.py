import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import (
    NUGGET_MEASURES,
    Value,
    mean_over_topics,
    nugget_scores,
    weighted_recall,
)

LABELS = ["support", "partial_support", "not_support"]
fractions = st.floats(0, 1)
weights = st.floats(0, 1e6)
nuggets = st.lists(
    st.tuples(st.sampled_from([*LABELS, None]), st.sampled_from(["vital", "okay", None]))
)
judged_nuggets = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(["vital", "okay"])), min_size=1
)


def scores_of(pairs):
    return nugget_scores([label for label, _ in pairs], [importance for _, importance in pairs])


def scores_of_row(row):
    """Scores of one row in nuggetizer's assignment layout."""
    return scores_of([(n["assignment"], n["importance"]) for n in row["nuggets"]])


# By hand: 2 vital (support, partial), 2 okay (support, not), 1 without importance (support).
@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("A", 3.5 / 5),
        ("A_strict", 3 / 5),
        ("V", 1.5 / 2),
        ("V_strict", 1 / 2),
        ("W", (1.5 + 0.5) / 3),
        ("W_strict", (1 + 0.5) / 3),
    ],
)
def test_six_scores_match_a_hand_count(measure, expected):
    labels = ["support", "partial_support", "support", "not_support", "support"]
    importances = ["vital", "vital", "okay", "okay", None]
    score = nugget_scores(labels, importances)[measure]
    assert score.value == pytest.approx(expected)
    assert (score.low, score.high, score.n_unjudged) == (score.value, score.value, 0)


def test_n_counts_the_nuggets_that_weigh_in_each_score():
    scores = nugget_scores(["support", None, None, "support"], ["vital", "vital", "okay", None])
    counts = {measure: (score.n, score.n_unjudged) for measure, score in scores.items()}
    assert counts["A"] == counts["A_strict"] == (2, 2)
    assert counts["V"] == counts["V_strict"] == (1, 1)
    assert counts["W"] == counts["W_strict"] == (1, 2)


def test_unjudged_nuggets_leave_the_value_and_bound_it():
    scores = nugget_scores(["support", "not_support", None, None], ["vital"] * 4)
    assert scores["V"] == Value(0.5, n=2, n_unjudged=2, low=0.25, high=0.75)


def test_nothing_judged_is_no_value_between_zero_and_one():
    scores = nugget_scores([None, None], ["vital", "okay"])
    assert scores["A"] == Value(None, n=0, n_unjudged=2, low=0.0, high=1.0)
    assert scores["V"] == Value(None, n=0, n_unjudged=1, low=0.0, high=1.0)


# Differs: the reference tool gives 0.
def test_vital_score_without_vital_nuggets_is_undefined_and_not_zero():
    scores = nugget_scores(["support"], ["okay"])
    assert scores["V"] == scores["V_strict"] == Value(None, 0, 0, None, None)
    assert scores["A"].value == scores["W"].value == 1.0
    assert weighted_recall([1.0], [0.0], undefined=0.0) == 0.0
    assert math.isnan(weighted_recall([1.0], [0.0]))


def test_all_vital_supported_scores_one_even_without_okay_nuggets():
    scores = nugget_scores(["support"] * 3, ["vital"] * 3)
    assert {score.value for score in scores.values()} == {1.0}


def test_no_nuggets_at_all_is_undefined():
    assert set(nugget_scores([], []).values()) == {Value(None, 0, 0, None, None)}


@given(nuggets)
def test_scores_are_bounded_and_the_bounds_hold_the_value(pairs):
    scores = scores_of(pairs)
    assert tuple(scores) == NUGGET_MEASURES
    for score in scores.values():
        if score.low is None:
            assert score.n == score.n_unjudged == 0
        else:
            assert 0 <= score.low <= score.high <= 1
            assert (score.value is None) == (score.n == 0)
            assert (score.low == score.high) == (score.n_unjudged == 0)


@given(nuggets)
def test_bounds_are_the_scores_with_every_gap_filled_worst_or_best(pairs):
    scores = scores_of(pairs)
    worst = scores_of([(label or "not_support", importance) for label, importance in pairs])
    best = scores_of([(label or "support", importance) for label, importance in pairs])
    for measure, score in scores.items():
        assert (score.low, score.high) == (worst[measure].value, best[measure].value)


@given(nuggets, st.randoms(use_true_random=False))
def test_scores_ignore_nugget_order(pairs, rng: random.Random):
    shuffled = rng.sample(pairs, len(pairs))
    assert scores_of(shuffled) == scores_of(pairs)


@given(judged_nuggets)
def test_strict_scores_never_exceed_lenient_ones_and_agree_without_partial_labels(pairs):
    scores = scores_of(pairs)
    whole = scores_of([(lb if lb != "partial_support" else "not_support", im) for lb, im in pairs])
    for family in "AVW":
        lenient, strict = scores[family].value, scores[f"{family}_strict"].value
        if lenient is not None and strict is not None:
            assert strict <= lenient
        assert whole[family] == scores[f"{family}_strict"]


@given(st.lists(st.tuples(fractions, weights), min_size=1))
def test_weighted_recall_is_bounded_and_perfect_gains_give_one(units):
    gains, worth = zip(*units, strict=True)
    if math.fsum(worth) == 0:
        assert math.isnan(weighted_recall(gains, worth))
    else:
        assert 0 <= weighted_recall(gains, worth) <= 1
        assert weighted_recall([1.0] * len(worth), worth) == 1
        assert weighted_recall([0.0] * len(worth), worth) == 0


@pytest.mark.parametrize(
    ("gains", "worth", "message"),
    [
        ([1.0], [1.0, 1.0], "1 gains for 2 weights"),
        ([1.0, 1.1], [1.0, 1.0], r"gains\[1\]"),
        ([math.nan], [1.0], r"gains\[0\]"),
        ([1.0], [-1.0], r"weights\[0\]"),
        ([1.0], [math.inf], r"weights\[0\]"),
    ],
)
def test_weighted_recall_names_what_is_out_of_range(gains, worth, message):
    with pytest.raises(ValueError, match=message):
        weighted_recall(gains, worth)


@pytest.mark.parametrize(
    ("labels", "importances", "message"),
    [
        (["support"], [], "1 labels for 0 importances"),
        (["support", "Support"], ["vital", "vital"], r"labels\[1\] is 'Support'"),
        (["support", "failed"], ["vital", "vital"], r"labels\[1\] is 'failed'"),
        (["support"], ["failed"], r"importances\[0\] is 'failed'"),
    ],
)
def test_an_unknown_label_raises_instead_of_being_scored(labels, importances, message):
    with pytest.raises(ValueError, match=message):
        nugget_scores(labels, importances)


# NIST's labels of 8 Nov 2024; scores by an independent implementation.
def test_nist_assignments_give_the_expected_cell_scores(rows):
    assignments = rows("rag24_nuggets/nugget_assignments.jsonl")
    scores_by_cell = {(row["qid"], row["run_id"]): scores_of_row(row) for row in assignments}
    expected = rows("rag24_nuggets/expected_cell_scores.jsonl")
    assert len(scores_by_cell) == len(expected) == 530
    for row in expected:
        for measure, score in scores_by_cell[row["qid"], row["run_id"]].items():
            assert score.value == pytest.approx(row[measure], abs=5e-5), (row, measure)


# The track's run scores: 12 topics, a topic that a run did not answer counts 0 (2 runs have gaps).
def test_nist_assignments_give_the_expected_run_scores(rows):
    cells = {}
    for row in rows("rag24_nuggets/nugget_assignments.jsonl"):
        cells.setdefault(row["run_id"], {})[row["qid"]] = scores_of_row(row)
    topics = {topic for answered in cells.values() for topic in answered}
    expected = rows("rag24_nuggets/expected_run_scores.jsonl")
    assert (len(topics), len(expected), len(cells)) == (12, 45, 45)
    for row in expected:
        for measure in NUGGET_MEASURES:
            values = {topic: scores[measure] for topic, scores in cells[row["run_id"]].items()}
            mean, n_topics = mean_over_topics(values, topics)
            assert n_topics == 12
            assert len(values) == row["cells"]
            assert round(mean.value, 4) == pytest.approx(row[measure], abs=1e-9), (row, measure)


# LLM-made nuggets with real dirt, scored by the authors of pyterrier-nuggetizer: an importance
# that is neither vital nor okay counts in A alone, and a label outside the set as not_support.
@pytest.mark.parametrize("system", ["command-r-plus", "gpt-4o", "l31_70b_instruct"])
def test_scores_equal_those_of_pyterrier_nuggetizer_on_dirty_labels(rows, system):
    name = f"baseline_rag24.test_{system}_top20.jsonl"
    theirs = {row["qid"]: row for row in rows(f"rag24_auto_nuggets/metrics/{name}")}
    names = {"A": "all_score", "V": "vital_score", "W": "weighted_score"}
    n_dirty = 0
    for row in rows(f"rag24_auto_nuggets/assignments/{name}"):
        pairs = [(n["assignment"], n["importance"]) for n in row["nuggets"]]
        clean = [
            (lb if lb in LABELS else "not_support", im if im in ("vital", "okay") else None)
            for lb, im in pairs
        ]
        n_dirty += clean != pairs
        for measure, score in scores_of(clean).items():
            family, _, strict = measure.partition("_")
            expected = theirs[row["qid"]][f"{'strict_' if strict else ''}{names[family]}"]
            assert score.value == pytest.approx(expected, abs=1e-9), (row["qid"], measure)
    assert n_dirty > 0
