"""What comes over stdin, line by line, in a way that Ctrl-C ends."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from threading import Thread


class StdinLines:
    """The lines of stdin, for a loop that Ctrl-C can end while nothing comes.

    The SDK's own reader waits for a line before it ends.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        Thread(target=self._read, name="stdin", daemon=True).start()

    def __aiter__(self) -> StdinLines:
        return self

    async def __anext__(self) -> str:
        if (line := await self._lines.get()) is None:
            raise StopAsyncIteration
        return line

    def _read(self) -> None:
        # A file of its own: Python closes sys.stdin as it ends, and would wait for this thread.
        own = os.dup(sys.stdin.fileno())
        with suppress(RuntimeError):  # the loop is closed
            for line in open(own, encoding="utf-8", errors="replace"):  # noqa: SIM115
                self._loop.call_soon_threadsafe(self._lines.put_nowait, line)
            self._loop.call_soon_threadsafe(self._lines.put_nowait, None)
