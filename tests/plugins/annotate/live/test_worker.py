"""Figures are worked out when labelling pauses, and nobody waits for them."""

import threading
import time

import pytest

from nuggetjudge.plugins.annotate.live.worker import Worker


class Counting:
    """Gives how often it was called; says when it was."""

    def __init__(self):
        self.times = []
        self.called = threading.Semaphore(0)

    def __call__(self):
        self.times.append(time.monotonic())
        self.called.release()
        return {"n": len(self.times)}


@pytest.fixture
def made():
    workers = []

    def make(compute, **more):
        workers.append(Worker(compute, **more))
        return workers[-1]

    yield make
    for worker in workers:
        worker.close()


def until(worker, n):
    for _ in range(500):
        if worker.figures().get("n") == n:
            return
        time.sleep(0.01)
    raise AssertionError(f"{worker.figures()}, wanted n = {n}")


def test_it_waits_until_labelling_has_paused(made):
    compute = Counting()
    worker = made(compute, quiet_s=0.3)
    until(worker, 1)  # at once
    for _ in range(10):
        worker.notify()
        last = time.monotonic()
        time.sleep(0.02)
    until(worker, 2)
    assert compute.times[1] - last >= 0.29
    time.sleep(0.4)
    assert len(compute.times) == 2  # not again without a change


def test_who_never_pauses_sees_figures_all_the_same(made):
    compute = Counting()
    worker = made(compute, quiet_s=0.5, longest_s=0.2)
    until(worker, 1)
    end = time.monotonic() + 1
    while len(compute.times) < 2 and time.monotonic() < end:
        worker.notify()
        time.sleep(0.02)
    assert len(compute.times) >= 2


def test_what_goes_wrong_is_said_and_the_next_change_tries_again(made):
    broken = threading.Event()

    def compute():
        if broken.is_set():
            raise ValueError("no such folder\nmore of it")
        return {"n": 1, "measures": [1]}

    worker = made(compute, quiet_s=0.01)
    until(worker, 1)
    broken.set()
    worker.notify()
    for _ in range(300):
        if "reason" in worker.figures():
            break
        time.sleep(0.01)
    assert worker.figures()["reason"] == "the figures cannot be worked out: no such folder"
    assert worker.figures()["measures"] == [1]  # those of before stay
    broken.clear()
    worker.notify()
    for _ in range(300):
        if "reason" not in worker.figures():
            return
        time.sleep(0.01)
    raise AssertionError("it did not try again")


def test_nobody_waits_while_it_works(made):
    going = threading.Event()
    worker = made(lambda: {"n": going.wait(5)}, quiet_s=0.0)
    start = time.monotonic()
    for _ in range(100):
        worker.notify()
        worker.figures()
    assert time.monotonic() - start < 3
    going.set()
