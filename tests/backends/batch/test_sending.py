"""Requests that go through a provider's batch API, and what comes back of them."""

import json

import pytest
from batch_replies import kinds, label_by_sentence, sentence_of, verdicts
from mock_server import Says, Status

from nuggetjudge.backends import http, open_backend
from nuggetjudge.backends.batch import api as batch_api
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.records.judgements import Reason


def test_one_batch_answers_all_and_each_gets_its_own_reply(server, open_batches, ask_all):
    server.brain = label_by_sentence
    labels = verdicts(ask_all(open_batches(), 30))
    assert labels == {f"S{n}.": ("full", "partial", "none")[n % 3] for n in range(30)}
    assert server.calls.count("make") == 1
    assert len(server.requests) == 30
    [batch] = server.batches.values()
    bodies = [json.loads(line)["body"] for line in server.files["file-0"].content.splitlines()]
    assert bodies == [line["body"] for line in batch.lines]
    assert bodies[0]["response_format"]["type"] == "json_schema"  # what a request alone would say


def test_a_reply_is_the_one_that_a_request_alone_would_get(server, open_batches, support, ask_all):
    alone = open_backend(ModelConfig(model="openai/mock", api_base=server.base_url))
    assert ask_all(open_batches(logprobs=False), 5) == ask_all(alone, 5)


def test_log_probabilities_come_in_batches_too(server, open_batches, ask_all):
    replies = ask_all(open_batches(logprobs=True), 3)
    assert all(sum(r.probabilities["verdict"].values()) > 0.9 for r in replies.values())


def test_text_with_line_separators_comes_whole(server, open_batches, ask_all):
    name = "a\u2028b\u0085c \U0001f30a"
    server.brain = lambda body: {"verdict": "full", "said": sentence_of(body)}
    server.faults = lambda index, body: Says(json.dumps(name, ensure_ascii=False))
    error = ask_all(open_batches(reasks=0), [name])[name]
    assert error.raw == json.dumps(name, ensure_ascii=False)


@pytest.mark.parametrize(("limit", "sizes"), [("requests", [4, 4, 2]), ("megabytes", [3, 3, 3, 1])])
def test_a_full_file_is_sent_at_once(limit, sizes, server, open_batches, ask_all, monkeypatch):
    ask_all(open_batches(), 1)
    line = len(server.files["file-0"].content)
    server.batches.clear()
    if limit == "megabytes":
        monkeypatch.setattr(batch_api, "MAX_BATCH_BYTES", 3.9 * line)
    settings = {"requests": 4} if limit == "requests" else {}
    ask_all(open_batches(**settings), [f"T{n}." for n in range(10)])
    assert [len(batch.lines) for batch in server.batches.values()] == sizes
    if limit == "megabytes":
        uploads = [f for f in server.files.values() if f.purpose == "batch"]
        assert max(len(f.content) for f in uploads) <= 3.9 * line


def test_the_key_goes_with_every_call_and_is_kept_nowhere(
    monkeypatch, server, open_batches, ask_all, tmp_path
):
    monkeypatch.setenv("TIDE_KEY", "sk-tide-1234567890")
    server.api_key = "sk-tide-1234567890"
    assert kinds(ask_all(open_batches(api_key_env="TIDE_KEY"), 2)) == {"Reply"}
    assert b"sk-tide" not in b"".join(p.read_bytes() for p in tmp_path.rglob("*") if p.is_file())
    server.api_key = "another"
    error = ask_all(open_batches(api_key_env="TIDE_KEY"), ["A."])["A."]
    assert isinstance(error, EndpointUnusable)
    assert "api_key_env" in str(error)


def test_lines_that_failed_are_asked_again_and_the_others_are_not(server, open_batches, ask_all):
    server.brain = label_by_sentence
    failed = set()

    def fault(index, body):
        name = sentence_of(body)
        if int(name[1:-1]) % 4 or name in failed:
            return None
        failed.add(name)
        return Status(500)

    server.faults = fault
    replies = ask_all(open_batches(quiet_s=0.4), 12)
    assert verdicts(replies) == {f"S{n}.": ("full", "partial", "none")[n % 3] for n in range(12)}
    assert [len(batch.lines) for batch in server.batches.values()] == [12, 3]
    assert sorted({reply.provenance.attempts for reply in replies.values()}) == [1, 2]


def test_a_line_that_goes_on_failing_is_unjudged_alone(server, open_batches, ask_all, monkeypatch):
    server.faults = lambda i, body: Status(500) if sentence_of(body) < "S25" else None
    outcomes = ask_all(open_batches(retries=1, quiet_s=0.4), 40)
    lost = {name: error for name, error in outcomes.items() if isinstance(error, Exception)}
    assert len(lost) == 18  # more in a row than a dead endpoint is given
    assert {error.reason for error in lost.values()} == {Reason.ERROR}
    assert all("HTTP 500" in error.detail for error in lost.values())
    assert len(server.requests) == 40 + 18


def test_a_reply_that_is_no_judgement_is_asked_for_again(server, open_batches, ask_all):
    server.brain = label_by_sentence
    server.faults = [Says("I cannot say."), None, None]
    assert kinds(ask_all(open_batches(), 3)) == {"Reply"}
    assert [len(batch.lines) for batch in server.batches.values()] == [3, 1]


@pytest.mark.parametrize("position", ["first", "last"])
def test_a_line_over_the_bound_is_cut_off_and_the_others_are_read(
    position, server, open_batches, ask_all, monkeypatch
):
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 20_000)
    long, others = (
        ("S1.", ["S0.", "S2.", "S3."]) if position == "first" else ("S3.", ["S0.", "S1."])
    )
    server.brain = lambda body: '{"verdict": "full"}' + " " * 50_000 * (sentence_of(body) == long)
    outcomes = ask_all(open_batches(), sorted([long, *others]))
    error = outcomes.pop(long)
    assert error.reason is Reason.TRUNCATED
    assert "more than 20,000 bytes" in error.detail
    assert set(verdicts(outcomes).values()) == {"full"}
    assert len(server.requests) == len(others) + 1  # none is asked again


@pytest.mark.parametrize("other", ["label", "failure", "none"])
def test_lines_for_one_request_that_contradict_each_other_leave_it_unjudged(
    other, server, open_batches, ask_all
):
    server.brain = lambda body: {"verdict": "full"}

    def add_line(call, moment):
        if (call, moment) == ("download", "before"):
            [output] = (f for f in server.files.values() if f.purpose == "batch_output")
            row = json.loads(output.content.splitlines()[0]) | {"id": "another"}
            body = row["response"]["body"] | {"created": 7}
            if other == "label":
                body["choices"][0]["message"]["content"] = '{"verdict": "none"}'
            row["response"] |= {"body": body}
            if other == "failure":
                row |= {"response": None, "error": {"code": "batch_expired", "message": "late"}}
            output.content += b"\n" + json.dumps(row).encode()
            server.hook = lambda call, moment: None

    server.hook = add_line
    outcomes = ask_all(open_batches(), 3)
    lost = [error for error in outcomes.values() if isinstance(error, Exception)]
    assert len(lost) == (other != "none")
    assert all("2 results for one request, which differ" in error.detail for error in lost)
    assert len(server.requests) == 3  # which of the two is right, asking again would not say
