"""What the flags of `judge retrieve` take, and what is told of a pipeline beside its table."""

import json

import pytest

WHERE = ("--topics", "topics.tsv", "--passages", "passages.jsonl")


@pytest.fixture
def home(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\n", encoding="utf-8")
    texts = {"a": "dam dam", "b": "a dam of clay and rock"}
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def test_a_cut_to_nothing_is_told_and_is_complete(judge, home):
    steps = (*WHERE, "--set", "retrieve=[bm25, {cut: {tokens: 1}}]", "--out", "a.run")
    ran = judge("retrieve", *steps)
    assert ran.code == 0
    assert "bm25: 1 topics were cut to nothing: t" in ran.err
    assert "found nothing" not in ran.err


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_dry_run_says_that_rankllm_is_not_counted(judge, home, more):
    steps = (*WHERE, "--pipeline", "bm25, rankllm", "--out", "a.run")
    ran = judge("retrieve", *steps, "--dry-run", *more)
    assert ran.code == 0, ran.err
    assert "Not counted: the calls of rankllm" in ran.err
