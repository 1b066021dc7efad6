"""A run that is killed or interrupted goes on where it was and ends in the same bytes."""

import json
import random
import signal
import time
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from subprocess import DEVNULL, PIPE

import pytest
from mock_replies import rng_of
from mock_server import MockServer
from processes import JUDGE, run, start

DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection" / "judge.yaml"
KILLS = 20
IN_FLIGHT_S = 0.5  # a reply written so long before a kill has reached the judge, and the cache
CONCURRENCY = 4


@pytest.fixture
def server():
    """A model that takes 80-200 ms a reply."""
    with MockServer(latency_s=lambda i, body: 0.08 + 0.12 * rng_of(body).random()) as up:
        yield up


def key_of(request):
    return json.dumps(request.body, sort_keys=True)


def command(url, out, concurrency):
    settings = [f"models.default.api_base={url}", f"run.concurrency={concurrency}"]
    sets = [part for setting in settings for part in ("--set", setting)]
    model = ["--model", "hosted_vllm/mock", "--out", str(out), "--quiet"]
    return ["run", DEMO, *model, *sets]


@pytest.mark.slow
def test_twenty_kills_repeat_no_finished_call_and_change_no_byte(
    server, environment, tmp_path, files_of
):
    url = server.base_url
    other_home = environment | {"XDG_CACHE_HOME": str(tmp_path / "other")}
    whole = command(url, tmp_path / "whole", 32)
    assert run(*JUDGE, *whole, env=other_home, cwd=tmp_path).returncode == 0

    n_calls = server.n_finished
    server.clear()
    chance = random.Random(411)
    killed_s = []
    again = command(url, tmp_path / "killed", CONCURRENCY)
    for _ in range(KILLS):
        process = start(
            *JUDGE, *again, env=environment, cwd=tmp_path, stdout=DEVNULL, stderr=DEVNULL
        )
        until = server.n_finished + chance.randint(1, n_calls // KILLS)
        while server.n_finished < until and process.poll() is None:
            time.sleep(0.005)
        time.sleep(chance.uniform(0, 0.1))
        process.kill()
        killed_s.append(time.monotonic())
        assert process.wait() == -signal.SIGKILL
    assert run(*JUDGE, *again, env=environment, cwd=tmp_path).returncode == 0

    times = defaultdict(list)
    for request in server.requests:
        if request.finished:
            times[key_of(request)].append((request.started_s, request.finished_s))
    assert len(times) == n_calls
    n_repeated = 0
    for key, asked in times.items():
        asked.sort()
        for (_, finished), (started, _) in pairwise(asked):
            n_repeated += 1
            excuses = [k for k in killed_s if finished > k - IN_FLIGHT_S and k < started]
            assert excuses, f"{key} was finished at {finished:.3f} and asked again"
    assert n_repeated <= 2 * KILLS * CONCURRENCY
    last = max(finished for asked in times.values() for _, finished in asked)
    assert sum(k < last for k in killed_s) >= KILLS / 2  # they hit a run at work
    assert files_of(tmp_path / "killed") == files_of(tmp_path / "whole")
    assert not list((tmp_path / "killed").glob("*.part"))


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_run_tidily_and_the_same_command_goes_on(
    number, code, server, environment, tmp_path, judge
):
    url = server.base_url
    given = command(url, "out", CONCURRENCY)
    process = start(*JUDGE, *given, env=environment, cwd=tmp_path, stderr=PIPE, real=True)
    deadline = time.monotonic() + 30
    while server.n_finished < 10:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == code
    assert "the same command goes on" in stderr
    assert "Traceback" not in stderr
    assert len(stderr.splitlines()) <= 2
    kept = sum(len(p.read_bytes().splitlines()) for p in (tmp_path / "out/journal").iterdir())
    assert kept >= 1
    assert not (tmp_path / "out" / "scores.jsonl").exists()
    assert not list((tmp_path / "out").glob("*.part"))

    before = {key_of(request) for request in server.requests if request.finished}
    server.clear()
    ran = judge(*command(url, "out", 32))
    assert ran.code == 0, ran.err
    assert len(before & {key_of(request) for request in server.requests}) <= CONCURRENCY
