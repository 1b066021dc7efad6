"""An endpoint and a proxy that write raw bytes, and certificates of a CA of their own."""

import asyncio
import json
import ssl
import subprocess
from contextlib import asynccontextmanager, suppress

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.http import HttpTransport


def completion(text="yes"):
    """The body of a chat completion."""
    return json.dumps({"choices": [{"message": {"content": text}}]}).encode()


def reply(body=None, status=b"200 OK", *headers):
    """A whole reply of HTTP."""
    body = completion() if body is None else body
    lines = [b"HTTP/1.1 " + status, *headers, b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", body])


OK = reply()


class RawServer:
    """Answers the n-th request with the n-th script: pieces of bytes, a pause, or None = close."""

    def __init__(self, *scripts, again=(OK,)):
        self.scripts, self.again = list(scripts), again
        self.requests: list[bytes] = []
        self.n_connections = self.n_open = 0

    async def serve(self, reader, writer):
        self.n_connections += 1
        self.n_open += 1
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(size))
                for piece in self.scripts.pop(0) if self.scripts else self.again:
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
            self.n_open -= 1
            writer.close()


class Proxy:
    """Forwards to the server on one port, whatever host is asked for; `heads` of what it got."""

    def __init__(self, port, refuses=b""):
        self.port, self.refuses = port, refuses
        self.heads: list[bytes] = []

    async def serve(self, reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        if self.refuses:
            writer.write(reply(b"", self.refuses))
            writer.close()
            return
        server_reader, server_writer = await asyncio.open_connection("127.0.0.1", self.port)
        if head.startswith(b"CONNECT "):
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            server_writer.write(head)
        await asyncio.gather(_pipe(reader, server_writer), _pipe(server_reader, writer))


async def _pipe(reader, writer):
    with suppress(ConnectionError):
        while part := await reader.read(65536):
            writer.write(part)
    writer.close()


@asynccontextmanager
async def listening(server, tls=None):
    """The port that a server listens on, for as long as the block runs."""
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=tls)
    try:
        yield listener.sockets[0].getsockname()[1]
    finally:
        listener.close()


@asynccontextmanager
async def transport_to(base, **settings):
    """A transport to an endpoint, closed in the end."""
    transport = HttpTransport(ModelConfig(model="openai/m", api_base=base, **settings))
    try:
        yield transport
    finally:
        await transport.aclose()
        await asyncio.sleep(0.01)


def certified(folder):
    """The certificate of a CA made now, and what a server that it vouches for needs for TLS."""
    ca, ca_key, cert, key, asked, names = (
        str(folder / name) for name in ("ca.pem", "ca.key", "tls.pem", "tls.key", "asked", "names")
    )
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj"]
    with open(names, "w", encoding="utf-8") as file:
        file.write("subjectAltName=DNS:localhost,DNS:endpoint.test\n")
        file.write("authorityKeyIdentifier=keyid\n")  # which Python 3.13 wants
    signs = ["-addext", "keyUsage=critical,keyCertSign"]
    for command in (
        ["req", "-x509", *new, "/CN=own CA", *signs, "-keyout", ca_key, "-out", ca, "-days", "2"],
        ["req", "-new", *new, "/CN=localhost", "-keyout", key, "-out", asked],
        ["x509", "-req", "-in", asked, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial"],
    ):
        extra = ["-extfile", names, "-out", cert, "-days", "2"] if command[0] == "x509" else []
        subprocess.run(["openssl", *command, *extra], check=True, capture_output=True)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(cert, key)
    return ca, tls
