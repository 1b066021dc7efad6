"""One row of the fault table a test: each fault has its own outcome, and none becomes a score."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from mock_server import (
    ContentFilter,
    Cut,
    EmptyContent,
    Fault,
    Hang,
    HtmlBody,
    MockServer,
    NotChatShape,
    OtherLabel,
    Prose,
    Refusal,
    Status,
    Truncated,
    input_of,
)

RETRIES, REASKS = 1, 1
CAPS = [
    *("--set", f"models.default.retries={RETRIES}"),
    *("--set", f"models.default.reasks={REASKS}"),
    *("--set", "models.default.timeout_s=1"),
]


@dataclass(frozen=True)
class Row:
    """A fault that one of the calls meets every time, and how that call must end."""

    fault: Fault
    reason: str
    requests: int  # for the call that meets it


ONCE, TWICE, RETRIED = 1, 1 + REASKS, 1 + RETRIES
SUPPORT = {
    "empty answer": Row(EmptyContent(""), "unparseable", TWICE),
    "null answer": Row(EmptyContent(None), "unparseable", TWICE),
    "refusal": Row(Refusal(), "refused", ONCE),
    "content filter": Row(ContentFilter(), "refused", ONCE),
    "truncated": Row(Truncated(), "truncated", ONCE),
    "prose": Row(Prose(), "unparseable", TWICE),
    "label that was not offered": Row(OtherLabel(), "unparseable", TWICE),
    "status 400": Row(Status(400), "error", ONCE),
    "status 429 for ever": Row(Status(429), "error", RETRIED),
    "429 that asks for an hour": Row(Status(429, retry_after="3600"), "error", ONCE),
    "status 500": Row(Status(500), "error", RETRIED),
    "hang": Row(Hang(30), "error", RETRIED),
    "connection cut": Row(Cut(), "error", RETRIED),
    "connection cut in the body": Row(Cut(in_body=True), "error", RETRIED),
    "HTML page": Row(HtmlBody(), "error", RETRIED),
    "other JSON": Row(NotChatShape(), "error", RETRIED),
}


def is_marked(body: dict[str, Any]) -> bool:
    """The one call that meets the fault: about kelp in a sentence, or in run one's answer."""
    asked = input_of(body)
    if "sentence" in asked:
        return "Kelp" in asked["sentence"]
    return "kelp bends with the tide" in asked["nuggets"].values() and "moon" in asked["answer"]


def always(fault):
    return lambda index, body: fault if is_marked(body) else None


def n_marked(server):
    return sum(is_marked(request.body) for request in server.requests)


@pytest.mark.parametrize("row", SUPPORT.values(), ids=SUPPORT)
def test_a_fault_leaves_one_citation_unjudged_until_it_is_gone(
    row, tide_server, run_tiny, tmp_path, rows_of
):
    tide_server.faults = always(row.fault)
    ran = run_tiny(tide_server, "support", *CAPS, "--quiet", "--json")
    assert ran.code == 3, ran.err
    assert "Traceback" not in ran.err
    (lost,) = rows_of(tmp_path / "out" / "unjudged.jsonl")
    cell = ("support", "t1", "one", 2, "p1")
    names = ("stage", "topic_id", "run_id", "sentence", "citation")
    assert tuple(lost[name] for name in names) == cell
    assert lost["reason"] == row.reason
    assert n_marked(tide_server) == row.requests
    assert len(tide_server.requests) == 5 + row.requests
    # Run one: full, partial and the lost one, which is no part of the mean: (1 + 0.5) / 2, between
    # (1 + 0.5 + 0) / 3 and (1 + 0.5 + 1) / 3. Run two is whole: (1 + 0.5 + 0) / 3.
    scores = {(r["run_id"], r["topic_id"], r["measure"]): r for r in ran.rows}
    for topic in ("t1", "all"):
        one, two = (scores[run, topic, "support_precision"] for run in ("one", "two"))
        assert (one["value"], one["n"], one["n_unjudged"]) == (0.75, 2, 1)
        assert (one["low"], one["high"]) == pytest.approx((0.5, 2.5 / 3))
        assert (two["value"], two["n"], two["n_unjudged"]) == (0.5, 3, 0)

    tide_server.faults = None
    tide_server.requests.clear()
    again = run_tiny(tide_server, "support", *CAPS, "--quiet", "--json")
    assert again.code == 0, again.err
    assert [is_marked(request.body) for request in tide_server.requests] == [True]
    assert_whole(again, tmp_path, rows_of)


