"""A verdict as files: JUnit XML as parsers want it, Markdown that nothing judged can break."""

from pathlib import Path
from xml.etree import ElementTree

from nuggetjudge.gates.checks import Check, Question
from nuggetjudge.gates.verdict import Verdict, format_junit, format_summary

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
