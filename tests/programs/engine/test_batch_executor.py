"""Runs by a provider's batch API give the results of local ones, in as few batches as rounds."""

import json
from pathlib import Path

import pytest
from collections_to_build import write_documents, write_seeds
from fact_brain import fact_brain
from mock_batches import MockBatches
from mock_server import Status

import nuggetjudge as nj
from nuggetjudge.backends.config import BatchConfig
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.spending import read_spending
from nuggetjudge.programs.run import plan
from nuggetjudge.records.reading.problems import InputError

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
DEMO = EXAMPLES.parent / "tests" / "collection" / "judge.yaml"
PRICE = "{input: 100, output: 200}"


@pytest.fixture
def server():
    with MockBatches() as up:
        yield up


@pytest.fixture
def config(server, tmp_path):
    """`config("batch", program=["support"])`: the demo, or `file=`, in a folder of its own."""

    def make(executor, file=DEMO, *, price=None, **settings):
        out = tmp_path / settings.pop("out", executor)
        given = {"run.out": out, "run.cache": tmp_path / f"cache-{out.name}"}
        given |= {"run.executor": executor, "run.batch.quiet_s": 0.25, "run.batch.poll_s": 0.05}
        sets = [f"models.default.api_base={server.base_url}"]
        sets += [f"models.default.price={price}"] if price else []
        return load_config(file, given | settings, sets, "hosted_vllm/mock")

    return make


def files_of(folder):
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in ("manifest.json", "spend.jsonl", "DATASHEET.md")
    }


def asked(server):
    return sorted(json.dumps(request.body["messages"]) for request in server.requests)


def test_results_are_those_of_a_local_run(server, config, tmp_path):
    programs = ["relevance", "nuggets", "support"]
    data = EXAMPLES.parent / "tests" / "collection"
    sources = {"data.candidates": data / "candidates.jsonl", "data.qrels": data / "qrels.txt"}
    settings = {"program": programs, "data.nuggets": None, **sources}
    nj.run(config("local", **settings))
    one_by_one = asked(server)
    server.clear()
    result = nj.run(config("batch", **settings))
    assert result.is_complete
    assert asked(server) == one_by_one
    assert len(set(one_by_one)) == len(one_by_one)
    assert files_of(tmp_path / "batch") == files_of(tmp_path / "local")
    assert result.manifest["this_time"]["requests"] == len(one_by_one)
    spent = read_spending(result.folder)
    assert sum(row["requests"] for row in spent) == len(one_by_one)
    assert {row["stage"] for row in spent} == result.manifest["judged"].keys()


@pytest.mark.slow
def test_rounds_of_a_judge_are_batches_one_after_another(server, config):
    """Each topic's nuggets grow window by window, and the windows of all topics share a batch."""
    data = EXAMPLES.parent / "tests" / "collection"
    sources = {"data.candidates": data / "candidates.jsonl", "data.qrels": data / "qrels.txt"}
    settings = {"data.nuggets": None, "judges.nuggetizer.window": 1, **sources}
    nj.run(config("batch", program=["nuggets"], **settings))
    names = [
        {line["body"]["response_format"]["json_schema"]["name"] for line in batch.lines}
        for batch in server.batches.values()
    ]
    assert all(len(each) == 1 for each in names)
    n_updates = sum("Update" in each.copy().pop() for each in names)
    of_topics = [line for batch in server.batches.values() for line in batch.lines]
    n_calls = sum("Update" in line["body"]["response_format"]["json_schema"]["name"]
                  for line in of_topics)  # fmt: skip
    assert 1 < n_updates < n_calls


@pytest.mark.slow
def test_judges_with_rounds_and_filters_work_unchanged(server, config, tmp_path):
    server.brain = fact_brain
    folder = EXAMPLES / "keypoints"
    data = {"data.topics": folder / "topics.jsonl", "data.documents": folder / "documents.jsonl"}
    data |= {"data.runs": [str(folder / "answers")]}
    for executor in ("local", "batch"):
        nj.run(config(executor, None, program=["keypoints"], **data))
    assert files_of(tmp_path / "batch") == files_of(tmp_path / "local")


