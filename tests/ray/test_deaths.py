"""A worker that dies is replaced: nothing finished is asked again, nothing is lost."""

import asyncio
import gc
import os
import signal
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
from mock_server import MockServer

from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.plugins.ray import executor as ray_executor
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.judge_set import JudgeSet

pytest.importorskip("ray.cloudpickle", reason="Ray is not installed here (extra: ray)")

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection" / "judge.yaml"
IN_FLIGHT_S = 0.4  # a reply written so long before a kill is in the cache, or with the driver
CONCURRENCY = 6
LONGEST_S = 60  # until Ray has done what it was told


def descendants(pid):
    """Process ids, of this process's own children and theirs, with their names."""
    children, names = {}, {}
    for path in Path("/proc").iterdir():
        if path.name.isdigit():
            try:
                parent = int(
                    (path / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
                )
                names[int(path.name)] = (path / "cmdline").read_bytes().decode(errors="replace")
            except (FileNotFoundError, ProcessLookupError):
                continue  # it has just ended
            children.setdefault(parent, []).append(int(path.name))
    names_by_pid, new = {}, [pid]
    while new:
        new = [child for parent in new for child in children.get(parent, ())]
        names_by_pid |= {child: names[child] for child in new}
    return names_by_pid


def workers():
    return [p for p, name in descendants(os.getpid()).items() if name.startswith("ray::Worker")]


class UntilBothAsk(MockServer):
    """Holds its replies until both workers have asked, however long one of them takes to start.

    Args:
        n_of_one: the most requests that one worker has at a time.
    """

    def __init__(self, n_of_one, latency_s):
        super().__init__(latency_s=latency_s)
        self.n_of_one = n_of_one

    async def _response(self, received, fault):
        give_up_s = time.monotonic() + LONGEST_S
        while self.max_in_flight <= self.n_of_one and time.monotonic() < give_up_s:
            await asyncio.sleep(0.005)
        return await super()._response(received, fault)


def finished_while_both_wait(server):
    """Replies written, 0 unless more requests wait than one of two workers may have."""
    n_finished = server.n_finished
    return n_finished if len(server.requests) - n_finished > CONCURRENCY // 2 else 0


@pytest.fixture
def kill_one():
    """`kill_one(server, n)` kills a worker when n replies were written; returns when it did.

    `at`: what n counts, of the server.
    """
    killed_s, threads, is_over = [], [], threading.Event()

    def start(server, n, at=lambda server: server.n_finished):
        def kill():
            while at(server) < n:
                if is_over.wait(0.005):
                    return
            os.kill(workers()[0], signal.SIGKILL)
            killed_s.append(time.monotonic())

        threads.append(threading.Thread(target=kill))
        threads[-1].start()
        return killed_s

    yield start
    is_over.set()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("cache", [True, False])
def test_a_killed_worker_is_replaced_and_nothing_finished_is_asked_again(
    cache, demo, kill_one, files_of
):
    settings = {"run.concurrency": CONCURRENCY} | ({} if cache else {"run.cache": False})
    with UntilBothAsk(CONCURRENCY // 2, latency_s=0.1) as server:
        local = demo(server, "local", "support", **settings).folder
        server.clear()
        killed_s = kill_one(server, 30, finished_while_both_wait)
        result = demo(server, "ray", "support", **settings)
        (at,) = killed_s
    assert result.is_complete
    assert files_of(result.folder) == files_of(local)
    asked = {}
    for request in server.requests:
        asked.setdefault(str(request.body["messages"]), []).append(request)
    n_repeated = 0
    for requests in asked.values():
        for first, again in pairwise(sorted(requests, key=lambda request: request.started_s)):
            n_repeated += 1
            assert again.started_s > at
            assert not first.finished or first.finished_s > at - IN_FLIGHT_S
    assert 1 <= n_repeated <= 3 * CONCURRENCY
    assert len(asked) == result.n_judged


def test_a_worker_that_dies_again_and_again_ends_the_run_and_the_same_call_goes_on(
    demo, kill_one, monkeypatch
):
    monkeypatch.setattr(ray_executor, "MAX_DEATHS", 0)
    settings = {"run.concurrency": CONCURRENCY}
    with MockServer(latency_s=0.1) as server:
        kill_one(server, 30)
        with pytest.raises(EndpointUnusable, match="a Ray worker died 1 times in a row"):
            demo(server, "ray", "support", **settings)
        n_before = len(server.requests)
        result = demo(server, "ray", "support", **settings)
    assert result.is_complete
    assert len(server.requests) - n_before <= result.n_judged - 30 + 2 * CONCURRENCY
    deadline = time.monotonic() + LONGEST_S
    while workers():
        assert time.monotonic() < deadline
        time.sleep(0.1)


@pytest.mark.parametrize("most", [25, 60])
def test_requests_that_a_dead_worker_did_not_report_count_towards_the_limit(most, demo, kill_one):
    with MockServer(latency_s=1.0) as server:
        kill_one(server, 25, at=lambda server: len(server.requests))  # none of them is answered yet
        result = demo(server, "ray", "support", **{"run.concurrency": 40, "run.max_calls": most})
        assert len(server.requests) <= most
    assert result.manifest["limit_reached"] == f"max_calls {most}"
    assert result.n_judged >= 5


def test_workers_that_take_too_long_to_close_are_ended_without_a_word(ray, monkeypatch):
    monkeypatch.setattr(ray_executor, "CLOSE_S", 0.0)
    problems = []

    async def end_at_once():
        asyncio.get_running_loop().set_exception_handler(lambda _, what: problems.append(what))
        config, budget = load_config(DEMO, {"run.workers": 1}), Budget()
        judge_set = JudgeSet(config, cache=None, budget=budget)
        executor = ray_executor.RayExecutor(config, judge_set, budget)
        executor._start()
        await executor.aclose()
        await asyncio.sleep(2)  # until Ray says that the worker died

    asyncio.run(end_at_once())
    gc.collect()
    assert problems == []
