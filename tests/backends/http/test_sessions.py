"""What the light path makes of replies as they come, against servers that write raw bytes."""

import asyncio
import gc
import gzip
import subprocess
import sys
import time
import tracemalloc

import pytest
from raw_servers import RawServer, completion, listening, reply, transport_to

from nuggetjudge.backends import http
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointError
from nuggetjudge.backends.http import HttpTransport
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.records.judgements import Reason

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
        b"Content-Type": b"application/json",
        b"Accept": b"application/json",
        b"Accept-Encoding": b"identity",
        b"User-Agent": b"nuggetjudge",
        b"Authorization": b"Bearer sk-0123456789",
        b"Content-Length": b"6",
    }
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
        [sys.executable, "-W", "default::ResourceWarning", "-c", code],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert done.stdout.strip() in ("full", "partial", "none")
    assert done.stderr == ""
