"""Means over topics: what a run did not answer is 0, what was not judged is bounded."""

import orjson
import pytest

from nuggetjudge.metrics import NUGGET_MEASURES, Value
from nuggetjudge.metrics.answer_scores import UNDEFINED
from nuggetjudge.programs.protocols.nuggets import NOT_JUDGED
from nuggetjudge.programs.protocols.program import Folder
from nuggetjudge.programs.protocols.relevance import ranking_rows
from nuggetjudge.programs.protocols.scoreboard import LENGTH, Scoreboard, nugget_values
from nuggetjudge.programs.protocols.support import FILE, Support
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.rows import Ranking
from nuggetjudge.records.support import support_row

VITAL = ["vital", "vital"]


def cells(board):
    return {(r.run_id, r.topic_id, r.measure): r for r in board.rows()}


def whole(value):
    return {"m": Value(value, 1, 0, value, value)}


def test_a_topic_without_an_answer_counts_zero():
    board = Scoreboard(["t1", "t2", "t3"])
    board.add("a", "t1", whole(0.9))
    board.add("a", "t2", whole(0.6))
    board.add("b", "t3", whole(1.0))
    scores = cells(board)
    assert scores["a", "all", "m"].value == pytest.approx(0.5)
    assert scores["b", "all", "m"].value == pytest.approx(1 / 3)
    assert ("a", "t3", "m") not in scores
    assert scores["a", "all", "m"].n_topics == 3


def test_without_given_topics_a_run_has_to_answer_those_that_any_run_answered():
    board = Scoreboard()
    board.add("a", "t1", whole(1.0))
    board.add("b", "t2", whole(1.0))
    assert cells(board)["a", "all", "m"].value == 0.5


def test_a_run_that_answered_nothing_scores_zero_and_does_not_vanish():
    board = Scoreboard(["t1"])
    board.ensure_runs(["a", "silent"])
    board.add("a", "t1", nugget_values(["support"] * 2, VITAL, 10))
    row = cells(board)["silent", "all", "V_strict"]
    assert (row.value, row.n, row.n_unjudged, row.low, row.high) == (0.0, 0, 0, 0.0, 0.0)


def test_length_is_a_mean_over_answered_topics_only():
    board = Scoreboard(["t1", "t2"])
    board.add("a", "t1", nugget_values(["support"] * 2, VITAL, 10))
    scores = cells(board)
    assert scores["a", "all", "length"].value == 10
    assert scores["a", "all", "V_strict"].value == 0.5


def test_an_unjudged_topic_is_left_out_of_the_mean_and_bounded():
    board = Scoreboard(["t1", "t2"])
    board.add("a", "t1", nugget_values(["support", "not_support"], VITAL, 10))
    board.add("a", "t2", dict.fromkeys(NUGGET_MEASURES, NOT_JUDGED))
    row = cells(board)["a", "all", "V_strict"]
    assert row.value == 0.5
    assert (row.low, row.high) == (0.25, 0.75)  # t2 between 0 and 1
    assert (row.n, row.n_unjudged) == (2, 1)


def test_a_topic_on_which_a_measure_means_nothing_for_anybody_is_no_topic_for_it():
    board = Scoreboard(["t1", "t2"])
    board.add("a", "t1", nugget_values(["support"], ["vital"], 10))
    board.add("a", "t2", nugget_values(["support"], ["okay"], 10))  # no vital nugget: V is 0/0
    scores = cells(board)
    assert (scores["a", "t2", "V_strict"].value, scores["a", "t2", "A_strict"].value) == (None, 1.0)
    assert (scores["a", "all", "V_strict"].value, scores["a", "all", "V_strict"].n_topics) == (
        1.0,
        1,
    )
    assert scores["a", "all", "A_strict"].n_topics == 2


def test_who_did_not_answer_a_topic_on_which_a_measure_means_nothing_loses_nothing_by_it():
    board = Scoreboard(["t1", "t2"])
    board.add("a", "t1", nugget_values(["support"], ["vital"], 10))
    board.add("a", "t2", nugget_values(["support"], ["okay"], 10))
    board.add("b", "t1", nugget_values(["support"], ["vital"], 10))
    scores = cells(board)
    row = scores["b", "all", "V_strict"]
    assert (row.value, row.low, row.high, row.n_unjudged) == (1.0, 1.0, 1.0, 0)
    assert (row.n_topics, row.n_asked) == (1, 1)
    assert (scores["b", "all", "A_strict"].value, scores["b", "all", "A_strict"].n_topics) == (
        0.5,
        2,
    )


