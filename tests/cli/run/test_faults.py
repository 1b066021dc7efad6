"""One row of the fault table a test: each fault has its own outcome, and none becomes a score."""

import json
from dataclasses import dataclass
from typing import Any

import pytest
from json_lines import write_rows
from mock_server import (
    ContentFilter,
    Cut,
    EmptyContent,
    Fault,
    Hang,
    HtmlBody,
    MockServer,
    NotChatShape,
    OtherLabel,
    Prose,
    Refusal,
    Status,
    Supports,
    Truncated,
    input_of,
)

RETRIES, REASKS = 1, 1
CAPS = [
    *("--set", f"models.default.retries={RETRIES}"),
    *("--set", f"models.default.reasks={REASKS}"),
    *("--set", "models.default.timeout_s=1"),
]


@dataclass(frozen=True)
class Row:
    """A fault that one of the calls meets every time, and how that call must end."""

    fault: Fault
    reason: str
    requests: int  # for the call that meets it


ONCE, TWICE, RETRIED = 1, 1 + REASKS, 1 + RETRIES
SUPPORT = {
    "empty answer": Row(EmptyContent(""), "unparseable", TWICE),
    "null answer": Row(EmptyContent(None), "unparseable", TWICE),
    "refusal": Row(Refusal(), "refused", ONCE),
    "content filter": Row(ContentFilter(), "refused", ONCE),
    "truncated": Row(Truncated(), "truncated", ONCE),
    "prose": Row(Prose(), "unparseable", TWICE),
    "label that was not offered": Row(OtherLabel(), "unparseable", TWICE),
    "status 400": Row(Status(400), "error", ONCE),
    "status 429 for ever": Row(Status(429), "error", RETRIED),
    "429 that asks for an hour": Row(Status(429, retry_after="3600"), "error", ONCE),
    "status 500": Row(Status(500), "error", RETRIED),
    "hang": Row(Hang(30), "error", RETRIED),
    "connection cut": Row(Cut(), "error", RETRIED),
    "connection cut in the body": Row(Cut(in_body=True), "error", RETRIED),
    "HTML page": Row(HtmlBody(), "error", RETRIED),
    "other JSON": Row(NotChatShape(), "error", RETRIED),
}


def is_marked(body: dict[str, Any]) -> bool:
    """The one call that meets the fault: about kelp in a sentence, or in run one's answer."""
    asked = input_of(body)
    if "sentence" in asked:
        return "Kelp" in asked["sentence"]
    return "kelp bends with the tide" in asked["nuggets"].values() and "moon" in asked["answer"]


def always(fault):
    return lambda index, body: fault if is_marked(body) else None


def n_marked(server):
    return sum(is_marked(request.body) for request in server.requests)


@pytest.mark.parametrize("row", SUPPORT.values(), ids=SUPPORT)
def test_a_fault_leaves_one_citation_unjudged_until_it_is_gone(
    row, tide_server, run_tiny, tmp_path, rows_of
):
    tide_server.faults = always(row.fault)
    ran = run_tiny(tide_server, "support", *CAPS, "--quiet", "--json")
    assert ran.code == 3, ran.err
    assert "Traceback" not in ran.err
    (lost,) = rows_of(tmp_path / "out" / "unjudged.jsonl")
    cell = ("support", "t1", "one", 2, "p1")
    names = ("stage", "topic_id", "run_id", "sentence", "citation")
    assert tuple(lost[name] for name in names) == cell
    assert lost["reason"] == row.reason
    assert n_marked(tide_server) == row.requests
    assert len(tide_server.requests) == 5 + row.requests
    # Run one: full, partial and the lost one, which is no part of the mean: (1 + 0.5) / 2, between
    # (1 + 0.5 + 0) / 3 and (1 + 0.5 + 1) / 3. Run two is whole: (1 + 0.5 + 0) / 3.
    scores = {(r["run_id"], r["topic_id"], r["measure"]): r for r in ran.rows}
    for topic in ("t1", "all"):
        one, two = (scores[run, topic, "support_precision"] for run in ("one", "two"))
        assert (one["value"], one["n"], one["n_unjudged"]) == (0.75, 2, 1)
        assert (one["low"], one["high"]) == pytest.approx((0.5, 2.5 / 3))
        assert (two["value"], two["n"], two["n_unjudged"]) == (0.5, 3, 0)

    tide_server.faults = None
    tide_server.requests.clear()
    again = run_tiny(tide_server, "support", *CAPS, "--quiet", "--json")
    assert again.code == 0, again.err
    assert [is_marked(request.body) for request in tide_server.requests] == [True]
    assert_whole(again, tmp_path, rows_of)


