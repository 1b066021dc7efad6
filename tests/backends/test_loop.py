"""Judges work in scripts, running loops, threads and forks, and Ctrl-C leaves nothing behind."""

import asyncio
import contextvars
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

from nuggetjudge.backends.loop import Stop, run_async, run_each, run_sync, submit, task_group
from nuggetjudge.judges import SupportJudge


async def double(n: int) -> int:
    await asyncio.sleep(0.01)
    return 2 * n


async def fail() -> None:
    raise LookupError("no such thing")


def test_it_returns_the_result_or_raises_the_error():
    assert run_sync(double(4)) == 8
    with pytest.raises(LookupError, match="no such thing"):
        run_sync(fail())


def test_it_works_within_a_running_loop():
    async def notebook_cell() -> int:
        return run_sync(double(4)) + await run_async(double(1)) + await run_async(run_inside())

    async def run_inside() -> int:
        return await run_async(double(10))  # already on the judges' loop

    assert asyncio.run(notebook_cell()) == 30
    assert asyncio.run(notebook_cell()) == 30  # another loop of the caller's


def test_a_judge_is_called_in_a_running_loop_and_in_threads():
    judge = SupportJudge(model="lexical")
    same = {"sentence": "Rain fell on the hills.", "passage": "Rain fell on the hills."}

    async def cell() -> list[str]:
        sync = judge(**same).verdict
        other = await asyncio.to_thread(lambda: judge(**same).verdict)
        return [sync, other, (await judge.acall(**same)).verdict]

    assert asyncio.run(cell()) == ["full"] * 3


def test_waiting_on_the_judges_own_loop_is_an_error_and_no_deadlock():
    async def inside() -> None:
        run_sync(double(1))

    with pytest.raises(RuntimeError, match="await its acall"):
        run_sync(asyncio.wait_for(inside(), timeout=5))


def test_the_context_of_the_caller_comes_along():
    colour = contextvars.ContextVar("colour", default="none")

    async def look() -> str:
        return colour.get()

    colour.set("blue")
    assert run_sync(look()) == "blue"
    assert asyncio.run(run_async(look())) == "blue"


def test_a_future_that_is_cancelled_cancels_its_coroutine():
    events: list[str] = []

    async def slow() -> None:
        try:
            events.append("began")
            await asyncio.sleep(60)
        finally:
            events.append("tidied up")

    future = submit(slow())
    while not events:
        time.sleep(0.001)
    assert future.cancel()
    assert future.ended.wait(5)
    assert events == ["began", "tidied up"]


def test_a_caller_that_is_cancelled_cancels_its_coroutine():
    ended = threading.Event()

    async def slow() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async def impatient() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(run_async(slow()), timeout=0.05)

    asyncio.run(impatient())
    assert ended.wait(5)


CTRL_C = """
import asyncio, sys
from nuggetjudge.backends.loop import run_sync
async def work():
    try:
        print("began", flush=True)
        await asyncio.sleep(60)
    finally:
        await asyncio.sleep(0.2)
        print("tidied up", flush=True)
try:
    run_sync(work())
except KeyboardInterrupt:
    print("interrupted", flush=True)
    sys.exit(130)
"""


def test_ctrl_c_cancels_waits_for_the_tidying_up_and_is_raised():
    with subprocess.Popen(
        [sys.executable, "-c", CTRL_C], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "began\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert out == "tidied up\ninterrupted\n"
    assert process.returncode == 130
    assert err == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_starts_a_loop_of_its_own():
    forked = """
import asyncio, os
from nuggetjudge.backends.loop import run_sync
async def one():
    return 1
assert run_sync(one()) == 1
child = os.fork()
if child == 0:
    os._exit(0 if run_sync(one()) == 1 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert run_sync(one()) == 1
"""
    subprocess.run([sys.executable, "-c", forked], check=True, timeout=20)


def test_a_stop_ends_what_another_thread_waits_for_and_all_that_it_would_ask_after():
    began, tidied, stop = threading.Event(), [], Stop()

    async def ask():
        began.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.05)
            tidied.append(True)

    def work():
        with stop, pytest.raises(CancelledError):
            run_sync(ask())
        assert tidied == [True]  # before the thread goes on
        with stop, pytest.raises(CancelledError):
            run_sync(double(4))
        return run_sync(double(4))  # outside of it nothing is stopped

    with ThreadPoolExecutor(1) as pool:
        ended = pool.submit(work)
        assert began.wait(10)
        stop.set()
        assert ended.result(timeout=10) == 8


async def fail_loop_tasks(error):
    raise error


async def wait(ended):
    try:
        await asyncio.sleep(60)
    finally:
        ended.append(True)


def test_the_first_error_is_raised_as_it_is_and_the_others_are_cancelled():
    ended = []

    async def go():
        async with task_group() as group:
            group.create_task(wait(ended))
            await asyncio.sleep(0)
            group.create_task(fail_loop_tasks(KeyError("first")))
            group.create_task(fail_loop_tasks(ValueError("second")))

    with pytest.raises(KeyError, match="first") as raised:
        asyncio.run(go())
    assert raised.value.__suppress_context__  # no group is shown with it
    assert ended == [True]


def test_what_comes_of_each_job_stands_in_their_order_and_no_more_are_under_way_than_may_be():
    under_way, most = set(), []

    async def work(job):
        under_way.add(job)
        most.append(len(under_way))
        for _ in range(5 - job):  # the first takes longest
            await asyncio.sleep(0)
        under_way.remove(job)
        return job * 10

    assert asyncio.run(run_each([0, 1, 2, 3, 4], work, 2)) == [0, 10, 20, 30, 40]
    assert max(most) == 2
    assert asyncio.run(run_each([], work, 2)) == []
