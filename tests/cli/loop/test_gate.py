"""`judge gate`, and the gates of `judge run`: exit codes, files, and nothing asked for a slip."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from mock_server import Status

MISSED = ("--min", "support_precision=0.51")


@pytest.fixture
def judged(tide_server, run_tiny, tmp_path):
    """Support of the tiny collection: both runs have full, partial and none, so 0.5."""
    assert run_tiny(tide_server, "support", "--quiet").code == 0
    return tmp_path / "out"


def test_bounds_of_means_pass_or_fail_by_run(judge, judged):
    assert judge("gate", judged, "--min", "support_precision=0.5").code == 0
    failed = judge("gate", judged, *MISSED)
    assert failed.code == 1
    assert "one: support_precision >= 0.51" in failed.err
    assert "two: support_precision >= 0.51" in failed.err
    assert "judge show" in failed.err
    assert judge("gate", judged, "--min", "one:support_precision=0.5").code == 0
    of_one = judge("gate", judged, "--min", "two:support_precision=0.51")
    assert (of_one.code, "one:" in of_one.err) == (1, False)
    assert judge("gate", judged, "--run", "one", *MISSED).err.count(">= 0.51") == 1
    assert judge("gate", judged, "--max", "support_precision=0.5").code == 0
    assert judge("gate", judged, "--max", "support_precision=0.49").code == 1


def test_the_verdict_comes_first_and_no_line_is_wider_than_the_window(judge, judged):
    for arguments, first in (
        (("--min", "support_precision=0.5"), "passed: 3 of 3 checks hold."),
        (
            ("--min", "one:support_precision=0.51"),
            "failed: support_precision of one is .500, wanted at least .51.",
        ),
        (
            ("--max", "one:support_precision=0.4999"),  # .500 would look like it
            "failed: support_precision of one is .5, wanted at most .4999.",
        ),
    ):
        lines = judge("gate", judged, *arguments).out.splitlines()
        assert lines[0] == first
        assert max(map(len, lines)) <= 80
    few = judge("gate", judged, "--baseline", judged, "--run", "one").out.split()
    assert few[:6] == ["inconclusive:", "1", "question", "is", "too", "few"]


def test_ci_gets_junit_markdown_and_json(judge, judged, tmp_path):
    files = ["--junit", tmp_path / "gate.xml", "--summary", tmp_path / "gate.md"]
    ran = judge("gate", judged, *MISSED, "--json", *files)
    (report,) = ran.rows
    assert (ran.code, report["is_passed"], report["is_judged"]) == (1, False, True)
    assert [check["is_passed"] for check in report["checks"]] == [True, False, False]
    assert report["checks"][1]["value"] == 0.5
    suites = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (suites.get("tests"), suites.get("failures")) == ("3", "2")
    head = "### judge gate failed: support\\_precision of one is .500, wanted at least .51. 1 other"
    assert head in (tmp_path / "gate.md").read_text(encoding="utf-8")


def test_what_is_not_judged_is_neither_passed_nor_failed(judge, tide_server, run_tiny, tmp_path):
    tide_server.faults = lambda index, body: Status(400) if "Kelp" in str(body) else None
    assert run_tiny(tide_server, "support", "--quiet").code == 3
    lost = judge("gate", tmp_path / "out", "--min", "support_precision=0.1")
    assert lost.code == 3
    assert "1 of 6 judgements missing" in lost.err
    assert "one/t1" in lost.err
    # Run one has full, partial and one that is missing: (1 + 0.5 + 0) / 3 at worst.
    allowed = ["--allow-missing", "17%"]
    least = judge("gate", tmp_path / "out", *allowed, "--min", "one:support_precision=0.5")
    assert least.code == 0, least.err
    assert (
        judge("gate", tmp_path / "out", *allowed, "--min", "one:support_precision=0.51").code == 1
    )


def test_a_slip_in_a_gate_is_told_before_anything_is_asked(tide_server, run_tiny, tmp_path):
    for gate, meant in (
        ("suport_precision=0.4", "did you mean support_precision"),
        ("twoo:support_precision=0.4", "did you mean two"),
        ("V_strict=0.4", "no measure 'V_strict'"),
    ):
        ran = run_tiny(tide_server, "support", "--fail-under", gate)
        assert ran.code == 2
        assert meant in ran.err
    assert tide_server.requests == []
    assert not (tmp_path / "out").exists()


def test_what_a_run_may_miss_counts_as_worst_in_its_gate(tide_server, run_tiny):
    tide_server.faults = lambda index, body: Status(400) if "Kelp" in str(body) else None
    of_one = ["support", "--quiet", "--set", "run.allow_missing=17%", "--fail-under"]
    assert run_tiny(tide_server, *of_one, "one:support_precision=0.5").code == 0
    assert run_tiny(tide_server, *of_one, "one:support_precision=0.51").code == 1


def test_the_results_of_a_stopped_run_pass_no_gate(judge, judged):
    manifest = Path(judged, "manifest.json")
    about = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps(about | {"limit_reached": "max_cost"}), encoding="utf-8")
    ran = judge("gate", judged, "--min", "support_precision=0.1")
    assert (ran.code, "max_cost" in ran.err) == (3, True)
