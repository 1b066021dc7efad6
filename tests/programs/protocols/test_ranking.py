"""Ranking measures rest on judged passages only, and say how much of the ranking that is."""

import pytest

from nuggetjudge.programs.protocols.relevance import ranking_rows
from nuggetjudge.records.rows import Ranking


def ranking(topic, *ids):
    return Ranking(run_id="bm25", topic_id=topic, passage_ids=ids)


def cells(grades, candidates):
    return {(r.topic_id, r.measure): r for r in ranking_rows(grades, candidates)}


CANDIDATES = {"t1": ranking("t1", "a", "b", "c"), "t2": ranking("t2", "d", "e")}


def test_whole_grades_give_values_without_bounds_between():
    grades = {"t1": {"a": 0, "b": 3, "c": 2}, "t2": {"d": 3, "e": 0}}
    scores = cells(grades, CANDIDATES)
    # AP(rel=2): relevant at ranks 2 and 3: (1/2 + 2/3) / 2; and at rank 1.
    first, second, mean = (scores[t, "AP(rel=2)"] for t in ("t1", "t2", "all"))
    assert first.value == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert second.value == 1.0
    assert mean.value == pytest.approx((first.value + 1) / 2)
    assert (first.n, first.n_unjudged, first.low, first.high) == (3, 0, first.value, first.value)
    assert (mean.n, mean.n_unjudged, mean.n_topics) == (5, 0, 2)
    assert scores["t1", "P(rel=2)@10"].value == pytest.approx(0.2)


def test_an_unjudged_passage_is_taken_out_and_never_counts_as_not_relevant():
    grades = {"t1": {"a": None, "b": 3, "c": 2}, "t2": {"d": 3, "e": 0}}
    row = cells(grades, CANDIDATES)["t1", "AP(rel=2)"]
    assert row.value == 1.0  # b and c alone are a perfect ranking; with a at 0 it would be 0.583
    assert (row.n, row.n_unjudged, row.low, row.high) == (2, 1, 0.0, 1.0)


def test_a_topic_without_any_grade_has_bounds_and_no_value():
    grades = {"t1": {"a": None, "b": None, "c": None}, "t2": {"d": 3, "e": 0}}
    scores = cells(grades, CANDIDATES)
    row, mean = scores["t1", "nDCG@10"], scores["all", "nDCG@10"]
    assert (row.value, row.n, row.n_unjudged, row.low, row.high) == (None, 0, 3, 0.0, 1.0)
    assert (mean.value, mean.low, mean.high, mean.n_topics) == (1.0, 0.5, 1.0, 1)


def test_without_any_grade_at_all_no_value_is_made_up():
    grades = {"t1": {"a": None}}
    assert {row.value for row in ranking_rows(grades, CANDIDATES)} == {None}
    assert ranking_rows({}, CANDIDATES) == []
