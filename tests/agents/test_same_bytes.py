"""A trace follows from inputs, replies and index: not from order, budget, retries or a cache."""

import json
import random
import shutil

import pytest
from mock_replies import as_json, input_of
from mock_server import MockServer, Refusal, Status
from seeking import Seeker, brain, files_of, seek

from nuggetjudge.agents import Limits
from nuggetjudge.records.reading.problems import InputError

pytestmark = pytest.mark.usefixtures("with_seek")


def never_failing(body):
    reply = brain(body)
    return reply if isinstance(reply, str) else as_json({"verdict": "none"})


def steps_in(folder):
    return [json.loads(line) for line in (folder / "trace.jsonl").read_text("utf-8").splitlines()]


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
