"""Nothing is asked twice: cache, single flight, offline; and what a reply says of its origin."""

import asyncio
import json
import math
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mock_server import (
    BadJson,
    ContentFilter,
    EmptyContent,
    ExtraKey,
    Fenced,
    MockServer,
    OneShort,
    OtherLabel,
    OtherSpelling,
    Prose,
    QuotedString,
    Refusal,
    Says,
    Status,
    Truncated,
)

from nuggetjudge.backends import gateway as gateway_module
from nuggetjudge.backends import open_backend
from nuggetjudge.backends.budget import CHARS_PER_TOKEN, Budget
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointUnusable, JudgeError, JudgeOutputError
from nuggetjudge.backends.gateway import Completion, Gateway, Reply
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.backends.prompt import Prompt
from nuggetjudge.judges import SupportJudge
from nuggetjudge.records.judgements import Reason
from nuggetjudge.records.reading.problems import InputError

INPUTS = {"passage": "p", "sentence": "s"}
CONFIG = ModelConfig(model="openai/m", api_base="http://127.0.0.1:1/v1")


class Scripted:
    """A transport in this process: each request waits for `answer`, a coroutine function."""

    def __init__(self, answer: Callable[[bytes], Awaitable[Completion]]) -> None:
        self.answer = answer
        self.bodies: list[bytes] = []

    async def send(self, body: bytes) -> Completion:
        self.bodies.append(body)
        return await self.answer(body)

    async def aclose(self) -> None:
        pass


def test_of_a_reply_beyond_all_measure_the_start_is_kept(open_gateway, ask, model_server):
    model_server.faults = [Says("word " * 4_000)]
    with pytest.raises(JudgeError) as caught:
        ask(open_gateway(reasks=0))
    assert caught.value.raw == "word " * 2_000 + " [... cut: 20,000 characters]"
    model_server.faults = [Says('{"%s": 1, "verdict": "full"}' % ("k" * 50_000))]
    with pytest.raises(JudgeError, match="cut: 50,0") as caught:
        ask(open_gateway(reasks=0))
    assert len(str(caught.value)) < 1_100


FULL = Completion('{"verdict": "full"}', "stop", "", "m", 10, 0, 5)


# --- the fault table


@pytest.mark.parametrize(
    ("fault", "reason", "n_requests"),
    [
        (EmptyContent(), Reason.UNPARSEABLE, 2),
        (EmptyContent(None), Reason.UNPARSEABLE, 2),
        (Refusal(), Reason.REFUSED, 1),
        (ContentFilter(), Reason.REFUSED, 1),
        (Truncated(), Reason.TRUNCATED, 1),
        (BadJson(), Reason.UNPARSEABLE, 2),
        (Prose(), Reason.UNPARSEABLE, 2),
        (Fenced(), None, 1),
        (OneShort(), Reason.INCOMPLETE, 2),
        (ExtraKey(), Reason.UNPARSEABLE, 2),
        (QuotedString(), Reason.UNPARSEABLE, 2),
        (OtherLabel(), Reason.UNPARSEABLE, 2),
        (OtherSpelling("title"), None, 1),
        (OtherSpelling("upper"), None, 1),
    ],
)
def test_each_bad_reply_is_its_own_outcome(
    fault, reason, n_requests, model_server, open_gateway, assign
):
    model_server.faults = lambda index, body: fault
    asked = {"question": "q", "answer": "a", "nuggets": {"1": "x", "2": "y"}}
    gateway = open_gateway(reasks=1)
    if reason is None:
        assert set(run_sync(gateway.ask(assign, asked)).values["verdicts"]) == {"1", "2"}
    else:
        with pytest.raises(JudgeOutputError) as caught:
            run_sync(gateway.ask(assign, asked))
        assert caught.value.reason is reason
    assert len(model_server.requests) == n_requests


def test_a_reply_that_is_good_the_second_time_counts_both_requests(model_server, open_gateway, ask):
    model_server.faults = [Prose()]
    gateway = open_gateway(reasks=1)
    assert ask(gateway).provenance.attempts == 2
    assert (gateway.budget.usage.requests, gateway.budget.usage.replies) == (2, 2)


@pytest.mark.parametrize("reasks", [0, 1, 3])
def test_a_model_is_asked_again_only_so_often(reasks, model_server, open_gateway, ask):
    model_server.faults = lambda index, body: Prose()
    with pytest.raises(JudgeOutputError) as caught:
        ask(open_gateway(reasks=reasks))
    assert len(model_server.requests) == reasks + 1
    assert caught.value.raw.startswith("It is hard to say.")


def test_a_reply_tells_where_it_came_from(open_gateway, ask, cache):
    gateway = open_gateway(cache=cache)
    first, second = ask(gateway).provenance, ask(gateway).provenance
    assert (first.model, first.finish_reason, first.attempts) == ("mock", "stop", 1)
    assert first.prompt_tokens > 100 > first.completion_tokens > 0
    assert not first.cache_hit
    assert (second.model, second.attempts, second.cache_hit) == ("mock", 0, True)
    assert second.prompt_tokens == 0
    usage = gateway.budget.usage
    assert (usage.requests, usage.cache_hits) == (1, 1)


