"""Asking again: when, how often, how long; and when a whole run ends."""

import asyncio
import gc
import gzip
import random
import subprocess
import sys
import time
import tracemalloc
from typing import Any

import pytest
from mock_server import Cut, Hang, HtmlBody, MockServer, NotChatShape, Prose, Status, http_date
from raw_servers import RawServer, completion, listening, reply, transport_to

from nuggetjudge.backends import gateway as gateway_module
from nuggetjudge.backends import http
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import (
    EndpointError,
    EndpointLost,
    EndpointUnusable,
    JudgeError,
    JudgeOutputError,
)
from nuggetjudge.backends.gateway import Gateway
from nuggetjudge.backends.http import HttpTransport
from nuggetjudge.backends.limits import PATIENCE
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.records.judgements import Reason

QUOTA = {"error": {"message": "You exceeded your quota.", "code": "insufficient_quota"}}
PASSING = [
    Status(429), Status(500), Status(502), Status(503), Status(504), Status(408), Status(529),
    Cut(), Cut(in_body=True), HtmlBody(), HtmlBody(code=503), NotChatShape(),
    NotChatShape({"choices": []}),
    NotChatShape({"choices": [{"message": {"content": ["a", "part"]}}]}),
    NotChatShape({"choices": [{"message": {"content": "{}", "refusal": {"a": 1}}}]}),
    NotChatShape({"choices": [{"message": None}]}), NotChatShape([1, 2]),
    NotChatShape({"error": {"message": "Upstream timed out.", "code": 504}}),
]  # fmt: skip


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


@pytest.mark.slow
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


# What the light path makes of replies as they come, against servers that write raw bytes.
HEAD = b"HTTP/1.1 200 OK\r\n"
YES, LATE, EVIL = completion("yes"), completion("late"), completion("evil")


def post(server, n=1, timeout_s=5.0, **settings):
    """Send n bodies one after the other; returns the texts of the replies."""

    async def go():
        async with (
            listening(server) as port,
            transport_to(f"http://localhost:{port}/v1", timeout_s=timeout_s, **settings) as client,
        ):
            return [(await client.send(b"body %d" % i)).text for i in range(n)]

    return asyncio.run(go())


