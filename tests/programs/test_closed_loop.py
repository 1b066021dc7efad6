"""Retrieve, generate, judge by one config."""

import json

import pytest
from mock_server import MockServer, Status, schema_of

from nuggetjudge.programs.config_file import load_config
from nuggetjudge.programs.run import judge_collection, plan
from nuggetjudge.records.problems import InputError


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.tsv").write_text("1\twhy do tides rise\n2\thow do bees sing\n")
    texts = {
        "a": "Tides rise: why do tides rise? The moon.",
        "b": "Tides rise higher in bays.",
        "c": "Bees sing by beating their wings.",
        "d": "Bees sing louder when it is warm.",
    }
    rows = [json.dumps({"docid": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "passages.jsonl").write_text("\n".join(rows))
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
    answers = [json.loads(line) for line in (folder / "out/generated/answers/one.jsonl").open()]
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


def test_a_dry_run_counts_all_three_parts_and_writes_nothing(folder):
    estimates = {estimate.judge: estimate.calls for estimate in plan(config_of(folder))}
    assert estimates["answer_writer"] == 4
    assert estimates["support"] > 0
    assert not (folder / "out").exists()