@pytest.mark.parametrize(("status", "advice"), [(401, "api_key_env"), (404, "--model")])
def test_an_endpoint_that_nothing_can_reach_ends_the_run_with_advice(
    status, advice, tide_server, run_tiny, tmp_path, rows_of
):
    one_by_one = [*CAPS, "--set", "run.concurrency=1", "--quiet", "--json"]
    tide_server.faults = always(Status(status))
    ran = run_tiny(tide_server, "support", *one_by_one)
    assert (ran.code, ran.out) == (2, "")
    assert f"HTTP {status}" in ran.err
    assert advice in ran.err
    assert "Traceback" not in ran.err
    assert n_marked(tide_server) == 1
    assert not (tmp_path / "out" / "scores.jsonl").exists()

    assert [r.status for r in tide_server.requests] == [200, 200, status]
    tide_server.faults = None
    tide_server.requests.clear()
    again = run_tiny(tide_server, "support", *one_by_one)
    assert again.code == 0, again.err
    assert len(tide_server.requests) == 4
    assert_whole(again, tmp_path, rows_of)


def test_a_server_that_fails_from_the_first_on_ends_the_run_and_one_that_dies_does_not(
    judge, tide_server, tiny, tmp_path
):
    answer = [{"text": f"Tide number {i}.", "citations": [0]} for i in range(40)]
    row = {"run_id": "long", "topic_id": "t1", "topic": "tides", "references": ["p1"]}
    row |= {"response_length": 120, "answer": answer}
    (tiny / "long.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    tide_server.brain = lambda body: {"verdict": "full"}
    run = [
        *("run", "support", "--topics", tiny / "topics.tsv", "--runs", tiny / "long.jsonl"),
        *("--passages", tiny / "passages.jsonl", "--model", "hosted_vllm/mock"),
        *("--set", f"models.default.api_base={tide_server.base_url}", *CAPS, "--json"),
        *("--set", "models.default.retries=0", "--set", "run.concurrency=1", "--out", "out"),
    ]
    tide_server.faults = lambda index, body: Status(500)
    ran = judge(*run)
    assert (ran.code, ran.out) == (2, "")
    assert "none of the first 5 judgements of 'hosted_vllm/mock' got a reply" in ran.err
    assert len(tide_server.requests) == 5
    assert not (tmp_path / "out" / "scores.jsonl").exists()

    tide_server.requests.clear()
    tide_server.faults = lambda index, body: Status(500) if index else None
    ran = judge(*run)
    assert ran.code == 3, ran.err
    assert len(tide_server.requests) == 11
    assert "39 missing" in ran.err


def assert_whole(ran, tmp_path, rows_of):
    """The results of a run that nothing disturbed, counted by hand from the labels."""
    assert rows_of(tmp_path / "out" / "unjudged.jsonl") == []
    labels = [row["label"] for row in rows_of(tmp_path / "out" / "support.jsonl")]
    assert labels == ["full", "partial", "none"] * 2
    for row in ran.rows:
        if row["measure"] == "support_precision":
            assert (row["value"], row["n"], row["n_unjudged"]) == (0.5, 3, 0)
            assert row["low"] == row["high"] == 0.5


def test_where_nothing_arrived_stderr_says_why_first(run_tiny):
    with MockServer(faults=lambda number, body: Refusal()) as server:
        ran = run_tiny(server, "support", *CAPS)
    assert ran.code == 3
    (line,) = [line for line in ran.err.splitlines() if line.startswith("First of them: ")]
    assert "refused: " in line
    assert "I cannot help with that." in line


# A run that gets nothing from its model ends after a few tries, with the reason and no scores.
MANY = 60  # sentences to judge
ONE_BY_ONE = ("--set", "run.concurrency=1", "--set", "models.default.retries=0")
QUOTA = {"error": {"message": "You exceeded your quota.", "type": "insufficient_quota"}}


@pytest.fixture
def long(judge, tiny):
    """`long(url, ...)`: a support run over MANY sentences of one answer."""

    def run(url, *arguments, n=MANY):
        answer = [{"text": f"Tide number {i}.", "citations": [0]} for i in range(n)]
        row = {"run_id": "long", "topic_id": "t1", "topic": "tides", "references": ["p1"]}
        row |= {"response_length": 120, "answer": answer}
        (tiny / "long.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
        return judge(
            *("run", "support", "--topics", tiny / "topics.tsv", "--runs", tiny / "long.jsonl"),
            *("--passages", tiny / "passages.jsonl", "--model", "hosted_vllm/mock"),
            *("--set", f"models.default.api_base={url}", "--out", "out", "--quiet", *arguments),
        )

    return run


def full(body):
    return {"verdict": "full"}


def assert_ended(ran, folder, *messages):
    assert ran.code == 2, ran.err
    assert ran.out == ""
    assert "Traceback" not in ran.err
    for text in messages:
        assert text in ran.err
    assert not (folder / "out" / "scores.jsonl").exists()


@pytest.mark.parametrize(
    ("fault", "n_requests", "messages"),
    [
        (Status(401), 1, ("HTTP 401", "models.default.api_key_env (--set)")),
        (Status(403), 1, ("HTTP 403", "models.default.api_key_env (--set)")),
        (Status(404), 1, ("HTTP 404", "Check --model and --api-base")),
        (
            Status(429, body=QUOTA),
            1,
            ("You exceeded your quota.", "models.default.api_key_env (--set)"),
        ),
        (Status(429), 5, ("HTTP 429", "models.default.rpm (--set)")),
        (Status(500), 5, ("HTTP 500", "its log may say why")),
        (Status(400), 6, ("HTTP 400", "`judge doctor`")),
        (HtmlBody(), 5, ("not a chat completion", "ends in /v1")),
        (NotChatShape(), 5, ("not a chat completion", "ends in /v1")),
        (Prose(), 40, ("none of the first 20 replies", "wanted one JSON object", "doctor")),
        (Truncated(), 20, ("none of the first 20 replies", "models.default.max_tokens (--set)")),
    ],
    ids=repr,
)
def test_one_reason_from_the_first_on_ends_a_run(fault, n_requests, messages, long, tmp_path):
    with MockServer(brain=full, faults=lambda index, body: fault) as server:
        ran = long(server.base_url, *ONE_BY_ONE, "--set", "run.allow_missing=1")
        assert_ended(ran, tmp_path, *messages)
        assert len(server.requests) == n_requests


@pytest.mark.parametrize(
    ("refuses", "settings", "message"),
    [
        ({"temperature": False}, (), "Add --set models.default.temperature=null"),
        ({"system": False}, (), "Add --set models.default.system_role=user"),
        (
            {"max_tokens": False},
            ("max_tokens=99",),
            "models.default.max_tokens_name=max_completion_tokens",
        ),
        ({"seed": False}, ("seed=7",), "Add --set models.default.seed=null"),
        ({"schema": False}, (), "Add --set models.default.schema=json_object or none"),
        ({"logprobs": False}, ("logprobs=true",), "Add --set models.default.logprobs=false"),
    ],
)
def test_a_parameter_that_is_refused_is_named_with_its_setting(
    refuses, settings, message, long, tmp_path
):
    with MockServer(brain=full, supports=Supports(**refuses)) as server:
        sets = [part for each in settings for part in ("--set", f"models.default.{each}")]
        assert_ended(long(server.base_url, *ONE_BY_ONE, *sets), tmp_path, message)
        assert len(server.requests) <= 5


@pytest.mark.slow
def test_a_storm_that_passes_ends_nothing(long):
    with MockServer(
        brain=full, faults=lambda index, body: Status(503) if index < 24 else None
    ) as server:
        ran = long(server.base_url, "--set", "run.concurrency=16")
        assert ran.code == 0, ran.err
        assert len(server.requests) == 24 + MANY


def test_refusals_and_repeated_replies_are_no_fault_of_the_endpoint(long):
    with MockServer(faults=lambda index, body: Refusal()) as server:
        assert long(server.base_url, *ONE_BY_ONE).code == 3
        assert len(server.requests) == MANY


def test_a_run_that_goes_on_has_shown_that_its_model_answers(long, tmp_path):
    """What could not be judged before may be refused for what it holds: that ends nothing."""
    with MockServer(
        brain=full, faults=lambda index, body: Status(400) if index >= 40 else None
    ) as server:
        first = long(server.base_url, *ONE_BY_ONE)
        assert first.code == 3
        scores = (tmp_path / "out" / "scores.jsonl").read_bytes()
        again = long(server.base_url, *ONE_BY_ONE)
        assert again.code == 3, again.err
        assert len(server.requests) == MANY + 20 + 1  # one without a limit of the reply
        assert (tmp_path / "out" / "scores.jsonl").read_bytes() == scores


# What our own pipeline failed to make: told, counted, and no zero of the system.
QUESTIONS = {"t1": "what makes tides", "t2": "what sways bridges", "t3": "what do bees sing"}
STATED = {"t1": "support", "t2": "not_support", "t3": "not_support"}  # the nugget of each topic


def brain(body):
    asked = input_of(body)
    if "passages" in asked:
        return {"answer": [{"text": f"About {asked['question']}.", "citations": [1]}]}
    if "nuggets" in asked:
        return {"verdicts": {n: STATED[text[:2]] for n, text in asked["nuggets"].items()}}
    return {"verdict": "full"}


def no_answer_to_the_third(index, body):
    asked = input_of(body)
    return Refusal() if "passages" in asked and asked["question"] == QUESTIONS["t3"] else None


@pytest.fixture
def loop(tmp_path, judge):
    """Runs a closed loop over three topics, each with a nugget; the second time it goes on."""

    def rows(name, *objects):
        write_rows(tmp_path / name, objects)

    rows("topics.jsonl", *({"id": t, "title": text} for t, text in QUESTIONS.items()))
    rows("passages.jsonl", *({"id": f"p{t}", "text": text} for t, text in QUESTIONS.items()))
    rows(
        "nuggets.jsonl",
        *(
            {"qid": t, "query": text, "nuggets": [{"text": f"{t} told", "importance": "vital"}]}
            for t, text in QUESTIONS.items()
        ),
    )
    data = {name: f"{name}.jsonl" for name in ("topics", "passages", "nuggets")}
    config = {"program": ["nuggets", "support"], "data": data, "retrieve": "bm25 1"}
    config |= {"generate": {}, "run": {"out": "out"}}

    def run(server, *arguments):
        entry = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        text = json.dumps({**config, "models": {"default": entry}})
        (tmp_path / "loop.yaml").write_text(text, "utf-8")
        return judge("run", "loop.yaml", "--quiet", "--json", *arguments)

    return run


def means(ran):
    return {r["measure"]: r for r in ran.rows if r["topic_id"] == "all"}


def bounds(row):
    return tuple(round(row[name], 4) for name in ("value", "low", "high"))


def test_a_refused_answer_is_unjudged_and_what_may_be_missing_ends_with_0(loop, judge, tmp_path):
    with MockServer(brain, faults=no_answer_to_the_third) as server:
        ran = loop(server, "--set", "run.allow_missing=50%")
        assert ran.code == 0, ran.err
        assert "4 judged, 1 missing" in ran.err
        assert bounds(means(ran)["V_strict"]) == (0.5, 0.3333, 0.6667)  # and no .3333
        assert bounds(means(ran)["support_recall"]) == (1.0, 0.6667, 1.0)
        scored = judge("score", "out", "--json")
        assert scored.rows == ran.rows
        assert (
            loop(server, "--set", "run.allow_missing=20%").code == 3
        )  # of answers a third is missing
        assert loop(server).code == 3

        server.faults = None
        n = len(server.requests)
        whole = loop(server)
    assert (whole.code, len(server.requests)) == (0, n + 3)  # answer, nugget, citation
    for measure, row in means(ran).items():
        known = means(whole)[measure]["value"]
        assert row["low"] is None or row["low"] <= known <= row["high"]
    assert not (tmp_path / "out" / "unjudged.jsonl").read_text("utf-8")


def test_the_file_of_answers_tells_a_later_run_which_is_missing(loop, judge, tmp_path):
    """Judged by itself, and by a program that did not write it."""
    with MockServer(brain, faults=no_answer_to_the_third) as server:
        loop(server, "--set", "run.allow_missing=50%")
    answers = tmp_path / "out" / "generated" / "answers" / "bm25.jsonl"
    data = ("--topics", "topics.jsonl", "--nuggets", "nuggets.jsonl", "--runs", answers)
    ran = judge("run", "nuggets", *data, "--out", "later", "--quiet", "--json")
    assert ran.code == 3
    lost = [json.loads(line) for line in (tmp_path / "later/unjudged.jsonl").open(encoding="utf-8")]
    assert [(r["stage"], r["topic_id"], r["run_id"], r["reason"]) for r in lost] == [
        ("answers", "t3", "bm25", "refused")
    ]
    assert means(ran)["V_strict"]["n_unjudged"] == 1
    rows = [line for line in answers.read_text("utf-8").splitlines() if "failed" not in line]
    answers.write_text("\n".join(rows), "utf-8")  # as any other tool would leave it out
    ran = judge("run", "nuggets", *data, "--out", "foreign", "--quiet", "--json")
    assert ran.code == 0
    assert means(ran)["V_strict"]["n_unjudged"] == 0
