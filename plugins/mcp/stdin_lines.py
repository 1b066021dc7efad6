"""What comes over stdin, line by line, in a way that Ctrl-C ends."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from threading import Thread

import orjson
from mcp.types import PARSE_ERROR, ErrorData, JSONRPCError
from pydantic_core import from_json


class StdinLines:
    """The lines of stdin, for a loop that Ctrl-C can end while nothing comes.

    The SDK's own reader waits for a line before it ends, and never answers one that is no JSON.

    Attributes:
        refuse: sends the error that answers such a line.
    """

    refuse: Callable[[JSONRPCError], Awaitable[None]]

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        Thread(target=self._read, name="stdin", daemon=True).start()

    def __aiter__(self) -> StdinLines:
        return self

    async def __anext__(self) -> str:
        while (line := await self._lines.get()) is not None:
            if (error := _parse_error(line)) is None:
                return line
            await self.refuse(error)
        raise StopAsyncIteration

    def _read(self) -> None:
        # A file of its own: Python closes sys.stdin as it ends, and would wait for this thread.
        own = os.dup(sys.stdin.fileno())
        with suppress(RuntimeError):  # the loop is closed
            for line in open(own, encoding="utf-8", errors="replace"):  # noqa: SIM115
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)


def _parse_error(line: str) -> JSONRPCError | None:
    """The answer to a line that is no JSON, under the id of its request where it shows; else None.

    Half a surrogate pair (`"\\ud800"`) is an escape that JSON's grammar allows and no text.
    """
    try:
        from_json(line)
    except ValueError as error:
        what = ErrorData(code=PARSE_ERROR, message=f"Parse error: the line is no JSON: {error}")
        return JSONRPCError(jsonrpc="2.0", id=_id_in(line), error=what)
    return None


def _id_in(line: str) -> str | int | None:
    with suppress(ValueError, TypeError, RecursionError):
        request = json.loads(line)
        name = request.get("id") if isinstance(request, dict) else None
        if isinstance(name, str | int) and not isinstance(name, bool) and orjson.dumps(name):
            return name
    return None
