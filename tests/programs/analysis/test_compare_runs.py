"""Runs are compared over the topics that both were judged on, and the reader is told which."""

import json

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

import nuggetjudge as nj
from nuggetjudge.programs.analysis.compare import compare
from nuggetjudge.programs.analysis.compare_runs import (
    DRAWS,
    HOLM,
    HSD,
    compare_runs,
    find_differences,
)
from nuggetjudge.programs.analysis.leaderboards import leaderboards
from nuggetjudge.programs.analysis.tables.comparisons import make_comparison_view
from nuggetjudge.programs.analysis.tables.leaderboards import write_leader_sentence
from nuggetjudge.records.reading.problems import InputError, Problems


def scores(path, table, measure="V_strict"):
    """A file of scores: {run: {topic: value}}; None is a topic that was not judged."""
    with path.open("w", encoding="utf-8") as stream:
        for run, cells in table.items():
            for topic, value in cells.items():
                row = {"run_id": run, "topic_id": topic, "measure": measure, "value": value}
                bounds = {"low": 0.0, "high": 1.0} if value is None else {}
                stream.write(json.dumps(row | bounds) + "\n")
    return path


def only(comparison, measure="V_strict"):
    (pair,) = comparison["measures"][measure]["pairs"]
    return pair


@pytest.fixture
def three(tmp_path):
    table = {
        "good": {"t1": 0.9, "t2": 0.8, "t3": 0.7},
        "fair": {"t1": 0.6, "t2": 0.4, "t3": 0.5},
        "poor": {"t1": 0.1, "t2": 0.0, "t3": 0.5},
    }
    return scores(tmp_path / "scores.jsonl", table)


def test_the_first_named_run_less_the_second_with_wins_and_p_by_hand(three):
    pair = only(compare_runs([three], Problems(), runs=["poor", "good"]))
    assert (pair["run_id"], pair["other_run_id"]) == ("poor", "good")
    assert pair["difference"] == pytest.approx(-0.6)
    assert (pair["wins"], pair["ties"], pair["losses"]) == (0, 0, 3)
    assert pair["p"] == 2 / 8  # all three signs alike, either way
    assert pair["is_significant"] is False


@pytest.mark.parametrize("measure", ["length", "redundancy@10"])
def test_a_topic_that_a_run_did_not_answer_is_no_0_of_what_only_answers_have(tmp_path, measure):
    table = {"a": {"t1": 0.5, "t2": 0.5}, "b": {"t1": 0.25}}
    comparison = compare_runs([scores(tmp_path / "s.jsonl", table, measure)], Problems())
    pair, (_, b) = only(comparison, measure), comparison["measures"][measure]["runs"]
    assert (b["mean"], b["n_topics"], b["n_unanswered"]) == (0.25, 1, 1)
    assert (pair["difference"], pair["n_topics"]) == (0.25, 1)


def test_a_topic_that_a_run_did_not_answer_counts_0_and_one_not_judged_is_left_out(tmp_path):
    table = {"a": {"t1": 0.5, "t2": 0.5, "t3": None}, "b": {"t1": 0.25, "t3": 1.0}}
    comparison = compare_runs([scores(tmp_path / "s.jsonl", table)], Problems())
    pair, (a, b) = only(comparison), comparison["measures"]["V_strict"]["runs"]
    assert (pair["difference"], pair["n_topics"]) == (pytest.approx((0.25 + 0.5) / 2), 2)
    assert (a["mean"], a["n_topics"], a["n_unanswered"]) == (0.5, 2, 0)
    assert (b["mean"], b["n_topics"], b["n_unanswered"]) == (pytest.approx(1.25 / 3), 3, 1)


