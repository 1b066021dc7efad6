"""`judge init` writes a config that runs on the user's own files."""

import json
import shutil

import pytest
import yaml

from nuggetjudge.plugins.upkeep import configs as init

ANSWER = {
    "run_id": "mine",
    "topic_id": "t1",
    "topic": "why tides",
    "references": ["d1"],
    "response_length": 4,
    "answer": [{"text": "Tides follow the moon.", "citations": [0]}],
}


@pytest.fixture
def files(tmp_path):
    (tmp_path / "questions.tsv").write_text("t1\twhy tides\n")
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "mine.jsonl").write_text(json.dumps(ANSWER) + "\n")
    text = {"docid": "d1", "title": "", "text": "Tides follow the moon."}
    (tmp_path / "texts.jsonl").write_text(json.dumps(text) + "\n")
    return tmp_path


def test_a_config_for_files_elsewhere_runs_as_it_is(judge, files):
    options = [
        "--topics",
        "questions.tsv",
        "--runs",
        "answers/*.jsonl",
        "--passages",
        "texts.jsonl",
    ]
    ran = judge("init", "deep/mine", *options)
    assert ran.code == 0
    assert "1 topic, 1 run, 1 answer" in ran.err
    written = yaml.safe_load((files / "deep/mine/judge.yaml").read_text())
    assert written["program"] == ["support"]  # there is nothing to make nuggets of
    assert written["data"]["runs"] == "../../answers/*.jsonl"
    assert judge("run", "deep/mine/judge.yaml", "--out", "out").code == 0
    assert (files / "out" / "scores.jsonl").exists()


def test_files_with_the_usual_names_need_no_option_and_the_config_is_short(judge, files):
    (files / "mine").mkdir()
    (files / "questions.tsv").rename(files / "mine" / "topics.tsv")
    (files / "answers").rename(files / "mine" / "runs")
    (files / "texts.jsonl").rename(files / "mine" / "passages.jsonl")
    assert judge("init", "mine").code == 0
    assert len((files / "mine" / "judge.yaml").read_text().splitlines()) <= 15
    assert judge("run", "mine/judge.yaml", "--out", "out").code == 0


def test_without_files_it_names_those_that_are_wanted_and_where(judge, files):
    ran = judge("init", "mine")
    assert ran.code == 0
    for name in ("topics.tsv", "runs", "passages.jsonl", "candidates.jsonl"):
        assert f"mine/{name}: " in ran.err
    assert yaml.safe_load((files / "mine" / "judge.yaml").read_text())["program"] == [
        "nuggets",
        "support",
    ]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--topics", "gone.tsv"], "--topics gone.tsv: no such file"),
        (["--topics", "questions.tsv", "--runs", "gone/*.jsonl"], "gone/*.jsonl"),
        (["--topics", "texts.jsonl", "--runs", "answers"], "texts.jsonl:1"),
        (["--model", "hosted_vllm/mine"], "api_base"),
        (["--demo", "--topics", "questions.tsv"], "--demo"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_is_written(judge, files, options, named):
    ran = judge("init", "mine", *options)
    assert ran.code == 2
    assert named in ran.err
    assert not (files / "mine").exists()


def test_a_config_that_is_there_is_not_overwritten(judge, files):
    (files / "judge.yaml").write_text("program: nuggets\n")
    ran = judge("init", ".")
    assert ran.code == 2
    assert (files / "judge.yaml").read_text() == "program: nuggets\n"


def test_the_model_and_names_that_yaml_would_read_otherwise_come_back(judge, files):
    (files / "questions.tsv").rename(files / "it's: #1, [a].tsv")
    options = ["--topics", "it's: #1, [a].tsv", "--runs", "answers"]
    model = ["--model", "hosted_vllm/q", "--api-base", "http://127.0.0.1:1/v1"]
    assert judge("init", "mine", *options, *model).code == 0
    written = yaml.safe_load((files / "mine" / "judge.yaml").read_text())
    assert written["data"]["topics"] == "../it's: #1, [a].tsv"
    assert written["models"]["default"] == {
        "model": "hosted_vllm/q",
        "api_base": "http://127.0.0.1:1/v1",
    }


def test_the_example_is_copied_whole_and_runs(judge, files):
    assert judge("init", "try", "--demo").code == 0
    assert judge("run", "try/judge.yaml", "--out", "out").code == 0
    assert judge("init", "try", "--demo").code == 2  # nothing there is overwritten


def test_what_a_read_only_package_copies_can_be_edited(judge, files, monkeypatch):
    package = files / "package"
    shutil.copytree(init.EXAMPLE, package)
    for path in sorted(package.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    monkeypatch.setattr(init, "EXAMPLE", package)
    assert judge("init", "try", "--demo").code == 0
    copied = [files / "try", *(files / "try").rglob("*")]
    assert len(copied) > 5
    assert all(path.stat().st_mode & 0o200 for path in copied)
    for path in package.rglob("*"):
        path.chmod(0o755)
