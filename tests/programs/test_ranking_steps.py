"""What the steps of a pipeline refuse, count and open, on six passages."""

import asyncio
import json
from types import SimpleNamespace

import pytest
from mock_server import MockServer, Status

from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.programs import indexing
from nuggetjudge.programs.config_file import load_config
from nuggetjudge.programs.coverage import question_set
from nuggetjudge.programs.judged_steps import JudgedSteps
from nuggetjudge.programs.pipeline import CoverageStep, DenseStep, name_of
from nuggetjudge.programs.rehearsal import asks_by_itself, plan_retrieve
from nuggetjudge.programs.retrieve import retrieve
from nuggetjudge.records.problems import InputError, Problems
from nuggetjudge.records.rows import Topic
from nuggetjudge.records.runs import read_trec_run
from nuggetjudge.retrieval.bm25 import Bm25
from nuggetjudge.retrieval.scored import Scored

PASSAGES = {"a": "dam dam dam", "b": "dam dam clay", "c": "dam clay rock", "d": "bees sing"}
BY_BM25 = ["a", "b", "c"]
GIVEN = {"coverage": {"questions": "given"}}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\n")
    write_passages(tmp_path, [{"docid": n, "text": text} for n, text in PASSAGES.items()])
    return tmp_path


def write_passages(folder, rows):
    (folder / "passages.jsonl").write_text("\n".join(map(json.dumps, rows)))


def write_run(folder, name, **scores):
    """A TREC run of the topic t, ranked as the scores stand."""
    lines = [f"t Q0 {p} {rank} {s} {name}" for rank, (p, s) in enumerate(scores.items(), 1)]
    (folder / name).write_text("\n".join(lines) + "\n")
    return {"run": {"path": str(folder / name)}}


def config_of(folder, pipeline, **more):
    given = {
        "data.topics": folder / "topics.tsv",
        "data.passages": [folder / "passages.jsonl"],
        "run.cache": folder / "cache",
    }
    of_several = isinstance(pipeline, dict)
    return load_config(None, {**given, "pipelines" if of_several else "retrieve": pipeline, **more})


def ran(folder, pipeline, **more):
    """The passages of t, and the manifest."""
    manifest = retrieve(config_of(folder, pipeline, **more), folder / "a.run")
    rankings = read_trec_run(folder / "a.run", Problems())
    return list(rankings["t"].passage_ids) if "t" in rankings else [], manifest


def of_server(server):
    entry = {"model": "openai/mock", "api_base": server.base_url, "retries": 0, "reasks": 0}
    return {"models.default": entry}


def of_questions(folder, n=2):
    row = {"id": "t", "subquestions": [f"why {i}?" for i in range(n)]}
    (folder / "questions.jsonl").write_text(json.dumps(row))
    return {"data.questions": folder / "questions.jsonl"}


@pytest.mark.parametrize("hits", [None, 2])
def test_a_rehearsal_leaves_rankllm_out_and_counts_the_judges_behind_it(folder, hits):
    steps = ["bm25", {"rankllm": {"hits": hits}}, {"listwise": {"window": 2, "stride": 1}}]
    config = config_of(folder, steps)
    [estimate] = plan_retrieve(config, folder / "runs")
    assert estimate.calls == (2 if hits is None else 1)  # windows of three passages, or of two
    assert asks_by_itself(config)
    assert not asks_by_itself(config_of(folder, "bm25, listwise"))
    assert (folder / "runs" / f"{name_of(config.retrieve)}.run").is_file()


WANT_DATA = {
    "given questions": (GIVEN, {}, "sub-questions"),
    "the size of Z*": ({"cut": {"required": True}}, {}, "rated sub-questions"),
    "the questions of ratings": ("cut 1", {"data.ratings": ["ratings.jsonl"]}, "not given"),
}


@pytest.mark.parametrize(("step", "more", "told"), WANT_DATA.values(), ids=WANT_DATA.keys())
def test_a_step_that_lacks_its_data_is_refused_before_anything_is_asked(folder, step, more, told):
    (folder / "ratings.jsonl").write_text('{"id": "t", "docid": "a", "rating": [5, 0]}\n')
    more = {name: [folder / path for path in paths] for name, paths in more.items()}
    with MockServer() as server:
        with pytest.raises(InputError, match=told):
            ran(folder, ["bm25", "listwise", step], **more, **of_server(server))
        assert not server.requests
    assert not (folder / "a.run").exists()


