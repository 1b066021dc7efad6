"""Retrieve, generate, judge by one config."""

import asyncio
import json
import shutil
import threading
from pathlib import Path
from typing import get_args

import pytest
from mock_server import MockServer, Refusal, Status, default_brain, input_of, schema_of

from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.programs.analysis.compare import compare
from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines.indexing import Indexes
from nuggetjudge.programs.pipelines.judged_steps import MENDED, JudgedStep
from nuggetjudge.programs.pipelines.retrieve import retrieve
from nuggetjudge.programs.pipelines.searching import PipelineCorpus
from nuggetjudge.programs.run import judge_collection, plan
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.relevance import read_trec_run


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.tsv").write_text(
        "1\twhy do tides rise\n2\thow do bees sing\n", encoding="utf-8"
    )
    texts = {
        "a": "Tides rise: why do tides rise? The moon.", "b": "Tides rise higher in bays.",
        "c": "Bees sing by beating their wings.", "d": "Bees sing louder when it is warm.",
    }  # fmt: skip
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def config_of(folder, **more):
    return load_config(
        None,
        {
            "program": ["support"], "data.topics": folder / "topics.tsv",
            "data.passages": [folder / "passages.jsonl"],
            "pipelines": {"one": "bm25 1", "two": "bm25 2"}, "generate": {"k": 2},
            "run.out": folder / "out", "run.cache": folder / "cache", **more,
        },
    )  # fmt: skip


def test_pipelines_are_compared_from_passages_to_scores(folder):
    result = judge_collection(config_of(folder))
    assert result.is_complete
    runs = {row.run_id for row in result.scores}
    assert runs == {"one", "two"}
    answers = [
        json.loads(line)
        for line in (folder / "out/generated/answers/one.jsonl").open(encoding="utf-8")
    ]
    assert [answer["references"] for answer in answers] == [["a"], ["c"]]
    assert (folder / "out/contexts/two.run").is_file()


def test_started_again_it_gives_the_same_bytes(folder):
    judge_collection(config_of(folder))
    before = (folder / "out/scores.jsonl").read_bytes()
    judge_collection(config_of(folder))
    assert (folder / "out/scores.jsonl").read_bytes() == before


def of_server(server):
    return {"model": "openai/mock", "api_base": server.base_url, "retries": 0}


def asks_for_an_order(body):
    return "order" in schema_of(body)["properties"]


def answers(body):
    """Orders two passages, writes answers, calls all supported, and says something to the rest."""
    if asks_for_an_order(body):
        return {"order": [1, 2]}
    if "answer" in schema_of(body)["properties"]:
        return {"answer": [{"text": "Tides rise.", "citations": [1]}]}
    if "verdict" in schema_of(body)["properties"]:
        return {"verdict": "full"}
    return default_brain(body)


def test_a_reranking_that_could_not_be_made_stops_the_loop_before_an_answer_is_written(folder):
    """Both topics' calls fail; where as many are allowed to, the loop goes on."""
    with MockServer(answers) as server:
        server.faults = lambda index, body: Status(500) if asks_for_an_order(body) else None
        more = {"pipelines": {"one": "bm25 2, listwise"}, "models.default": of_server(server)}
        with pytest.raises(InputError, match="contexts: 2 calls of rerankers failed"):
            judge_collection(config_of(folder, **more))
        assert len(server.requests) == 2
        assert not (folder / "out/generated").exists()
        assert not (folder / "out/scores.jsonl").exists()
        judge_collection(config_of(folder, **more, **{"run.allow_missing": 1.0}))
    assert (folder / "out/scores.jsonl").exists()


def test_a_limit_that_is_met_in_the_rerankers_says_so(folder):
    with MockServer(answers) as server:
        more = {"models.default": of_server(server), "run.max_calls": 1}
        with pytest.raises(InputError, match="rerankers: stopped at"):
            judge_collection(config_of(folder, pipelines={"one": "bm25 2, listwise"}, **more))
        assert len(server.requests) == 1
    assert not (folder / "out/scores.jsonl").exists()


def means(result, measure):
    return {r.run_id: r for r in result.scores if (r.topic_id, r.measure) == ("all", measure)}


LOST = {  # a fault of each request for an answer, and the reason that it leaves
    "by an error": (Status(500), "error"),
    "by a refusal": (Refusal(), "refused"),
}


