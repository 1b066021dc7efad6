"""One event loop in a thread of its own, so that judges work in scripts, notebooks and threads."""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from functools import lru_cache
from typing import Any, TypeVar

T = TypeVar("T")


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end and return the result, whether or not a loop runs in this thread.

    Ctrl-C cancels the coroutine, waits until it has tidied up, and raises KeyboardInterrupt.
    """
    future = submit(coroutine)
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        _ended(future).wait(timeout=10)
        raise


async def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine that belongs to the judges' loop from any other loop."""
    if asyncio.get_running_loop() is _loop():
        return await coroutine
    return await asyncio.wrap_future(submit(coroutine))


def submit(coroutine: Coroutine[Any, Any, T]) -> Future[T]:
    """Start a coroutine on the judges' loop, in a copy of this thread's context."""
    future: Future[T] = Future()
    ended = _ended(future)

    def start() -> None:
        task = _loop().create_task(coroutine)

        def finish(task: asyncio.Task[T]) -> None:
            ended.set()
            if future.cancelled():
                if not task.cancelled():
                    task.exception()  # retrieved, so that asyncio does not complain
            elif task.cancelled():
                future.cancel()
            elif (error := task.exception()) is not None:
                future.set_exception(error)
            else:
                future.set_result(task.result())

        task.add_done_callback(finish)
        future.add_done_callback(
            lambda f: _loop().call_soon_threadsafe(task.cancel) if f.cancelled() else None
        )

    context = contextvars.copy_context()
    _loop().call_soon_threadsafe(context.run, start)
    return future


def _ended(future: Future[Any]) -> threading.Event:
    event = getattr(future, "ended", None)
    if event is None:
        event = threading.Event()
        future.ended = event  # type: ignore[attr-defined]
    return event


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="nuggetjudge", daemon=True).start()
    return loop
