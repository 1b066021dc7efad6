"""`judge run --executor ray` as a user meets it, with a Ray of its own."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from mock_server import MockServer

pytest.importorskip("ray.cloudpickle", reason="Ray is not installed here (extra: ray)")

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection" / "judge.yaml"
KEY = "sk-not-a-real-key-of-anybody"
LONGEST_S = 180  # for a command; a busy machine takes half a minute to start Ray


@pytest.fixture
def ray_folder():
    """Where Ray keeps its logs and sockets, whose paths have to be short."""
    folder = Path(tempfile.mkdtemp(prefix="nj", dir="/tmp"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def environment(tmp_path, ray_folder):
    home = str(tmp_path / "home")
    return {
        "PATH": os.environ["PATH"], "HOME": home, "RAY_TMPDIR": str(ray_folder), "JUDGE_KEY": KEY,
    }  # fmt: skip


@pytest.fixture
def start(tmp_path, environment):
    """`start(url, "--workers", "2")`: the support program of the demo, with results in `out`."""
    started = []

    def run(url, *arguments, cwd=tmp_path):
        model = ["--model", "hosted_vllm/mock", "--set", f"models.default.api_base={url}"]
        model += ["--set", "models.default.api_key_env=JUDGE_KEY", "--set", "program=[support]"]
        ray = ["--set", "run.executor=ray", "--set", "run.workers=2", "--out", "out", "--quiet"]
        command = [sys.executable, "-m", "nuggetjudge", "run", str(DEMO), *model, *ray, *arguments]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        started.append(subprocess.Popen(command, env=environment, cwd=cwd, **pipes))
        return started[-1]

    yield run
    for process in started:
        if process.poll() is None:
            process.kill()
        process.communicate()


def without_waiting(errors):
    """The errors without what a slow machine adds: Ray's start may take longer than 30 s."""
    lines = errors.splitlines(keepends=True)
    return "".join(line for line in lines if ": nothing finished for " not in line)


def test_it_prints_what_a_local_run_prints_and_leaves_the_key_nowhere(start, ray_folder, tmp_path):
    with MockServer(api_key=KEY) as server:
        out, errors = start(server.base_url).communicate(timeout=LONGEST_S)
        again, _ = start(server.base_url, "--set", "run.executor=local").communicate(
            timeout=LONGEST_S
        )
    assert any(line.startswith("#   run ") for line in out.splitlines())
    assert out == again
    assert "judged, 0 missing" in errors
    assert "ray" not in without_waiting(errors).lower().replace(str(tmp_path), "")
    logs = [path for path in ray_folder.rglob("*") if path.is_file()]
    assert any(path.name.startswith("worker-") for path in logs)
    for path in [*logs, *(p for p in tmp_path.rglob("*") if p.is_file())]:
        assert KEY.encode() not in path.read_bytes()


def test_a_refused_key_ends_the_run_as_locally(start):
    errors = []
    with MockServer(api_key="another key") as server:
        for executor in ("local", "ray"):
            process = start(server.base_url, "--set", f"run.executor={executor}")
            errors.append(without_waiting(process.communicate(timeout=LONGEST_S)[1]))
            assert process.returncode == 2
    assert errors[0] == errors[1]
    assert errors[0].startswith("judge: HTTP 401 from http://127.0.0.1")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_tidily_and_the_same_command_goes_on(number, code, start, tmp_path):
    with MockServer(latency_s=0.1) as server:
        process = start(server.base_url, "--set", "run.concurrency=4")
        deadline = time.monotonic() + LONGEST_S
        while server.n_finished < 20:
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(number)
        _, errors = process.communicate(timeout=LONGEST_S)
        assert process.returncode == code
        assert "the same command continues" in errors
        assert "Traceback" not in errors
        assert len(without_waiting(errors).splitlines()) <= 2  # none of Ray's
        assert not (tmp_path / "out" / "scores.jsonl").exists()
        keys = [str(request.body) for request in server.requests]
        server.clear()
        again = start(server.base_url)
        again.communicate(timeout=LONGEST_S)
        assert again.returncode == 0
    # 4 in flight, and what had ended since the last report.
    assert len(set(keys) & {str(request.body) for request in server.requests}) <= 8


def test_resources_that_are_not_there_are_named_in_one_line(start):
    process = start("http://127.0.0.1:9/v1", "--set", "run.worker_gpus=1")
    _, errors = process.communicate(timeout=LONGEST_S)
    assert process.returncode == 2
    errors = without_waiting(errors)
    assert errors.startswith("judge: no room for a Ray worker")
    assert len(errors.splitlines()) == 1
