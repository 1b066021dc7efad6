"""`judge index` and `judge retrieve` as a user types them."""

import json

import pytest
from mock_server import MockServer, Status


@pytest.fixture
def home(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\nu\tbees\n", encoding="utf-8")
    texts = {"a": "dam dam", "b": "a dam of clay and rock", "c": "bees sing"}
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


WHERE = ("--topics", "topics.tsv", "--passages", "passages.jsonl")


def test_a_run_is_written_and_its_counts_are_printed(judge, home):
    ran = judge("retrieve", *WHERE, "--pipeline", "bm25 100, cut 1", "--out", "a.run")
    assert ran.code == 0, ran.err
    assert ran.out.split() == ["run", "topics", "passages", "file", "bm25", "2", "2", "a.run"]
    lines = [line.split() for line in (home / "a.run").read_text(encoding="utf-8").splitlines()]
    assert [(line[0], line[2], line[3], line[5]) for line in lines] == [
        ("t", "a", "1", "bm25"),
        ("u", "c", "1", "bm25"),
    ]
    manifest = json.loads((home / "a.run.manifest.json").read_text(encoding="utf-8"))
    assert manifest["config"]["retrieve"][0]["step"] == "bm25"


def test_a_run_goes_straight_into_the_coverage_program(judge, home):
    judge("retrieve", *WHERE, "--pipeline", "bm25", "--out", "a.run")
    (home / "questions.jsonl").write_text(
        '{"id": "t", "subquestions": ["What is a dam of?"]}\n', encoding="utf-8"
    )
    given = (
        "--set",
        "data.questions=questions.jsonl",
        "--set",
        "data.retrieval=a.run",
        "--out",
        "results",
    )
    ran = judge("run", "coverage", *WHERE, *given, "--json")
    assert {row["run_id"] for row in ran.rows} == {"bm25", "Z*"}


def test_an_index_made_once_is_searched_without_the_passages(judge, home):
    made = judge("index", "--passages", "passages.jsonl", "--out", "index", "--json")
    assert made.code == 0, made.err
    assert made.rows[0]["passages"] == 3
    command = ("retrieve", "--topics", "topics.tsv", "--index", "index", "--pipeline", "bm25")
    ran = judge(*command, "--out", "a.run", "--json")
    assert [row["passages"] for row in ran.rows] == [3]


def test_a_topic_that_finds_nothing_is_told_and_ends_with_3(judge, home):
    (home / "topics.tsv").write_text("t\tdam\nv\tzebra\n", encoding="utf-8")
    ran = judge("retrieve", *WHERE, "--pipeline", "bm25", "--out", "a.run")
    assert ran.code == 3
    assert "1 topics found nothing: v" in ran.err


def test_a_reranker_without_replies_ends_with_3_and_keeps_the_order(judge, home):
    with MockServer() as server:
        server.faults = lambda index, body: Status(500)
        model = ("--model", "openai/mock", "--set", f"models.default.api_base={server.base_url}")
        few = ("--set", "models.default.retries=0")
        steps = ("--pipeline", "bm25, listwise")
        ran = judge("retrieve", *WHERE, *steps, *model, *few, "--out", "a.run")
    assert ran.code == 3
    assert "1 of 1 calls for listwise failed; the order was kept" in ran.err
    assert [
        line.split()[2] for line in (home / "a.run").read_text(encoding="utf-8").splitlines()
    ] == [
        *("a", "b", "c"),
    ]


def test_a_dry_run_prints_what_a_reranker_will_take_and_writes_nothing(judge, home):
    steps = ("--pipeline", "bm25, listwise", "--model", "openai/gpt-4o")
    ran = judge("retrieve", *WHERE, *steps, "--out", "a.run", "--dry-run")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[3].split()[:3] == ["listwise", "openai/gpt-4o", "1"]
    assert not (home / "a.run").exists()
