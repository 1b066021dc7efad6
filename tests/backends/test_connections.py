"""The HTTP client of the light path, against servers that write raw bytes."""

import asyncio
import gzip
import shutil
import ssl
import subprocess
import tracemalloc
from contextlib import asynccontextmanager

import pytest

from nuggetjudge.backends import connections as module
from nuggetjudge.backends.connections import ConnectionLost, Connections, Response

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class RawServer:
    """Answers the n-th request with the n-th script: pieces of bytes, a pause, or None = close."""

    def __init__(self, *scripts, again=(OK,)):
        self.scripts, self.again = list(scripts), again
        self.heads: list[bytes] = []
        self.n_connections = 0

    async def serve(self, reader, writer):
        self.n_connections += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.heads.append(head + await reader.readexactly(size))
                script = self.scripts.pop(0) if self.scripts else self.again
                for piece in script:
                    if piece is None:
                        return
                    if isinstance(piece, float):
                        await asyncio.sleep(piece)
                    else:
                        writer.write(piece)
                        await writer.drain()
                        await asyncio.sleep(0)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def talking_to(server, timeout_s=5.0, tls=None, scheme="http"):
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    port = listener.sockets[0].getsockname()[1]
    client = Connections(f"{scheme}://localhost:{port}/v1/x", {"X-Own": "yes"}, timeout_s)
    try:
        yield client
    finally:
        client.close()
        listener.close()
        await asyncio.sleep(0.01)


def post(server, n=1, timeout_s=5.0):
    """Post n bodies one after the other; returns the responses."""

    async def go():
        async with talking_to(server, timeout_s) as client:
            return [await client.post(b"body %d" % i) for i in range(n)]

    return asyncio.run(go())


def test_a_request_is_sent_as_http_wants_it():
    server = RawServer()
    assert post(server) == [Response(200, b"{}", None)]
    head, body = server.heads[0].split(b"\r\n\r\n")
    lines = head.split(b"\r\n")
    assert lines[0] == b"POST /v1/x HTTP/1.1"
    assert lines[1].startswith(b"Host: localhost:")
    assert set(lines[2:]) == {b"X-Own: yes", b"Content-Length: 6"}
    assert body == b"body 0"


def test_requests_one_after_the_other_share_a_connection_and_parallel_ones_do_not():
    server = RawServer()
    assert len(post(server, n=5)) == 5
    assert server.n_connections == 1

    async def go():
        slow = RawServer(again=(0.05, OK))
        async with talking_to(slow) as client:
            await asyncio.gather(*(client.post(b"x") for _ in range(10)))
            assert (slow.n_connections, client.n_idle) == (10, 10)
            await asyncio.gather(*(client.post(b"x") for _ in range(10)))
            assert slow.n_connections == 10

    asyncio.run(go())


@pytest.mark.parametrize(
    ("pieces", "body"),
    [
        ((b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 4\r\n", b"\r\nab", b"cd"), b"abcd"),
        ((b"HTTP/1.1 100 Continue\r\n\r\n", OK), b"{}"),
        (
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
                b"3\r\ncde\r\n0\r\n\r\n",
            ),
            b"abcde",
        ),
        ((b"HTTP/1.1 200 OK\r\n\r\nuntil", b" the end", None), b"until the end"),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",), b""),
    ],
)
def test_every_way_to_delimit_a_reply_is_read(pieces, body):
    assert post(RawServer(pieces, pieces), n=2) == [Response(200, body, None)] * 2


def test_a_gzipped_reply_is_unpacked_and_a_damaged_one_is_lost():
    packed = gzip.compress(b'{"a": 1}')
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    assert post(RawServer([head % len(packed) + packed]))[0].body == b'{"a": 1}'
    with pytest.raises(ConnectionLost, match="damaged"):
        post(RawServer([head % 9 + packed[:9]]))


def gzipped(packed):
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
    return [head % len(packed) + packed]


def test_a_gzip_bomb_is_not_unpacked_beyond_the_bound(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 100_000)
    whole = bytes(100_000)
    assert post(RawServer(gzipped(gzip.compress(whole))))[0].body == whole
    bomb = gzip.compress(bytes(50 * 2**20))
    assert len(bomb) < 100_000
    tracemalloc.start()
    try:
        with pytest.raises(ConnectionLost, match="100,000 bytes when unpacked"):
            post(RawServer(gzipped(bomb)))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 5 * 2**20


def test_whatever_fails_in_a_reply_whoever_waits_for_it_hears_of_it(monkeypatch):
    def fail(body):
        raise MemoryError("no room")

    monkeypatch.setattr(module, "_unpacked", fail)
    with pytest.raises(ConnectionLost, match="no room"):
        post(RawServer(gzipped(b"x")), timeout_s=2.0)


LONG = b"x" * 65536


@pytest.mark.parametrize(
    "again",
    [
        (b"HTTP/1.1 200 OK\r\n", *[b"X-%d: " % i + LONG + b"\r\n" for i in range(20)], 5.0),
        (b"HTTP/1.1 200 OK\r\nX: ", *[LONG] * 20, 5.0),
        (b"HTTP/1.1 200 ", *[LONG] * 20, 5.0),
        (*[b"HTTP/1.1 100 Continue\r\n\r\n" * 2000] * 20, 5.0),
    ],
    ids=["many headers", "one header", "status line", "continue"],
)
def test_headers_without_an_end_are_not_read_on(again):
    with pytest.raises(ConnectionLost, match=r"headers|not HTTP"):
        post(RawServer(again=again), timeout_s=3.0)


def test_chunk_sizes_and_trailers_without_an_end_are_not_read_on(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 100_000)
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    with pytest.raises(ConnectionLost):
        post(RawServer(again=(head, b"0\r\nX: ", *[LONG] * 20, 5.0)), timeout_s=3.0)


def test_a_long_reply_keeps_its_connection():
    body = bytes(module.MOST_HEAD_BYTES * 3)
    server = RawServer(again=(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body), body))
    assert [len(reply.body) for reply in post(server, n=3)] == [len(body)] * 3
    assert server.n_connections == 1


