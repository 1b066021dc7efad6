"""The rows below a leaderboard: the lowest, the median and the highest run, and groups of runs."""

import json

import numpy as np
import pytest
from json_lines import read_rows, write_rows
from processes import JUDGE, run

from nuggetjudge.programs.analysis.leaderboards import leaderboards
from nuggetjudge.programs.analysis.run_spread import make_spread_table, match_groups, measure_spread
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.rows import ScoreRow

TABLE = {  # run -> topic -> score; b did not answer the second topic, c was not judged there
    "a": {"t": 0.2, "u": 0.8},
    "b": {"t": 0.5},
    "c": {"t": 0.6, "u": None},
    "d": {"t": 0.9, "u": 0.4},
}


def score_rows(table):
    for name, of in table.items():
        for topic, value in of.items():
            n = int(value is not None)
            yield ScoreRow(run_id=name, topic_id=topic, measure="A", value=value, n=n,
                           n_unjudged=1 - n)  # fmt: skip
        known = [value for value in of.values() if value is not None]
        yield ScoreRow(run_id=name, topic_id="all", measure="A", value=sum(known) / 2, n=1)


def spread(rows, path, groups=None):
    (board,) = leaderboards(rows, path)
    return board, measure_spread(rows, path, board, None, groups or {})


def test_min_median_and_max_are_means_over_topics_and_groups_means_of_runs(tmp_path):
    """By hand: topic t has .2 .5 .6 .9, topic u .8, 0 (no answer), nothing (not judged), .4."""
    rows = list(score_rows(TABLE))
    path = tmp_path / "scores.jsonl"
    path.touch()
    groups = {"a": "AG", "b": "AG", "c": "RAG", "d": "RAG"}
    board, found = spread(rows, path, groups)
    assert {one.runs: round(one.value, 6) for one in found} == {
        "min": 0.1,  # (.2 + 0) / 2
        "median": 0.475,  # (.55 + .4) / 2
        "max": 0.85,  # (.9 + .8) / 2
        "AG": 0.375,  # (.5 + .25) / 2
        "RAG": 0.475,  # (.3 + .65) / 2
    }
    counts = [(one.n_runs, one.n_unjudged) for one in found]
    assert counts == [*[(4, 1)] * 3, (2, 0), (2, 1)]  # c of RAG was not judged on u
    table = make_spread_table(board, found)
    assert [row.cells[:2] for row in table.rows] == [
        ["min", 4], ["median", 4], ["max", 4], ["AG", 2], ["RAG", 2],
    ]  # fmt: skip
    assert "1 missing scores of a run and topic are excluded" in table.notes


def test_an_oracle_is_in_no_group_and_an_undefined_score_is_not_missing(tmp_path):
    """Z* has a mean on the leaderboard, but is no run: it would raise the mean of the others."""
    rows = [
        *score_rows({"a": {"t": 0.2, "u": 0.4}, "b": {"t": 0.6, "u": 0.0}}),
        ScoreRow(run_id="a", topic_id="v", measure="A", value=None, n=2, n_unjudged=0),
        ScoreRow(run_id="b", topic_id="v", measure="A", value=0.3, n=2, n_unjudged=0),
        ScoreRow(run_id="Z*", topic_id="all", measure="A", value=1.0, n=4),
    ]
    path = tmp_path / "scores.jsonl"
    path.touch()
    (tmp_path / "groups.tsv").write_text("a\tAG\n", encoding="utf-8")
    groups = match_groups(tmp_path / "groups.tsv", [row.run_id for row in rows], Problems())
    assert groups == {"a": "AG", "b": "other"}
    _, found = spread(rows, path, groups)
    by_group = {one.runs: (one.n_runs, round(one.value, 6)) for one in found}
    assert by_group["other"] == (1, 0.3)  # b alone
    assert {one.n_unjudged for one in found} == {0}


def test_the_rows_of_nist_are_those_of_an_independent_implementation(shared_data):
    """The last rows of Table 6 of arXiv:2411.09607, on the topics that are here."""
    data = shared_data / "rag24_nuggets"
    path = data / "nugget_assignments.jsonl"
    rows = score_path(path, Problems())
    cells = read_rows(data / "expected_cell_scores.jsonl")
    runs, topics = sorted({c["run_id"] for c in cells}), sorted({c["qid"] for c in cells})
    _, found = spread(rows, path)
    values = {(one.measure, one.runs): one.value for one in found}
    for measure in ("V_strict", "V", "W_strict", "W", "A_strict", "A"):
        by = {(c["qid"], c["run_id"]): c[measure] for c in cells}
        table = np.array([[by.get((topic, run), 0.0) for run in runs] for topic in topics])
        for name in ("min", "median", "max"):
            expected = getattr(np, name)(table, axis=1).mean()
            assert values[measure, name] == pytest.approx(expected, abs=1e-6), (measure, name)


def judge(*arguments, cwd):
    return run(*JUDGE, *map(str, arguments), cwd=cwd)


def test_the_command_shows_the_group_of_each_run_and_the_rows(tmp_path):
    rows = []
    for name, of in TABLE.items():
        for topic, value in of.items():
            label = "support" if value else "not_support"
            nugget = {"text": "x", "importance": "vital", "assignment": label}
            about = {"run_id": f"team.{name}", "qid": topic, "query": "q", "answer_text": "x"}
            rows.append({**about, "nuggets": [nugget]})
    write_rows(tmp_path / "assignments.jsonl", rows)
    (tmp_path / "groups.tsv").write_text("a\tAG\nd\tRAG\n", encoding="utf-8")
    shown = judge("score", "assignments.jsonl", "--run-groups", "groups.tsv", cwd=tmp_path).stdout
    assert ["1", "team.a", "AG"] in [line.split()[:3] for line in shown.splitlines()]
    assert ["other", "2"] in [line.split()[:2] for line in shown.splitlines()]
    printed = judge("score", "assignments.jsonl", "--spread", "--json", cwd=tmp_path).stdout
    objects = [json.loads(line) for line in printed.splitlines()]
    assert {row["runs"] for row in objects} == {"min", "median", "max"}
    table = judge("score", "assignments.jsonl", "--spread", "--format", "latex", cwd=tmp_path)
    assert "median & 4" in table.stdout
    for wrong in (("--labels", "assignments.jsonl"), ("--counts", "run_id"), ("--by", "domain")):
        ran = judge("score", "assignments.jsonl", "--spread", *wrong, cwd=tmp_path)
        assert ran.returncode == 2
        assert "--spread" in ran.stderr


def test_a_file_of_groups_that_is_wrong_is_refused_with_its_line(tmp_path):
    path = tmp_path / "groups.tsv"
    for text, message in (
        ("a\tAG\na\tRAG\n", r"groups.tsv:2: run 'a' has the groups 'AG' and 'RAG', wanted one"),
        ("a AG\n", r"groups.tsv:1: wanted a run, a tab and its group"),
        ("\n", "no groups of runs"),
        ("z\tAG\n", "names no run of the results, such as a"),
    ):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=message):
            match_groups(path, ["a", "b"], Problems())
