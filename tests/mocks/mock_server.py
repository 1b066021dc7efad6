"""An OpenAI-compatible chat server on 127.0.0.1 that behaves, and misbehaves, like real ones.

    with MockServer(faults=[Status(429, retry_after="1"), None]) as server:
        ask(server.base_url)
        assert [r.status for r in server.requests] == [429, 200]

Run as a process: python tests/mocks/mock_server.py --port 0 --latency-ms 20 --log finished.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aiohttp import web
from mock_api import (
    CHARS_PER_TOKEN, Denied, Supports, check_body, check_length, check_model, completion_of,
    error_body, max_tokens_of,
)  # fmt: skip
from mock_faults import (  # tests take all that they need from here
    BadJson, ContentFilter, Cut, EmptyContent, Envelope, ExtraKey, Fault, Faults, Fenced, Hang,
    HtmlBody, NotChatShape, OneShort, OnWire, OtherLabel, OtherSpelling, Prose, QuotedString,
    Reasoned, Refusal, Respelt, Says, Spoilt, Status, Truncated, TwoObjects, Written, http_date,
)  # fmt: skip
from mock_replies import (
    Body,
    Brain,
    Reply,
    as_json,
    default_brain,
    input_of,
    instance,
    rng_of,
    schema_of,
)

CLIENT_GONE = 499  # status of a request whose client left before the reply was written


@dataclass
class Received:
    """One request as it arrived, and what became of it. Times are of time.monotonic()."""

    index: int
    body: Body
    headers: dict[str, str]  # names in lower case
    started_s: float
    finished: bool = False  # the whole reply was written, whatever its status
    status: int | None = None
    finished_s: float | None = None


class MockServer:
    """The server in a thread of its own, open from `__enter__` to `__exit__`.

    Args:
        brain: what the model says; a dict or list is dumped as JSON. Default: `default_brain`.
        faults: one per request in order of arrival (None, or past the end: normal), used up once;
            or a function of (index, body).
        latency_s: seconds before each reply, or a function of (index, body).
        api_key: the only key accepted, as `Authorization: Bearer KEY`; None: any or none.
        context_length: tokens (characters / 4) that prompt and max_tokens may take together.
        log: file that gets one JSON line per request whose reply was written whole.

    `brain`, `faults`, `latency_s` and `supports` can be replaced while it runs. An exception in
    one of them answers 500 and is raised again on leaving the `with`.
    """

    def __init__(
        self,
        brain: Brain | None = None,
        faults: Faults = None,
        latency_s: float | Callable[[int, Body], float] = 0.0,
        api_key: str | None = None,
        model_names: Iterable[str] = ("mock",),
        supports: Supports | None = None,
        context_length: int | None = None,
        *,
        port: int = 0,
        log: Path | None = None,
    ) -> None:
        self.brain: Brain = brain or default_brain
        self.faults = faults
        self.latency_s = latency_s
        self.api_key = api_key
        self.model_names = tuple(model_names)
        self.supports = supports or Supports()
        self.context_length = context_length
        self.port = port
        self.clear()
        self._brain_errors: list[Exception] = []
        self._log = log
        self._log_fd: int | None = None
        self._in_flight = 0

    @property
    def base_url(self) -> str:
        """Where clients point to, with `/v1`; the port is known once the server runs."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def n_finished(self) -> int:
        """Number of requests whose reply was written whole, whatever its status."""
        return sum(received.finished for received in self.requests)

    @property
    def faults(self) -> Faults:
        return self._faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._faults: Callable[[int, Body], Fault | None] | deque[Fault | None] = (
            faults if callable(faults) else deque(faults or ())
        )

    def clear(self) -> None:
        """Forget the requests; the next one has index 0. Faults that are used up stay so."""
        self.requests: list[Received] = []
        self.max_in_flight = 0

    def __enter__(self) -> MockServer:
        started = threading.Event()
        self._failure: BaseException | None = None

        def run() -> None:
            try:
                asyncio.run(self._serve(started))
            except BaseException as error:
                self._failure = error
                started.set()

        if self._log is not None:
            self._log_fd = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._thread = threading.Thread(target=run, name="mock-server", daemon=True)
        self._thread.start()
        started.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._log_fd is not None:
            os.close(self._log_fd)
        if self._brain_errors and error is None:
            raise self._brain_errors[0]

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**28)
        self.add_routes(app)
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.05
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", self.port, backlog=4096)
            await site.start()
            self.port = runner.addresses[0][1]
            started.set()
            await self._stop.wait()
        finally:
            await runner.cleanup()

    def add_routes(self, app: web.Application) -> None:
        """What is served where; a server that offers more adds its own."""
        app.router.add_post("/v1/chat/completions", self._handle)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/health", self._health)

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response()

    async def _models(self, request: web.Request) -> web.Response:
        try:
            self._check_key(request)
        except Denied as denied:
            return web.json_response(error_body(401, str(denied), None, denied.code), status=401)
        shape = {"object": "model", "created": 0, "owned_by": "mock"}
        extra = {"max_model_len": self.context_length} if self.context_length else {}
        rows = [{"id": name, **shape, **extra} for name in self.model_names]
        return web.json_response({"object": "list", "data": rows})

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        received = Received(len(self.requests), {}, headers, time.monotonic())
        self.requests.append(received)
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        fault: Fault | None = None
        try:
            raw = await request.read()
            with contextlib.suppress(ValueError):
                body = json.loads(raw)
                received.body = body if isinstance(body, dict) else {}
            fault = self._next_fault(received)
            response = await self._response(request, received, fault)
        except asyncio.CancelledError:
            received.status = CLIENT_GONE
            raise
        except Exception as error:
            self._brain_errors.append(error)
            response = web.json_response(error_body(500, f"brain or fault: {error!r}"), status=500)
        finally:
            self._in_flight -= 1  # before the reply: whoever reads it may ask again at once
        received.status = response.status
        return await self._send(request, received, response, fault)

    def _next_fault(self, received: Received) -> Fault | None:
        if callable(self._faults):
            return self._faults(received.index, received.body)
        return self._faults.popleft() if self._faults else None

    async def _response(
        self, request: web.Request, received: Received, fault: Fault | None
    ) -> web.Response:
        latency = self.latency_s
        wait_s = latency(received.index, received.body) if callable(latency) else latency
        wait_s += fault.seconds if isinstance(fault, Hang) else 0.0
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        match fault:
            case Status(code, retry_after, body):
                headers = {} if retry_after is None else {"Retry-After": retry_after}
                if isinstance(body, str):
                    return web.Response(text=body, status=code, headers=headers)
                known = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
                shape = error_body(code, f"The request failed with {code}.", None, known.get(code))
                made = shape if body is None else body
                return web.json_response(made, status=code, headers=headers)
            case HtmlBody(html, code):
                return web.Response(text=html, status=code, content_type="text/html")
            case NotChatShape(body):
                return web.json_response(body)
        try:
            self._check(request, received.body)
            made: Any = self._completion(received.body, fault or Fault())
            if isinstance(fault, Envelope):
                made = fault.change(made)
            if isinstance(made, bytes):
                return web.Response(body=made, content_type="application/json")
            return web.json_response(made)
        except Denied as denied:
            shape = error_body(denied.status, str(denied), denied.param, denied.code)
            return web.json_response(shape, status=denied.status)

    def _check(self, request: web.Request, body: Body) -> None:
        self._check_key(request)
        self._check_body(body)

    def _check_body(self, body: Body) -> None:
        check_model(body, self.model_names)
        check_body(body, self.supports)
        check_length(body, self.context_length)

    def _check_key(self, request: web.Request) -> None:
        given = request.headers.get("Authorization", "")
        if self.api_key is not None and given != f"Bearer {self.api_key}":
            raise Denied(401, "Incorrect API key provided.", None, "invalid_api_key")

    def _completion(self, body: Body, fault: Fault) -> Body:
        said = self.brain(body)
        if isinstance(said, dict | list):
            said = as_json(said)
        reply = fault.spoil(said if isinstance(said, Reply) else Reply(said), body)
        limit = max_tokens_of(body)
        if limit is not None and len(reply.content or "") > limit * CHARS_PER_TOKEN:
            cut = (reply.content or "")[: limit * CHARS_PER_TOKEN]
            reply = replace(reply, content=cut, finish_reason="length")
        return completion_of(reply, body, self.supports)

    async def _send(
        self,
        request: web.Request,
        received: Received,
        response: web.Response,
        fault: Fault | None,
    ) -> web.StreamResponse:
        if isinstance(fault, Cut):
            if fault.in_body and isinstance(response.body, bytes):
                whole = response.body
                headers = {"Content-Length": str(len(whole)), "Content-Type": "application/json"}
                part = web.StreamResponse(status=response.status, headers=headers)
                await part.prepare(request)
                await part.write(whole[: len(whole) // 2])
            if request.transport is not None:
                request.transport.close()
            return response
        if isinstance(fault, OnWire):
            await _write_parts(request, response, fault)
            return response
        received.finished, received.finished_s = True, time.monotonic()
        try:  # marked first: a client in another thread may look as soon as it has the bytes
            await response.prepare(request)
            await response.write_eof()
        except (ConnectionError, asyncio.CancelledError):
            received.finished, received.status = False, CLIENT_GONE
            raise
        if self._log_fd is not None:
            os.write(self._log_fd, _log_line(received))
        return response


async def _write_parts(request: web.Request, response: web.Response, fault: OnWire) -> None:
    """Past aiohttp's own writer, which would not write such things."""
    transport = request.transport
    if transport is None or not isinstance(response.body, bytes):
        return
    for part in fault.parts(response.body):
        if isinstance(part, float):
            await asyncio.sleep(part)
        elif not transport.is_closing():
            transport.write(part)
    if fault.is_reset:
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        await asyncio.sleep(0.01)  # what was written is on its way
        transport.abort()
    else:
        transport.close()


def _log_line(received: Received) -> bytes:
    body = json.dumps(received.body, sort_keys=True)
    row = {
        "index": received.index,
        "key": hashlib.blake2b(body.encode(), digest_size=16).hexdigest(),
        "status": received.status,
        "started_s": received.started_s,
        "finished_s": received.finished_s,
        "body": received.body,
    }
    return as_json(row).encode() + b"\n"


@contextlib.contextmanager
def mock_process(*arguments: str) -> Iterator[str]:
    """Run this file with the arguments, and yield the base URL: `mock_process("--port", "0")`."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            assert line.startswith("http://"), f"the mock server did not start: {line!r}"
            yield line
        finally:
            process.terminate()


def main() -> None:
    """Serve until SIGTERM or SIGINT; the first line of stdout is the base URL."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--jitter-ms", type=float, default=0.0, help="up to so much more, by hash")
    parser.add_argument("--log", type=Path, help="one JSON line per finished request")
    parser.add_argument("--model", action="append", help="a model name served; default mock")
    given = parser.parse_args()

    def latency_s(index: int, body: Body) -> float:
        jitter = rng_of(body).random() * given.jitter_ms if body.get("messages") else 0.0
        return float(given.latency_ms + jitter) / 1000

    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    names = given.model or ("mock",)
    with MockServer(latency_s=latency_s, model_names=names, port=given.port, log=given.log) as up:
        sys.stdout.write(up.base_url + "\n")
        sys.stdout.flush()
        signal.sigwait(ends)


if __name__ == "__main__":
    main()
