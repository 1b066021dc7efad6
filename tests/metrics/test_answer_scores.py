"""Nugget and support scores of an answer from labels and from probabilities of labels."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import (
    NUGGET_MEASURES,
    Value,
    mean_over_topics,
    nugget_scores,
    support_scores,
    weighted_recall,
)
from nuggetjudge.metrics.answer_scores import (
    expected_gain,
    expected_nugget_scores,
    expected_support_scores,
    scale_gains,
)

LABELS = ["support", "partial_support", "not_support"]
weights = st.floats(0, 1e6)
nuggets = st.lists(
    st.tuples(st.sampled_from([*LABELS, None]), st.sampled_from(["vital", "okay", None]))
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


@given(nuggets)
def test_bounds_are_the_scores_with_every_gap_filled_worst_or_best(pairs):
    scores = scores_of(pairs)
    worst = scores_of([(label or "not_support", importance) for label, importance in pairs])
    best = scores_of([(label or "support", importance) for label, importance in pairs])
    for measure, score in scores.items():
        assert (score.low, score.high) == (worst[measure].value, best[measure].value)


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


LABEL_OF = {2: "full", 1: "partial", 0: "none", -1: None}
answers = st.lists(st.lists(st.sampled_from(["full", "partial", "none", None]), max_size=4))


def values_of(sentences):
    return {measure: score.value for measure, score in support_scores(sentences).items()}


# arXiv:2504.15205, section 3.4: one sentence partly and one fully supported, one without citation.
def test_weighted_precision_and_recall_match_the_papers_example():
    scores = support_scores([["partial"], ["full"], []])
    assert scores["support_precision"] == Value(0.75, 2, 0, 0.75, 0.75)
    assert scores["support_recall"] == Value(0.5, 3, 0, 0.5, 0.5)


# The fixture and the figures are those of RAGDoll's own test of its six columns.
def test_six_measures_match_ragdoll_on_its_example():
    sentences = [["full"], ["partial"], ["none", "full"], [None], []]
    assert values_of(sentences) == pytest.approx(
        {
            "support_precision": 0.5, "support_recall": 0.375, "support_precision_all": 2 / 3,
            "support_recall_all": 0.5, "support_precision_hard": 1 / 3,
            "support_recall_hard": 0.25,
        }
    )  # fmt: skip


def test_unjudged_citations_leave_the_value_and_bound_it():
    scores = support_scores([["full"], ["partial"], ["none", "full"], [None], []])
    precision, recall = scores["support_precision"], scores["support_recall"]
    assert (precision.n, precision.n_unjudged) == (3, 1)
    assert (precision.low, precision.high) == (1.5 / 4, 2.5 / 4)
    assert (recall.n, recall.n_unjudged) == (4, 1)
    assert (recall.low, recall.high) == (1.5 / 5, 2.5 / 5)


def test_a_citation_not_judged_after_the_first_matters_for_the_mean_alone():
    scores = support_scores([["full", None]])
    assert scores["support_precision"] == Value(1.0, 1, 0, 1.0, 1.0)
    assert scores["support_precision_all"] == Value(1.0, 1, 1, 0.5, 1.0)


def test_a_sentence_without_citations_lowers_recall_and_not_precision():
    before, after = values_of([["full"]]), values_of([["full"], []])
    assert before["support_precision"] == after["support_precision"] == 1.0
    assert (before["support_recall"], after["support_recall"]) == (1.0, 0.5)


def test_an_answer_that_cites_nothing_earns_nothing():
    scores = support_scores([[], []])
    assert scores["support_precision"] == Value(0.0, 0, 0, 0.0, 0.0)
    assert scores["support_recall"] == Value(0.0, 2, 0, 0.0, 0.0)


def test_an_empty_answer_scores_zero_on_all_measures():
    assert set(support_scores([]).values()) == {Value(0.0, 0, 0, 0.0, 0.0)}


# Differs: RAGDoll gives 0.0.
def test_citations_of_which_none_is_judged_have_no_value():
    scores = support_scores([[None], [None, None]])
    assert scores["support_precision"] == Value(None, 0, 2, 0.0, 1.0)
    assert scores["support_recall_all"] == Value(None, 0, 3, 0.0, 1.0)


@given(answers)
def test_support_bounds_are_the_scores_with_every_gap_filled_worst_or_best(sentences):
    scores = support_scores(sentences)
    worst = values_of([[label or "none" for label in labels] for labels in sentences])
    best = values_of([[label or "full" for label in labels] for labels in sentences])
    for measure, score in scores.items():
        assert score.low == pytest.approx(worst[measure])
        assert score.high == pytest.approx(best[measure])


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([["full"], ["full", "FS"]], r"sentences\[1\]\[1\] is 'FS'"),
        ([["2"]], r"sentences\[0\]\[0\] is '2'"),
        (["full"], r"sentences\[0\] is the string 'full'"),
    ],
)
def test_support_an_unknown_label_raises_instead_of_being_scored(sentences, message):
    with pytest.raises(ValueError, match=message):
        support_scores(sentences)


# NIST's labels of 45 runs; precision and recall by an independent implementation.
def test_nist_labels_give_the_expected_cell_scores(rows):
    scores_by_cell = {}
    for row in rows("rag24_support/answers.jsonl"):
        labels = [[LABEL_OF[c["label"]] for c in s["citations"]] for s in row["sentences"]]
        scores_by_cell[row["topic_id"], row["run_id"]] = support_scores(labels)
    expected = rows("rag24_support/expected_cell_scores.jsonl")
    assert len(scores_by_cell) == len(expected) == 885
    for row in expected:
        scores = scores_by_cell[row["topic_id"], row["run_id"]]
        precision, recall = scores["support_precision"], scores["support_recall"]
        # A cell whose value is None here would fail both comparisons.
        assert precision.value == pytest.approx(row["weighted_precision"], abs=5e-5), row
        assert recall.value == pytest.approx(row["weighted_recall"], abs=5e-5), row
        assert (precision.n, recall.n) == (row["judged_citations"], row["sentences"])
    assert sum(scores["support_recall"].n_unjudged for scores in scores_by_cell.values()) == 1


NUGGET_LABELS = st.sampled_from(["support", "partial_support", "not_support", None])
NUGGETS = st.lists(st.tuples(NUGGET_LABELS, st.sampled_from(["vital", "okay", None])), max_size=6)
SENTENCES = st.lists(
    st.lists(st.sampled_from(["full", "partial", "none", None]), max_size=3), max_size=5
)


def certain(label):
    return None if label is None else {label: 1.0}


def same(actual, expected):
    assert {name.removesuffix("_expected") for name in actual} == set(expected)
    for name, value in expected.items():
        other = actual[f"{name}_expected"]
        assert (other.n, other.n_unjudged) == (value.n, value.n_unjudged)
        for figure in ("value", "low", "high"):
            assert getattr(other, figure) == pytest.approx(getattr(value, figure))


@given(NUGGETS)
def test_a_certain_judge_gets_the_scores_of_its_nugget_labels(nuggets):
    labels, importances = [n[0] for n in nuggets], [n[1] for n in nuggets]
    scores = expected_nugget_scores([certain(label) for label in labels], importances)
    same(scores, nugget_scores(labels, importances))


@given(SENTENCES)
def test_a_certain_judge_gets_the_scores_of_its_citation_labels(sentences):
    scores = expected_support_scores([[certain(label) for label in s] for s in sentences])
    same(scores, support_scores(sentences))


def test_an_unsure_judge_earns_the_mean():
    unsure = {"support": 0.5, "partial_support": 0.3, "not_support": 0.2}
    scores = expected_nugget_scores([unsure, {"not_support": 1.0}], ["vital", "okay"])
    assert scores["V_expected"].value == pytest.approx(0.65)
    assert scores["V_strict_expected"].value == pytest.approx(0.5)
    assert scores["A_expected"].value == pytest.approx(0.325)
    assert scores["W_strict_expected"].value == pytest.approx(0.5 / 1.5)


def test_unknown_labels_are_named_by_their_place():
    with pytest.raises(ValueError, match=r"chances\[1\] is"):
        expected_nugget_scores([{"support": 1.0}, {"full": 1.0}], ["vital", "vital"])
    with pytest.raises(ValueError, match=r"sentences\[0\]\[1\] is"):
        expected_support_scores([[{"full": 1.0}, {"support": 1.0}]])
    with pytest.raises(ValueError, match=r"importances\[0\] is 'good'"):
        expected_nugget_scores([None], ["good"])
    with pytest.raises(ValueError, match="1 chances for 2 importances"):
        expected_nugget_scores([None], ["vital", "vital"])


def test_a_scale_has_its_mean_gain_and_a_share_for_each_cut():
    gains = scale_gains(["0", "1", "2", "3"])
    assert list(gains) == ["mean_gain", "at_least_1", "at_least_2", "at_least_3"]
    assert list(gains["mean_gain"].values()) == pytest.approx([0, 1 / 3, 2 / 3, 1])
    assert list(gains["at_least_2"].values()) == [0, 0, 1, 1]
    with pytest.raises(ValueError, match="fewer than 2 labels"):
        scale_gains(["yes"])


def test_probabilities_count_as_shares_of_their_sum():
    gains = {"no": 0.0, "yes": 1.0}
    assert expected_gain({"no": 0.2, "yes": 0.6}, gains) == pytest.approx(0.75)
    assert expected_gain({"no": 1.0, "perhaps": 0.0}, gains) == 0
    assert expected_gain({"perhaps": 0.5, "yes": 0.5}, gains) is None
    assert expected_gain({"no": 0.0, "yes": 0.0}, gains) is None
    assert expected_gain({}, gains) is None
