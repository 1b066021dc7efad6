"""Recorded replies answer the messages they were recorded for, and no others."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError, JudgeOutputError
from nuggetjudge.backends.gateway import Gateway
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.prompt import Prompt
from nuggetjudge.judges import SupportJudge
from nuggetjudge.records.judgements import Reason
from nuggetjudge.records.reading.problems import InputError

INPUTS = {"passage": "p", "sentence": "s"}


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "replies.jsonl"
    lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def opened(path: Path, settings: Any = {}, **more: Any) -> Gateway:  # noqa: B006
    config = ModelConfig(model="rec", engine="recorded", recording=path, **settings)
    backend = open_backend(config, **more)
    assert isinstance(backend, Gateway)
    return backend


def row(messages: Any, text: str = '{"verdict": "partial"}', **more: Any) -> dict[str, Any]:
    return {"messages": messages, "text": text} | more


def test_replies_of_the_server_can_be_recorded_and_played(
    tmp_path, model_server, open_gateway, ask, support
):
    live = ask(open_gateway())
    messages = model_server.requests[0].body["messages"]
    path = write(tmp_path, row(messages, json.dumps(live.values)))
    inputs = {"passage": "Rain fell all day.", "sentence": "It rained."}
    assert run_sync(opened(path).ask(support, inputs)).values == live.values


def test_recorded_log_probabilities_weigh_the_labels(tmp_path, support):
    text = '{"verdict": "partial"}'
    parts = [{"token": label, "logprob": math.log(p)} for label, p in
             (("full", 0.2), ("part", 0.7), ("none", 0.1))]  # fmt: skip
    tokens = [
        {"token": '{"verdict": "', "logprob": 0.0, "top_logprobs": []},
        {**parts[1], "top_logprobs": parts},
        {"token": 'ial"}', "logprob": 0.0, "top_logprobs": []},
    ]
    recorded = row(support.messages(INPUTS), text, logprobs={"content": tokens})
    path = write(tmp_path, recorded)
    reply = run_sync(opened(path, settings={"logprobs": True}).ask(support, INPUTS))
    wanted = pytest.approx({"full": 0.2, "partial": 0.7, "none": 0.1})
    assert reply.probabilities == {"verdict": wanted}
    assert run_sync(opened(path).ask(support, INPUTS)).probabilities == {}  # not asked for
    refused = {"refusal": "no", "text": "", "logprobs": {"content": None}}
    with pytest.raises(JudgeOutputError, match="no"):
        run_sync(opened(write(tmp_path, recorded | refused)).ask(support, INPUTS))


def test_other_messages_have_no_reply_and_are_asked_once(tmp_path, support):
    gateway = opened(write(tmp_path, row(support.messages(INPUTS))))
    with pytest.raises(JudgeError, match="no reply to these messages") as caught:
        run_sync(gateway.ask(support, INPUTS | {"sentence": "other"}))
    assert caught.value.reason is Reason.ERROR
    assert gateway.budget.usage.requests == 1


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"text": "prose"}, Reason.UNPARSEABLE),
        ({"finish_reason": "length"}, Reason.TRUNCATED),
        ({"refusal": "no"}, Reason.REFUSED),
    ],
)
def test_recorded_failures_fail_again(tmp_path, support, more, reason):
    path = write(tmp_path, row(support.messages(INPUTS)) | more)
    with pytest.raises(JudgeOutputError) as caught:
        run_sync(opened(path).ask(support, INPUTS))
    assert caught.value.reason is reason


def test_a_recording_needs_no_cache_and_works_offline(tmp_path, support, cache):
    path = write(tmp_path, row(support.messages(INPUTS)))
    gateway = opened(path, cache=cache, offline=True)
    assert run_sync(gateway.ask(support, INPUTS)).values
    assert cache.counts() == {}
    assert gateway.budget.usage.known_cost == 0.0


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (['{"messages": [], "text": "a"'], ":1: not JSON"),
        ([{"text": "a"}], ":1: not a recorded reply ('messages')"),
        ([{"messages": []}], ":1: not a recorded reply"),
        ([{"messages": [], "text": 3}], ":1: not a recorded reply (text: wanted str, got int)"),
        ([{"messages": [], "text": None}], "wanted str, got NoneType"),
        ([{"messages": [], "text": "a", "prompt_tokens": "7"}], "prompt_tokens: wanted int"),
        ([{"messages": [], "text": "a", "latency": 1}], ":1: not a recorded reply"),
        ([{"messages": [], "text": "a", "logprobs": [1]}], ":1: not a recorded reply (logprobs:"),
        ([{"messages": [], "text": "a", "logprobs": {"content": [1]}}], "(logprobs: wanted"),
        ([row([]), row([], "other")], ":2: a second reply to the same messages"),
    ],
)
def test_a_broken_recording_is_refused_by_its_line(tmp_path, rows, message):
    with pytest.raises(InputError) as caught:
        opened(write(tmp_path, *rows))
    assert message in str(caught.value)
    assert "replies.jsonl" in str(caught.value)


def test_a_recording_that_is_not_there_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match=r"none\.jsonl"):
        opened(tmp_path / "none.jsonl")


def test_it_answers_as_the_baseline_of_the_question_does(support):
    budget = Budget(max_calls=0, max_tokens=0, max_cost=0)
    backend = open_backend(ModelConfig(model="lexical"), budget=budget, offline=True)
    same = {"passage": "Rain fell all day on the hills.", "sentence": "Rain fell on the hills."}
    reply = run_sync(backend.ask(support, same))
    assert reply.values == support.baseline(same) == {"verdict": "full"}
    assert (reply.provenance.model, reply.provenance.prompt_tokens) == ("lexical", 0)
    assert budget.usage.requests == 0
    run_sync(backend.aclose())


def test_a_question_without_a_baseline_is_abstained_from():
    prompt = Prompt(SupportJudge(model="lexical").judge.signature)
    with pytest.raises(JudgeError, match="no lexical baseline") as caught:
        run_sync(
            open_backend(ModelConfig(model="lexical")).ask(
                prompt, {"passage": "p", "sentence": "s"}
            )
        )
    assert caught.value.reason is Reason.ABSTAINED
