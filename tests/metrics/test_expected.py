"""Scores from probabilities: those of labels where the judge is certain, in between elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import nugget_scores, support_scores
from nuggetjudge.metrics.expected import expected_nugget_scores, expected_support_scores

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