def test_a_leaderboard_has_all_pairs_with_holm_and_marks_neighbours(three):
    board = compare_runs([three], Problems())["measures"]["V_strict"]
    assert [run["run_id"] for run in board["runs"]] == ["good", "fair", "poor"]
    names = [(p["run_id"], p["other_run_id"], p["are_neighbours"]) for p in board["pairs"]]
    assert names == [
        ("good", "fair", True),
        ("good", "poor", False),
        ("fair", "poor", True),
    ]
    # fair less poor: .5, .4 and a tie: of 8 sign flips 4 reach .9. Holm: .25 x 3, .25 x 2, .5.
    assert [p["p"] for p in board["pairs"]] == [0.25, 0.25, 0.5]
    assert [p["p_holm"] for p in board["pairs"]] == [0.75, 0.75, 0.75]


def test_clearly_different_runs_differ_significantly_and_equal_ones_do_not(tmp_path):
    topics = [f"t{i}" for i in range(30)]
    table = {
        "best": dict.fromkeys(topics, 0.9),
        "equal": dict.fromkeys(topics, 0.9),
        "worst": dict.fromkeys(topics, 0.1),
    }
    comparison = compare_runs([scores(tmp_path / "s.jsonl", table)], Problems(), resamples=2000)
    pairs = {
        (p["run_id"], p["other_run_id"]): p for p in comparison["measures"]["V_strict"]["pairs"]
    }
    assert pairs["best", "equal"]["is_significant"] is False
    assert pairs["best", "equal"]["p_hsd"] == 1.0
    assert pairs["equal", "worst"]["is_significant"] is True


def test_hsd_differences_are_the_first_run_minus_the_second():
    table = np.array([[0.9, 0.5, 0.1], [0.7, 0.5, 0.3]] * 6)
    found = find_differences(table, DRAWS)
    assert found.test == HSD
    assert found.differences == pytest.approx([0.3, 0.6, 0.3])  # means .8, .5 and .2


def sparse():
    """Two good and two bad runs of 20 topics, of which each lacks another quarter: none is whole.

    Any two share 10: good less bad all have one sign, p 2 / 2^10; of equal sums p is 1.
    """
    return {
        run: {f"t{i}": value(i) if i % 4 != lacks else None for i in range(20)}
        for lacks, (run, value) in enumerate(
            {
                "good": lambda i: 0.9 if i % 8 < 4 else 0.8,
                "near": lambda i: 0.8 if i % 8 < 4 else 0.9,
                "poor": lambda i: 0.1,
                "bad": lambda i: 0.1,
            }.items()
        )
    }


def test_runs_judged_on_other_topics_are_compared_pair_by_pair(tmp_path):
    """HSD would have no topic: a run of .85 beside one of .1 was said to be no better."""
    compared = compare_runs([scores(tmp_path / "s.jsonl", sparse())], Problems())
    board = compared["measures"]["V_strict"]
    assert (board["test"], board["n_topics_all_judged"]) == (HOLM, 0)
    apart = {(p["run_id"], p["other_run_id"]) for p in board["pairs"] if p["is_significant"]}
    assert apart == {(a, b) for a in ("good", "near") for b in ("poor", "bad")}
    p = [pair["p_holm"] for pair in board["pairs"] if pair["is_significant"]]
    assert p == pytest.approx([6 * 2 / 2**10] * 4, rel=0.1)  # of sampled signs
    assert {pair["p_hsd"] for pair in board["pairs"]} == {None}
    text = str(make_comparison_view(compared).tables[0].notes)
    assert "4 of 6 pairs differ significantly (pairs tested on the topics both have, Holm" in text


@pytest.mark.parametrize(("n_gaps", "test"), [(0, HSD), (2, HSD), (3, HOLM)])
def test_a_few_topics_with_gaps_leave_hsd_and_many_do_not(tmp_path, n_gaps, test):
    """HSD while every run has a score on four in five topics."""
    topics = [f"t{i}" for i in range(10)]
    table = {run: dict.fromkeys(topics, 0.5) for run in "abc"}
    table["a"] |= dict.fromkeys(topics[:n_gaps])
    board = compare_runs([scores(tmp_path / "s.jsonl", table)], Problems())
    assert board["measures"]["V_strict"]["test"] == test


