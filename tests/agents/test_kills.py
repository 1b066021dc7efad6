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

pytestmark = pytest.mark.usefixtures("with_seek")

SCRIPT = Path(__file__).with_name("seek_until.py")
LATENCY_S = 0.12
ON_ITS_WAY_S = 0.2  # a reply that came so long before a commit of the cache is in it


def until(at, folder, url, *, cached, limit):
    """The run, killed at the n-th point of this kind (None: never); its points, with their time."""
    kind, number = at or (None, 0)
    log = folder / "points.tsv"
    log.unlink(missing_ok=True)
    given = {"kind": kind, "number": number, "out": str(folder / "out"), "log": str(log)}
    given |= {"cache": cached and str(folder / "cache"), "settings": {"run.limit": limit}}
    ended = run(SCRIPT, json.dumps({**given, "url": url}), cwd=folder)
    points = [line.split("\t") for line in log.read_text("utf-8").splitlines()]
    is_met = at is not None and sum(met == kind for _, met in points) >= number
    assert ended.returncode == (-signal.SIGKILL if is_met else 0), ended.stderr
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


def checked(chosen, tmp_path, *, cached=True, limit=2):
    """Kills at the points chosen of so many of each kind; the kinds killed at, and replies kept."""
    verify_results = pytest.importorskip("nuggetjudge.plugins.exports.rerun").verify_results
    met, kept = Counter[str](), 0
    with MockServer(brain=brain, latency_s=LATENCY_S) as server:
        whole = tmp_path / "whole"
        whole.mkdir()
        points = until(None, whole, server.base_url, cached=cached, limit=limit)
        wanted = files_of(whole / "out")
        for at in chosen(Counter(kind for kind, _ in points)):
            folder = tmp_path / f"{met.total()}"
            folder.mkdir()
            server.clear()
            points = until(at, folder, server.base_url, cached=cached, limit=limit)
            met[points[-1][0]] += 1
            until(None, folder, server.base_url, cached=cached, limit=limit)
            assert files_of(folder / "out") == wanted, at
            assert verify_results(folder / "out").is_same, at
            n_early, repeated = kept_and_repeated(server, points)
            assert repeated == [], at
            kept += n_early
            shutil.rmtree(folder)
    return met, kept


@pytest.mark.slow
def test_after_a_kill_within_an_agent_the_trace_is_the_same(tmp_path):
    met, kept = checked(lambda _: [("after asking", 5), ("half a line", 1)], tmp_path)
    assert met == {"after asking": 1, "half a line": 1}
    assert kept > 0


@pytest.mark.slow
@pytest.mark.parametrize("cached", [True, False])
def test_at_each_of_sixty_points_and_more_a_kill_changes_no_byte(tmp_path, cached):
    """A dozen points of each kind where it has so many, from the first to the last but one.

    A run that is killed may commit one time less than the whole one did.
    """

    def spread(n_of):
        for kind, n in n_of.items():
            step = max(1, (n - 1) // 8)
            yield from ((kind, number) for number in range(1, max(2, n), step))

    met, kept = checked(spread, tmp_path, cached=cached, limit=4)
    assert met.total() >= 30
    assert kept >= 30 * 4
    assert met.keys() == {
        *("before asking", "after asking", "half a line", "written"),
        *("before a commit", "committed"),
    }