def test_a_request_is_sent_as_http_wants_it(monkeypatch):
    monkeypatch.setenv("MY_KEY", "sk-0123456789")
    server = RawServer()
    assert post(server, api_key_env="MY_KEY") == ["yes"]
    head, body = server.requests[0].split(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    assert first == b"POST /v1/chat/completions HTTP/1.1"
    headers = dict(line.split(b": ", 1) for line in lines)
    assert headers.pop(b"Host").startswith(b"localhost:")
    assert headers == {
        b"Content-Type": b"application/json", b"Accept": b"application/json",
        b"Accept-Encoding": b"identity", b"User-Agent": b"nuggetjudge",
        b"Authorization": b"Bearer sk-0123456789", b"Content-Length": b"6",
    }  # fmt: skip
    assert body == b"body 0"


def gzipped(packed):
    return [reply(packed, b"200 OK", b"Content-Encoding: gzip")]


@pytest.mark.parametrize("kind", ["gzip", "chunks", "error"])
def test_a_reply_over_the_bound_is_cut_off_while_it_arrives_and_does_not_fill_memory(kind):
    much, piece = 200 * 2**20, b"x" * 2**16
    status = b"400 Bad Request" if kind == "error" else b"200 OK"
    head = b"HTTP/1.1 " + status + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = (head, *[b"%x\r\n" % len(piece) + piece + b"\r\n"] * (much // len(piece)))
    server = RawServer(gzipped(gzip.compress(bytes(much))) if kind == "gzip" else chunks)
    tracemalloc.start()
    try:
        with pytest.raises(EndpointError) as caught:
            post(server)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < much / 10
    assert not caught.value.retryable
    if kind == "error":
        assert caught.value.status == 400
    else:
        assert "a reply of more than 1,048,576 bytes" in str(caught.value)
        assert caught.value.reason is Reason.TRUNCATED
        assert caught.value.billed == 2**20


@pytest.mark.parametrize(
    "pieces",
    [
        (None,),
        (HEAD + b"Content-Length: 10\r\n\r\nhalf", None),
        (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab", None),
        (b"SSH-2.0-OpenSSH\r\n",),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",),
    ],
)
def test_what_is_no_whole_reply_is_lost_and_the_next_request_is_not_harmed(pieces):
    async def go():
        server = RawServer(pieces)
        async with listening(server) as port, transport_to(f"http://127.0.0.1:{port}") as client:
            with pytest.raises(EndpointError):
                await client.send(b"one")
            assert (await client.send(b"two")).text == "yes"
            assert server.n_connections == 2

    asyncio.run(go())


def test_silence_ends_in_a_timeout_and_so_does_a_reply_that_never_ends():
    for pieces in ((5.0,), (HEAD + b"Content-Length: 9\r\n\r\nx", 5.0)):
        began = time.monotonic()
        with pytest.raises(EndpointError, match=r"no reply within 0\.1 s") as caught:
            post(RawServer(pieces), timeout_s=0.1)
        assert caught.value.retryable
        assert time.monotonic() - began < 4


def test_the_deadline_of_a_judgement_bounds_a_request_too():
    began = time.monotonic()
    with pytest.raises(EndpointError, match="no reply within"):
        post(RawServer((5.0,)), timeout_s=5.0, deadline_s=0.1)
    assert time.monotonic() - began < 4


def test_a_reply_is_read_to_the_bound_and_not_beyond_it(monkeypatch):
    monkeypatch.setattr(http, "MAX_REPLY_BYTES", 1000)
    for body in (b"Content-Length: 1001\r\n\r\n" + b"x" * 1001, b"\r\n" + b"x" * 1001):
        with pytest.raises(EndpointError, match="more than 1,000 bytes"):
            post(RawServer([HEAD + body, 5.0]))
    with pytest.raises(EndpointError, match="not a chat completion"):
        post(RawServer([reply(b"x" * 1000)]))


# --- opened when needed, closed when not


async def until(is_so):
    for _ in range(200):
        if is_so():
            return True
        await asyncio.sleep(0.01)
    return False


def test_a_transport_can_be_asked_on_another_loop():
    async def start(server):
        listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
        return listener, listener.sockets[0].getsockname()[1]

    server = RawServer()
    listener, port = run_sync(start(server))
    transport = HttpTransport(ModelConfig(model="openai/m", api_base=f"http://127.0.0.1:{port}"))

    async def ask():
        return (await transport.send(b"x")).text

    assert asyncio.run(ask()) == asyncio.run(ask()) == run_sync(ask()) == "yes"
    run_sync(transport.aclose())

    async def close():
        listener.close()

    run_sync(close())


def test_a_transport_that_is_dropped_closes_its_connections_quietly(caplog):
    async def go():
        server = RawServer()
        async with listening(server) as port:
            base = f"http://127.0.0.1:{port}"
            transport = HttpTransport(ModelConfig(model="openai/m", api_base=base))
            await transport.send(b"x")
            assert server.n_open == 1
            del transport
            gc.collect()
            assert await until(lambda: server.n_open == 0)

    asyncio.run(go())
    assert caplog.text == ""


def test_a_process_that_ends_with_open_connections_ends_quietly(model_server):
    code = f"""
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import SupportJudge
judge = SupportJudge(model=ModelConfig(model="openai/mock", api_base={model_server.base_url!r}))
print(judge(sentence="It rained.", passage="Rain fell.").verdict)
"""
    done = subprocess.run(
        [sys.executable, "-W", "default::ResourceWarning", "-c", code], capture_output=True,
        text=True, encoding="utf-8", timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.strip() in ("full", "partial", "none")
    assert done.stderr == ""