def test_too_few_shared_topics_are_said_with_how_many_are_needed(tmp_path):
    table = {run: {f"t{i}": 0.5 for i in range(k, k + 3)} for k, run in enumerate("abcd")}
    table = {r: {f"t{i}": of.get(f"t{i}") for i in range(6)} for r, of in table.items()}
    board = compare_runs([scores(tmp_path / "s.jsonl", table)], Problems())["measures"]["V_strict"]
    assert board["least_topics"] == 8  # 5 pairs share a topic: 5 x 2 / 2^7 > .05 > 5 x 2 / 2^8
    last = board["pairs"][-1]
    assert {p["is_significant"] for p in board["pairs"]} == {False, None}, last


@pytest.mark.slow
def test_45_real_runs_with_gaps_are_all_compared(shared_data, tmp_path):
    """Passages are missing, so that one topic of 12 is whole: all runs were "not known"."""
    data = shared_data / "rag24_e2e"
    result = nj.run(
        program="support", topics=data / "topics.tsv", passages=data / "passages.jsonl",
        runs=[str(data / "runs")], model="lexical", out=tmp_path / "out",
    )  # fmt: skip
    compared = compare_runs([result.folder], Problems(), measures=["support_precision"])
    tests = compared["measures"]["support_precision"]
    assert (len(tests["runs"]), tests["test"]) == (45, HOLM)
    assert tests["n_topics_all_judged"] < 2 < tests["n_topics"]
    shared = [pair for pair in tests["pairs"] if pair["n_topics"]]
    assert len(shared) > 900
    p_holm = multipletests([pair["p"] for pair in shared], method="holm")[1]
    assert [pair["p_holm"] for pair in shared] == pytest.approx(list(p_holm))
    assert all(pair["is_significant"] is False for pair in shared)
    board = next(b for b in leaderboards(result.scores, result.folder) if b.title == "Support")
    assert "too few shared topics to find differences between 45 runs" in write_leader_sentence(
        board
    )


def test_runs_of_two_files_are_compared_on_the_topics_that_both_have(tmp_path):
    one = scores(tmp_path / "one.jsonl", {"a": {"t1": 1.0, "t2": 0.5, "t3": 0.0}})
    other = scores(tmp_path / "two.jsonl", {"b": {"t1": 0.5, "t2": 0.5, "t9": 1.0}})
    pair = only(compare(one, other, Problems()))
    assert (pair["run_id"], pair["other_run_id"], pair["n_topics"]) == ("a", "b", 2)
    assert pair["difference"] == 0.25


def test_a_run_of_both_files_is_told_apart_by_its_file(tmp_path):
    one = scores(tmp_path / "old.jsonl", {"rag": {"t1": 0.2, "t2": 0.4}})
    other = scores(tmp_path / "new.jsonl", {"rag": {"t1": 0.4, "t2": 0.6}})
    with pytest.raises(InputError, match=r"judge agree[\s\S]*--as runs compares"):
        compare(one, other, Problems())
    comparison = compare(one, other, Problems(), way="runs")
    assert only(comparison)["other_run_id"] == "rag@new"
    assert only(comparison)["difference"] == pytest.approx(-0.2)


def test_what_cannot_be_compared_says_what_there_is(three, tmp_path):
    for more, message in (
        ({"runs": ["good", "goood"]}, "no run 'goood'; runs: good, fair, poor"),
        ({"runs": ["good"]}, "1 run, wanted two or more"),
        ({"measures": ["A"]}, "no measure 'A'; there is V_strict"),
    ):
        with pytest.raises(InputError, match=message):
            compare(three, None, Problems(), **more)
    means = tmp_path / "means.txt"
    means.write_text("a all V_strict 0.5\nb all V_strict 0.4\n", encoding="utf-8")
    with pytest.raises(InputError, match="no scores by topic"):
        compare(means, None, Problems())
    elsewhere = scores(tmp_path / "z.jsonl", {"z": {"t9": 0.5}})
    with pytest.raises(InputError, match="no common measure and topic"):
        compare(three, elsewhere, Problems())
    with pytest.raises(InputError, match="wanted runs or judges"):
        compare(three, None, Problems(), way="files")
    with pytest.raises(InputError, match="one judge, wanted two"):
        compare(three, None, Problems(), way="judges")