WEIGHTS = {"none": [0, 0], "no sum": [1e308, 1e308]}


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())
def test_weights_need_a_sum(folder, weights):
    with pytest.raises(InputError, match="the weights sum to"):
        config_of(folder, ["bm25", "dense", {"weighted": {"weights": weights}}])


def sums(norm):
    return {"weighted": {"weights": [1.0, 1.0], "norm": norm}}


HUGE = {"a": 1.5e308, "b": 1.0, "c": -1.5e308}
REFUSED = {
    "norm max of scores below 0": ([{"a": -1, "b": -2}] * 2, sums("max"), "weighted"),
    "a sum beyond all floats": ([HUGE] * 2, sums("none"), "weighted"),
    "a score that is no number": ([HUGE] * 2, sums("min-max"), "weighted"),
    "no relevance": ([HUGE], "mmr", "mmr"),
    "a score that no run can hold": ([{"a": 1e300}], "cut 1", "a.run|run"),
}


@pytest.mark.parametrize(("runs", "step", "told"), REFUSED.values(), ids=REFUSED.keys())
def test_scores_that_a_step_cannot_use_are_told_with_step_and_topic(folder, runs, step, told):
    given = [write_run(folder, f"{i}.run", **scores) for i, scores in enumerate(runs)]
    with pytest.raises(InputError, match=rf"^({told}): topic 't'"):
        ran(folder, [*given, step])
    assert not (folder / "a.run").exists()


def test_problems_of_passages_are_counted_once_however_often_they_are_read(folder):
    """bm25 reads them twice, with other settings; each mmr reads other texts once more."""
    rows = [{"docid": name, "text": text} for name, text in PASSAGES.items()]
    write_passages(folder, [*rows, rows[0], {"docid": "e", "text": " "}])
    pipelines = {
        "one": ["bm25", {"bm25": {"k1": 1}}, "rrf", "mmr"],
        "two": ["bm25 2", "mmr"],
    }
    manifest = retrieve(config_of(folder, pipelines), folder / "runs")
    assert manifest["problems"] == {"duplicate_passage": 1, "empty_passage": 1}


def test_a_topic_whose_passages_are_all_cut_did_not_find_nothing(folder):
    (folder / "topics.tsv").write_text("t\tdam\nu\tzebra\n")
    _, manifest = ran(folder, ["bm25", {"cut": {"tokens": 2}}])
    about = manifest["runs"]["bm25"]
    assert about["topics_without_passages"] == ["u"]
    assert about["topics_cut_to_nothing"] == ["t"]


def test_a_topic_that_nothing_answers_requires_no_passage(folder):
    row = {"id": "t", "docid": "a", "rating": [0, 0]}
    (folder / "ratings.jsonl").write_text(json.dumps(row))
    more = {**of_questions(folder), "data.ratings": [folder / "ratings.jsonl"]}
    _, manifest = ran(folder, ["bm25", {"cut": {"required": True}}], **more)
    assert manifest["runs"]["bm25"]["topics_cut_to_nothing"] == ["t"]


def test_tokens_are_those_of_the_texts_without_titles(folder):
    rows = [{"docid": n, "text": t, "title": "Of dams"} for n, t in PASSAGES.items()]
    write_passages(folder, rows)
    assert ran(folder, ["bm25", {"cut": {"tokens": 6}}])[0] == BY_BM25[:2]


@pytest.fixture
def many(folder):
    write_passages(folder, [{"docid": f"p{i:03}", "text": "dam"} for i in range(150)])
    return folder


DEEP = {
    "a cut": (["bm25", "cut 120"], 120),
    "a later step of all": (["bm25", {"mmr": {"depth": 130}}, "cut 110"], 110),
    "a depth": (["bm25", {"mmr": {"depth": 130}}], 130),
    "no number": (["bm25"], 100),
    "a lower number": (["bm25", "cut 20"], 20),
}


