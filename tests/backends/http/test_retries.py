"""Asking again: when, how often, how long; and when a whole run ends."""

import asyncio
import random
import time
from typing import Any

import pytest
from mock_server import Cut, Hang, HtmlBody, MockServer, NotChatShape, Prose, Status, http_date

from nuggetjudge.backends import gateway as gateway_module
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import (
    EndpointError,
    EndpointLost,
    EndpointUnusable,
    JudgeError,
    JudgeOutputError,
)
from nuggetjudge.backends.gateway import Gateway
from nuggetjudge.backends.limits import PATIENCE
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.records.judgements import Reason

QUOTA = {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}
PASSING = [
    Status(429),
    Status(500),
    Status(502),
    Status(503),
    Status(504),
    Status(408),
    Status(529),
    Cut(),
    Cut(in_body=True),
    HtmlBody(),
    HtmlBody(code=503),
    NotChatShape(),
    NotChatShape({"choices": []}),
    NotChatShape({"choices": [{"message": {"content": ["a", "part"]}}]}),
    NotChatShape({"choices": [{"message": {"content": "{}", "refusal": {"a": 1}}}]}),
    NotChatShape({"choices": [{"message": None}]}),
    NotChatShape([1, 2]),
    NotChatShape({"error": {"message": "Upstream timed out.", "code": 504}}),
]


def failing(gateway: Gateway, ask: Any, sentence: str = "It rained.") -> JudgeError:
    with pytest.raises(JudgeError) as caught:
        ask(gateway, sentence)
    return caught.value


@pytest.mark.parametrize("fault", PASSING, ids=repr)
def test_what_may_pass_is_asked_again(fault, model_server, open_gateway, ask):
    model_server.faults = [fault, fault]
    assert ask(open_gateway(retries=2)).provenance.attempts == 3
    assert len(model_server.requests) == 3


@pytest.mark.parametrize("fault", [PASSING[0], PASSING[1], Cut(), HtmlBody()], ids=repr)
@pytest.mark.parametrize("retries", [0, 2])
def test_retries_have_a_cap(retries, fault, model_server, open_gateway, ask):
    model_server.faults = lambda index, body: fault
    error = failing(open_gateway(retries=retries), ask)
    assert isinstance(error, EndpointLost)
    assert error.reason is Reason.ERROR
    assert f"{retries + 1} attempts" in error.detail
    assert len(model_server.requests) == retries + 1


def test_a_silent_server_is_given_up_after_its_time(model_server, open_gateway, ask):
    model_server.faults = [Hang(30), Hang(30)]
    began = time.monotonic()
    assert "no reply within 0.1 s" in failing(open_gateway(timeout_s=0.1, retries=1), ask).detail
    assert time.monotonic() - began < 5
    assert len(model_server.requests) == 2


def test_a_server_that_is_not_there_is_an_error_of_its_own(model_server, open_gateway, ask):
    gateway = open_gateway(api_base="http://127.0.0.1:9/v1", retries=1)
    error = failing(gateway, ask)
    assert "Cannot connect to host 127.0.0.1:9" in error.detail
    assert "2 attempts" in error.detail


@pytest.mark.parametrize("code", [400, 422, 413, 405, 501])
def test_what_will_not_get_better_is_not_asked_again(code, model_server, open_gateway, ask):
    model_server.faults = lambda index, body: Status(code)
    error = failing(open_gateway(retries=4), ask)
    assert not isinstance(error, EndpointLost)
    assert error.reason is Reason.ERROR
    assert f"HTTP {code}" in error.detail
    assert len(model_server.requests) == 1


def test_a_prompt_too_long_says_so_and_is_sent_once(open_gateway, ask):
    with MockServer(context_length=20) as server:
        error = failing(open_gateway(server), ask)
    assert error.reason is Reason.ERROR
    assert "longer than the model's context" in error.detail
    assert "20 tokens" in error.detail
    assert len(server.requests) == 1


@pytest.mark.parametrize("code", ["content_filter", "content_policy_violation"])
def test_a_filter_that_stops_the_prompt_is_a_refusal(code, model_server, open_gateway, ask):
    body = {"error": {"message": "The prompt was filtered.", "code": code}}
    model_server.faults = [Status(400, body=body)]
    error = failing(open_gateway(), ask)
    assert error.reason is Reason.REFUSED
    assert "The prompt was filtered." in error.detail


@pytest.mark.parametrize(
    "fault",
    [
        Status(401),
        Status(402),
        Status(403),
        Status(404),
        Status(429, body=QUOTA),
        Status(307),
        Status(400, body={"error": {"message": "response_format is not supported"}}),
    ],
    ids=repr,
)
def test_what_no_request_can_pass_ends_everything(fault, model_server, open_gateway, ask):
    model_server.faults = lambda index, body: fault
    with pytest.raises(EndpointUnusable) as caught:
        ask(open_gateway())
    assert len(model_server.requests) == 1
    assert model_server.base_url in str(caught.value)
    assert "the model's " in str(caught.value)  # what to change


def test_a_redirect_is_not_followed(model_server, open_gateway, ask):
    elsewhere = f"{model_server.base_url}/chat/completions"
    redirect = Status(308, body="", Location=elsewhere)
    with MockServer(faults=[redirect]) as crooked, pytest.raises(EndpointUnusable, match="308"):
        ask(open_gateway(crooked))
    assert model_server.requests == []


# --- how long


def seconds_between(server: MockServer) -> float:
    first, second = server.requests
    return second.started_s - first.started_s


