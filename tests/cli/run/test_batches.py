"""`judge run --executor batch` that is killed or interrupted at any step sends nothing twice."""

import json
import os
import signal
import time
from collections import Counter
from pathlib import Path
from subprocess import DEVNULL, PIPE, TimeoutExpired

import processes
import pytest
from mock_batches import Lost, MockBatches
from processes import JUDGE

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection" / "judge.yaml"
STEPS = [
    (call, moment)
    for call in ("upload", "make", "look", "download")
    for moment in ("before", "after")
]


@pytest.fixture
def server(tide_brain):
    with MockBatches() as up:
        yield up


@pytest.fixture
def start(server, environment, tmp_path):
    """Starts `judge run support --executor batch` on the demo, in a process of its own."""

    def go(*more, out="out"):
        sets = [f"models.default.api_base={server.base_url}"]
        sets += ["run.batch.quiet_s=0.2", "run.batch.poll_s=0.1"]
        command = [*JUDGE, "run", DEMO, "--set", "run.executor=batch"]
        command += [part for each in sets for part in ("--set", each)]
        command += ["--model", "hosted_vllm/mock", "--out", out, "--quiet", *more]
        command += ["--set", "program=[support]"]
        return processes.start(*command, env=environment, cwd=tmp_path, stdout=DEVNULL, stderr=PIPE)

    return go


@pytest.mark.slow
def test_a_run_killed_at_every_step_sends_nothing_twice(
    server, start, environment, tmp_path, files_of
):
    left, killed = list(STEPS), []

    def hook(call, moment):
        if left and (call, moment) == left[0]:
            killed.append(left.pop(0))
            os.kill(process.pid, signal.SIGKILL)
            raise Lost

    server.hook = hook
    for _ in range(2 * len(STEPS)):
        process = start()
        _, stderr = process.communicate(timeout=60)
        if process.returncode == 0:
            break
        assert process.returncode == -signal.SIGKILL, stderr
    assert killed == STEPS
    assert process.returncode == 0
    times = Counter(json.dumps(request.body) for request in server.requests)
    assert max(times.values()) == 1
    assert len(server.batches) == 1
    server.hook = lambda call, moment: None
    environment["XDG_CACHE_HOME"] = str(tmp_path / "other")
    whole = start(out="whole")
    assert whole.wait(timeout=60) == 0
    assert len(server.requests) == 2 * len(times)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_kills_at_any_time_send_nothing_twice(server, start):
    small = ["--set", "run.batch.requests=7"]
    code = None
    for wait_s in (1.2, 1.4, 1.6, 1.8, 2.0, 60):
        process = start(*small)
        try:
            code = process.wait(timeout=wait_s)
        except TimeoutExpired:
            process.kill()
            process.wait()
    assert code == 0
    times = Counter(json.dumps(request.body) for request in server.requests)
    assert sum(times.values()) - len(times) <= 5  # a reply that was being put away, for each kill


def is_looked_at(server):
    """Whether the batch is under way, its requests read, and somebody has asked about it."""
    under_way = [batch.status == "in_progress" for batch in server.batches.values()]
    return "look" in server.calls and under_way == [True]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_leaves_the_batch_running_and_says_how_to_go_on(number, code, server, start):
    server.held.set()
    process = start()
    deadline = time.monotonic() + 30
    while not is_looked_at(server):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == code
    assert "the same command goes on" in stderr
    n_asked = len(server.batches["batch_0"].lines)
    assert f"Not stopped: batch_0, with {n_asked} requests" in stderr, stderr
    assert "Traceback" not in stderr
    assert server.batches["batch_0"].status == "in_progress"
    server.held.clear()
    again = start()
    _, stderr = again.communicate(timeout=60)
    assert again.returncode == 0, stderr
    assert len(server.batches) == 1
    assert len(server.requests) == n_asked


def test_batches_of_answers_that_a_run_writes_are_named_too(server, start, tmp_path):
    server.held.set()
    process = start("--set", "retrieve=[bm25]", "--set", "generate={k: 2}")
    deadline = time.monotonic() + 30
    while not is_looked_at(server):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 130
    n_asked = len(server.batches["batch_0"].lines)
    assert list((tmp_path / "out" / "generated" / "journal").glob("batches-*"))
    assert f"Not stopped: batch_0, with {n_asked} requests" in stderr, stderr


def test_an_endpoint_without_batches_is_one_line(tide_server, run_tiny):
    ran = run_tiny(tide_server, "support", "--set", "run.executor=batch", "--quiet")
    assert ran.code == 2
    assert "run.executor: local" in ran.err
    assert "Traceback" not in ran.err


def test_a_plan_is_at_half_price(tide_server, run_tiny):
    price = ["--set", "models.default.price={input: 100, output: 100}", "--dry-run", "--json"]
    local = run_tiny(tide_server, "support", *price).rows
    batch = run_tiny(tide_server, "support", *price, "--set", "run.executor=batch").rows
    assert [row["cost"] for row in batch] == [pytest.approx(row["cost"] / 2) for row in local]
