"""A verdict as files: JUnit XML as parsers want it, Markdown that nothing judged can break."""

from pathlib import Path
from xml.etree import ElementTree

import pytest
from json_lines import write_rows
from of_plugins import of_plugins

import nuggetjudge as nj
from nuggetjudge.gates.checks import (
    Bound,
    Check,
    Question,
    check_beforehand,
    check_bound,
    choose_measures,
)
from nuggetjudge.gates.verdict import Verdict, format_junit, format_summary
from nuggetjudge.metrics.narratives import NARRATIVE_MEASURES
from nuggetjudge.programs.config.reading import load_config, name_settings
from nuggetjudge.programs.inputs import ORACLES
from nuggetjudge.programs.protocols.table import choose
from nuggetjudge.records.reading.problems import InputError
from nuggetjudge.records.rows import ScoreRow

ODD = "a|b <i> & \x1b[2J \ud800 ]]> @team `x`"


def verdict(*checks, is_judged=True):
    return Verdict(Path("results"), is_judged, checks, ["only in the baseline: t9"])


def check(run_id="one", measure="V", is_passed=False, **fields):
    return Check(run_id, measure, f"{measure} >= 0.4", is_passed, "V 0.3", 0.3, 0.3, 0.3, 8, 0,
                 **fields)  # fmt: skip


def test_junit_counts_what_failed_and_what_could_not_be_checked():
    lost = check("", "", questions=[Question("t1", why="timeout 2")])
    given = format_junit(
        verdict(lost, check(questions=[Question("t2", 0.1, 0.5)]), check("two", is_passed=True))
    )
    (suite,) = ElementTree.fromstring(given)
    assert {k: suite.get(k) for k in ("tests", "failures", "errors")} == {
        "tests": "3", "failures": "1", "errors": "1",
    }  # fmt: skip
    cases = {(c.get("classname"), c.get("name")): c for c in suite.iter("testcase")}
    assert set(cases) == {("results", " >= 0.4"), ("one", "V >= 0.4"), ("two", "V >= 0.4")}
    assert "t2  0.500 -> 0.100" in cases["one", "V >= 0.4"].find("failure").text
    assert cases["two", "V >= 0.4"].find("failure") is None
    assert "timeout 2" in cases["results", " >= 0.4"].find("error").text
    assert "t9" in suite.findtext("system-out")


def test_ids_and_texts_of_any_kind_break_neither_file():
    odd = check(ODD, questions=[Question(ODD, 0.1, 0.5, text=ODD)])
    (suite,) = ElementTree.fromstring(format_junit(verdict(odd)))
    assert "a|b <i> &" in suite.find("testcase").get("classname")
    lines = format_summary(verdict(odd)).splitlines()
    columns = {line.replace("\\|", "").count("|") for line in lines if line.startswith("| ")}
    assert columns == {6, 5}  # of the two tables
    text = "\n".join(line for line in lines if line[:1] != "`")  # code is shown as it is
    assert "\x1b" not in text
    assert "<i>" not in text.replace("\\<i\\>", "")
    assert " @team" not in text


def test_the_summary_says_what_was_decided():
    assert "passed: 1 of 1" in format_summary(verdict(check(is_passed=True)))
    failed = format_summary(
        verdict(check(questions=[Question("t2", 0.1, 0.5)]), check(is_passed=True))
    )
    assert failed.startswith("### judge gate failed: ")
    assert "| t2 | .500 | .100 | -.400 |" in failed
    assert "judge show results one t2" in failed
    assert "inconclusive: " in format_summary(verdict(check("", ""), is_judged=False))


def test_json_has_the_fields_that_ci_reads_and_no_words_of_the_verdict():
    (row,) = verdict(check(sentence="why", is_inconclusive=True)).as_dict()["checks"]
    assert set(row) == {
        "run_id", "measure", "wanted", "is_passed", "found", "value", "low", "high", "n",
        "n_unjudged", "questions", "name",
    }  # fmt: skip


# What a config will give is known before: of every program, held against what a run then gave.
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DEMO, POINTS = EXAMPLES.parent / "tests" / "collection", EXAMPLES / "keypoints"
ANSWERS = {"topics": DEMO / "topics.tsv", "passages": DEMO / "passages.jsonl",
           "runs": str(DEMO / "runs" / "thin.jsonl")}  # fmt: skip
RANKED = {"candidates": DEMO / "candidates.jsonl", "limit": 1}
KEY_POINTS = {"topics": POINTS / "topics.jsonl", "runs": str(POINTS / "answers" / "brief.jsonl"),
              "keypoints": POINTS / "keypoints.jsonl"}  # fmt: skip
COVERAGE = {"topics": "topics.jsonl", "questions": "questions.jsonl", "retrieval": "run.txt",
            "passages": "passages.jsonl", "runs": "answers.jsonl"}  # fmt: skip
ITEMS = {"items": DEMO / "labels" / "grounded.jsonl", "limit": 1}
GIVEN = {
    "nuggets": {**ANSWERS, "nuggets": DEMO / "nuggets.jsonl"},
    "support": ANSWERS,
    "support, all": {**ANSWERS, "support.citations": "all"},
    "relevance": {"topics": DEMO / "topics.tsv", "passages": DEMO / "passages.jsonl", **RANKED},
    "keypoints": KEY_POINTS,
    "keypoints, recall": {**KEY_POINTS, "keypoints.precision": False},
    "coverage": {**COVERAGE, "coverage.k": 3},
    "items": {**ITEMS, "items.judge": str(DEMO / "grounded.yaml")},
    "support,evidence": {**ANSWERS, "run.config": "evidence.yaml"},
}