@pytest.mark.parametrize(("steps", "n"), DEEP.values(), ids=DEEP.keys())
def test_a_search_that_is_not_told_how_many_finds_what_later_steps_take(many, steps, n):
    found, manifest = ran(many, steps)
    assert len(found) == n
    assert manifest["counts"] == {}
    again = load_config(None, {"retrieve": manifest["config"]["retrieve"]})
    assert again.retrieve[0].hits == max(100, manifest["config"]["retrieve"][0]["hits"])


def test_hits_that_are_told_stand_and_a_step_that_wants_more_is_named(many):
    found, manifest = ran(many, "bm25 10, cut 120")
    assert len(found) == 10
    assert manifest["counts"] == {"passages a topic, at most, reach cut 120 of bm25": 10}


def test_two_rankings_may_together_be_as_many_as_a_cut_takes(folder):
    other = {"bm25": {"hits": 2, "k1": 1}}
    assert ran(folder, ["bm25 2", other, "rrf", "cut 4"])[1]["counts"] == {}
    assert ran(folder, ["bm25 2", other, "rrf", "cut 5"])[1]["counts"] != {}


def test_a_run_is_taken_whole_and_its_problems_are_in_the_manifest(many):
    scores = {f"p{i:03}": 150 - i for i in range(150)}
    step = write_run(many, "other.run", **scores)
    found, manifest = ran(many, [step])
    assert found == list(scores)
    assert manifest["problems"] == {}
    (many / "other.run").write_text("t Q0 p000 1 1.0 x\nt Q0 p001 2 2.0 x\n")
    pipelines = {"one": [step], "two": [{"run": {**step["run"], "hits": 1}}]}
    manifest = retrieve(config_of(many, pipelines), many / "runs")
    assert manifest["problems"] == {"rank_order": 1}
    assert [about["passages"] for about in manifest["runs"].values()] == [2, 1]


def test_an_index_is_opened_once_for_all_pipelines(folder, monkeypatch):
    opened = []
    real = Bm25.open
    monkeypatch.setattr(Bm25, "open", lambda path: opened.append(path) or real(path))
    pipelines = {"one": "bm25", "two": "bm25 2", "three": [{"bm25": {"k1": 1}}, "mmr"]}
    retrieve(config_of(folder, pipelines), folder / "runs")
    assert len(opened) == 2  # one of each k1


def test_an_encoder_is_opened_once_for_all_steps(monkeypatch):
    opened = []

    class Encoder:
        def __init__(self, model, **settings):
            self.name = model
            opened.append((model, settings["query_prefix"]))

    monkeypatch.setattr(indexing, "SentenceEncoder", Encoder)
    monkeypatch.setattr(indexing, "CachedEncoder", lambda encoder, folder: encoder)
    encoders = indexing.Encoders()
    step = DenseStep(step="dense", model="m")
    assert encoders.of(step) is encoders.dense("m")
    assert encoders.of(step.model_copy(update={"query_prefix": "q: "})) is not encoders.dense("m")
    assert opened == [("m", ""), ("m", "q: ")]


def test_the_ratings_of_a_topic_are_asked_for_at_once(folder):
    """No reply comes before all three are asked; b and c, which say clay, earn the same."""
    barrier = asyncio.Barrier(3)

    async def verdicts(pairs, topic):
        async with asyncio.timeout(5):
            await barrier.wait()
        grade = 5 if "clay" in pairs[0]["context"] else 0
        return [SimpleNamespace(label=str(grade)) for _ in pairs], None

    panel = SimpleNamespace(answerability=SimpleNamespace(window=5, verdicts=verdicts))
    question = question_set("t", ["what is it of?"])
    steps = JudgedSteps(panel, {"t": question}, {})
    ranked = [Scored(name, 1.0) for name in BY_BM25]
    step = CoverageStep(step="coverage", questions="given")
    found = asyncio.run(steps.rerank(step, Topic(id="t", text="dam"), ranked, PASSAGES))
    assert [one.passage_id for one in found] == ["b", "a", "c"]
    assert steps.asked == {"ratings": 3}


def test_an_endpoint_that_no_rating_can_come_from_is_told_as_such(folder):
    with MockServer() as server:
        server.faults = lambda index, body: Status(401)
        with pytest.raises(EndpointUnusable):
            ran(folder, ["bm25", GIVEN], **of_questions(folder), **of_server(server))
