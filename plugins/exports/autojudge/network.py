"""A process without a network: whoever would connect, listen or look up a name is stopped."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_EVENTS = frozenset(
    f"socket.{name}"
    for name in ("bind", "connect", "getaddrinfo", "gethostbyaddr", "gethostbyname",
                 "getnameinfo", "sendmsg", "sendto")
)  # fmt: skip
_state = {"is_off": False, "is_watched": False}


class NetworkUsedError(RuntimeError):
    """Something wanted the network where there is none."""


@contextmanager
def no_network() -> Iterator[None]:
    """In here no thread of this process connects, listens or resolves: NetworkUsedError.

    By an audit hook of Python, which sees every library that goes through its sockets.
    """
    if not _state["is_watched"]:
        sys.addaudithook(_stop)  # for good: there is no way to take one away
        _state["is_watched"] = True
    _state["is_off"] = True
    try:
        yield
    finally:
        _state["is_off"] = False


def _stop(
    event: str,
    args: tuple[Any, ...],
    state: dict[str, bool] = _state,  # the names of a module are gone before its hooks are
    events: frozenset[str] = _EVENTS,
) -> None:
    if state["is_off"] and event in events:
        raise NetworkUsedError(f"{event} {args[1:]!r}, and there is no network here")
