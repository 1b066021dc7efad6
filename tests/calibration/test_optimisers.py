"""Each of DSPy's optimisers, end to end, on a model that a rule or an example makes better."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from json_lines import read_rows
from mock_faults import Status
from mock_server import MockServer
from stamp_brain import RULE, stamp_brain
from stamped import stamped
from stamped_judge import DEV, SMALL, TEST, TRAIN, judge_file, labels_of, search, support_judge

from nuggetjudge.backends.cache import ReplyCache
from nuggetjudge.backends.errors import EndpointLost
from nuggetjudge.calibration.prompts.optimisers import METHODS, OPTIONS, optimise
from nuggetjudge.judges import SupportJudge
from nuggetjudge.metrics.label_agreement import agreement

RULES = ("mipro", "simba", "gepa")  # methods that write instructions


@pytest.fixture
def server():
    with MockServer(stamp_brain) as running:
        yield running


@pytest.fixture
def fresh_judge(server, tmp_path):
    """Makes judges, each with an empty reply cache of its own."""
    caches = []

    def make(**settings):
        caches.append(ReplyCache(tmp_path / f"replies{len(caches)}"))
        return support_judge(server.base_url, cache=caches[-1], **settings)

    yield make
    for cache in caches:
        cache.close()


def kappa(judge):
    return agreement([item.label for item in TEST], labels_of(judge), judge.scale).cohen_kappa[
        "linear"
    ]


# The bounds of docs/reference/fitting.md: t and d calls of train and dev, options as named there.
BOUNDS = {
    "few-shot": lambda t, d, o: 2 * d,
    "bootstrap": lambda t, d, o: (
        (o["num_candidate_programs"] + 3) * d + (o["num_candidate_programs"] + 1) * t
    ),
    "mipro": lambda t, d, o: (
        (o["num_trials"] + 1) * d + (o["num_candidates"] - 2) * t + o["num_candidates"] + 11
    ),
    "simba": lambda t, d, o: (
        d
        + o["max_steps"]
        * ((2 * o["num_candidates"] + 1) * o["bsize"] + o["num_candidates"] + 1 + d)
        + (o["num_candidates"] + 1) * t
        + d
    ),
    "gepa": lambda t, d, o: o["max_metric_calls"] * 4 // 3 + 2 * d,
}


@pytest.mark.parametrize("method", METHODS)
def test_it_finds_the_better_prompt_in_the_calls_of_the_docs_and_held_out_agreement_rises(
    method, fresh_judge, tmp_path
):
    judge = fresh_judge()
    before = kappa(judge)
    result = search(judge, method, log=tmp_path / "log.jsonl")
    assert result.dev_gain_after > result.dev_gain_before
    assert result.dev_gain_after <= result.gain_if_perfect
    assert result.stopped_by == ""
    assert result.calls <= BOUNDS[method](len(TRAIN), len(DEV), OPTIONS[method] | SMALL[method])
    assert judge.judge.demos == []  # the judge itself is as it was
    prompt = result.prompts["judge"]
    if method in RULES:
        assert RULE in prompt.instructions
        assert result.dev_gain_after == pytest.approx(result.gain_if_perfect)
    else:
        assert prompt.instructions == judge.judge.signature.instructions
        assert prompt.demos
    fitted = judge.copy_with_fit(judge_file(judge, result))
    assert kappa(fitted) > before + 0.3

    rows = read_rows(tmp_path / "log.jsonl")
    assert len(rows) == result.n_candidates
    assert rows[0]["gain"] == result.dev_gain_before
    assert max(row["gain"] for row in rows) == result.dev_gain_after
    assert all(row["n"] == len(DEV) for row in rows)
    assert all(a["calls"] < b["calls"] for a, b in pairwise(rows))


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_threads_change_neither_the_steps_nor_what_is_found(method, server, fresh_judge):
    results, asked = [], []
    for threads in (1, 8):
        server.clear()
        results.append(search(fresh_judge(), method, threads=threads, seed=3))
        asked.append(sorted(json.dumps(r.body, sort_keys=True) for r in server.requests))
    assert results[0] == results[1]
    assert asked[0] == asked[1]


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize("method", METHODS)
def test_the_budget_is_kept_to_the_call_and_the_best_prompt_scored_in_full_is_kept(
    method, threads, server, fresh_judge
):
    whole = search(fresh_judge(), method)
    for max_calls in (len(DEV) - 1, len(DEV), (len(DEV) + whole.calls) // 2, whole.calls - 1):
        server.clear()
        result = search(fresh_judge(max_calls=max_calls), method, threads=threads)
        assert len(server.requests) == result.calls == max_calls
        assert result.stopped_by == "budget"
        if max_calls < len(DEV):
            assert (result.dev_gain_before, result.dev_gain_after) == (None, None)
            assert result.n_candidates == 0
            continue
        assert result.dev_gain_before == whole.dev_gain_before
        assert result.dev_gain_before <= result.dev_gain_after <= whole.dev_gain_after
        assert 1 <= result.n_candidates <= whole.n_candidates


def test_what_proposes_instructions_may_be_another_model_with_a_budget_of_its_own(server):
    judge = support_judge(server.base_url)
    with MockServer(stamp_brain) as other:
        writer = support_judge(other.base_url, max_tokens=700).backend
        result = search(judge, "gepa", prompt_model=writer)
        assert RULE in result.prompts["judge"].instructions
        assert all("response_format" in request.body for request in server.requests)
        assert all(request.body["max_tokens"] == 700 for request in other.requests)
        assert result.calls == len(server.requests) + len(other.requests)


def test_replies_that_are_no_judgements_earn_least_and_count_as_failed(server, tmp_path):
    def brain(body):
        has_rule = any(RULE in message["content"] for message in body["messages"])
        return (
            "I would rather not." if has_rule and "response_format" in body else stamp_brain(body)
        )

    server.brain = brain
    result = search(support_judge(server.base_url, reasks=0), "mipro", log=tmp_path / "log")
    assert result.prompts["judge"].instructions != RULE
    rows = read_rows(tmp_path / "log")
    failed = [row for row in rows if row["instructions"] == RULE]
    assert failed
    assert all((row["gain"], row["n_failed"]) == (0, len(DEV)) for row in failed)
    bodies = [json.dumps(r.body) for r in server.requests if RULE in json.dumps(r.body)]
    judged = [body for body in bodies if "response_format" in body]
    assert len(judged) == len(set(judged))  # a failure is not asked about again


def test_feedback_tells_the_reflecting_model_what_people_said_and_why(server):
    search(support_judge(server.base_url), "gepa")
    feedback = "\n".join(
        request.body["messages"][-1]["content"]
        for request in server.requests
        if "response_format" not in request.body
    )
    assert "Wrong, it is" in feedback
    assert "The annotator's reason: the stamp says so" in feedback


def test_a_lost_endpoint_ends_it_with_the_error_and_no_score(server, tmp_path):
    server.faults = lambda index, body: Status(500) if index >= len(DEV) else None
    with pytest.raises(EndpointLost):
        search(support_judge(server.base_url, retries=0), "bootstrap", log=tmp_path / "log")
    assert len((tmp_path / "log").read_text(encoding="utf-8").splitlines()) == 1


def test_a_proposal_that_cannot_be_read_does_not_end_the_search(server):
    """A small model often writes one: the others are searched, and the best is found."""
    n_proposals = 0

    def brain(body):
        nonlocal n_proposals
        if "response_format" in body or "proposed_instruction" not in json.dumps(body["messages"]):
            return stamp_brain(body)
        n_proposals += 1
        return "no idea" if n_proposals <= 2 else stamp_brain(body)

    server.brain = brain
    judge = support_judge(server.base_url)
    result = search(judge, "mipro")
    assert n_proposals > 2
    assert result.dev_gain_after == pytest.approx(result.gain_if_perfect)
    assert RULE in result.prompts["judge"].instructions


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "copro"}, "unknown method 'copro', wanted one of few-shot, bootstrap"),
        ({"method": "gepa", "options": {"k": 3}}, "--method gepa has no option 'k', only max_"),
        ({"method": "few-shot", "options": {"k": 0}}, "few-shot: k is 0, wanted at least 1"),
        (
            {"method": "mipro", "options": {"num_trials": "5"}},
            "num_trials is '5', wanted at least 1",
        ),
        ({"method": "simba", "options": {"bsize": 26}}, "simba wants 26 calls to train on"),
        ({"method": "few-shot", "threads": 0}, "threads must be 1 or more, got 0"),
        ({"method": "few-shot", "dev": []}, "wanted items to train on and to choose on, got 25, 0"),
        ({"method": "few-shot", "dev": stamped(1)}, "all 1 labels are the same"),
    ],
)
def test_what_cannot_work_is_refused_before_a_call_is_made(settings, message, server):
    data = {"train": TRAIN, "dev": DEV}
    with pytest.raises(ValueError, match=message):
        optimise(support_judge(server.base_url), **(data | settings))
    assert server.requests == []


def test_a_judge_without_a_language_model_has_no_prompt_to_better():
    with pytest.raises(ValueError, match="so it needs a language model"):
        optimise(SupportJudge("lexical"), TRAIN, DEV, method="few-shot")


@pytest.mark.parametrize(("method", "package"), [("mipro", "optuna"), ("gepa", "gepa")])
def test_a_missing_package_is_named_with_what_to_install(method, package, server, monkeypatch):
    monkeypatch.setattr("nuggetjudge.calibration.prompts.optimisers.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=f"needs {package}: pip install"):
        search(support_judge(server.base_url), method)
    assert server.requests == []


# An optimiser that was killed goes on where it was, and what it leaves behind is data.
TESTS = Path(__file__).resolve().parents[1]
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
print(*labels_of(judge.copy_with_fit(read_judge_file(Path(sys.argv[2])))))
"""


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
        sys.executable, str(TESTS / "stamped_judge.py"), server.base_url, method, str(tmp_path),
    ]  # fmt: skip
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
        rows = read_rows(path)
        return [row | {"calls": None} for row in rows]

    assert steps(tmp_path / "log.jsonl") == steps(tmp_path / "whole.jsonl")


@pytest.mark.parametrize("method", [pytest.param("bootstrap", marks=pytest.mark.slow), "simba"])
def test_a_judge_file_judges_as_found_in_a_process_that_cannot_unpickle(method, server, tmp_path):
    judge = support_judge(server.base_url)
    file = judge_file(judge, search(judge, method))
    (tmp_path / "judge.json").write_text(file.text(), encoding="utf-8")
    server.clear()
    expected = labels_of(judge.copy_with_fit(file))
    bodies = [request.body for request in server.requests]
    server.clear()
    command = [
        sys.executable, "-c", JUDGE_WITHOUT_PICKLE, server.base_url, str(tmp_path / "judge.json"),
    ]  # fmt: skip
    ran = subprocess.run(command, env=environment(3), capture_output=True, text=True, check=True)
    assert ran.stdout.split() == expected
    assert expected != labels_of(judge)
    sent = [json.dumps(request.body) for request in server.requests[: len(bodies)]]
    assert sorted(sent) == sorted(map(json.dumps, bodies))
