"""A run that gets nothing from its model ends after a few tries, with the reason and no scores."""

import json

import pytest
from mock_server import (
    HtmlBody,
    MockServer,
    NotChatShape,
    Prose,
    Refusal,
    Status,
    Supports,
    Truncated,
)

MANY = 60  # sentences to judge
ONE_BY_ONE = ("--set", "run.concurrency=1", "--set", "models.default.retries=0")
QUOTA = {"error": {"message": "You exceeded your quota.", "type": "insufficient_quota"}}


@pytest.fixture
def long(judge, tiny):
    """`long(url, ...)`: a support run over MANY sentences of one answer."""

    def run(url, *arguments, n=MANY):
        answer = [{"text": f"Tide number {i}.", "citations": [0]} for i in range(n)]
        row = {"run_id": "long", "topic_id": "t1", "topic": "tides", "references": ["p1"]}
        row |= {"response_length": 120, "answer": answer}
        (tiny / "long.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        return judge(
            *("run", "support", "--topics", tiny / "topics.tsv", "--runs", tiny / "long.jsonl"),
            *("--passages", tiny / "passages.jsonl", "--model", "hosted_vllm/mock"),
            *("--set", f"models.default.api_base={url}", "--out", "out", "--quiet", *arguments),
        )

    return run


def full(body):
    return {"verdict": "full"}


def assert_ended(ran, folder, *messages):
    assert ran.code == 2, ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for text in messages:
        assert text in ran.err
    assert not (folder / "out" / "scores.jsonl").exists()


@pytest.mark.parametrize(
    ("fault", "n_requests", "messages"),
    [
        (Status(401), 1, ("HTTP 401", "models.default.api_key_env (--set)")),
        (Status(403), 1, ("HTTP 403", "models.default.api_key_env (--set)")),
        (Status(404), 1, ("HTTP 404", "Check --model and --api-base")),
        (
            Status(429, body=QUOTA),
            1,
            ("You exceeded your quota.", "models.default.api_key_env (--set)"),
        ),
        (Status(429), 5, ("HTTP 429", "models.default.rpm (--set)")),
        (Status(500), 5, ("HTTP 500", "its own log")),
        (Status(400), 6, ("HTTP 400", "`judge doctor`")),
        (HtmlBody(), 5, ("not a chat completion", "ends in /v1")),
        (NotChatShape(), 5, ("not a chat completion", "ends in /v1")),
        (Prose(), 40, ("none of the first 20 replies", "wanted one JSON object", "doctor")),
        (Truncated(), 20, ("none of the first 20 replies", "models.default.max_tokens (--set)")),
    ],
    ids=repr,
)
def test_one_reason_from_the_first_on_ends_a_run(fault, n_requests, messages, long, tmp_path):
    with MockServer(brain=full, faults=lambda index, body: fault) as server:
        ran = long(server.base_url, *ONE_BY_ONE, "--set", "run.allow_missing=1")
        assert_ended(ran, tmp_path, *messages)
        assert len(server.requests) == n_requests


@pytest.mark.parametrize(
    ("refuses", "settings", "message"),
    [
        ({"temperature": False}, (), "Add --set models.default.temperature=null"),
        ({"system": False}, (), "Add --set models.default.system_role=user"),
        (
            {"max_tokens": False},
            ("max_tokens=99",),
            "models.default.max_tokens_name=max_completion_tokens",
        ),
        ({"seed": False}, ("seed=7",), "Add --set models.default.seed=null"),
        ({"schema": False}, (), "Add --set models.default.schema=json_object or none"),
        ({"logprobs": False}, ("logprobs=true",), "Add --set models.default.logprobs=false"),
    ],
)
def test_a_parameter_that_is_refused_is_named_with_its_setting(
    refuses, settings, message, long, tmp_path
):
    with MockServer(brain=full, supports=Supports(**refuses)) as server:
        sets = [part for each in settings for part in ("--set", f"models.default.{each}")]
        assert_ended(long(server.base_url, *ONE_BY_ONE, *sets), tmp_path, message)
        assert len(server.requests) <= 5


def test_a_storm_that_passes_ends_nothing(long):
    with MockServer(
        brain=full, faults=lambda index, body: Status(503) if index < 24 else None
    ) as server:
        ran = long(server.base_url, "--set", "run.concurrency=16")
        assert ran.code == 0, ran.err
        assert len(server.requests) == 24 + MANY


def test_refusals_and_repeated_replies_are_no_fault_of_the_endpoint(long):
    with MockServer(faults=lambda index, body: Refusal()) as server:
        assert long(server.base_url, *ONE_BY_ONE).code == 3
        assert len(server.requests) == MANY


def test_a_run_that_goes_on_has_shown_that_its_model_answers(long, tmp_path):
    """What could not be judged before may be refused for what it holds: that ends nothing."""
    with MockServer(
        brain=full, faults=lambda index, body: Status(400) if index >= 40 else None
    ) as server:
        first = long(server.base_url, *ONE_BY_ONE)
        assert first.code == 3
        scores = (tmp_path / "out" / "scores.jsonl").read_bytes()
        again = long(server.base_url, *ONE_BY_ONE)
        assert again.code == 3, again.err
        assert len(server.requests) == MANY + 20 + 1  # one without a limit of the reply
        assert (tmp_path / "out" / "scores.jsonl").read_bytes() == scores
