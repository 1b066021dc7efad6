"""Retrieve, generate, judge by one config."""

import json
import shutil

import pytest
from mock_server import MockServer, Refusal, Status, default_brain, schema_of

from nuggetjudge.programs.analysis.compare import compare
from nuggetjudge.programs.analysis.compare_runs import compare_runs
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.run import judge_collection, plan
from nuggetjudge.programs.scoring.human_labels import read_items
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.tsv").write_text(
        "1\twhy do tides rise\n2\thow do bees sing\n", encoding="utf-8"
    )
    texts = {
        "a": "Tides rise: why do tides rise? The moon.",
        "b": "Tides rise higher in bays.",
        "c": "Bees sing by beating their wings.",
        "d": "Bees sing louder when it is warm.",
    }
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows), encoding="utf-8")
    return tmp_path


def config_of(folder, **more):
    return load_config(
        None,
        {
            "program": ["support"],
            "data.topics": folder / "topics.tsv",
            "data.passages": [folder / "passages.jsonl"],
            "pipelines": {"one": "bm25 1", "two": "bm25 2"},
            "generate": {"k": 2},
            "run.out": folder / "out",
            "run.cache": folder / "cache",
            **more,
        },
    )


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
        with pytest.raises(InputError, match="contexts: 2 calls of rerankers gave nothing"):
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
            other.value,
            other.low / 2,
            1 / 2 + other.value / 2,
        )
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
    [[run, topic, _]] = part.manifest["data"]["not_made"]
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
    with pytest.raises(InputError, match=f"{name}: is a link, which is not followed"):
        judge_collection(config_of(folder))
    assert list(theirs.iterdir()) == []
