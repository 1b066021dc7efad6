"""What a leaderboard says: who leads, how sure a mean is, and what is missing from it."""

import csv
import io
import json

import pytest

from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.analysis.leaderboards import leaderboards
from nuggetjudge.programs.analysis.tables.leaderboards import (
    make_leaderboard_table,
    write_leader_sentence,
)
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.rows import ScoreRow
from nuggetjudge.views.terminal import Terminal, table_text


def row(**changed):
    fields = {"run_id": "r", "topic_id": "all", "measure": "A", "value": 0.25, "n": 3}
    fields |= {"n_unjudged": 0, "low": 0.25, "high": 0.25, "n_topics": 2}
    return ScoreRow(**fields | changed)


def board(tmp_path, *rows, **asked):
    path = tmp_path / "assignments.jsonl"
    path.touch()
    (board_of_path,) = leaderboards(rows, path, **asked)
    return board_of_path


def board_text(board, width=80):
    return table_text(make_leaderboard_table(board), Terminal(width))


def lines(tmp_path, *rows, **asked):
    return board_text(board(tmp_path, *rows, **asked)).splitlines()


def by_topic(run_id, *values, measure="A", n_asked=None):
    """The rows of a run: one a topic, None where it did not answer, and their mean."""
    cells = [v for v in values if v is not None]
    mean = sum(cells) / len(values)
    yield row(run_id=run_id, measure=measure, value=mean, n=len(cells), n_topics=len(values))
    for n, value in enumerate(values):
        if value is not None:
            yield row(run_id=run_id, topic_id=f"t{n}", measure=measure, value=value, n_topics=None)


def test_a_mean_of_which_no_judgement_arrived_is_a_dash_with_its_bounds(tmp_path):
    lost = row(value=0.0, n=0, n_unjudged=3, low=0.0, high=0.5)
    *_, head, line, note = lines(tmp_path, lost)
    assert head.split() == ["#", "run", "A", "judged", "unjudged"]
    assert line.split() == ["1", "r", "-", "[.000,", ".500]", "3/3"]
    assert note.startswith("3 of 3 judgements missing")
    lost = row(value=None, n=0, n_unjudged=3, low=None, high=None)
    assert lines(tmp_path, lost)[-2].split()[2:] == ["-", "-", "3/3"]


def test_a_run_that_answered_nothing_keeps_its_0(tmp_path):
    printed = lines(tmp_path, row(value=0.0, n=0, low=0.0, high=0.0))
    assert printed[-1].split() == ["1", "r", ".000"]


def three_runs():
    return [
        *by_topic("good", *[0.9, 0.8, 0.95, 0.85, 0.9, 0.8, 0.9, 1.0]),
        *by_topic("near", *[0.8, 0.9, 0.85, 0.95, 0.8, 0.9, 1.0, 0.8]),
        *by_topic("bad", *[0.1, 0.0, 0.2, 0.1, 0.0, 0.1, 0.2, 0.1]),
    ]


def test_intervals_and_significant_differences_are_those_of_compare(tmp_path):
    rows = three_runs()
    path = tmp_path / "scores.jsonl"
    path.write_text("".join(r.model_dump_json() + "\n" for r in rows), encoding="utf-8")
    compared = compare_runs([path], Problems(), measures=["A"])["measures"]["A"]
    result = board(tmp_path, *rows)
    wanted = {r["run_id"]: (r["low"], r["high"]) for r in compared["runs"]}
    assert {line.run_id: line.intervals["A"] for line in result.lines} == wanted
    next_of = {r["run_id"]: r["is_significant"] for r in compared["pairs"] if r["are_neighbours"]}
    differs = {line.run_id: line.is_different_from_next for line in result.lines}
    assert differs == next_of | {"bad": None}
    assert next_of == {"good": False, "near": True}
    assert (result.n_significant, result.n_pairs) == (2, 3)
    assert result.leading == ["good", "near"]
    assert write_leader_sentence(result).startswith(
        "good leads; near is not significantly worse (HSD"
    )
    text = board_text(result).splitlines()
    ranks = [line.split()[0] for line in text if line[:1] in "123─"]
    assert ranks[:2] == ["1", "1="]
    assert ranks[3] == "3"  # below the rule
    assert ranks[2].startswith("──")


def test_two_runs_are_tested_as_compare_tests_two(tmp_path):
    rows = [r for r in three_runs() if r.run_id != "near"]
    result = board(tmp_path, *rows)
    assert (result.test, result.n_significant) == ("randomisation", 1)  # p = 2 / 2^8
    assert write_leader_sentence(result) == (
        "good leads; every other run is significantly worse (randomisation, p < .05)"
    )


