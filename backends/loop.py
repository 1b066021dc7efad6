"""One event loop in its own thread, so that judges work in scripts, notebooks and threads."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future, InvalidStateError
from contextlib import asynccontextmanager, suppress
from contextvars import ContextVar, Token, copy_context
from typing import Any, TypeVar

J = TypeVar("J")
T = TypeVar("T")


class Stop:
    """Stops, from another thread, `run_sync` calls in the context that entered this object.

        stop = Stop()
        with stop: ...  # in one thread: judges called by run_sync, at any depth
        stop.set()  # in another thread

    Running work is cancelled and cleans up; the current and each later `run_sync` raises
    concurrent.futures.CancelledError.
    """

    _of_context: ContextVar[Stop | None] = ContextVar("stop", default=None)

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[Future[Any]] = set()
        self._is_set = False
        self._token: Token[Stop | None] | None = None

    @classmethod
    def of_context(cls) -> Stop | None:
        """The Stop of this context, or None."""
        return cls._of_context.get()

    def set(self) -> None:
        """Stop the running work, and refuse new work."""
        with self._lock:
            self._is_set, running = True, [*self._running]
        for future in running:
            future.cancel()

    def watch(self, future: Future[Any]) -> None:
        """Cancel this future too."""
        with self._lock:
            self._running.add(future)
            is_set = self._is_set
        future.add_done_callback(self._running.discard)
        if is_set:
            future.cancel()

    def __enter__(self) -> Stop:
        self._token = self._of_context.set(self)
        return self

    def __exit__(self, *ended: object) -> None:
        if self._token is not None:
            self._of_context.reset(self._token)


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run to the end and return the result, whether or not a loop runs in this thread.

    Ctrl-C cancels the coroutine, waits until it has cleaned up, and raises KeyboardInterrupt; a
    `Stop` does the same and raises CancelledError.
    Raises: RuntimeError in a coroutine of the judges' own loop, which would wait for itself.
    """
    if _Loop.of_this_process().thread is threading.current_thread():
        coroutine.close()
        raise RuntimeError("a judge cannot call another one directly; await its acall(...)")
    future: Submitted[T] = Submitted()
    try:  # Ctrl-C may come as soon as the coroutine runs
        if (stop := Stop.of_context()) is not None:
            stop.watch(future)
        submit(coroutine, future)
        return future.result()
    except (KeyboardInterrupt, CancelledError):
        future.cancel()
        future.ended.wait(timeout=10)
        raise


async def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Await a coroutine of the judges' loop from any other loop."""
    if asyncio.get_running_loop() is _Loop.of_this_process().loop:
        return await coroutine
    return await asyncio.wrap_future(submit(coroutine))


class Submitted(Future[T]):
    """A future result; `ended` is set when the coroutine has really ended, cancelled or not."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = threading.Event()


def submit(coroutine: Coroutine[Any, Any, T], future: Submitted[T] | None = None) -> Submitted[T]:
    """Start a coroutine on the judges' loop, in a copy of this thread's context.

    Args:
        future: receives the result and is returned; None: create one.
    """
    future = future if future is not None else Submitted()
    loop = _Loop.of_this_process().loop

    def start() -> None:
        task = loop.create_task(coroutine)

        def finish(task: asyncio.Task[T]) -> None:
            error = None if task.cancelled() else task.exception()
            with suppress(InvalidStateError):  # its owner cancelled it in the meantime
                if task.cancelled():
                    future.cancel()
                elif error is not None:
                    future.set_exception(error)
                else:
                    future.set_result(task.result())
            future.ended.set()

        def cancel(future: Future[T]) -> None:
            if future.cancelled() and not task.done():
                loop.call_soon_threadsafe(task.cancel)

        task.add_done_callback(finish)
        future.add_done_callback(cancel)

    context = copy_context()
    loop.call_soon_threadsafe(context.run, start)
    return future


@asynccontextmanager
async def task_group() -> AsyncIterator[asyncio.TaskGroup]:
    """An asyncio.TaskGroup that raises the first error itself, not a group of errors."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def run_each(jobs: Sequence[J], work: Callable[[J], Awaitable[T]], at_once: int) -> list[T]:
    """Run a task for each job, at most `at_once` at a time; returns results in order."""
    left, results = iter(range(len(jobs))), dict[int, T]()

    async def worker() -> None:
        for index in left:
            results[index] = await work(jobs[index])
            await asyncio.sleep(0)  # lets others run even if jobs answer without waiting

    async with task_group() as group:
        for _ in range(min(at_once, len(jobs))):
            group.create_task(worker())
    return [results[index] for index in range(len(jobs))]


class _Loop:
    """The loop of a process; a forked process starts its own."""

    _lock = threading.Lock()
    _current: tuple[int, _Loop] | None = None

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self._run, name="nuggetjudge", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while not self.loop.is_closed():
            with suppress(KeyboardInterrupt, SystemExit):  # reach the caller; the loop goes on
                self.loop.run_forever()

    @classmethod
    def of_this_process(cls) -> _Loop:
        current = cls._current
        if current is None or current[0] != os.getpid():
            with cls._lock:
                current = cls._current
                if current is None or current[0] != os.getpid():
                    current = cls._current = (os.getpid(), cls())
        return current[1]
