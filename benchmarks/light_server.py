"""The lightest OpenAI-compatible server in pure Python: one fixed completion to every POST.

It costs little CPU itself, so that a benchmark on the same machine measures the client. Bodies are
counted, not read. Needs a Content-Length; keep-alive and pipelining work, chunked bodies do not.

    python benchmarks/light_server.py --latency-ms 200 --content '{"verdict": "partial"}'
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import sys
import time
from dataclasses import dataclass
from typing import cast

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
BACKLOG = 4096


@dataclass(slots=True)
class Service:
    """What all connections share: the reply, the delay in seconds, and the counts."""

    reply: bytes
    latency_s: float
    n_requests: int = 0
    n_body_bytes: int = 0
    n_in_flight: int = 0
    max_in_flight: int = 0

    def stats(self) -> bytes:
        """Counts so far, as JSON; cpu_s is this process's user + system time."""
        counts = {
            "requests": self.n_requests,
            "body_bytes": self.n_body_bytes,
            "max_in_flight": self.max_in_flight,
            "cpu_s": time.process_time(),
        }
        return http(json.dumps(counts).encode())


class Connection(asyncio.Protocol):
    """One client connection: cuts the byte stream into requests and answers each in turn."""

    __slots__ = ("_head", "_loop", "_missing", "_service", "_transport")

    def __init__(self, service: Service, loop: asyncio.AbstractEventLoop) -> None:
        self._service = service
        self._loop = loop
        self._head = b""  # start of a request whose headers are not complete
        self._missing = 0  # bytes of a body still to come

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        if self._missing:
            if len(data) < self._missing:
                self._missing -= len(data)
                return
            data = data[self._missing :]
            self._missing = 0
            self._answer_post()
        if self._head:
            data, self._head = self._head + data, b""
        while data:
            end = data.find(HEAD_END)
            if end < 0:
                self._head = data
                return
            if not data.startswith(b"POST "):
                self._answer_get(data[:end])
                data = data[end + 4 :]
                continue
            found = LENGTH.search(data, 0, end)
            if found is None:
                self._transport.write(http(b"", status=b"411 Length Required"))
                self._transport.close()
                return
            size = int(found[1])
            self._service.n_body_bytes += size
            after = end + 4 + size
            if after > len(data):
                self._missing = after - len(data)
                return
            self._answer_post()
            data = data[after:]

    def _answer_post(self) -> None:
        service = self._service
        service.n_requests += 1
        service.n_in_flight += 1
        if service.n_in_flight > service.max_in_flight:
            service.max_in_flight = service.n_in_flight
        if service.latency_s:
            self._loop.call_later(service.latency_s, self._reply)
        else:
            self._reply()

    def _reply(self) -> None:
        self._service.n_in_flight -= 1
        if not self._transport.is_closing():
            self._transport.write(self._service.reply)

    def _answer_get(self, head: bytes) -> None:
        if head.startswith(b"GET /stats"):
            self._transport.write(self._service.stats())
        elif head.startswith(b"GET /health"):
            self._transport.write(http(b""))
        else:
            self._transport.write(http(b"", status=b"404 Not Found"))


def http(body: bytes, *, status: bytes = b"200 OK") -> bytes:
    """A whole HTTP/1.1 response with a JSON body."""
    return b"HTTP/1.1 %b\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (
        status,
        len(body),
        body,
    )


def completion(content: str) -> bytes:
    """A chat completion that says `content`, as JSON."""
    message = {"role": "assistant", "content": content, "refusal": None}
    usage = {"prompt_tokens": 400, "completion_tokens": 8, "total_tokens": 408}
    made = {
        "id": "chatcmpl-light",
        "object": "chat.completion",
        "created": 1,
        "model": "light",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": usage,
        "system_fingerprint": "fp_light",
    }
    return json.dumps(made).encode()


async def serve(port: int, service: Service) -> None:
    """Answer on 127.0.0.1 until SIGTERM or SIGINT; the first line of stdout is the base URL."""
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()
    for sign in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(sign, ended.set)
    server = await loop.create_server(
        lambda: Connection(service, loop), "127.0.0.1", port, backlog=BACKLOG
    )
    sys.stdout.write(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1\n")
    sys.stdout.flush()
    await ended.wait()
    server.close()


def main() -> None:
    """Parse the arguments and serve."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--content", default='{"verdict": "full"}', help="what the model says")
    given = parser.parse_args()
    service = Service(http(completion(given.content)), given.latency_ms / 1000)
    asyncio.run(serve(given.port, service))


if __name__ == "__main__":
    main()