@pytest.mark.parametrize(("fault", "reason"), LOST.values(), ids=LOST.keys())
def test_an_answer_that_could_not_be_made_is_unjudged_and_no_zero(folder, fault, reason):
    """The first of four; all others support their one sentence in full."""
    with MockServer(answers) as server:
        server.faults = lambda index, body: fault if index == 0 else None
        result = judge_collection(config_of(folder, **{"models.default": of_server(server)}))
        whole = config_of(folder, **{"models.default": of_server(server)})
        assert not result.is_complete
        assert result.manifest["unjudged"] == {"answers": 1}
        assert result.manifest["unjudged_by_reason"] == {reason: 1}
        assert result.manifest["share_missing"] == 1 / 4
        scores = means(result, "support_recall")
        lost, other = scores["one"], scores["two"]
        assert (lost.value, lost.low, lost.high) == (
            other.value, other.low / 2, 1 / 2 + other.value / 2,
        )  # fmt: skip
        assert (lost.n_topics, lost.n_unjudged, other.n_topics, other.n_unjudged) == (1, 1, 2, 0)
        assert score_path(result.folder, Problems()) == result.scores

        server.faults = None
        n = len(server.requests)
        again = judge_collection(whole)
        assert len(server.requests) == n + 1  # the answer; its sentence stands in the cache
    assert again.is_complete
    row = means(again, "support_recall")["one"]
    assert lost.low <= row.value == row.low <= lost.high


def test_comparisons_and_corrections_know_of_an_answer_that_was_not_made(folder):
    """The first answer of run `one`: its topic is no zero, and weighs as much as before."""
    with MockServer(answers) as server:
        more = {"models.default": of_server(server), "run.cache": False}
        server.faults = lambda index, body: Refusal() if index == 0 else None
        part = judge_collection(config_of(folder, **more))
    [[run, topic, _]] = part.manifest["data"]["failed"]
    items = read_items(part.folder, "support", Problems())
    at = items.cells.index((topic, run, "", ""))
    assert (items.labels[at], items.runs[at]) == (None, "one")
    for measure in items.measures:
        of_one = [w for w, r in zip(measure.weights, items.runs, strict=True) if r == "one"]
        assert sum(of_one) == pytest.approx(1.0)
        assert measure.weights[at] == pytest.approx(1 / 2)
    comparison = compare_runs([part.folder], Problems(), measures=["support_recall"])
    of_run = {r["run_id"]: r for r in comparison["measures"]["support_recall"]["runs"]}
    assert (of_run["one"]["n_topics"], of_run["two"]["n_topics"]) == (1, 2)
    assert of_run["one"]["mean"] == of_run["two"]["mean"]
    judges = compare(part.folder, part.folder, Problems(), way="judges")["ranking"]
    rows = {row["run_id"]: row["score"] for row in judges["support_recall"]["scores"]}
    assert rows["one"] == rows["two"]


def test_answers_that_may_be_missing_end_complete(folder):
    with MockServer(answers) as server:
        server.faults = lambda index, body: Status(500) if index == 0 else None
        more = {"models.default": of_server(server)}
        result = judge_collection(config_of(folder, **more, **{"run.allow_missing": 0.25}))
        assert result.manifest["data"]["answers"] == 3
        assert result.is_complete
        server.faults = lambda index, body: Status(500)
    assert not judge_collection(config_of(folder, **more, **{"run.allow_missing": 0.2})).is_complete


def test_a_limit_that_is_met_in_the_answers_leaves_the_others_unjudged(folder):
    with MockServer(answers) as server:
        more = {"models.default": of_server(server), "run.max_calls": 3}
        result = judge_collection(config_of(folder, **more))
        assert len(server.requests) == 3
    assert result.manifest["limit_reached"] == "max_calls 3"
    assert not result.is_complete
    assert result.manifest["unjudged"] == {"answers": 1, "support": 3}
    for row in means(result, "support_recall").values():
        assert (row.value, row.low, row.high) == (None, 0.0, 1.0)


def test_where_no_answer_could_be_made_the_runs_have_rows_without_a_value(folder):
    with MockServer(answers) as server:
        server.faults = lambda index, body: Refusal()
        result = judge_collection(config_of(folder, **{"models.default": of_server(server)}))
    for row in means(result, "support_recall").values():
        assert (row.value, row.low, row.high, row.n_unjudged) == (None, 0.0, 1.0, 2)


def test_a_dry_run_counts_all_three_parts_and_writes_nothing(folder):
    estimates = {estimate.judge: estimate.calls for estimate in plan(config_of(folder))}
    assert estimates["answer_writer"] == 4
    assert estimates["support"] > 0
    assert not (folder / "out").exists()


def test_a_dry_run_prices_rerankers_in_full_and_only_what_goes_into_batches_at_half(folder):
    price = {"input": 100.0, "output": 100.0}
    entry = {"model": "openai/mock", "api_base": "http://127.0.0.1:9/v1", "price": price}
    more = {"models.default": entry, "pipelines": {"one": "bm25 2, listwise"}}
    cost = {
        executor: {row.judge: row.cost for row in plan(config_of(folder, **more, **by))}
        for executor, by in (("local", {}), ("batch", {"run.executor": "batch"}))
    }
    assert cost["batch"].keys() == {"listwise", "answer_writer", "support"}
    assert cost["batch"]["listwise"] == cost["local"]["listwise"] > 0
    for judge in ("answer_writer", "support"):
        assert cost["batch"][judge] == pytest.approx(cost["local"][judge] / 2)


