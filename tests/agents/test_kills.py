"""Killed agents go on to the same bytes, and ask again only what was on its way."""

import json
import shutil
import signal
from collections import Counter
from pathlib import Path

import pytest
from mock_server import MockServer
from processes import run
from seeking import brain, files_of

SCRIPT = Path(__file__).with_name("seek_until.py")
LATENCY_S = 0.03
IN_FLIGHT_S = 0.2  # a reply that came so long before a kill is in the cache


def until(number, folder, url, *, cached, limit):
    """The run, killed at this point; the kinds of its points, and when the last one was."""
    log = folder / "points.tsv"
    log.unlink(missing_ok=True)
    given = {"number": number, "out": str(folder / "out"), "log": str(log), "url": url}
    given |= {"cache": cached and str(folder / "cache"), "settings": {"run.limit": limit}}
    ended = run(SCRIPT, json.dumps(given), cwd=folder)
    assert ended.returncode == (-signal.SIGKILL if number else 0), ended.stderr
    points = [line.split("\t") for line in log.read_text("utf-8").splitlines()]
    return [kind for _, kind in points], float(points[-1][0]) if points else 0.0


def asked_in_vain(server, killed_s):
    """The questions asked a second time though they were answered long before the kill."""
    times = Counter[str]()
    early = set()
    for request in server.requests:
        key = json.dumps(request.body["messages"])
        times[key] += 1
        is_kept = isinstance(brain(request.body), str)
        if is_kept and request.finished and request.finished_s < killed_s - IN_FLIGHT_S:
            early.add(key)
    return [key for key in early if times[key] > 1]


def checked(numbers, tmp_path, *, cached=True, limit=2):
    """Kills at these points, or at all; the kinds of points that were met."""
    met = Counter[str]()
    with MockServer(brain=brain, latency_s=LATENCY_S) as server:
        whole = tmp_path / "whole"
        whole.mkdir()
        kinds, _ = until(0, whole, server.base_url, cached=cached, limit=limit)
        wanted = files_of(whole / "out")
        n_whole = len(server.requests)
        for number in numbers or range(1, len(kinds) + 1):
            folder = tmp_path / str(number)
            folder.mkdir()
            server.clear()
            points, killed_s = until(number, folder, server.base_url, cached=cached, limit=limit)
            met[points[-1]] += 1
            until(0, folder, server.base_url, cached=cached, limit=limit)
            assert files_of(folder / "out") == wanted, points[-1]
            assert asked_in_vain(server, killed_s) == [], points[-1]
            assert n_whole <= len(server.requests) <= n_whole + 8, points[-1]
            shutil.rmtree(folder)
    return met


def test_after_a_kill_within_an_agent_the_trace_is_the_same(tmp_path):
    assert sum(checked([16, 25], tmp_path).values()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("cached", [True, False])
def test_at_each_of_sixty_points_and_more_a_kill_changes_no_byte(tmp_path, cached):
    met = checked([], tmp_path, cached=cached, limit=4)
    assert met.total() >= 60
    assert met.keys() == {
        *("before asking", "after asking", "half a line", "written"),
        *("before a commit", "committed"),
    }
