"""Serves a session over stdin and stdout until the client goes, or Ctrl-C."""

from __future__ import annotations

from .server import server_of
from .session import Session


def serve(session: Session) -> None:
    """Answer until stdin ends. While it runs, what anything prints goes to stderr."""
    server_of(session).run("stdio")
