"""Killed agents go on to the same bytes, and ask again only what was on its way."""

import json
import shutil
import signal
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from mock_server import MockServer
from processes import run
from seeking import brain, files_of

from nuggetjudge.programs.analysis.traces.replay import replay
from nuggetjudge.programs.run import judge_collection

pytestmark = pytest.mark.usefixtures("with_seek")

SCRIPT = Path(__file__).with_name("seek_until.py")
LATENCY_S = 0.12
ON_ITS_WAY_S = 0.2  # a reply that came so long before a commit of the cache is in it


def until(number, folder, url, *, cached, limit):
    """The run, killed at this point; the kind of each of its points, with when it was."""
    log = folder / "points.tsv"
    log.unlink(missing_ok=True)
    given = {"number": number, "out": str(folder / "out"), "log": str(log), "url": url}
    given |= {"cache": cached and str(folder / "cache"), "settings": {"run.limit": limit}}
    ended = run(SCRIPT, json.dumps(given), cwd=folder)
    points = [line.split("\t") for line in log.read_text("utf-8").splitlines()]
    is_killed = 0 < number <= len(points)  # a run with fewer commits may have fewer points
    assert ended.returncode == (-signal.SIGKILL if is_killed else 0), ended.stderr
    return [(kind, float(when)) for when, kind in points]


def kept_and_repeated(server, points):
    """How many replies were in the cache when the run was killed, and those asked for once more."""
    commits = [when for (_, when), (after, _) in pairwise(points) if after == "committed"]
    until_s = max(commits, default=0.0) - ON_ITS_WAY_S
    times = Counter(json.dumps(request.body["messages"]) for request in server.requests)
    kept = {
        json.dumps(request.body["messages"])
        for request in server.requests
        if request.finished
        and request.finished_s < until_s
        and isinstance(brain(request.body), str)
    }
    return len(kept), [key for key in kept if times[key] > 1]


def checked(numbers, tmp_path, *, cached=True, limit=2):
    """Kills at these of so many points; the kinds of points that were met, and replies kept."""
    met, kept = Counter[str](), 0
    with MockServer(brain=brain, latency_s=LATENCY_S) as server:
        whole = tmp_path / "whole"
        whole.mkdir()
        n = len(until(0, whole, server.base_url, cached=cached, limit=limit))
        wanted = files_of(whole / "out")
        for number in numbers(n - 4):  # commits may be fewer
            folder = tmp_path / str(number)
            folder.mkdir()
            server.clear()
            points = until(number, folder, server.base_url, cached=cached, limit=limit)
            last, _ = points[-1]
            met[last] += 1
            until(0, folder, server.base_url, cached=cached, limit=limit)
            assert files_of(folder / "out") == wanted, last
            assert replay(folder / "out", judge_collection).is_same, last
            n_early, repeated = kept_and_repeated(server, points)
            assert repeated == [], last
            kept += n_early
            shutil.rmtree(folder)
    return met, kept


def test_after_a_kill_within_an_agent_the_trace_is_the_same(tmp_path):
    met, kept = checked(lambda n: [20, 38], tmp_path)
    assert met.total() == 2
    assert kept > 0


@pytest.mark.slow
@pytest.mark.parametrize("cached", [True, False])
def test_at_each_of_sixty_points_and_more_a_kill_changes_no_byte(tmp_path, cached):
    """Half of the points with each cache, two and two in turn, which meets each kind in both."""

    def half(n):
        return [number for number in range(1, n) if (number % 4 < 2) is cached]

    met, kept = checked(half, tmp_path, cached=cached, limit=4)
    assert met.total() >= 30
    assert kept >= 30 * 4
    assert met.keys() == {
        *("before asking", "after asking", "half a line", "written"),
        *("before a commit", "committed"),
    }