def test_a_limit_is_one_for_the_whole_loop(folder):
    """4 answers leave 1 of 5 calls for the judging, which needs 2."""
    with MockServer(answers) as server:
        more = {"models.default": of_server(server), "run.max_calls": 5}
        result = judge_collection(config_of(folder, **more))
        assert len(server.requests) == 5
    assert not result.is_complete
    assert result.manifest["this_time"]["requests"] == 5
    files = [folder / "out" / name / "manifest.json" for name in ("contexts", "generated")]
    parts = [json.loads(file.read_bytes())["this_time"] for file in files]
    assert [part["requests"] for part in parts] == [0, 4]


def test_a_topic_that_a_pipeline_finds_nothing_for_has_no_answer_and_scores_0(folder):
    with (folder / "topics.tsv").open("a", encoding="utf-8") as stream:
        stream.write("3\tzebra\n")
    result = judge_collection(config_of(folder))
    [mean] = [
        row
        for row in result.scores
        if (row.run_id, row.topic_id, row.measure) == ("one", "all", "support_recall")
    ]
    assert (mean.value, mean.n_topics) == (pytest.approx(2 / 3), 3)


def test_what_judging_lacks_is_told_before_anything_is_asked(folder):
    with MockServer() as server:
        model = {"models.default": of_server(server)}
        lost = {"program": ["nuggets"], "data.nuggets": folder / "nowhere.jsonl"}
        with pytest.raises(InputError, match=r"nowhere\.jsonl"):
            judge_collection(config_of(folder, **model, **lost))
        bare = config_of(folder, **model).model_copy()
        bare.model_fields_set.discard("generate")
        with pytest.raises(InputError, match="a section generate"):
            judge_collection(bare)
        assert not server.requests


@pytest.mark.parametrize("name", ["contexts", "generated", "generated/answers"])
def test_no_link_in_the_results_folder_is_followed(name, folder, tmp_path):
    if "/" in name:
        judge_collection(config_of(folder))
        shutil.rmtree(folder / "out" / name)
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (folder / "out" / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / "out" / name).symlink_to(theirs)
    with pytest.raises(InputError, match=f"{name}: is a link, and links are not followed"):
        judge_collection(config_of(folder))
    assert list(theirs.iterdir()) == []


# A call of a reranking judge without a judgement changes nothing, and is counted.
PASSAGES = {"a": "dam dam dam", "b": "dam dam clay", "c": "dam clay rock"}
BY_BM25 = ["a", "b", "c"]
COVERAGE = {"weight": 0.0, "questions": "given"}


