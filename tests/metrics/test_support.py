import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import SUPPORT_MEASURES, Value, support_scores

LABEL_OF = {2: "full", 1: "partial", 0: "none", -1: None}
answers = st.lists(st.lists(st.sampled_from(["full", "partial", "none", None]), max_size=4))
judged_answers = st.lists(st.lists(st.sampled_from(["full", "partial", "none"]), max_size=4))


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
            "support_precision": 0.5,
            "support_recall": 0.375,
            "support_precision_all": 2 / 3,
            "support_recall_all": 0.5,
            "support_precision_hard": 1 / 3,
            "support_recall_hard": 0.25,
        }
    )


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
def test_scores_are_bounded_and_the_bounds_hold_the_value(sentences):
    scores = support_scores(sentences)
    assert tuple(scores) == SUPPORT_MEASURES
    for score in scores.values():
        assert 0 <= score.low <= score.high <= 1
        if score.value is not None:
            assert score.low <= score.value <= score.high
        if score.is_complete:
            assert score.value == score.low == score.high


@given(answers)
def test_bounds_are_the_scores_with_every_gap_filled_worst_or_best(sentences):
    scores = support_scores(sentences)
    worst = values_of([[label or "none" for label in labels] for labels in sentences])
    best = values_of([[label or "full" for label in labels] for labels in sentences])
    for measure, score in scores.items():
        assert score.low == pytest.approx(worst[measure])
        assert score.high == pytest.approx(best[measure])


@given(judged_answers, st.randoms(use_true_random=False))
def test_scores_ignore_the_order_of_sentences(sentences, rng: random.Random):
    assert support_scores(rng.sample(sentences, len(sentences))) == support_scores(sentences)


@given(judged_answers)
def test_precision_equals_recall_where_every_sentence_cites(sentences):
    cited = [labels for labels in sentences if labels]
    scores, plain = values_of(cited), values_of(sentences)
    for variant in ("", "_all", "_hard"):
        assert scores[f"support_precision{variant}"] == scores[f"support_recall{variant}"]
        assert plain[f"support_recall{variant}"] <= plain[f"support_precision{variant}"]


@given(judged_answers)
def test_hard_support_never_exceeds_weighted_support(sentences):
    scores = values_of(sentences)
    assert scores["support_precision_hard"] <= scores["support_precision"]
    assert scores["support_recall_hard"] <= scores["support_recall"]


@given(st.lists(st.lists(st.just("full"), min_size=1, max_size=3), min_size=1))
def test_full_support_everywhere_scores_one_on_all_measures(sentences):
    assert set(values_of(sentences).values()) == {1.0}


@pytest.mark.parametrize(
    ("sentences", "message"),
    [
        ([["full"], ["full", "FS"]], r"sentences\[1\]\[1\] is 'FS'"),
        ([["2"]], r"sentences\[0\]\[0\] is '2'"),
        (["full"], r"sentences\[0\] is the string 'full'"),
    ],
)
def test_an_unknown_label_raises_instead_of_being_scored(sentences, message):
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