@pytest.mark.parametrize(
    ("status", "after", "least", "most"),
    [(429, lambda: "0.3", 0.3, 1.5), (503, lambda: http_date(2), 0.9, 4)],  # whole seconds in dates
    ids=["seconds", "date"],
)
def test_retry_after_is_obeyed(status, after, least, most, model_server, open_gateway, ask):
    model_server.faults = [Status(status, retry_after=after())]
    ask(open_gateway())
    assert least <= seconds_between(model_server) < most


@pytest.mark.parametrize("retry_after", ["soon", "-5", "nan", "Wed, 99 Foo 2026", ""])
def test_a_retry_after_that_makes_no_sense_is_ignored(retry_after, model_server, open_gateway, ask):
    model_server.faults = [Status(429, retry_after=retry_after)]
    assert ask(open_gateway()).values
    assert seconds_between(model_server) < 1


@pytest.mark.parametrize("retry_after", ["61", "inf", pytest.param(http_date(3600), id="a date")])
def test_a_longer_wait_than_allowed_ends_the_judgement(
    retry_after, model_server, open_gateway, ask
):
    model_server.faults = [Status(429, retry_after=retry_after)]
    error = failing(open_gateway(), ask)
    assert "asked to wait" in error.detail
    assert len(model_server.requests) == 1


@pytest.mark.parametrize("retries", [0, 3])
def test_retry_after_holds_back_all_other_requests_too(
    retries, model_server, open_gateway, support
):
    model_server.faults = [Status(429, retry_after="0.4")]
    gateway = open_gateway(concurrency=1, retries=retries)

    async def two() -> None:
        asked = ({"passage": "p", "sentence": str(i)} for i in range(2))
        tasks = (gateway.ask(support, each) for each in asked)
        await asyncio.gather(*tasks, return_exceptions=True)

    run_sync(two())
    first, *others = model_server.requests
    assert len(others) == (2 if retries else 1)
    assert all(other.started_s - first.started_s >= 0.4 for other in others)


def test_the_deadline_also_bounds_a_request_that_hangs(model_server, open_gateway, ask):
    model_server.faults = [Status(500), Hang(30), Hang(30)]
    began = time.monotonic()
    error = failing(open_gateway(deadline_s=0.5, timeout_s=20.0, retries=20), ask)
    assert "deadline" in error.detail
    assert time.monotonic() - began < 5
    first_hangs = open_gateway(deadline_s=0.3, timeout_s=20.0, retries=20)
    began = time.monotonic()
    failing(first_hangs, ask)
    assert time.monotonic() - began < 5


def test_a_later_request_gets_only_the_time_that_is_left(model_server, open_gateway, ask):
    model_server.latency_s = lambda index, body: 30.0 if index else 0.6
    model_server.faults = [Status(500)]
    began = time.monotonic()
    error = failing(open_gateway(deadline_s=0.9, timeout_s=20.0, retries=20), ask)
    assert "no reply in the time left" in error.detail
    assert 0.85 < time.monotonic() - began < 5


def test_waiting_for_a_slot_does_not_eat_the_deadline(model_server, open_gateway, support):
    model_server.latency_s = 0.15
    model_server.faults = lambda index, body: Status(500) if index == 3 else None
    gateway = open_gateway(concurrency=1, deadline_s=0.45)

    async def four() -> list[Any]:
        asked = ({"passage": "p", "sentence": str(i)} for i in range(4))
        return await asyncio.gather(*(gateway.ask(support, each) for each in asked))

    assert len(run_sync(four())) == 4  # the last one failed once, 0.45 s after it was asked


def test_backoff_grows_is_jittered_and_is_capped(monkeypatch):
    monkeypatch.setattr(gateway_module, "FIRST_BACKOFF_S", 0.5)
    monkeypatch.setattr(gateway_module, "LONGEST_BACKOFF_S", 30.0)
    config = ModelConfig(model="openai/m", api_base="http://127.0.0.1:1/v1", retries=20)
    gateway = Gateway(config, None)
    random.seed(3)
    busy = EndpointError("busy", retryable=True)
    for attempt, longest in [(1, 0.5), (2, 1.0), (3, 2.0), (6, 16.0), (7, 30.0), (20, 30.0)]:
        waits = [gateway._wait(busy, attempt, float("inf")) for _ in range(200)]
        assert longest / 2 <= min(waits) < 0.6 * longest
        assert 0.9 * longest < max(waits) <= longest


# --- no storm


def test_a_server_that_dies_costs_a_bounded_number_of_requests(
    model_server, open_gateway, support, ask
):
    gateway = open_gateway(concurrency=4, retries=2)
    ask(gateway)
    model_server.faults = lambda index, body: Status(500)
    items = iter(range(200))
    errors: list[BaseException] = []

    async def work() -> None:
        for i in items:
            try:
                await gateway.ask(support, {"passage": "p", "sentence": str(i)})
            except EndpointLost as error:
                errors.append(error)

    async def pool(n_workers: int) -> None:
        await asyncio.gather(*(work() for _ in range(n_workers)))

    run_sync(pool(8))
    assert len(errors) == 200
    most = (PATIENCE + 8) * 3  # those on their way when it was given up go to their end
    assert PATIENCE * 3 <= len(model_server.requests) - 1 <= most
    refused = [error for error in errors if f"{PATIENCE} judgements in a row" in str(error)]
    assert len(refused) >= 200 - PATIENCE - 8


def test_bad_replies_do_not_make_a_server_dead(model_server, open_gateway, ask):
    model_server.faults = lambda index, body: Prose()
    gateway = open_gateway(reasks=0)
    for i in range(PATIENCE + 5):
        assert isinstance(failing(gateway, ask, str(i)), JudgeOutputError)
    assert len(model_server.requests) == PATIENCE + 5
