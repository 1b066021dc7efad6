"""With `logprobs` a run writes how probable each label was, and the scores that come of it."""

import json
from pathlib import Path

import pytest
from mock_server import MockServer, Reply, input_of

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.support import read_support

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"
CITED = {"full": 0.6, "partial": 0.3, "none": 0.1}
FIRST = {"support": 0.7, "partial_support": 0.2, "not_support": 0.1}
OTHER = {"support": 0.05, "partial_support": 0.15, "not_support": 0.8}


def brain(body):
    asked = input_of(body)
    if "passage" in asked:
        return Reply('{"verdict": "full"}', probabilities=CITED)
    numbers = list(asked["nuggets"])
    labels = dict.fromkeys(numbers, "not_support") | {numbers[0]: "support"}
    probabilities = dict.fromkeys(numbers, OTHER) | {numbers[0]: FIRST}
    return Reply(json.dumps({"verdicts": labels}), probabilities=probabilities)


@pytest.fixture
def server():
    with MockServer(brain=brain) as up:
        yield up


@pytest.fixture
def run(server, tmp_path):
    def judged(out="out", *sets):
        given = {
            "run.out": tmp_path / out,
            "run.cache": tmp_path / "cache",
            "data.nuggets": DEMO / "nuggets.jsonl",
        }
        settings = (f"models.default.api_base={server.base_url}", "models.default.logprobs=true")
        config = load_config(DEMO / "judge.yaml", given, [*settings, *sets], "hosted_vllm/mock")
        return nj.run(config)

    return judged


def rows(result, name):
    return [json.loads(line) for line in (result.folder / name).open(encoding="utf-8")]


def test_labels_are_written_with_their_score_and_probabilities(run):
    result = run()
    assert result.is_complete
    cited = [
        citation
        for row in rows(result, "support.jsonl")
        for citation in row.get("citations", [row])
        if "probabilities" in citation
    ]
    assert len(cited) > 50
    for citation in cited:
        assert citation["label"] == "full"
        assert citation["probabilities"] == pytest.approx(CITED)
        assert citation["score"] == pytest.approx(0.6 + 0.3 / 2)
    assigned = [row["nuggets"] for row in rows(result, "assignments.jsonl")]
    assert len(assigned) == 19
    for nuggets in assigned:
        assert nuggets[0]["assignment"] == "support"
        for nugget in nuggets:
            is_first = nugget["assignment"] == "support"  # of its window
            assert nugget["probabilities"] == pytest.approx(FIRST if is_first else OTHER)
            assert nugget["score"] == pytest.approx(0.8 if is_first else 0.05 + 0.15 / 2)


def test_what_fell_on_no_label_is_kept_beside_the_label_and_read_back(run, server, tmp_path):
    """A server that reports before the grammar's mask, with .8 of the probability on no label."""
    plain = run("plain")
    assert not any("outside_probability" in row for row in rows(plain, "support.jsonl"))

    def unmasked(body):
        reply = brain(body)
        few = {name: p / 5 for name, p in CITED.items()}
        return Reply(reply.content, probabilities=few) if "passage" in input_of(body) else reply

    server.brain = unmasked
    result = run("unmasked", "run.cache=false")
    cited = [row for row in rows(result, "support.jsonl") if "probabilities" in row]
    assert len(cited) > 50
    for row in cited:
        assert row["probabilities"] == pytest.approx(CITED)
        assert row["outside_probability"] == pytest.approx(0.8, abs=0.01)
    problems = Problems()
    read = [
        citation.outside_probability
        for labels in read_support(result.folder / "support.jsonl", problems)
        for sentence in labels.sentences
        for citation in sentence.citations
        if citation.probabilities is not None
    ]
    assert read == [row["outside_probability"] for row in cited]
    assert not problems
    before = (result.folder / "support.jsonl").read_bytes()
    again = run("unmasked", "run.cache=false")  # from its journal
    assert (again.folder / "support.jsonl").read_bytes() == before


def test_a_run_from_the_cache_writes_the_same_bytes(run, server):
    first = run("first", "run.concurrency=1")
    n = len(server.requests)
    again = run("again", "run.concurrency=16")
    assert len(server.requests) == n
    for name in ("support.jsonl", "assignments.jsonl", "scores.jsonl"):
        assert (again.folder / name).read_bytes() == (first.folder / name).read_bytes()


def test_where_the_endpoint_gives_none_the_labels_are_the_same(run, monkeypatch):
    weighed = run("weighed", "run.cache=false")
    monkeypatch.setattr("mock_api.logprobs_of", lambda *_: None)
    plain = run("plain", "run.cache=false")
    assert plain.is_complete
    labels = [row["label"] for row in rows(plain, "support.jsonl") if "label" in row]
    assert labels == [row["label"] for row in rows(weighed, "support.jsonl") if "label" in row]
    assert not any(
        "probabilities" in line for line in (plain.folder / "support.jsonl").open(encoding="utf-8")
    )
