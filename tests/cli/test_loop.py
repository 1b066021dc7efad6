"""`judge gate`, and the gates of `judge run`: exit codes, files, and nothing asked for a slip."""

import json
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from mock_server import Status

from nuggetjudge.cli.commands.watch import Watched, keep_judging
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.scoring.result import Result

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
        (("--min", "support_precision=0.5"), "passed: 3 of 3 checks."),
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


# `judge watch`: what changed is judged again, and nothing else; broken input is waited for.
CONFIG = """
program: [support]
data: {{topics: topics.tsv, passages: passages.jsonl, runs: "*e.jsonl"}}
models: {{default: {{model: hosted_vllm/mock, api_base: "{url}"}}}}
run: {{out: out, cache: false}}
"""


@pytest.fixture
def watched(tiny, tide_server, monkeypatch):
    """The tiny collection's run `one`, by a config beside it."""
    monkeypatch.chdir(tiny)
    path = Path("judge.yaml")
    path.write_text(CONFIG.format(url=tide_server.base_url), encoding="utf-8")
    return Watched(path, lambda: load_config(path, {}), poll_s=0.01)


def change(path, old, new):
    text = Path(path).read_text(encoding="utf-8")
    assert old in text
    Path(path).write_text(text.replace(old, new), encoding="utf-8")


def test_only_what_changed_is_asked_again(watched, tide_server, capfd):
    keep_judging(watched, rounds=1)
    assert len(tide_server.requests) == 3
    capfd.readouterr()
    change("one.jsonl", "Tides follow the sun alone.", "Water rises twice a day.")
    keep_judging(watched, rounds=1)
    assert len(tide_server.requests) == 4
    printed = capfd.readouterr().out
    words = map(str.split, printed.splitlines())
    moved = next(line for line in words if line[:2] == ["one", "t1"])
    assert moved[2:] == ["support_precision", ".500", ".667", "+.167"]


def test_a_file_that_is_written_again_as_it_was_is_no_change(watched, tide_server):
    keep_judging(watched, rounds=1)
    Path("one.jsonl").write_bytes(Path("one.jsonl").read_bytes())
    assert watched.wait(most_looks=5) == []
    change("judge.yaml", "program: [support]", "program: [support]\nsupport: {citations: all}")
    assert watched.wait(most_looks=5) == [Path("judge.yaml")]


def test_a_new_file_that_a_pattern_fits_is_judged_too(watched, tide_server):
    keep_judging(watched, rounds=1)
    text = Path("one.jsonl").read_text(encoding="utf-8").replace('"one"', '"three"')
    Path("three.jsonl").write_text(text, encoding="utf-8")
    keep_judging(watched, rounds=1)
    assert {row.run_id for row in Result(Path("out")).scores} == {"one", "three"}


def test_a_file_is_judged_when_it_is_written_and_not_while_it_is(watched, tide_server, monkeypatch):
    keep_judging(watched, rounds=1)
    one = Path("one.jsonl")
    parts = [b"{", one.read_bytes() + b"\n", None]
    one.write_bytes(b"")

    def write_on(_):
        if parts and (part := parts.pop(0)) is not None:
            one.write_bytes(part)

    monkeypatch.setattr("nuggetjudge.cli.commands.watch.time", SimpleNamespace(sleep=write_on))
    assert watched.wait(most_looks=9) == [one]
    assert parts == []


def test_broken_input_is_told_and_waited_for(watched, tide_server, capfd):
    keep_judging(watched, rounds=1)
    before = Path("out/scores.jsonl").read_bytes()
    whole = Path("one.jsonl").read_text(encoding="utf-8")
    for path, broken, message in (
        ("one.jsonl", whole + "{\n", "one.jsonl:2: not JSON"),
        ("judge.yaml", "program: [suport]\n", "did you mean support"),
    ):
        kept = Path(path).read_text(encoding="utf-8")
        Path(path).write_text(broken, encoding="utf-8")
        keep_judging(watched, rounds=1)
        assert message in capfd.readouterr().err
        assert Path("out/scores.jsonl").read_bytes() == before
        Path(path).write_text(kept, encoding="utf-8")
        keep_judging(watched, rounds=1)
        assert "No score moved" in capfd.readouterr().out
    assert len(tide_server.requests) == 3


@pytest.mark.parametrize("runs", ['"*e.jsonl"', "runs"])
def test_a_link_to_nothing_is_reported_and_waited_for(watched, tide_server, capfd, runs):
    folder = Path("runs" if runs == "runs" else ".")
    folder.mkdir(exist_ok=True)
    (folder / "one.jsonl").write_bytes(Path("one.jsonl").read_bytes())
    change("judge.yaml", '"*e.jsonl"', runs)
    keep_judging(watched, rounds=1)
    capfd.readouterr()
    (folder / "three.jsonl").symlink_to("text-of-three")
    assert watched.wait(most_looks=5) == [folder / "three.jsonl"]
    watched.note_failure()
    (folder / "three.jsonl").unlink()
    (folder / "three.jsonl").symlink_to("text-of-three")
    keep_judging(watched, rounds=1)
    told = "three.jsonl: cannot be read (a link to text-of-three, which does not exist)"
    assert told in capfd.readouterr().err
    text = Path("one.jsonl").read_text(encoding="utf-8").replace('"one"', '"three"')
    (folder / "text-of-three").write_text(text, encoding="utf-8")
    keep_judging(watched, rounds=1)
    assert {row.run_id for row in Result(Path("out")).scores} >= {"one", "three"}


def test_after_an_error_writing_the_same_file_again_tries_again(watched, tide_server, capfd):
    Path("one.jsonl").write_text("{\n", encoding="utf-8")
    keep_judging(watched, rounds=1)
    Path("one.jsonl").write_text("{\n", encoding="utf-8")
    assert watched.wait(most_looks=5) == [Path("one.jsonl")]


def test_ctrl_c_ends_it_and_leaves_the_results_whole(watched, judge, tiny, monkeypatch):
    wait = Watched.wait

    def once(self, most_looks=None):
        monkeypatch.setattr(Watched, "wait", stopped)
        return wait(self, most_looks)

    def stopped(self, most_looks=None):
        raise KeyboardInterrupt

    from nuggetjudge.cli import app

    monkeypatch.setattr(Watched, "wait", once)
    monkeypatch.setattr("sys.argv", ["judge", "watch", "judge.yaml"])
    with pytest.raises(SystemExit) as end:
        app.main()
    assert end.value.code == 130
    assert json.loads(Path("out/manifest.json").read_text(encoding="utf-8"))["judged"]