@pytest.mark.slow
@pytest.mark.whole
def test_collections_are_built_in_batches_too(server, config, tmp_path):
    from nuggetjudge.plugins.collections.long2rag import build_long2rag

    server.brain = fact_brain
    seeds = write_seeds(tmp_path / "seeds.jsonl", {"tide": "A tide", "kelp": "E kelp"})
    path = write_documents(tmp_path / "docs.jsonl", {"tide": ["A1 is so. B2 is so", "B2 too."]})
    settings = {"long2rag.evolve": 1, "keypoints.rounds": 1, "keypoints.samples": 2}
    for executor in ("local", "batch"):
        build_long2rag(seeds, path, config(executor, None, **settings))
    assert files_of(tmp_path / "batch") == files_of(tmp_path / "local")
    assert server.batches


def test_a_lexical_judge_needs_no_batch(server, config, tmp_path):
    judges = {"judges.support.model": "words", "models.words": {"model": "lexical"}}
    assert nj.run(config("batch", program=["support"], **judges)).is_complete
    assert not server.batches


def test_no_more_judgements_are_held_than_said(server, config):
    nj.run(config("batch", program=["support"], **{"run.batch.at_once": 20}))
    sizes = [len(batch.lines) for batch in server.batches.values()]
    assert max(sizes) <= 20
    assert sum(sizes) == len(server.requests)


def test_lines_that_failed_end_as_unjudged_and_the_same_run_asks_them_again(server, config):
    server.faults = lambda index, body: Status(400) if index in (3, 5) else None
    first = nj.run(config("batch", program=["support"]))
    assert first.manifest["unjudged_by_reason"] == {"error": 2}
    n_asked = len(server.requests)
    server.faults = None
    assert nj.run(config("batch", program=["support"])).is_complete
    assert len(server.requests) == n_asked + 2


def test_a_batch_costs_half_in_the_plan_and_in_the_budget(server, config):
    settings = {"program": ["support"], "price": PRICE}
    [local], [batch] = (plan(config(how, **settings)) for how in ("local", "batch"))
    assert batch.calls == local.calls
    assert batch.cost == pytest.approx(local.cost / 2)
    assert not server.batches
    runs = [nj.run(config(how, **settings)) for how in ("local", "batch")]
    costs = [result.manifest["this_time"]["cost"] for result in runs]
    assert costs[1] == pytest.approx(costs[0] / 2)
    limited = nj.run(config("batch", out="limited", **settings, **{"run.max_cost": costs[1] / 2}))
    assert 0 < limited.manifest["this_time"]["cost"] <= costs[1] / 2
    assert limited.manifest["limit_reached"]


def test_a_finished_run_is_replayed_without_a_batch(server, config, tmp_path):
    nj.run(config("batch", program=["support"]))
    n_batches, before = len(server.batches), files_of(tmp_path / "batch")
    nj.run(config("batch", program=["support"]))
    (tmp_path / "batch" / "manifest.json").unlink()
    for path in (tmp_path / "batch" / "journal").glob("*.jsonl"):
        path.unlink()
    nj.run(config("batch", program=["support"]))  # from the reply cache
    assert len(server.batches) == n_batches
    assert files_of(tmp_path / "batch") == before


def test_batches_need_the_reply_cache(server, config):
    """A killed run gets to its later rounds by replaying the earlier ones."""
    with pytest.raises(InputError, match=r"leave out run\.cache: false"):
        nj.run(config("batch", program=["support"], **{"run.cache": False}))
    assert not server.batches
    judges = {"judges.support.model": "words", "models.words": {"model": "lexical"}}
    assert nj.run(config("batch", program=["support"], **judges, **{"run.cache": False}))


def test_another_endpoint_has_other_batches(server, config, tmp_path):
    server.held.set()
    first = config("batch", program=["support"], **{"run.batch.hours": 0.5 / 3600})
    assert nj.run(first).n_judged == 0
    assert server.batches
    with MockBatches() as other:
        model = first.models["default"].model_copy(update={"api_base": other.base_url})
        run = first.run.model_copy(update={"batch": BatchConfig(quiet_s=0.25, poll_s=0.05)})
        second = first.model_copy(update={"models": {"default": model}, "run": run})
        result = nj.run(second)
        assert result.is_complete
        assert len(other.requests) == result.n_judged
