"""`judge watch`: what changed is judged again, and nothing else; broken input is waited for."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from nuggetjudge.cli.commands.watch import Watched, keep_judging
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.scoring.result import Result

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
    watched.failed()
    (folder / "three.jsonl").unlink()
    (folder / "three.jsonl").symlink_to("text-of-three")
    keep_judging(watched, rounds=1)
    told = "three.jsonl: cannot be read (a link to text-of-three, which is not there)"
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
