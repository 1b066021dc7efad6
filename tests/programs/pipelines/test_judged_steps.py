"""A call of a reranking judge without a judgement changes nothing, and is counted."""

import json
from typing import get_args

import pytest
from mock_server import MockServer, Status, input_of

from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.judged_steps import MENDED, JudgedStep
from nuggetjudge.programs.pipelines.retrieve import retrieve
from nuggetjudge.records.reading.problems import Problems
from nuggetjudge.records.relevance import read_trec_run

PASSAGES = {"a": "dam dam dam", "b": "dam dam clay", "c": "dam clay rock"}
BY_BM25 = ["a", "b", "c"]
COVERAGE = {"weight": 0.0, "questions": "given"}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\n", encoding="utf-8")
    rows = [json.dumps({"docid": name, "text": text}) for name, text in PASSAGES.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "t", "subquestions": ["why?", "when?"]}\n', encoding="utf-8"
    )
    return tmp_path


def ran(folder, pipeline, server, **more):
    """The passages of t, and the manifest."""
    model = {"model": "openai/mock", "api_base": server.base_url, "retries": 0, "reasks": 0}
    given = {
        "data.topics": folder / "topics.tsv",
        "data.passages": [folder / "passages.jsonl"],
        "data.questions": folder / "questions.jsonl",
        "models.default": model,
        "run.cache": False,
    }
    of_several = isinstance(pipeline, dict)
    given["pipelines" if of_several else "retrieve"] = pipeline
    out = folder / ("runs" if of_several else "a.run")
    manifest = retrieve(load_config(None, {**given, **more}), out)
    run = out / "one.run" if of_several else out
    return list(read_trec_run(run, Problems())["t"].passage_ids), manifest


def rate(body):
    """b answers why? and c when?; a answers nothing."""
    given = input_of(body)
    if "context" not in given:
        return {"kind": "complex", "subquestions": ["why?", "when?"]}
    answers = {PASSAGES["b"]: "why?", PASSAGES["c"]: "when?"}
    return {"grade": 5 if answers.get(given["context"]) == given["question"] else 0}


def pick_fewest_dams(body):
    passages = input_of(body)["passages"]
    return {"best": int(min(passages, key=lambda number: passages[number].count("dam")))}


# a step, its replies, the order that they give, worked out by hand, and the calls
SUCCEEDED = {
    "listwise": ({}, lambda body: {"order": [2, 3, 1]}, ["b", "c", "a"], {"listwise": 1}),
    "setwise": ({"top": 1, "size": 3}, pick_fewest_dams, ["c", "a", "b"], {"setwise": 1}),
    "coverage": (
        {"weight": 0.0},
        rate,
        ["b", "c", "a"],
        {"sub-questions": 1, "ratings": 6},
    ),
    "coverage of given sub-questions": (COVERAGE, rate, ["b", "c", "a"], {"ratings": 6}),
}


@pytest.mark.parametrize("name", SUCCEEDED)
def test_a_step_orders_passages_as_its_replies_say(folder, name):
    settings, replies, order, calls = SUCCEEDED[name]
    with MockServer(replies) as server:
        ranking, manifest = ran(folder, ["bm25", {name.split()[0]: settings}], server)
    assert ranking == order
    assert (manifest["asked"], manifest["failed"], manifest["counts"]) == (calls, {}, {})


def test_every_step_that_asks_a_judge_is_tested_with_replies_that_succeed():
    kinds = {get_args(step.model_fields["step"].annotation)[0] for step in get_args(JudgedStep)}
    assert kinds <= SUCCEEDED.keys()


# a step, and the calls that it makes: a heap of three, two at a time, is built by 2 and mended by 1
FAILED = {
    "listwise": ({"listwise": {"window": 2, "stride": 1}}, {"listwise": 2}),
    "setwise": ({"setwise": {"top": 2, "size": 2}}, {"setwise": 3}),
    "sub-questions": ({"coverage": {}}, {"sub-questions": 1}),
    "ratings": ({"coverage": COVERAGE}, {"ratings": 6}),
}


@pytest.mark.parametrize(("step", "calls"), FAILED.values(), ids=FAILED.keys())
def test_a_step_that_no_call_answers_leaves_the_order_and_counts_each(folder, step, calls):
    with MockServer() as server:
        server.faults = lambda index, body: Status(500)
        ranking, manifest = ran(folder, ["bm25", step], server)
    assert ranking == BY_BM25
    assert (manifest["asked"], manifest["failed"], manifest["counts"]) == (calls, calls, {})
    assert manifest["share_missing"] == 1.0