def test_a_run_with_a_mean_alone_is_left_out_and_not_taken_for_0(three):
    with three.open("a", encoding="utf-8") as stream:
        row = {"run_id": "means", "topic_id": "all", "measure": "V_strict", "value": 0.9}
        stream.write(json.dumps(row) + "\n")
    comparison = compare_runs([three], problems := Problems())
    runs = [run["run_id"] for run in comparison["measures"]["V_strict"]["runs"]]
    assert runs == ["good", "fair", "poor"]
    assert problems.counts() == {"no_topics": 1}


def test_where_a_run_was_never_judged_nothing_is_claimed_about_it(tmp_path):
    table = {
        "a": {"t1": 0.1, "t2": 0.2}, "b": {"t1": 0.3, "t2": 0.1}, "c": {"t1": None, "t2": None},
    }  # fmt: skip
    board = compare_runs([scores(tmp_path / "s.jsonl", table)], Problems())["measures"]["V_strict"]
    assert [(run["run_id"], run["n_topics"]) for run in board["runs"]][-1] == ("c", 0)
    last = board["pairs"][-1]
    assert (last["p"], last["p_holm"], last["p_hsd"], last["is_significant"]) == (None,) * 4


def test_folders_of_other_judges_and_nuggets_are_said_to_be_so(tmp_path):
    for name in ("one", "two"):
        folder = tmp_path / name
        folder.mkdir()
        scores(folder / "scores.jsonl", {name: {"t1": 0.5}})
        nugget = {"text": f"fact of {name}", "importance": "vital"}
        bank = {"qid": "t1", "query": "why", "nuggets": [nugget]}
        (folder / "nuggets.jsonl").write_text(json.dumps(bank) + "\n", encoding="utf-8")
        known = {"fingerprint": "f", "config": {}, "cells_without_bank": [], "unjudged": {}}
        known |= {"topics_without_nuggets": [], "judged": {}, "share_missing": 0}
        known |= {"limit_reached": None, "judges": {"assigner": name}, "inputs": {}}
        known |= {"data": {"topic_ids": ["t1"], "run_ids": [name]}}
        (folder / "manifest.json").write_text(json.dumps(known), encoding="utf-8")
    compare_runs([tmp_path / "one", tmp_path / "two"], problems := Problems())
    assert problems.counts() == {"other_judge": 1, "other_nuggets": 1}


def test_real_runs_have_the_published_means_and_scipys_p(shared_data):
    folder = shared_data / "rag24_nuggets"
    expected = {
        row["run_id"]: row
        for row in map(json.loads, (folder / "expected_run_scores.jsonl").open(encoding="utf-8"))
    }
    comparison = compare(folder / "nugget_assignments.jsonl", None, Problems(), resamples=500)
    board = comparison["measures"]["V_strict"]
    assert len(board["runs"]) == len(expected)
    for run in board["runs"]:
        assert run["mean"] == pytest.approx(expected[run["run_id"]]["V_strict"], abs=5e-5)
    assert len(board["pairs"]) == len(expected) * (len(expected) - 1) // 2

    from scipy.stats import permutation_test

    cells = {}
    for row in map(json.loads, (folder / "expected_cell_scores.jsonl").open(encoding="utf-8")):
        cells[row["run_id"], row["qid"]] = row["V_strict"]
    topics = sorted({topic for _, topic in cells})
    pair = board["pairs"][len(board["pairs"]) // 2]
    d = [
        cells.get((pair["run_id"], t), 0) - cells.get((pair["other_run_id"], t), 0) for t in topics
    ]
    wanted = permutation_test(
        (d,), lambda x, axis: x.mean(axis=axis), permutation_type="samples",
        n_resamples=float("inf"), vectorized=True,
    )  # fmt: skip
    # The expected cells have 6 digits, which may part sums that are tied.
    assert pair["p"] == pytest.approx(wanted.pvalue, abs=2e-3)