def test_status_and_retry_after_are_told():
    reply = b"HTTP/1.1 429 Slow Down\r\nretry-after: 7\r\nContent-Length: 1\r\n\r\nx"
    assert post(RawServer([reply])) == [Response(429, b"x", "7")]


@pytest.mark.parametrize(
    "pieces",
    [
        (None,),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", None),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", None),
        (b"SSH-2.0-OpenSSH\r\n",),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",),
    ],
)
def test_what_is_no_whole_reply_is_lost_and_the_next_request_is_not_harmed(pieces):
    async def go():
        async with talking_to(RawServer(pieces)) as client:
            with pytest.raises(ConnectionLost):
                await client.post(b"one")
            assert client.n_idle == 0
            assert (await client.post(b"two")).body == b"{}"

    asyncio.run(go())


def test_a_connection_that_the_server_closes_is_not_used_again():
    closing = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}"
    for script in ([closing], [OK, 0.01, None]):
        server = RawServer(script)

        async def go(server=server):
            async with talking_to(server) as client:
                await client.post(b"one")
                await asyncio.sleep(0.05)
                assert client.n_idle == 0
                assert (await client.post(b"two")).body == b"{}"

        asyncio.run(go())
        assert server.n_connections == 2


def test_nobody_reads_the_reply_of_a_request_that_was_given_up():
    async def go():
        late = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nlate"
        server = RawServer([0.1, late])
        async with talking_to(server) as client:
            task = asyncio.create_task(client.post(b"one"))
            await asyncio.sleep(0.03)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await client.post(b"two")).body == b"{}"
            await asyncio.sleep(0.12)
            assert (await client.post(b"three")).body == b"{}"
            assert server.n_connections == 2

    asyncio.run(go())


def test_a_second_reply_behind_the_first_is_not_taken_for_the_next():
    server = RawServer([OK + b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"])
    assert [r.body for r in post(server, n=2)] == [b"{}", b"{}"]
    assert server.n_connections == 2


def test_silence_ends_in_a_timeout_and_so_does_a_reply_that_never_ends():
    for pieces in ((5.0,), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx", 5.0)):
        with pytest.raises(TimeoutError):
            post(RawServer(pieces), timeout_s=0.1)


def test_a_reply_beyond_all_measure_is_not_read_on(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 1000)
    with pytest.raises(ConnectionLost, match="1,000 bytes"):
        post(RawServer([b"HTTP/1.1 200 OK\r\nContent-Length: 2000\r\n\r\n", b"x" * 2000]))


def test_certificates_are_checked(tmp_path, monkeypatch):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl command to make a certificate with")
    key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
    made = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext"
    subprocess.run(
        [*made.split(), "subjectAltName=DNS:localhost", "-keyout", key, "-out", cert],
        check=True,
        capture_output=True,
    )
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(cert, key)

    async def go():
        async with talking_to(RawServer(), tls=tls, scheme="https") as client:
            return await client.post(b"x")

    with pytest.raises(ssl.SSLCertVerificationError):
        asyncio.run(go())
    trusting = ssl.create_default_context(cafile=cert)
    monkeypatch.setattr(ssl, "create_default_context", lambda: trusting)
    assert asyncio.run(go()).body == b"{}"
