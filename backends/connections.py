"""Keep-alive HTTP/1.1 connections to one endpoint, for very many small POSTs.

Why not aiohttp: its share of a judgement was two thirds of the client's CPU (docs/architecture.md
has the figures). The parsing is httptools' (llhttp), TLS and sockets are asyncio's.
"""

from __future__ import annotations

import asyncio
import ssl
import zlib
from typing import NamedTuple, cast
from urllib.parse import urlsplit

import httptools

MOST_BYTES = 64 * 2**20  # of one reply; more is no judgement
MOST_HEAD_BYTES = 256 * 2**10  # of status line and headers, those of a "continue" included
CONNECT_S = 30.0


class Response(NamedTuple):
    """A reply as it came; `retry_after` is that header, if there was one."""

    status: int
    body: bytes
    retry_after: str | None


class ConnectionLost(OSError):
    """The connection ended, or said what is not HTTP, before the reply was complete."""


class Connections:
    """POSTs to one URL over as many connections as requests are under way.

    Takes no proxy, cookie, redirect or setting from the environment. Certificates are checked
    against the system's.

    Args:
        url: http or https, without user, query and fragment.
        headers: sent with each request.
        timeout_s: for one request, connecting included.
    """

    def __init__(self, url: str, headers: dict[str, str], timeout_s: float) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._is_tls = parts.scheme == "https"
        self._port = parts.port or (443 if self._is_tls else 80)
        self._timeout_s = timeout_s
        lines = [f"POST {parts.path or '/'} HTTP/1.1", f"Host: {parts.netloc}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._head = "\r\n".join([*lines, "Content-Length: "]).encode("latin-1")
        self._idle: list[_Connection] = []
        self._tls: ssl.SSLContext | None = None
        self.loop: asyncio.AbstractEventLoop | None = None  # where the connections live

    async def post(self, body: bytes) -> Response:
        """Send one request and read its reply.

        Raises: ConnectionLost; TimeoutError; OSError if there is no way to the host.
        """
        request = b"%b%d\r\n\r\n%b" % (self._head, len(body), body)
        connection = self._idle.pop() if self._idle else None
        if connection is not None:
            return await self._exchange(connection, request, self._timeout_s)
        loop = asyncio.get_running_loop()
        began = loop.time()
        connection = await self._connect()
        return await self._exchange(connection, request, self._timeout_s - (loop.time() - began))

    @property
    def n_idle(self) -> int:
        """Open connections that wait for a request."""
        return len(self._idle)

    def close(self) -> None:
        """Close the connections that are not in use; a used one ends with its request."""
        while self._idle:
            self._idle.pop().close()

    async def _exchange(
        self, connection: _Connection, request: bytes, timeout_s: float
    ) -> Response:
        try:
            response = await connection.exchange(request, timeout_s)
        except BaseException:  # a reply may still come: nobody else may read it as his
            connection.close()
            raise
        if connection.is_open:
            self._idle.append(connection)
        return response

    async def _connect(self) -> _Connection:
        if self._is_tls and self._tls is None:
            self._tls = ssl.create_default_context()
        self.loop = asyncio.get_running_loop()
        async with asyncio.timeout(min(CONNECT_S, self._timeout_s)):
            _, connection = await self.loop.create_connection(
                lambda: _Connection(self._idle),
                self._host,
                self._port,
                ssl=self._tls,
                happy_eyeballs_delay=0.25,
            )
        return connection


class _Connection(asyncio.Protocol):
    """One request at a time. Leaves the list of idle ones when the server closes it."""

    def __init__(self, idle: list[_Connection]) -> None:
        self.is_open = True
        self._idle = idle
        self._parser = httptools.HttpResponseParser(self)
        self._loop = asyncio.get_running_loop()
        self._waiter: asyncio.Future[Response] | None = None
        self._reset()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def exchange(self, request: bytes, timeout_s: float) -> asyncio.Future[Response]:
        """Send; the future is done with the reply, or with what went wrong."""
        self._waiter = self._loop.create_future()
        self._n_received = 0
        self._timer = self._loop.call_later(timeout_s, self._fail, TimeoutError())
        self._transport.write(request)
        return self._waiter

    def close(self) -> None:
        self.is_open = False
        self._transport.close()

    def data_received(self, data: bytes) -> None:
        if self._waiter is None:  # said something without being asked
            self.close()
            return
        self._n_received += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            self._fail(ConnectionLost(f"not HTTP: {error}"))
        if self._waiter is None:  # the reply is whole
            return
        if not self._in_body and self._n_received > MOST_HEAD_BYTES:
            self._fail(ConnectionLost(f"more than {MOST_HEAD_BYTES:,} bytes of headers"))
        if self._n_received > 2 * MOST_BYTES:  # chunk sizes and trailers are no body
            self._fail(ConnectionLost(f"a reply of more than {2 * MOST_BYTES:,} bytes"))

    def connection_lost(self, error: Exception | None) -> None:
        self.is_open = False
        if self in self._idle:
            self._idle.remove(self)
        if self._reads_to_end and error is None:
            self._done()
        else:
            self._fail(ConnectionLost(str(error or "the server closed the connection")))

    # httptools calls these.

    def on_message_begin(self) -> None:
        if self._waiter is None:  # a second reply behind the one that was asked for
            self.close()

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        has_end = b"content-length" in self._headers or b"transfer-encoding" in self._headers
        self._in_body = self._parser.get_status_code() >= 200
        self._reads_to_end = not has_end and self._in_body

    def on_body(self, part: bytes) -> None:
        self._body.append(part)
        self._size += len(part)
        if self._size > MOST_BYTES:
            self._fail(ConnectionLost(f"a reply of more than {MOST_BYTES:,} bytes"))

    def on_message_complete(self) -> None:
        if self._parser.get_status_code() < 200:  # a "continue" before the reply
            self._reset()
            return
        if not self._parser.should_keep_alive():
            self.close()
        self._done()

    def _done(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is None:
            return
        self._timer.cancel()
        if not waiter.done():
            try:
                waiter.set_result(self._response())
            except Exception as error:  # whatever it is, somebody waits to hear of it
                waiter.set_exception(ConnectionLost(f"a damaged reply: {error}"))
        self._reset()

    def _response(self) -> Response:
        retry_after = self._headers.get(b"retry-after")
        said = None if retry_after is None else retry_after.decode("latin-1")
        body = b"".join(self._body)
        if self._headers.get(b"content-encoding") == b"gzip":  # as some proxies send it unasked
            body = _unpacked(body)
        return Response(self._parser.get_status_code(), body, said)

    def _fail(self, error: Exception) -> None:
        waiter, self._waiter = self._waiter, None
        self.is_open = False
        self._transport.close()
        if waiter is not None:
            self._timer.cancel()
            if not waiter.done():
                waiter.set_exception(error)

    def _reset(self) -> None:
        self._headers: dict[bytes, bytes] = {}
        self._body: list[bytes] = []
        self._size = 0
        self._in_body = False
        self._reads_to_end = False


def _unpacked(body: bytes) -> bytes:
    """What one gzip member holds; never more than MOST_BYTES of it are made."""
    unpacker = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    plain = unpacker.decompress(body, MOST_BYTES + 1)
    if len(plain) > MOST_BYTES:
        raise ValueError(f"more than {MOST_BYTES:,} bytes when unpacked")
    if not unpacker.eof or unpacker.unused_data:
        raise ValueError("not one whole gzip member")
    return plain