# --- the cache


def test_the_same_question_is_sent_once_even_by_another_gateway(
    model_server, open_gateway, ask, cache
):
    first = ask(open_gateway(cache=cache))
    again = ask(open_gateway(cache=cache))
    assert again.values == first.values
    assert len(model_server.requests) == 1


def test_two_servers_with_the_same_model_name_share_no_answer(open_gateway, ask, cache):
    with (
        MockServer(lambda _: {"verdict": "full"}) as one,
        MockServer(lambda _: {"verdict": "none"}) as other,
    ):
        for _ in range(2):
            assert ask(open_gateway(one, cache=cache)).values == {"verdict": "full"}
            assert ask(open_gateway(other, cache=cache)).values == {"verdict": "none"}
        assert (len(one.requests), len(other.requests)) == (1, 1)


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0.7},
        {"schema": "none"},
        {"max_tokens": 500},
        {"seed": 7},
        {"endpoint": "another"},
        {"extra_body": {"min_p": 0.5}},
    ],
)
def test_another_setting_is_another_question(change, model_server, open_gateway, ask, cache):
    model_server.brain = lambda _: {"verdict": "full"}
    ask(open_gateway(cache=cache))
    ask(open_gateway(cache=cache, **change))
    assert len(model_server.requests) == 2


def test_replicates_are_asked_one_by_one(model_server, open_gateway, ask, cache):
    gateway = open_gateway(cache=cache)
    for _ in range(2):
        for replicate in range(3):
            ask(gateway, replicate=replicate)
    assert len(model_server.requests) == 3


def test_no_cache_keeps_nothing(model_server, open_gateway, ask):
    gateway = open_gateway()
    ask(gateway)
    ask(gateway)
    assert len(model_server.requests) == 2


def test_offline_answers_from_the_cache_alone(open_gateway, ask, cache, monkeypatch):
    monkeypatch.delenv("ABSENT_KEY", raising=False)
    with MockServer() as server:
        gateway = open_gateway(server, cache=cache)
        kept = ask(gateway)
        settings = {"cache": cache, "offline": True}
        offline = open_gateway(server, **settings)
    # The server is gone now, and so is the key.
    assert ask(offline).values == kept.values
    assert ask(open_gateway(server, **settings, api_key_env="ABSENT_KEY")).values == kept.values
    with pytest.raises(JudgeError, match="offline") as caught:
        ask(offline, "Another sentence.")
    assert caught.value.reason is Reason.ERROR
    assert offline.budget.usage.requests == 0


def test_offline_without_a_cache_answers_nothing(model_server, open_gateway, ask):
    with pytest.raises(JudgeError, match="offline"):
        ask(open_gateway(offline=True))
    assert model_server.requests == []


# --- single flight


def ask_together(gateway: Gateway, prompt: Any, n: int) -> list[Any]:
    async def all_at_once() -> list[Any]:
        asked = (gateway.ask(prompt, INPUTS) for _ in range(n))
        return await asyncio.gather(*asked, return_exceptions=True)

    return run_sync(all_at_once())


@pytest.mark.parametrize("with_cache", [True, False])
def test_fifty_twins_share_one_request(with_cache, model_server, open_gateway, support, cache):
    model_server.latency_s = 0.05
    gateway = open_gateway(cache=cache if with_cache else None)
    replies = ask_together(gateway, support, 50)
    assert len({str(reply.values) for reply in replies}) == 1
    assert len(replies) == 50
    assert len(model_server.requests) == 1
    assert gateway.budget.usage.requests == 1


def test_twins_of_a_question_that_fails_hear_of_it(model_server, open_gateway, support):
    model_server.faults = lambda index, body: Prose()
    errors = ask_together(open_gateway(reasks=0), support, 50)
    assert [type(error) for error in errors] == [JudgeOutputError] * 50
    assert len(model_server.requests) == 1


def test_twins_of_a_question_without_hope_do_not_try_for_themselves(
    model_server, open_gateway, support
):
    model_server.faults = lambda index, body: Status(401)
    errors = ask_together(open_gateway(), support, 50)
    assert [type(error) for error in errors] == [EndpointUnusable] * 50
    assert len(model_server.requests) == 1


def test_when_the_leader_is_cancelled_a_twin_takes_over(support):
    async def show() -> None:
        async def never_then_full(body: bytes) -> Completion:
            if len(transport.bodies) == 1:
                await asyncio.sleep(60)
            await asyncio.sleep(0.01)
            return FULL

        transport = Scripted(never_then_full)
        gateway = Gateway(CONFIG, transport)
        leader, *twins = [asyncio.ensure_future(gateway.ask(support, INPUTS)) for _ in range(10)]
        await asyncio.sleep(0.01)
        leader.cancel()
        replies = await asyncio.wait_for(asyncio.gather(*twins), timeout=5)
        assert [reply.values for reply in replies] == [{"verdict": "full"}] * 9
        assert leader.cancelled()
        assert len(transport.bodies) == 2
        assert gateway._in_flight == {}

    run_sync(show())


