"""The lightest OpenAI-compatible server in pure Python: one fixed completion to every POST.

It costs little CPU itself, so that a benchmark on the same machine measures the client; the same
in C (server.c) costs less still and is taken where there is a compiler. Bodies are looked
through for the texts of `--reply` and not parsed. Needs a Content-Length; keep-alive and
pipelining work, chunked bodies do not.

    python benchmarks/light_server/server.py --latency-ms 200 --content '{"verdict": "partial"}'
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

HEAD_END = b"\r\n\r\n"
LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*(\d+)", re.IGNORECASE)
BACKLOG = 4096
BROKEN = '{"verdict":'


@dataclass(slots=True)
class Service:
    """What all connections share: the replies, the delay in seconds, and the counts.

    A body that holds one of the texts of `special` gets the reply beside it. Each kind of fault
    (429, 500, no answer, a broken reply) comes once in `fault_every` requests; 0: none does.
    """

    reply: bytes
    latency_s: float = 0.0
    special: Sequence[tuple[bytes, bytes]] = ()
    fault_every: int = 0
    n_requests: int = 0
    n_body_bytes: int = 0
    n_in_flight: int = 0
    max_in_flight: int = 0

    def reply_to(self, body: bytes) -> bytes:
        """The whole response to a POST; b"" is none at all."""
        self.n_requests += 1
        self.n_body_bytes += len(body)
        if self.fault_every:
            position = self.n_requests % self.fault_every * 4 / self.fault_every
            if position in FAULTS:
                return FAULTS[int(position)]
        return next((reply for text, reply in self.special if text in body), self.reply)

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

    __slots__ = ("_loop", "_partial", "_service", "_transport")

    def __init__(self, service: Service, loop: asyncio.AbstractEventLoop) -> None:
        self._service = service
        self._loop = loop
        self._partial = b""  # a request that is not complete

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        data = self._partial + data if self._partial else data
        while data and (end := data.find(HEAD_END)) >= 0:
            if not data.startswith(b"POST "):
                self._answer_get(data[:end])
                data = data[end + 4 :]
                continue
            length = LENGTH.search(data, 0, end)
            if length is None:
                self._transport.write(http(b"", status=b"411 Length Required"))
                self._transport.close()
                return
            after = end + 4 + int(length[1])
            if after > len(data):
                break
            self._answer_post(data[end + 4 : after])
            data = data[after:]
        self._partial = data

    def _answer_post(self, body: bytes) -> None:
        service = self._service
        if not (reply := service.reply_to(body)):
            return
        service.n_in_flight += 1
        service.max_in_flight = max(service.max_in_flight, service.n_in_flight)
        if service.latency_s:
            self._loop.call_later(service.latency_s, self._reply, reply)
        else:
            self._reply(reply)

    def _reply(self, reply: bytes) -> None:
        self._service.n_in_flight -= 1
        if not self._transport.is_closing():
            self._transport.write(reply)

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
    """The response with a chat completion that says `content`."""
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
    return http(json.dumps(made).encode())


FAULTS = {
    0: http(b"{}", status=b"429 Too Many Requests\r\nRetry-After: 0"),
    1: http(b"{}", status=b"500 Internal Server Error"),
    2: b"",
    3: completion(BROKEN),
}


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
    parser.add_argument(
        "--reply",
        nargs=2,
        action="append",
        default=[],
        metavar=("TEXT", "CONTENT"),
        help="what it says to a body with this text; may be repeated",
    )
    parser.add_argument(
        "--fault-every", type=int, default=0, metavar="N", help="each kind of fault once in N"
    )
    options = parser.parse_args()
    special = [(text.encode(), completion(content)) for text, content in options.reply]
    service = Service(
        completion(options.content), options.latency_ms / 1000, special, options.fault_every
    )
    asyncio.run(serve(options.port, service))


if __name__ == "__main__":
    main()
