"""Grades from parts, and how much of the sub-narratives an answer covers, counted by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nuggetjudge.metrics import agreement
from nuggetjudge.metrics.answer_scores import Value
from nuggetjudge.metrics.narratives import narrative_grade, narrative_scores

# Of the guidelines of TREC RAG 2025: 0, 1 related, 2 one part, 3 two or three, 4 four or more.
GRADES = {(0, 0): 0, (0, 5): 1, (1, 0): 2, (2, 3): 3, (3, 0): 3, (4, 0): 4, (9, 0): 4}


@pytest.mark.parametrize(("counts", "grade"), GRADES.items())
def test_a_passage_is_graded_as_the_track_has_it(counts, grade):
    assert narrative_grade(*counts) == grade


def test_a_negative_count_is_refused():
    with pytest.raises(ValueError, match="wanted numbers >= 0, got -1 and 0"):
        narrative_grade(-1, 0)


def test_each_sub_narrative_counts_the_same_however_many_nuggets_it_has():
    # a: 1 of 1; b: 0, .5, 0 of 3 (vital, okay, okay); "" counts nowhere.
    labels = ["support", "not_support", "partial_support", "not_support", "support"]
    vital = ["vital", "vital", "okay", "okay", "vital"]
    scores = narrative_scores(labels, vital, ["a", "b", "b", "b", ""])
    assert scores["SN"].value == pytest.approx((1 + 0.5 / 3) / 2)
    assert scores["SN_strict"].value == 0.5
    assert scores["SN_vital"].value == 0.5
    assert (scores["SN"].n, scores["SN_vital"].n) == (4, 2)


def test_a_partly_stated_vital_nugget_covers_no_sub_narrative():
    scores = narrative_scores(["partial_support"], ["vital"], ["a"])
    assert (scores["SN_vital"].value, scores["SN"].value) == (0.0, 0.5)


def test_what_is_not_judged_is_no_zero_and_the_bounds_say_what_it_could_be():
    # a: stated and open; b: open alone; c: not stated.
    labels = ["support", None, None, "not_support"]
    scores = narrative_scores(labels, ["vital"] * 4, ["a", "a", "b", "c"])
    assert scores["SN"] == Value(0.5, 2, 2, low=0.5 / 3, high=2 / 3)
    assert scores["SN_vital"] == Value(0.5, 2, 2, low=1 / 3, high=2 / 3)


def test_without_vital_nuggets_there_is_no_share_of_them():
    assert narrative_scores(["support"], ["okay"], ["a"])["SN_vital"].is_undefined


def test_nuggets_of_no_sub_narrative_have_no_such_measure():
    assert narrative_scores(["support"], ["vital"], [""]) == {}


def test_another_label_and_other_lengths_are_refused():
    with pytest.raises(ValueError, match=r"labels\[0\] is 'yes'"):
        narrative_scores(["yes"], ["vital"], ["a"])
    with pytest.raises(ValueError, match="1 labels, 2 importances"):
        narrative_scores(["support"], ["vital", "okay"], ["a"])


NUGGETS = st.lists(
    st.tuples(
        st.sampled_from(["support", "partial_support", "not_support", None]),
        st.sampled_from(["vital", "okay", None]),
        st.sampled_from(["a", "b", "c", ""]),
    ),
    min_size=1,
    max_size=12,
)


@given(nuggets=NUGGETS, data=st.data())
def test_bounds_hold_whatever_the_missing_labels_are(nuggets, data):
    labels, importances, names = zip(*nuggets, strict=True)
    whole = [
        data.draw(st.sampled_from(["support", "partial_support", "not_support"]))
        if x is None
        else x
        for x in labels
    ]
    scores = narrative_scores(labels, importances, names)
    for name, value in narrative_scores(whole, importances, names).items():
        if not value.is_undefined:
            assert scores[name].low - 1e-9 <= value.value <= scores[name].high + 1e-9


def test_umbrela_agrees_with_nist_as_published_for_2025():
    # All 10,284 pairs of the track, NIST by row and UMBRELA by column: kappa .233, quadratic .492.
    confusion = [
        [1690, 1074, 681, 150, 24],
        [348, 446, 566, 113, 26],
        [405, 735, 1971, 547, 102],
        [80, 136, 554, 411, 137],
        [1, 8, 18, 42, 19],
    ]
    cells = [(str(i), str(j), n) for i, row in enumerate(confusion) for j, n in enumerate(row)]
    people = [label for label, _, n in cells for _ in range(n)]
    judge = [label for _, label, n in cells for _ in range(n)]
    kappa = agreement(people, judge, [*"01234"]).cohen_kappa
    assert kappa["unweighted"] == pytest.approx(0.233, abs=5e-4)
    assert kappa["quadratic"] == pytest.approx(0.492, abs=5e-4)