@pytest.fixture
def judged_steps_folder(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\n", encoding="utf-8")
    rows = [json.dumps({"docid": name, "text": text}) for name, text in PASSAGES.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    (tmp_path / "questions.jsonl").write_text(
        '{"id": "t", "subquestions": ["why?", "when?"]}\n', encoding="utf-8"
    )
    return tmp_path


def ran(judged_steps_folder, pipeline, server, **more):
    """The passages of t, and the manifest."""
    model = {"model": "openai/mock", "api_base": server.base_url, "retries": 0, "reasks": 0}
    given = {
        "data.topics": judged_steps_folder / "topics.tsv",
        "data.passages": [judged_steps_folder / "passages.jsonl"],
        "data.questions": judged_steps_folder / "questions.jsonl",
        "models.default": model,
        "run.cache": False,
    }
    of_several = isinstance(pipeline, dict)
    given["pipelines" if of_several else "retrieve"] = pipeline
    out = judged_steps_folder / ("runs" if of_several else "a.run")
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
def test_a_step_orders_passages_as_its_replies_say(judged_steps_folder, name):
    settings, replies, order, calls = SUCCEEDED[name]
    with MockServer(replies) as server:
        ranking, manifest = ran(judged_steps_folder, ["bm25", {name.split()[0]: settings}], server)
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
def test_a_step_that_no_call_answers_leaves_the_order_and_counts_each(
    judged_steps_folder, step, calls
):
    with MockServer() as server:
        server.faults = lambda index, body: Status(500)
        ranking, manifest = ran(judged_steps_folder, ["bm25", step], server)
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
    judged_steps_folder, order, expected, failed, counts
):
    with MockServer(lambda body: {"order": order}) as server:
        ids, manifest = ran(judged_steps_folder, "bm25, listwise", server)
    assert ids == expected
    assert (manifest["asked"], manifest["failed"]) == ({"listwise": 1}, failed)
    assert manifest["counts"] == counts


def test_a_number_that_no_passage_of_a_set_has_leaves_the_first_in_its_place(judged_steps_folder):
    with MockServer(lambda body: {"best": 9}) as server:
        ranking, manifest = ran(
            judged_steps_folder, ["bm25", {"setwise": {"top": 2, "size": 2}}], server
        )
    assert ranking == BY_BM25
    assert manifest["failed"] == {"setwise": 3}


def test_a_window_without_a_reply_keeps_its_order_and_the_next_is_asked(judged_steps_folder):
    """The window at the back fails; the one before it, of a and b, is turned round."""
    with MockServer(lambda body: {"order": [2, 1]}, faults=[Status(500)]) as server:
        step = {"listwise": {"window": 2, "stride": 1}}
        ranking, manifest = ran(judged_steps_folder, ["bm25", step], server)
    assert ranking == ["b", "a", "c"]
    assert (manifest["asked"], manifest["failed"]) == ({"listwise": 2}, {"listwise": 1})


def test_a_rating_that_fails_adds_nothing_and_the_others_stand(judged_steps_folder):
    """b is rated for why? alone, c for when? alone, so c adds to b, and a nothing."""
    lost = {"dam dam clay": "when?", "dam clay rock": "why?"}

    def fault(index, body):
        given = input_of(body)
        return Status(500) if lost.get(given["context"]) == given["question"] else None

    def earned(body):
        return {"grade": 5 if input_of(body)["context"] in lost else 0}

    with MockServer(earned) as server:
        server.faults = fault
        ranking, manifest = ran(judged_steps_folder, ["bm25", {"coverage": COVERAGE}], server)
    assert ranking == ["b", "c", "a"]
    assert (manifest["asked"], manifest["failed"]) == ({"ratings": 6}, {"ratings": 2})


def test_steps_that_pipelines_share_are_done_once(judged_steps_folder):
    """Without a cache, which would hide that a window is asked about twice."""
    with MockServer(lambda body: {"order": [3, 2, 1]}) as server:
        shared = ["bm25 3", "listwise"]
        ranking, manifest = ran(
            judged_steps_folder, {"one": shared, "two": [*shared, "cut 2"]}, server
        )
        assert len(server.requests) == 1
    assert ranking == ["c", "b", "a"]
    assert manifest["asked"] == {"listwise": 1}
    assert [about["passages"] for about in manifest["runs"].values()] == [3, 2]


@pytest.mark.parametrize("at_once", [1, 2])
def test_as_many_topics_are_asked_about_at_once_as_run_concurrency_says(
    judged_steps_folder, at_once
):
    (judged_steps_folder / "topics.tsv").write_text("t\tdam\nu\tclay\n", encoding="utf-8")
    with MockServer(lambda body: {"order": [2, 1]}, latency_s=0.5) as server:
        ran(judged_steps_folder, "bm25, listwise", server, **{"run.concurrency": at_once})
        first, second = server.requests
    assert (second.started_s < first.finished_s) is (at_once == 2)


def test_a_reranker_whose_model_gives_nothing_ends_after_five_calls_and_writes_no_run(
    judged_steps_folder,
):
    rows = [json.dumps({"docid": str(i), "text": f"dam {i}"}) for i in range(9)]
    (judged_steps_folder / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    with MockServer() as server:
        server.faults = lambda index, body: Status(500)
        with pytest.raises(EndpointUnusable, match="none of the first 5 judgements"):
            ran(judged_steps_folder, ["bm25", {"listwise": {"window": 2, "stride": 1}}], server)
        assert len(server.requests) == 5
    assert not (judged_steps_folder / "a.run").exists()


# What agents search in a run: opened once, and nobody waits for that but who searches.
DEMO = Path(__file__).resolve().parents[3] / "tests" / "collection"


@pytest.fixture
def corpus():
    config = load_config(None, {"data.passages": [DEMO / "passages.jsonl"]})
    return PipelineCorpus(config, config.evidence.pipeline)


def test_requests_go_on_while_an_index_is_made(corpus, monkeypatch):
    others, opened, opens = threading.Event(), [], Indexes.open

    def slow(indexes, step):
        assert others.wait(10), "the loop stood still"
        opened.append(threading.current_thread())
        return opens(indexes, step)

    monkeypatch.setattr(Indexes, "open", slow)

    async def work():
        async def other():
            others.set()

        first, second, _ = await asyncio.gather(
            corpus.search("bridges"), corpus.search("bridges"), other()
        )
        assert first == second != []
        return threading.current_thread()

    loop = asyncio.run(work())
    made = [thread for thread in opened if thread is not loop]
    assert len(made) == 1


def test_an_index_that_cannot_be_made_ends_every_search(corpus, monkeypatch):
    def broken(indexes, step):
        raise InputError("no index")

    monkeypatch.setattr(Indexes, "open", broken)
    for _ in range(2):
        with pytest.raises(InputError, match="no index"):
            asyncio.run(corpus.search("bridges"))