def test_a_topic_left_out_of_a_measure_costs_nobody_there_and_counts_elsewhere():
    board = Scoreboard(["t1", "t2"])
    board.exclude(["A"], ["t2"])
    for topic in ("t1", "t2"):
        board.add("a", topic, {"support": Value(1.0, 1, 0, 1.0, 1.0)})
    board.add("a", "t1", {"A": Value(0.5, 2, 0, 0.5, 0.5)})
    board.add("b", "t1", {"support": Value(1.0, 1, 0, 1.0, 1.0), "A": Value(1.0, 2, 0, 1.0, 1.0)})
    scores = cells(board)
    assert [scores[run, "all", "A"].value for run in ("a", "b")] == [0.5, 1.0]
    assert [scores[run, "all", "support"].value for run in ("a", "b")] == [1.0, 0.5]


def test_rows_do_not_depend_on_the_order_of_adding():
    forwards, backwards = Scoreboard(["t1", "t2"]), Scoreboard(["t1", "t2"])
    given = [("a", "t1", 0.1), ("a", "t2", 0.2), ("b", "t1", 0.3), ("b", "t2", 0.4)]
    for run_id, topic_id, value in given:
        forwards.add(run_id, topic_id, whole(value))
    for run_id, topic_id, value in reversed(given):
        backwards.add(run_id, topic_id, whole(value))
    assert list(forwards.rows()) == list(backwards.rows())


def test_measures_of_two_programs_join_in_one_cell():
    board = Scoreboard(["t1"])
    board.add("a", "t1", {"one": Value(1.0, 1, 0, 1.0, 1.0)})
    board.add("a", "t1", {"two": Value(0.0, 1, 0, 0.0, 0.0)})
    assert {measure for _, topic, measure in cells(board) if topic == "t1"} == {"one", "two"}


@pytest.mark.parametrize(
    ("citations", "has_all"), [("all", True), (2, True), ("first", False), (1, False)]
)
def test_the_measures_over_all_citations_come_only_when_all_were_judged(
    tmp_path, citations, has_all
):
    cited = {
        "citation": "p",
        "rank": 0,
        "label": "full",
        "label_scores": {"probabilities": {"full": 1}},
    }
    (tmp_path / FILE).write_bytes(orjson.dumps(support_row("a", "t", 0, **cited)))
    notes = {"config": {"support": {"citations": citations}}}
    Support().score(Folder(tmp_path, Problems(), notes=notes), board := Scoreboard(["t"]))
    names = {row.measure for row in board.rows()}
    shares = {
        f"support_{share}{form}" for share in ("precision", "recall") for form in ("", "_hard")
    }
    every = {f"support_{share}_all" for share in ("precision", "recall")} if has_all else set()
    assert names == {name + end for name in shares | every for end in ("", "_expected")}


def failed(board, *cells):
    board.mark_failed(cells)
    return board


def test_what_was_not_made_is_unjudged_in_every_measure_and_for_its_run_alone():
    board = failed(Scoreboard(["t1", "t2"]), ("a", "t2"))
    for run in "ab":
        board.add(run, "t1", whole(0.6) | {LENGTH: Value(9.0, 0, 0, 9.0, 9.0)})
    board.add("c", "t2", whole(1.0))  # so that t2 counts
    scores = cells(board)
    lost, mean = scores["a", "t2", "m"], scores["a", "all", "m"]
    assert (lost.value, lost.low, lost.high, lost.n_unjudged) == (None, 0.0, 1.0, 1)
    assert (mean.value, mean.low, mean.high, mean.n_unjudged, mean.n_topics) == (
        0.6, 0.3, 0.8, 1, 1,
    )  # fmt: skip
    assert (scores["b", "all", "m"].value, scores["b", "all", "m"].high) == (0.3, 0.3)
    length = scores["a", "all", LENGTH]
    assert (length.value, length.low, length.high, length.n_unjudged) == (9.0, None, None, 1)


def test_a_run_of_which_nothing_was_made_has_no_value_and_does_not_vanish():
    board = failed(Scoreboard(["t1"]), ("a", "t1"))
    board.mark_failed((), ["m"])
    row = cells(board)["a", "all", "m"]
    assert (row.value, row.low, row.high, row.n_topics) == (None, 0.0, 1.0, 0)


