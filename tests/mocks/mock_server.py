"""An OpenAI-compatible chat server on 127.0.0.1 that behaves, and misbehaves, like real ones.

    with MockServer(faults=[Status(429, retry_after="1"), None]) as server:
        ask(server.base_url)
        assert [r.status for r in server.requests] == [429, 200]

`python tests/mocks/mock_server.py` prints the URL of one, and serves until it is interrupted.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from aiohttp import web
from mock_api import CHARS_PER_TOKEN, Denied, Supports, check, completion_of
from mock_faults import *
from mock_faults import Fault, Faults
from mock_replies import (
    Body, Brain, Reply, always, as_json, default_brain, input_of, instance, schema_of,
)  # fmt: skip

JSON = {"Content-Type": "application/json"}
NO_FAULT = Fault("none")
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

    All of them can be replaced while it runs. An exception in one of them answers 500 and is
    raised again on leaving the `with`.
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
    ) -> None:
        self.brain: Brain = brain or default_brain
        self.faults = faults
        self.latency_s = latency_s
        self.api_key = api_key
        self.model_names = tuple(model_names)
        self.supports = supports or Supports()
        self.context_length = context_length
        self.clear()
        self._errors: list[Exception] = []
        self._in_flight = 0

    @property
    def base_url(self) -> str:
        """Where clients point to, with `/v1`; the port is known once the server runs."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def n_finished(self) -> int:
        """Number of requests whose reply was written whole, whatever its status."""
        return sum(received.finished for received in self.requests)

    def _set_faults(self, faults: Faults) -> None:
        left = iter(() if faults is None or callable(faults) else faults)
        self._fault = faults if callable(faults) else lambda index, body: next(left, None)

    faults = property(fset=_set_faults)

    def clear(self) -> None:
        """Forget the requests; the next one has index 0. Faults that are used up stay so."""
        self.requests: list[Received] = []
        self.max_in_flight = 0

    def __enter__(self) -> MockServer:
        started = threading.Event()
        served = self._serve(started)
        self._thread = threading.Thread(target=asyncio.run, args=(served,), daemon=True)
        self._thread.start()
        assert started.wait(30)
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._errors and error is None:
            raise self._errors[0]

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**28)
        app.add_routes(self._routes())
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.05
        )
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
            self.port = runner.addresses[0][1]
            started.set()
            await self._stop.wait()
        finally:
            await runner.cleanup()

    def _routes(self) -> list[web.RouteDef]:
        """What is served where; a server that offers more adds its own."""
        return [web.post("/v1/chat/completions", self._handle)]

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        received = Received(len(self.requests), {}, headers, time.monotonic())
        self.requests.append(received)
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        fault = NO_FAULT
        try:
            received.body = await request.json()
            fault = self._next_fault(received)
            response = await self._response(received, fault)
        except asyncio.CancelledError:
            received.status = CLIENT_GONE
            raise
        except Exception as error:
            self._errors.append(error)
            response = web.json_response(Denied(500, f"brain or fault: {error!r}").body, status=500)
        finally:
            self._in_flight -= 1  # before the reply: whoever reads it may ask again at once
        received.status = response.status
        if fault.parts is not None:
            await _write_parts(request, response, fault)
            return response
        received.finished, received.finished_s = True, time.monotonic()
        try:  # marked first: a client in another thread may look as soon as it has the bytes
            await response.prepare(request)
            await response.write_eof()
        except (ConnectionError, asyncio.CancelledError):
            received.finished, received.status = False, CLIENT_GONE
            raise
        return response

    def _next_fault(self, received: Received) -> Fault:
        return self._fault(received.index, received.body) or NO_FAULT

    async def _response(self, received: Received, fault: Fault) -> web.Response:
        latency = self.latency_s
        wait_s = latency(received.index, received.body) if callable(latency) else latency
        if wait_s + fault.wait_s > 0:
            await asyncio.sleep(wait_s + fault.wait_s)
        if fault.body is not None:
            headers = {**JSON, **fault.headers}
            return web.Response(body=fault.body, status=fault.status, headers=headers)
        try:
            self._check_key(received.headers)
            made = self._completion(received.body, fault)
        except Denied as denied:
            return web.json_response(denied.body, status=denied.status)
        return web.json_response(made)

    def _check_key(self, headers: Any) -> None:
        if self.api_key and headers.get("authorization") != f"Bearer {self.api_key}":
            raise Denied(401, "Incorrect API key provided.", None, "invalid_api_key")

    def _completion(self, body: Body, fault: Fault) -> Any:
        check(body, self.model_names, self.supports, self.context_length)
        made = self.brain(body)
        if isinstance(made, dict | list):
            made = as_json(made)
        reply = fault.spoil(made if isinstance(made, Reply) else Reply(made), body)
        return fault.change(completion_of(reply, body, self.supports))


async def _write_parts(request: web.Request, response: web.Response, fault: Fault) -> None:
    """Past aiohttp's own writer, which would not write such things."""
    transport = request.transport
    if transport is None or not isinstance(response.body, bytes) or fault.parts is None:
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


if __name__ == "__main__":
    with MockServer() as running:
        sys.stdout.write(running.base_url + "\n")
        sys.stdout.flush()
        threading.Event().wait()