def test_runs_with_gaps_get_tied_ranks_by_pairs(tmp_path):
    """Each run lacks another quarter of 20 topics, so that no topic has all of them."""
    rows = []
    values = {"good": (0.9, 0.8), "near": (0.8, 0.9), "poor": (0.1, 0.1), "bad": (0.1, 0.1)}
    for lacks, (run, pair) in enumerate(values.items()):
        cells = {f"t{i}": pair[i % 8 // 4] for i in range(20) if i % 4 != lacks}
        rows.append(row(run_id=run, value=sum(cells.values()) / 15, n=15, n_topics=15))
        rows += [row(run_id=run, topic_id=t, value=v, n_topics=None) for t, v in cells.items()]
        rows += [
            row(run_id=run, topic_id=f"t{i}", value=None, n=0, n_unjudged=1, low=0, high=1)
            for i in range(lacks, 20, 4)
        ]
    result = board(tmp_path, *rows)
    assert write_leader_sentence(result) == (
        "good leads; near is not significantly worse "
        "(pairs tested on the topics both have, Holm, p >= .05)"
    )
    assert (result.n_significant, result.n_pairs) == (4, 6)


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_a_table_fits_the_window_and_never_has_two_runs_of_one_name(tmp_path, width):
    names = [f"team.{'long_' * 14}{n}_of_them_{'all' * 7}" for n in range(3)]
    measures = ["V_strict", "A_strict", "support_precision_hard", "support_recall_hard"]
    rows = [
        r for name in names for m in measures for r in by_topic(name, 0.2, 0.9, measure=m)
    ]  # fmt: skip
    path = tmp_path / "assignments.jsonl"
    path.touch()
    for each in leaderboards(rows, path):
        text = board_text(each, width).splitlines()
        assert max(map(len, text)) <= width
        start = next(n for n, line in enumerate(text) if line.startswith("#")) + 1
        assert len({line.split()[1] for line in text[start : start + 3]}) == 3


def test_the_first_row_is_the_best_by_what_is_asked_for(tmp_path):
    rows = [
        *by_topic("a", 0.9, 0.9, measure="V_strict"), *by_topic("a", 0.1, 0.1, measure="V"),
        *by_topic("b", 0.1, 0.1, measure="V_strict"), *by_topic("b", 0.9, 0.9, measure="V"),
    ]  # fmt: skip
    result = board(tmp_path, *rows, sort="V", measures=["V_strict", "V"])
    assert result.measures == ["V", "V_strict"]
    assert [line.run_id for line in result.lines] == ["b", "a"]


@pytest.fixture
def scores(judge, tmp_path):
    """Assignments of two runs: one answers both topics, the other one of them."""
    path = tmp_path / "labels.jsonl"
    vital = {"text": "x", "importance": "vital", "assignment": "support"}
    answer = {"query": "q", "answer_text": "x", "nuggets": [vital]}
    answers = [("one", "t1"), ("one", "t2"), ("two", "t1")]
    lines = (json.dumps({"qid": t, "run_id": r, **answer}) + "\n" for r, t in answers)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_csv_has_each_figure_in_a_column_of_its_own(judge, scores):
    text = judge("score", scores, "--format", "csv").out
    rows = {(r["run_id"], r["measure"]): r for r in csv.DictReader(io.StringIO(text))}
    two = rows["two", "V_strict"]
    assert (float(two["mean"]), two["n_answered"], two["n_asked"]) == (0.5, "1", "2")
    bounds = float(two["interval_low"]), float(two["interval_high"])
    assert bounds == pytest.approx((0, 1), abs=1e-9)  # two topics say nothing of others
    assert two["n_unjudged"] == "0"


def test_json_says_what_was_answered_of_what_was_asked(judge, scores):
    rows = judge("score", scores, "--json").rows
    means = {r["run_id"]: r for r in rows if (r["topic_id"], r["measure"]) == ("all", "V")}
    assert {run: (r["n_answered"], r["n_asked"], r["n_topics"]) for run, r in means.items()} == {
        "one": (2, 2, 2),
        "two": (1, 2, 2),
    }
    assert judge("score", scores, "--format", "json").rows == rows
    asked = judge("score", scores, "--json", "--measures", "A,V").rows
    assert {row["measure"] for row in asked} == {"A", "V"}


def test_an_unknown_measure_is_an_error_that_names_those_there_are(judge, scores):
    done = judge("score", scores, "--measures", "V_strct")
    assert done.code == 2
    assert "no measure 'V_strct'; there is A, A_strict, V, " in done.err
    done = judge("score", scores, "--json", "--format", "csv")
    assert (done.code, "wanted one of them" in done.err) == (2, True)