def test_a_twin_that_is_cancelled_leaves_the_others_alone(support):
    async def show() -> None:
        async def slow(body: bytes) -> Completion:
            await asyncio.sleep(0.05)
            return FULL

        gateway = Gateway(CONFIG, Scripted(slow))
        leader, twin, other = [
            asyncio.ensure_future(gateway.ask(support, INPUTS)) for _ in range(3)
        ]
        await asyncio.sleep(0.01)
        twin.cancel()
        assert (await leader).values == (await other).values == {"verdict": "full"}
        assert twin.cancelled()

    run_sync(show())


def test_when_all_are_cancelled_no_twin_asks_again(support):
    async def show() -> None:
        async def never(body: bytes) -> Completion:
            await asyncio.sleep(60)
            return FULL

        transport = Scripted(never)
        gateway = Gateway(CONFIG, transport)
        tasks = [asyncio.ensure_future(gateway.ask(support, INPUTS)) for _ in range(10)]
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=5)
        assert all(task.cancelled() for task in tasks)
        assert len(transport.bodies) == 1
        assert gateway._in_flight == {}

    run_sync(show())


def test_a_bug_in_a_transport_reaches_the_caller_and_the_twins(support):
    async def broken(body: bytes) -> Completion:
        await asyncio.sleep(0.01)
        raise ZeroDivisionError

    async def show() -> list[Any]:
        gateway = Gateway(CONFIG, Scripted(broken))
        asked = (gateway.ask(support, INPUTS) for _ in range(3))
        return await asyncio.gather(*asked, return_exceptions=True)

    assert [type(error) for error in run_sync(show())] == [ZeroDivisionError] * 3


def test_a_disk_that_is_full_does_not_leave_the_twins_waiting(
    model_server, open_gateway, support, cache, monkeypatch
):
    def full(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cache, "put", full)
    model_server.latency_s = 0.05
    gateway = open_gateway(cache=cache)

    async def in_time() -> list[Any]:
        asked = (gateway.ask(support, INPUTS) for _ in range(3))
        return await asyncio.wait_for(asyncio.gather(*asked, return_exceptions=True), timeout=5)

    leader, *twins = run_sync(in_time())
    assert isinstance(leader, OSError)
    assert [type(reply) for reply in twins] == [Reply, Reply]


def test_questions_that_differ_are_not_held_up_by_each_other(model_server, open_gateway, support):
    model_server.latency_s = 0.2

    async def both(gateway: Gateway) -> None:
        asked = (gateway.ask(support, INPUTS | {"sentence": str(i)}) for i in range(8))
        await asyncio.gather(*asked)

    began = time.monotonic()
    run_sync(both(open_gateway()))
    assert time.monotonic() - began < 8 * 0.2
    assert model_server.max_in_flight == 8


# --- bounds


def test_templates_are_not_kept_without_end(assign, monkeypatch):
    monkeypatch.setattr(gateway_module, "MAX_WIRES", 5)

    async def full(body: bytes) -> Completion:
        raise JudgeError(Reason.ERROR, "not needed")

    gateway = Gateway(CONFIG, Scripted(full))
    for i in range(50):
        asked = {"question": "q", "answer": "a", "nuggets": {f"id{i}": "x"}}
        with pytest.raises(JudgeError):
            run_sync(gateway.ask(assign, asked))
    assert len(gateway._wires) <= 5


def test_a_text_with_half_an_emoji_can_be_judged_and_is_kept(
    model_server, open_gateway, ask, cache
):
    gateway = open_gateway(cache=cache)
    for _ in range(2):
        assert ask(gateway, "cut \ud83d").values
    assert ask(gateway, "cut ?").values
    assert len(model_server.requests) == 2


def test_replies_are_filed_under_the_model_asked(open_gateway, ask, cache):
    ask(open_gateway(cache=cache))
    assert cache.counts() == {"openai/mock": 1}


@pytest.mark.parametrize("max_tokens", [None, 500])
def test_a_prompt_that_fits_its_context_to_the_token_is_asked_and_a_longer_one_is_not(
    max_tokens, support
):
    async def full(body: bytes) -> Completion:
        return FULL

    def asked(context_length: int | None) -> list[bytes]:
        limits = {"context_length": context_length, "max_tokens": max_tokens}
        transport = Scripted(full)
        gateway = Gateway(CONFIG.model_copy(update=limits), transport)
        assert run_sync(gateway.ask(support, INPUTS)).values == {"verdict": "full"}
        return transport.bodies

    (body,) = asked(None)
    needed = len(body) // CHARS_PER_TOKEN + (max_tokens or 0)
    assert asked(needed) == [body]
    with pytest.raises(JudgeError, match=f"model's context: about {needed:,} tokens") as caught:
        asked(needed - 1)
    assert caught.value.reason is Reason.ERROR


# Recorded replies answer the messages they were recorded for, and no others.
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
