"""Serves a labelling on this machine until it is interrupted."""

from __future__ import annotations

import hashlib
import socket
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import uvicorn

from ....records.reading.problems import InputError
from .app import make_app
from .labelling import Labelling
from .people import ENTER, People

HOST = "127.0.0.1"  # never another: people elsewhere use an SSH tunnel
_FIRST, _PORTS = 20_000, 12_000  # below the ports that systems give to connections
_GRACE_S = 3  # for open requests when the server stops


def bind_socket(folder: Path, port: int = 0) -> socket.socket:
    """A socket at a port of this machine.

    Args:
        folder: folder of the labels.
        port: 0: the usual port of this folder, so that a page that stayed open finds the server
            again; another port if it is taken.

    Raises: InputError if the given port is taken.
    """
    own = hashlib.sha256(str(folder.resolve()).encode()).digest()
    for tried in [port] if port else [_FIRST + int.from_bytes(own[:4]) % _PORTS, 0]:
        # By its protocol asyncio knows that answers need not wait for the client's ACK (40 ms).
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, tried))
            listener.listen(128)
            return listener
        except OSError as error:
            listener.close()
            why = error.strerror or error
    raise InputError(f"--port {port}: cannot listen on {HOST} ({why}); --port 0 takes a free port")


def links(people: People, port: int) -> dict[str, str]:
    """The link of each person; treat it as a password."""
    return {one.id: f"http://{HOST}:{port}{ENTER}?token={one.token}" for one in people.all}


def serve(
    work: Labelling, listener: socket.socket, ready: Callable[[Mapping[str, str]], None]
) -> None:
    """Serve until SIGINT or SIGTERM, which are raised again after everything is closed.

    Args:
        ready: called with the links as soon as pages can be opened.
    """
    port = int(listener.getsockname()[1])
    people = People(work.names, port)
    config = uvicorn.Config(
        make_app(work, people, port),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_GRACE_S,
    )
    threading.Thread(target=work.read_ahead, name="first texts", daemon=True).start()
    try:
        ready(links(people, port))
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        work.close()
        listener.close()
