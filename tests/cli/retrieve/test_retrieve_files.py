"""`judge retrieve` and `judge index` where their files cannot or must not be written."""

import json

import pytest
from mock_server import MockServer

WHERE = ("--topics", "topics.tsv", "--passages", "passages.jsonl")


@pytest.fixture
def home(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\n", encoding="utf-8")
    texts = {"a": "dam dam dam", "b": "dam dam clay", "c": "dam clay rock"}
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def test_a_limit_ends_with_3_says_that_nothing_was_written_and_can_be_raised(judge, home):
    with MockServer(lambda body: {"order": [2, 1]}) as server:
        model = ("--model", "openai/mock", "--set", f"models.default.api_base={server.base_url}")
        steps = "{retrieve: [bm25, {listwise: {window: 2, stride: 1}}]}"
        (home / "steps.yaml").write_text(steps, encoding="utf-8")
        command = ("retrieve", *WHERE, "--pipeline", "steps.yaml", *model, "--out", "a.run")
        ran = judge(*command, "--set", "run.max_calls=1")
        assert ran.code == 3, ran.err
        assert "nothing was written" in ran.err
        assert "the same command with a higher limit goes on" in ran.err
        assert ran.out.split()[-2:] == ["not", "written"]
        assert not list(home.glob("a.run*"))
        ran = judge(*command, "--set", "run.max_calls=9")
    assert ran.code == 0, ran.err
    assert (home / "a.run").is_file()


def test_a_place_for_neither_runs_nor_indexes_is_one_line(judge, home):
    (home / "x.run").mkdir()
    (home / "file").write_text("mine", encoding="utf-8")
    for command in (
        ("retrieve", *WHERE, "--pipeline", "bm25", "--out", "x.run"),
        ("retrieve", *WHERE, "--pipeline", "bm25", "--out", "file"),
        ("index", "--passages", "passages.jsonl", "--out", "file"),
    ):
        ran = judge(*command)
        assert (ran.code, ran.out) == (2, "")
        assert len(ran.err.splitlines()) == 1, ran.err
