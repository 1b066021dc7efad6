"""Two workers judge faster than one, on four cores or more: `-s` prints how much."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.request import urlopen

import pytest

import nuggetjudge as nj
from nuggetjudge.programs.config.reading import load_config

pytest.importorskip("ray.cloudpickle", reason="Ray is not installed here (extra: ray)")

SERVER = Path(__file__).resolve().parents[2] / "benchmarks" / "light_server" / "server.py"
N = 40_000
LEAST_X = 1.6
N_CORES = 4  # one for each worker, one for the driver and one for the server


@pytest.fixture
def light_url():
    """A server in a process of its own that says the same to everything."""
    with subprocess.Popen([sys.executable, SERVER], stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.terminate()


def judged_a_second(url, folder, workers):
    """Of the second half of the requests, when all workers are there, without the very end."""
    stats = url.removesuffix("/v1") + "/stats"
    marks, is_over = [], threading.Event()

    def watch():
        while not is_over.wait(0.02):
            with urlopen(stats) as reply:
                marks.append((time.perf_counter(), json.load(reply)["requests"]))

    watcher = threading.Thread(target=watch)
    watcher.start()
    given = {"run.out": folder / str(workers), "run.cache": folder / f"cache-{workers}"}
    given |= {"run.executor": "ray", "run.workers": workers, "run.concurrency": 128}
    given |= {"data.topics": folder / "topics.tsv", "data.passages": [folder / "passages.jsonl"]}
    given |= {"data.runs": [str(folder / "runs.jsonl")], "program": ["support"]}
    sets = [f"models.default.api_base={url}", "models.default.concurrency=128"]
    result = nj.run(load_config(None, given, sets, "hosted_vllm/light"))
    is_over.set()
    watcher.join()
    assert result.n_judged == N
    end = marks[-1][1]
    middle = [(at, n) for at, n in marks if end - 0.5 * N <= n <= end - 0.05 * N]
    return (middle[-1][1] - middle[0][1]) / (middle[-1][0] - middle[0][0])


@pytest.mark.skipif(
    (os.cpu_count() or 1) < N_CORES,
    reason=f"fewer than {N_CORES} cores",
)
def test_two_workers_do_more_than_one(ray, light_url, tmp_path):
    (tmp_path / "topics.tsv").write_text("t1\twhat\n", encoding="utf-8")
    (tmp_path / "passages.jsonl").write_text(
        '{"docid": "p1", "text": "The moon."}\n', encoding="utf-8"
    )
    with (tmp_path / "runs.jsonl").open("w", encoding="utf-8") as lines:
        for run in range(N // 100):
            answer = [{"text": f"Claim {run} {n} of tides.", "citations": [0]} for n in range(100)]
            row = {"run_id": f"r{run}", "topic_id": "t1", "topic": "q", "response_length": 9}
            lines.write(json.dumps({**row, "references": ["p1"], "answer": answer}) + "\n")
    load = os.getloadavg()[0]
    one, two = (judged_a_second(light_url, tmp_path, workers) for workers in (1, 2))
    where = f"{os.cpu_count()} CPUs, load {load:.2f}"
    print(f"\n1 worker {one:,.0f}/s, 2 workers {two:,.0f}/s: {two / one:.2f}x ({where})")  # noqa: T201
    if load < 1:
        assert two >= LEAST_X * one