# what is said of three passages, their order, calls that failed, replies that were mended
REPLIES = {
    "a permutation": ([3, 1, 2], ["c", "a", "b"], {}, {}),
    "one passage twice, one lost": ([2, 2, 1], ["b", "a", "c"], {}, {MENDED: 1}),
    "a number that there is not": ([3, 9, 1, 2], ["c", "a", "b"], {}, {MENDED: 1}),
    "no passage at all": ([7, 8], BY_BM25, {"listwise": 1}, {}),
}


@pytest.mark.parametrize(
    ("order", "expected", "failed", "counts"), REPLIES.values(), ids=REPLIES.keys()
)
def test_a_reply_that_is_no_permutation_is_mended_where_it_can_be(
    folder, order, expected, failed, counts
):
    with MockServer(lambda body: {"order": order}) as server:
        ids, manifest = ran(folder, "bm25, listwise", server)
    assert ids == expected
    assert (manifest["asked"], manifest["failed"]) == ({"listwise": 1}, failed)
    assert manifest["counts"] == counts


def test_a_number_that_no_passage_of_a_set_has_leaves_the_first_in_its_place(folder):
    with MockServer(lambda body: {"best": 9}) as server:
        ranking, manifest = ran(folder, ["bm25", {"setwise": {"top": 2, "size": 2}}], server)
    assert ranking == BY_BM25
    assert manifest["failed"] == {"setwise": 3}


def test_a_window_without_a_reply_keeps_its_order_and_the_next_is_asked(folder):
    """The window at the back fails; the one before it, of a and b, is turned round."""
    with MockServer(lambda body: {"order": [2, 1]}, faults=[Status(500)]) as server:
        step = {"listwise": {"window": 2, "stride": 1}}
        ranking, manifest = ran(folder, ["bm25", step], server)
    assert ranking == ["b", "a", "c"]
    assert (manifest["asked"], manifest["failed"]) == ({"listwise": 2}, {"listwise": 1})


def test_a_rating_that_fails_adds_nothing_and_the_others_stand(folder):
    """b is rated for why? alone, c for when? alone, so c adds to b, and a nothing."""
    lost = {"dam dam clay": "when?", "dam clay rock": "why?"}

    def fault(index, body):
        given = input_of(body)
        return Status(500) if lost.get(given["context"]) == given["question"] else None

    def earned(body):
        return {"grade": 5 if input_of(body)["context"] in lost else 0}

    with MockServer(earned) as server:
        server.faults = fault
        ranking, manifest = ran(folder, ["bm25", {"coverage": COVERAGE}], server)
    assert ranking == ["b", "c", "a"]
    assert (manifest["asked"], manifest["failed"]) == ({"ratings": 6}, {"ratings": 2})


def test_steps_that_pipelines_share_are_done_once(folder):
    """Without a cache, which would hide that a window is asked about twice."""
    with MockServer(lambda body: {"order": [3, 2, 1]}) as server:
        shared = ["bm25 3", "listwise"]
        ranking, manifest = ran(folder, {"one": shared, "two": [*shared, "cut 2"]}, server)
        assert len(server.requests) == 1
    assert ranking == ["c", "b", "a"]
    assert manifest["asked"] == {"listwise": 1}
    assert [about["passages"] for about in manifest["runs"].values()] == [3, 2]


@pytest.mark.parametrize("at_once", [1, 2])
def test_as_many_topics_are_asked_about_at_once_as_run_concurrency_says(folder, at_once):
    (folder / "topics.tsv").write_text("t\tdam\nu\tclay\n", encoding="utf-8")
    with MockServer(lambda body: {"order": [2, 1]}, latency_s=0.5) as server:
        ran(folder, "bm25, listwise", server, **{"run.concurrency": at_once})
        first, second = server.requests
    assert (second.started_s < first.finished_s) is (at_once == 2)


def test_a_reranker_whose_model_gives_nothing_ends_after_five_calls_and_writes_no_run(folder):
    rows = [json.dumps({"docid": str(i), "text": f"dam {i}"}) for i in range(9)]
    (folder / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    with MockServer() as server:
        server.faults = lambda index, body: Status(500)
        with pytest.raises(EndpointUnusable, match="none of the first 5 judgements"):
            ran(folder, ["bm25", {"listwise": {"window": 2, "stride": 1}}], server)
        assert len(server.requests) == 5
    assert not (folder / "a.run").exists()
