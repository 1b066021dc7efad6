"""Retrieve, generate, judge by one config."""

import json

import pytest
from mock_server import MockServer, Status, default_brain, schema_of

from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.run import judge_collection, plan
from nuggetjudge.records.reading.problems import InputError


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


def test_an_answer_that_could_not_be_made_stops_the_loop_before_it_is_scored(folder):
    def is_answer(body):
        return "verdict" not in schema_of(body)["properties"]

    with MockServer() as server:
        server.faults = lambda index, body: Status(500) if is_answer(body) else None
        entry = {"model": "openai/mock", "api_base": server.base_url, "retries": 0}
        config = config_of(folder, **{"models.default": entry})
        with pytest.raises(InputError, match="4 answers could not be made"):
            judge_collection(config)
        assert not (folder / "out/scores.jsonl").exists()


def of_server(server):
    return {"model": "openai/mock", "api_base": server.base_url, "retries": 0}


def asks_for_an_order(body):
    return "order" in schema_of(body)["properties"]


def answers(body):
    """Orders two passages, writes answers, and says something to everything else."""
    if asks_for_an_order(body):
        return {"order": [1, 2]}
    if "answer" in schema_of(body)["properties"]:
        return {"answer": [{"text": "Tides rise.", "citations": [1]}]}
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


LIMITS = {
    "in the rerankers": (1, "rerankers: stopped at"),
    "in the answers": (3, "answers: stopped at"),
}


@pytest.mark.parametrize(("most", "told"), LIMITS.values(), ids=LIMITS.keys())
def test_a_limit_that_is_met_before_the_judging_says_where(folder, most, told):
    with MockServer(answers) as server:
        more = {"models.default": of_server(server), "run.max_calls": most}
        with pytest.raises(InputError, match=told):
            judge_collection(config_of(folder, pipelines={"one": "bm25 2, listwise"}, **more))
        assert len(server.requests) == most
    assert not (folder / "out/scores.jsonl").exists()


def test_answers_that_may_be_missing_do_not_stop_the_loop(folder):
    def brain(body):
        if "answer" in schema_of(body)["properties"]:
            return {"answer": [{"text": "Tides rise.", "citations": [1]}]}
        return default_brain(body)

    with MockServer(brain) as server:
        server.faults = lambda index, body: Status(500) if index == 0 else None
        more = {"models.default": of_server(server), "run.allow_missing": 0.25}
        result = judge_collection(config_of(folder, **more))
    assert result.manifest["data"]["answers"] == 3


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