def test_what_was_not_made_of_a_measure_that_is_no_share_has_no_bounds():
    board = failed(Scoreboard(["t1", "t2"]), ("a", "t2"))
    board.add("a", "t1", {"m": Value(3.0, 1, 0, 3.0, 3.0)})
    assert cells(board)["a", "all", "m"].high is None


def test_a_topic_that_may_count_for_nobody_bounds_the_0_of_who_did_not_answer_it():
    board = Scoreboard(["t1", "t2"])
    board.add("a", "t1", whole(0.5))
    board.add("b", "t1", whole(0.5))
    board.add("b", "t2", {"m": NOT_JUDGED})  # 0/0 for all that anybody knows
    row = cells(board)["a", "all", "m"]
    assert (row.value, row.low, row.high) == (0.25, 0.25, 0.75)  # without t2: 0.5


def test_who_did_not_answer_a_topic_that_is_0_by_0_for_all_that_was_judged_has_no_0_there():
    board = Scoreboard(["t1", "t2"])
    board.add("a", "t1", whole(0.5))
    board.add("b", "t2", {"m": UNDEFINED})
    board.add("c", "t2", {"m": NOT_JUDGED})
    row = cells(board)["a", "all", "m"]
    assert (row.value, row.low, row.high, row.n_topics) == (0.5, 0.25, 0.75, 1)


def test_judgements_that_could_change_any_value_of_a_topic_leave_the_values_and_widen_them():
    board = Scoreboard(["t1"])
    board.bound(["m"], {"t1": 2})
    board.add("a", "t1", whole(0.5) | {"other": Value(0.5, 1, 0, 0.5, 0.5)})
    board.ensure_runs(["silent"])
    scores = cells(board)
    row, silent = scores["a", "all", "m"], scores["silent", "all", "m"]
    assert (row.value, row.low, row.high, row.n_unjudged) == (0.5, 0.0, 1.0, 2)
    assert (silent.value, silent.low, silent.high, silent.n_unjudged) == (0.0, 0.0, 1.0, 2)
    assert scores["a", "all", "other"].high == 0.5


def test_a_topic_left_out_is_not_brought_back_by_what_was_not_made():
    board = failed(Scoreboard(["t1", "t2"]), ("a", "t2"))
    board.add("a", "t1", whole(0.5))
    board.exclude(["m"], ["t2"])
    scores = cells(board)
    row = scores["a", "all", "m"]
    assert (row.value, row.low, row.high, row.n_unjudged) == (0.5, 0.5, 0.5, 0)
    assert ("a", "t2", "m") not in scores


# Ranking measures rest on judged passages only, and say how much of the ranking that is.
def ranking(topic, *ids):
    return Ranking(run_id="bm25", topic_id=topic, passage_ids=ids)


def ranking_cells(grades, candidates):
    return {(r.topic_id, r.measure): r for r in ranking_rows(grades, candidates)}


CANDIDATES = {"t1": ranking("t1", "a", "b", "c"), "t2": ranking("t2", "d", "e")}


def test_whole_grades_give_values_without_bounds_between():
    grades = {"t1": {"a": 0, "b": 3, "c": 2}, "t2": {"d": 3, "e": 0}}
    scores = ranking_cells(grades, CANDIDATES)
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
    row = ranking_cells(grades, CANDIDATES)["t1", "AP(rel=2)"]
    assert row.value == 1.0  # b and c alone are a perfect ranking; with a at 0 it would be 0.583
    assert (row.n, row.n_unjudged, row.low, row.high) == (2, 1, 0.0, 1.0)


def test_a_topic_without_any_grade_has_bounds_and_no_value():
    grades = {"t1": {"a": None, "b": None, "c": None}, "t2": {"d": 3, "e": 0}}
    scores = ranking_cells(grades, CANDIDATES)
    row, mean = scores["t1", "nDCG@10"], scores["all", "nDCG@10"]
    assert (row.value, row.n, row.n_unjudged, row.low, row.high) == (None, 0, 3, 0.0, 1.0)
    assert (mean.value, mean.low, mean.high, mean.n_topics) == (1.0, 0.5, 1.0, 1)


def test_without_any_grade_at_all_no_value_is_made_up():
    grades = {"t1": {"a": None}}
    assert {row.value for row in ranking_rows(grades, CANDIDATES)} == {None}
    assert ranking_rows({}, CANDIDATES) == []
