"""`judge run --explain`, and the quoted cells below a leaderboard."""

import json
from pathlib import Path

import pytest
from mock_server import MockServer, input_of, schema_of

FOLDER = Path(__file__).resolve().parents[3] / "tests" / "collection"
DATA = ["--topics", FOLDER / "topics.tsv", "--runs", FOLDER / "runs" / "thin.jsonl",
        "--passages", FOLDER / "passages.jsonl"]  # fmt: skip


@pytest.fixture
def server():
    def brain(body):
        first = input_of(body)["passage"].split(",")[0]
        quotes = {"passage_quotes": [first, "It rained figs."], "sentence_quotes": []}
        known = {"reasoning": "It \x1b[2J does.", "verdict": "full", **quotes}
        return {name: known[name] for name in schema_of(body)["properties"]}

    with MockServer(brain) as up:
        yield up


def test_explain_asks_every_judge_of_the_run_and_rows_say_why(judge, server, tmp_path):
    model = ["--model", "openai/mock", "--set", f"models.default.api_base={server.base_url}"]
    ran = judge(
        "run",
        "support",
        *DATA,
        *model,
        "--set",
        "run.explain=true",
        "--out",
        "why",
        "--quiet",
        "-v",
    )
    assert ran.code == 0, ran.err
    assert "quotes that do not stand in the judged text" in ran.err
    assert any(line.startswith("support, thin, demo-bridges, 0") for line in ran.err.splitlines())
    lines = (tmp_path / "why" / "support.jsonl").read_text(encoding="utf-8").splitlines()
    cited = [row for row in map(json.loads, lines) if row["citation"]]
    assert all(row["rationale"] == "It \x1b[2J does." for row in cited)
    assert all("evidence" in row for row in cited)
    compared = judge("compare", "why", "why", "--as", "judges")
    assert compared.code == 0, compared.err


def test_quoted_words_cannot_steer_a_terminal(judge, tmp_path):
    (tmp_path / "topics.tsv").write_text("t\twhy\n")
    evil = "The moon \x1b[2Jmakes\u202e the tides."
    rows = {
        "passages.jsonl": {"docid": "p", "text": evil},
        "run.jsonl": {
            "run_id": "r", "topic_id": "t", "references": ["p"],
            "answer": [{"text": "The moon makes the tides.", "citations": [0]}],
        },
    }  # fmt: skip
    for name, row in rows.items():
        (tmp_path / name).write_text(json.dumps(row) + "\n")
    data = ["--topics", "topics.tsv", "--passages", "passages.jsonl", "--runs", "run.jsonl"]
    ran = judge("run", "support", *data, "--model", "lexical", "--out", "out", "-v")
    assert ran.code == 0, ran.err
    assert r"\x1b[2Jmakes\u202e" in ran.err
    assert "\x1b" not in ran.out + ran.err
