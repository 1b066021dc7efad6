"""Sub-questions that discriminate between systems: scores counted by hand, and what is written."""

import numpy as np
import pytest
from json_lines import read_rows, write_rows
from scipy.stats import kendalltau

from nuggetjudge.plugins.collections.selection import (
    Answered,
    check_choices,
    choose_questions,
    score_questions,
)
from nuggetjudge.records.questions import read_question_sets
from nuggetjudge.records.reading.problems import Problems

# Four runs from the best to the worst; the rows are questions of two topics.
TABLE = np.array(
    [
        [1, 1, 1, 1],  # all answer: says nothing
        [1, 1, 0, 0],  # half, in the order of the runs
        [0, 0, 1, 1],  # half, against it
        [1, 0, 0, 0],
        [1, 1, 1, np.nan],
        [1, 1, 0, 0],
    ]
)
QUESTIONS = [("t", 0), ("t", 1), ("t", 2), ("t", 4), ("u", 0), ("u", 1)]
ANSWERED = Answered(QUESTIONS, ["a", "b", "c", "d"], TABLE)


def test_spread_is_the_standard_deviation_of_the_answers():
    scores = score_questions(ANSWERED, "spread")
    assert scores.tolist() == pytest.approx([0, 0.5, 0.5, (3 / 16) ** 0.5, 0, 0.5])


def test_tau_is_of_a_question_and_the_coverage_by_all_others():
    scores = score_questions(ANSWERED, "tau")
    rest = [4 / 5, 3 / 5, 3 / 5, 2 / 4]  # of question 1: what the other five give
    assert scores[1] == pytest.approx(kendalltau(TABLE[1], rest).statistic)
    assert scores[0] == -1.0  # undefined, so the last to be chosen
    assert scores[2] < 0 < scores[3]


def test_the_best_of_each_topic_are_kept_and_equal_ones_by_their_place():
    scores = score_questions(ANSWERED, "spread")
    assert choose_questions(QUESTIONS, scores, 2) == [1, 2, 4, 5]
    assert choose_questions(QUESTIONS, scores, 9) == list(range(6))


def test_questions_of_noise_and_of_skill_are_measured_on_runs_that_did_not_choose():
    """Ten of 20 questions go by the skill of the run, ten are coin tosses."""
    rng = np.random.default_rng(0)
    skill = np.linspace(0.1, 0.9, 12)
    names = [(f"t{t}", q) for t in range(12) for q in range(20)]
    table = np.array([rng.random(12) < (skill if q < 10 else 0.5) for _, q in names], dtype=float)
    answered = Answered(names, [f"r{i}" for i in range(12)], table)
    checks = {check.name: check for check in check_choices(answered, 10)}
    assert list(checks) == ["all", "spread", "tau", "random"]
    assert (checks["all"].n, checks["tau"].n) == (240, 120)
    assert checks["tau"].n_different > checks["random"].n_different
    assert checks["tau"].sd > checks["all"].sd > 0
    assert checks["all"].tau == pytest.approx(1)
    assert check_choices(answered.take([0, 1, 2, 3, 4]), 10) == []


def test_runs_are_measured_by_the_questions_that_are_known_of_all_of_them():
    """Seven equal runs, one with a missing rating: by fewer questions it would score higher."""
    table = np.tile([[1.0], [0.0], [1.0], [0.0]], (1, 7))
    table[1, 0] = np.nan
    names = [("t", i) for i in range(3)] + [("u", 0)]
    runs = [f"r{i}" for i in range(7)]
    checks = check_choices(Answered(names, runs, table), 2)
    assert [(check.name, check.n) for check in checks][:2] == [("all", 3), ("spread", 3)]
    assert {check.sd for check in checks} == {0.0}
    assert {check.n_pairs for check in checks} == {4.5}  # halves of three and of four: 3 and 6
    table[:, 0] = np.nan
    assert check_choices(Answered(names, runs, table), 2) == []
    scores = score_questions(Answered(names, runs, np.full((4, 7), np.nan)), "tau")
    assert scores.tolist() == [-np.inf] * 4


@pytest.fixture
def results(judge, tmp_path):
    """Contexts of two runs on one topic: both answer Who?, one When?, none Why?."""
    asked = {"id": "t", "subquestions": ["Who?", "When?", "Why?"]}
    write_rows(tmp_path / "questions.jsonl", [asked])
    rated = {"t:0#0": [5, 0, 0], "t:0#1": [4, 3, 0], "t:0#2": [0, 0, 5]}
    rows = [{"id": "t", "docid": name, "rating": rating} for name, rating in rated.items()]
    write_rows(tmp_path / "ratings.jsonl", rows)
    for run, name in (("a", "t:0#0"), ("b", "t:0#1")):
        (tmp_path / f"{run}.run").write_text(f"t Q0 {name} 1 1 {run}\n", encoding="utf-8")
    data = {
        "questions": "questions.jsonl",
        "ratings": "ratings.jsonl",
        "retrieval": "[a.run, b.run]",
    }
    sets = [part for name, value in data.items() for part in ("--set", f"data.{name}={value}")]
    ran = judge("run", "coverage", *sets, "--model", "lexical", "--out", "out")
    assert ran.code == 0, ran.err


def test_the_chosen_questions_keep_the_columns_of_their_ratings(judge, results, tmp_path):
    ran = judge("build", "crux", "out", "--select", "spread", "--keep", "1", "--out", "few")
    assert ran.code == 0, ran.err
    assert "fewer than 6 runs" in ran.err
    [row] = read_rows(tmp_path / "few" / "questions.jsonl")
    assert row == {"id": "t", "subquestions": ["", "When?", ""]}
    sets = read_question_sets(tmp_path / "few" / "questions.jsonl", Problems())
    assert [(q.id, q.column) for q in sets["t"].questions] == [("1", 1)]
    assert sets["t"].n_columns == 3


REFUSED = {
    "a file": (("questions.jsonl", "--select", "tau", "--out", "few"), "is not a folder"),
    "no out": (("out", "--select", "tau"), "name the folder to write to (--out)"),
    "a model": (("out", "--select", "tau", "--out", "few", "--model", "lexical"), "takes only the"),
    "keep": (("out", "--select", "tau", "--out", "few", "--keep", "0"), "wanted 1 or more"),
    "no select": (("out",), "name summaries, or --select"),
    "the folder itself": (("out", "--select", "tau", "--out", "out"), "exists already"),
}


def test_a_choice_that_cannot_be_made_is_refused_in_a_line(judge, results):
    for flags, message in REFUSED.values():
        ran = judge("build", "crux", *flags)
        assert ran.code == 2, flags
        assert message in " ".join(ran.err.split())
