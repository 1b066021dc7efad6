"""An optimiser that was killed goes on where it was, and what it leaves behind is data."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from mock_server import MockServer
from stamp_brain import stamp_brain
from stamped_judge import judge_file, labels_of, search, support_judge

from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.calibration.prompts.optimisers import METHODS

TESTS = Path(__file__).resolve().parents[2]
LONG_S = 60.0
COMMITTED_S = 2.0  # replies are on disk 0.2 s after they came, on an idle machine

# Judges one item with a judge file, where nothing can be unpickled.
JUDGE_WITHOUT_PICKLE = """
import pickle, sys
class Blocked(pickle.Unpickler):
    def __init__(self, *args, **options):
        raise RuntimeError("pickle is blocked")
def blocked(*args, **options):
    raise RuntimeError("pickle is blocked")
pickle.load = pickle.loads = pickle._load = pickle._loads = blocked
pickle.Unpickler = pickle._Unpickler = Blocked
import cloudpickle
cloudpickle.load = cloudpickle.loads = blocked
from pathlib import Path
from nuggetjudge.judges.fitted import read_judge_file
from stamped_judge import labels_of, support_judge
judge = support_judge(sys.argv[1])
print(*labels_of(judge.fitted(read_judge_file(Path(sys.argv[2])))))
"""


@pytest.fixture
def server():
    with MockServer(stamp_brain) as running:
        yield running


def environment(seed):
    """The modules of the tests, and an order of sets that differs from process to process."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS / "mocks"), str(TESTS / "inputs")]),
        "PYTHONHASHSEED": str(seed),
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    [
        method if method == "bootstrap" else pytest.param(method, marks=pytest.mark.slow)
        for method in METHODS
    ],
)
def test_killed_and_started_again_it_asks_nothing_twice_and_finds_the_same(
    method, server, tmp_path, capfd
):
    cache = ReplyCache(tmp_path / "whole")
    judge = support_judge(server.base_url, cache=cache)
    whole = search(judge, method, log=tmp_path / "whole.jsonl")
    cache.close()
    asked = Counter(json.dumps(request.body, sort_keys=True) for request in server.requests)
    assert sum(asked.values()) == whole.calls

    server.clear()
    n_done = whole.calls * 3 // 4
    server.latency_s = lambda index, body: LONG_S if index == n_done else 0.0
    command = [
        sys.executable,
        str(TESTS / "stamped_judge.py"),
        server.base_url,
        method,
        str(tmp_path),
    ]
    process = subprocess.Popen(command, env=environment(1))
    while len(server.requests) <= n_done and process.poll() is None:
        time.sleep(0.01)
    time.sleep(COMMITTED_S)
    process.kill()
    assert process.wait() == -9
    assert server.n_finished == n_done

    cache = ReplyCache(tmp_path / "replies")
    judge = support_judge(server.base_url, cache=cache)
    capfd.readouterr()
    again = search(judge, method, log=tmp_path / "log.jsonl")
    cache.close()
    assert capfd.readouterr() == ("", "")
    assert again.calls == whole.calls - n_done
    finished = (request.body for request in server.requests if request.finished)
    assert Counter(json.dumps(body, sort_keys=True) for body in finished) == asked
    assert judge_file(judge, again).text() == judge_file(judge, whole).text()

    def steps(path):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        return [row | {"calls": None} for row in rows]

    assert steps(tmp_path / "log.jsonl") == steps(tmp_path / "whole.jsonl")


@pytest.mark.parametrize("method", [pytest.param("bootstrap", marks=pytest.mark.slow), "simba"])
def test_a_judge_file_judges_as_found_in_a_process_that_cannot_unpickle(method, server, tmp_path):
    judge = support_judge(server.base_url)
    file = judge_file(judge, search(judge, method))
    (tmp_path / "judge.json").write_text(file.text(), encoding="utf-8")
    server.clear()
    expected = labels_of(judge.fitted(file))
    bodies = [request.body for request in server.requests]
    server.clear()
    command = [
        sys.executable,
        "-c",
        JUDGE_WITHOUT_PICKLE,
        server.base_url,
        str(tmp_path / "judge.json"),
    ]
    ran = subprocess.run(command, env=environment(3), capture_output=True, text=True, check=True)
    assert ran.stdout.split() == expected
    assert expected != labels_of(judge)
    sent = [json.dumps(request.body) for request in server.requests[: len(bodies)]]
    assert sorted(sent) == sorted(map(json.dumps, bodies))