for plugin in of_plugins("measure_cases.py"):
    GIVEN |= plugin.GIVEN


def rows(path, *objects):
    write_rows(path, objects)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with one topic, whose context and answer are rated for coverage."""
    rows(tmp_path / "topics.jsonl", {"id": "t", "title": "What makes the tides?"})
    questions = ["What pulls the sea?", "How often?"]
    rows(tmp_path / "questions.jsonl", {"id": "t", "subquestions": questions})
    (tmp_path / "run.txt").write_text("t Q0 p1 1 1.0 bm25\n", encoding="utf-8")
    rows(tmp_path / "passages.jsonl", {"docid": "p1", "text": "The moon pulls the sea."})
    answer = [{"text": "The moon pulls the sea.", "citations": [0]}]
    about = {"run_id": "one", "topic_id": "t", "topic": "t", "references": ["p1"]}
    rows(tmp_path / "answers.jsonl", {**about, "response_length": 5, "answer": answer})
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", GIVEN)
def test_a_program_gives_the_measures_that_its_config_foresees(name, folder):
    settings = dict(GIVEN[name])
    path = settings.pop("run.config", None)
    programs = name.split(", ")[0].split(",")
    config = load_config(
        path and DEMO / path,
        name_settings({"program": programs, "out": "out", **settings}),
        model="lexical",
    )
    foreseen = [m for of in choose(programs) for m in of.measures(config)]
    by_data = {m for m in foreseen if m.endswith("_expected")} | {*NARRATIVE_MEASURES}
    expected = {*foreseen} - by_data
    assert {row.measure for row in nj.run(config).scores} == expected


def config_of(**settings):
    return load_config(None, name_settings({"program": ["support"], **ANSWERS, **settings}))


def test_a_slip_in_a_gate_is_told_before_anything_is_asked():
    check_beforehand([Bound("support_precision", 0.5, "thin")], config_of())
    check_beforehand([Bound("support_precision_expected", 0.5)], config_of())  # if it gives some
    with pytest.raises(InputError, match="did you mean support_precision"):
        check_beforehand([Bound("suport_precision", 0.5)], config_of())
    with pytest.raises(InputError, match="no measure 'support_recall_all'"):
        check_beforehand([Bound("support_recall_all", 0.5)], config_of())
    check_beforehand([Bound("support_recall_all", 0.5)], config_of(**{"support.citations": "all"}))
    with pytest.raises(InputError, match="did you mean thin"):
        check_beforehand([Bound("support_precision", 0.5, "thn")], config_of())


def test_a_bound_is_for_runs_and_not_for_the_best_that_could_be_had():
    rows = [
        ScoreRow(run_id=name, topic_id="all", measure="coverage", value=value, n_topics=1)
        for name, value in (*((oracle, 1.0) for oracle in ORACLES), ("one", 0.4))
    ]
    checks = check_bound(rows, Bound("coverage", 0.5, sign="<="))
    assert [(check.run_id, check.is_passed) for check in checks] == [("one", True)]


def test_a_change_is_checked_by_what_leaderboards_go_by():
    assert choose_measures(["A", "V_strict", "length", "KPR", "KPF"]) == ["V_strict", "KPR"]
    assert choose_measures(["coverage", "report_coverage", "alpha_ndcg@10"]) == [
        "coverage", "report_coverage",
    ]  # fmt: skip
    assert choose_measures(["AP(rel=2)", "P(rel=2)@10", "nDCG@10"]) == ["nDCG@10"]
    assert choose_measures(["share_yes", "share_no", "groundedness"]) == ["groundedness"]


def score_row(run, measure, topic="all", value=1.0):
    return ScoreRow(run_id=run, topic_id=topic, measure=measure, value=value, n_topics=1)


ROWS = [
    score_row("answers", "V_strict", "t1"), score_row("answers", "V_strict"),
    score_row("retr", "coverage", "t1"), score_row("retr", "coverage"),
]  # fmt: skip
NO_CHECK = {
    "a run that has other measures": (ROWS, Bound("V_strict", 0.5, "retr"), {}, "retr"),
    "the same by --run": (ROWS, Bound("V_strict", 0.5), {"run": "retr"}, "retr"),
    "no means": (ROWS[:1], Bound("V_strict", 0.5), {}, "answers"),
    "no means of one run": (ROWS[:1], Bound("V_strict", 0.5, "answers"), {}, "answers"),
    "one of the runs has no mean": (
        [*ROWS, score_row("thin", "V_strict", "t1")], Bound("V_strict", 0.5), {}, "thin",
    ),
    "one of the runs has no scores": (
        ROWS, Bound("V_strict", 0.5), {"answer_runs": ["answers", "lost"]}, "lost",
    ),
    "oracles alone": ([score_row(name, "coverage") for name in ORACLES], Bound("coverage", 0), {},
                      ""),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_CHECK)
def test_a_bound_that_finds_nothing_to_compare_fails_by_run_and_measure(name):
    rows, bound, settings, run = NO_CHECK[name]
    (failed,) = [c for c in check_bound(rows, bound, **settings) if not c.is_passed]
    assert failed.run_id == run
    assert (run or "no run") in failed.found
    assert bound.measure in failed.name
