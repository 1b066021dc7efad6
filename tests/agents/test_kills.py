"""Killed agents go on to the same bytes, and ask again only what was on its way."""

import json
import random
import shutil
import signal
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from json_lines import read_rows
from mock_replies import as_json, input_of
from mock_server import MockServer, Refusal, Status
from processes import run
from seeking import Seeker, brain, files_of, seek

from nuggetjudge.agents import Limits
from nuggetjudge.records.reading.problems import InputError

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


# A trace follows from inputs, replies and index: not from order, budget, retries or a cache.
def never_failing(body):
    reply = brain(body)
    return reply if isinstance(reply, str) else as_json({"verdict": "none"})


def steps_in(folder):
    return read_rows(folder / "trace.jsonl")


@pytest.mark.parametrize("calls", [20, 7])
def test_no_byte_depends_on_which_reply_comes_first(tmp_path, monkeypatch, calls):
    """Parts that run out of calls do so by their share, not by who was first."""
    monkeypatch.setattr(Seeker, "default_limits", Limits(calls=calls))
    files = []
    with MockServer(brain=brain) as server:
        for seed, at_once in ((1, 8), (2, 1)):
            chance = random.Random(seed)
            server.latency_s = lambda index, body, chance=chance: chance.uniform(0, 0.02)
            settings = {"run.cache": tmp_path / f"cache-{seed}", "run.concurrency": at_once}
            seek(tmp_path / str(seed), server.base_url, **settings)
            files.append(files_of(tmp_path / str(seed)))
    assert files[0] == files[1]
    over = [s for s in steps_in(tmp_path / "1") if s["kind"] == "end" and "reason" in s]
    assert [step["reason"] for step in over] == ["steps"] * (5 if calls == 7 else 0)


def test_a_run_that_met_its_budget_goes_on_to_the_bytes_of_one_that_did_not(tmp_path):
    with MockServer(brain=brain) as server:
        whole = {"run.cache": tmp_path / "cache-whole"}
        seek(tmp_path / "whole", server.base_url, **whole)
        n = len(server.requests)
        server.clear()
        part = {"run.cache": tmp_path / "cache", "run.concurrency": 2}
        result = seek(tmp_path / "out", server.base_url, **part, **{"run.max_calls": 12})
        assert result.manifest["unjudged_by_reason"].keys() == {"budget"}
        seek(tmp_path / "out", server.base_url, **part)
        asked = [request.body for request in server.requests]
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")
    assert len({json.dumps(body["messages"]) for body in asked}) == n
    refused = sum(not isinstance(brain(body), str) for body in asked)
    assert len(asked) - n <= refused  # which is kept nowhere; what was answered is asked once


def test_a_retry_asks_only_for_what_failed(tmp_path):
    def down(index, body):
        is_first = input_of(body).get("question", "").startswith("how do honey bees")
        return Status(500) if is_first else None

    with MockServer(brain=never_failing, faults=down) as server:
        url, sets = server.base_url, {"run.cache": tmp_path / "cache"}
        result = seek(tmp_path / "out", url, **sets)
        assert result.manifest["unjudged_by_reason"] == {"error": 1}
        n, server.faults = len(server.requests), None
        seek(tmp_path / "out", url, **sets)
        asked = server.requests[n:]
        assert len(asked) == 5  # the question that failed, and the four of its parts after it
        assert "question" in input_of(asked[0].body)
        server.clear()
        seek(tmp_path / "whole", url, **sets | {"run.cache": tmp_path / "other"})
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


@pytest.mark.parametrize("cache", [True, False])
def test_offline_it_gives_the_same_bytes_without_the_cache_of_others_too(tmp_path, cache):
    settings = {"run.cache": tmp_path / "cache" if cache else False}
    with MockServer(brain=never_failing) as server:
        url = server.base_url
        seek(tmp_path / "out", url, **settings)
    assert (tmp_path / "out/journal/replies").is_dir() is not cache
    if not cache:
        (tmp_path / "again").mkdir()
        shutil.copytree(tmp_path / "out/journal", tmp_path / "again/journal")
    seek(tmp_path / "again", url, **settings, **{"run.offline": True})
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")


def test_a_question_that_failed_and_was_answered_later_in_the_same_agent_replays(tmp_path):
    """Each topic's first part is the topic's question, so that its best passage comes twice."""
    seen = {"tides"}

    def first_time(index, body):
        sentence = input_of(body).get("sentence", "tides")
        is_new = sentence not in seen
        seen.add(sentence)
        return Refusal() if is_new else None

    def takes_apart(body):
        asked = input_of(body)
        if "question" in asked:
            return as_json({"kind": "complex", "subquestions": [asked["question"], "tides"]})
        return never_failing(body)

    settings = {"run.cache": tmp_path / "cache", "run.concurrency": 1}
    with MockServer(brain=takes_apart, faults=first_time) as server:
        url = server.base_url
        seek(tmp_path / "out", url, **settings)
    seek(tmp_path / "again", url, **settings, **{"run.offline": True})
    assert files_of(tmp_path / "again") == files_of(tmp_path / "out")


def test_an_edited_step_of_a_journal_is_named_by_file_and_line(tmp_path):
    seek(tmp_path / "out")
    [journal] = (tmp_path / "out/journal").glob("seek-*.jsonl")
    journal.write_text(journal.read_text("utf-8").replace('"path":"0.1"', '"path":"x"', 1), "utf-8")
    with pytest.raises(InputError, match=r"seek-\w+\.jsonl:1: not a journal line \(s\.2\.path"):
        seek(tmp_path / "out")