@pytest.mark.parametrize(("status", "advice"), [(401, "api_key_env"), (404, "--model")])
def test_an_endpoint_that_nothing_can_reach_ends_the_run_with_advice(
    status, advice, tide_server, run_tiny, tmp_path, rows_of
):
    one_by_one = [*CAPS, "--set", "run.concurrency=1", "--quiet", "--json"]
    tide_server.faults = always(Status(status))
    ran = run_tiny(tide_server, "support", *one_by_one)
    assert (ran.code, ran.out) == (2, "")
    assert f"HTTP {status}" in ran.err
    assert advice in ran.err
    assert "Traceback" not in ran.err
    assert n_marked(tide_server) == 1
    assert not (tmp_path / "out" / "scores.jsonl").exists()

    assert [r.status for r in tide_server.requests] == [200, 200, status]
    tide_server.faults = None
    tide_server.requests.clear()
    again = run_tiny(tide_server, "support", *one_by_one)
    assert again.code == 0, again.err
    assert len(tide_server.requests) == 4
    assert_whole(again, tmp_path, rows_of)


def test_a_server_that_fails_from_the_first_on_ends_the_run_and_one_that_dies_does_not(
    judge, tide_server, tiny, tmp_path
):
    answer = [{"text": f"Tide number {i}.", "citations": [0]} for i in range(40)]
    row = {"run_id": "long", "topic_id": "t1", "topic": "tides", "references": ["p1"]}
    row |= {"response_length": 120, "answer": answer}
    (tiny / "long.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    tide_server.brain = lambda body: {"verdict": "full"}
    run = [
        *("run", "support", "--topics", tiny / "topics.tsv", "--runs", tiny / "long.jsonl"),
        *("--passages", tiny / "passages.jsonl", "--model", "hosted_vllm/mock"),
        *("--set", f"models.default.api_base={tide_server.base_url}", *CAPS, "--json"),
        *("--set", "models.default.retries=0", "--set", "run.concurrency=1", "--out", "out"),
    ]
    tide_server.faults = lambda index, body: Status(500)
    ran = judge(*run)
    assert (ran.code, ran.out) == (2, "")
    assert "none of the first 5 judgements of 'hosted_vllm/mock' got a reply" in ran.err
    assert len(tide_server.requests) == 5
    assert not (tmp_path / "out" / "scores.jsonl").exists()

    tide_server.requests.clear()
    tide_server.faults = lambda index, body: Status(500) if index else None
    ran = judge(*run)
    assert ran.code == 3, ran.err
    assert len(tide_server.requests) == 11
    assert "39 missing" in ran.err


def assert_whole(ran, tmp_path, rows_of):
    """The results of a run that nothing disturbed, counted by hand from the labels."""
    assert rows_of(tmp_path / "out" / "unjudged.jsonl") == []
    labels = [row["label"] for row in rows_of(tmp_path / "out" / "support.jsonl")]
    assert labels == ["full", "partial", "none"] * 2
    for row in ran.rows:
        if row["measure"] == "support_precision":
            assert (row["value"], row["n"], row["n_unjudged"]) == (0.5, 3, 0)
            assert row["low"] == row["high"] == 0.5


def test_where_nothing_arrived_stderr_says_why_first(run_tiny):
    with MockServer(faults=lambda number, body: Refusal()) as server:
        ran = run_tiny(server, "support", *CAPS)
    assert ran.code == 3
    (line,) = [line for line in ran.err.splitlines() if line.startswith("First of them: ")]
    assert "refused: " in line
    assert "I cannot help with that." in line
