"""What the steps of a pipeline refuse, count and open, on six passages."""

import asyncio
import json
import math
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from mock_server import MockServer, Status

from nuggetjudge.backends.errors import EndpointUnusable, JudgeError
from nuggetjudge.programs.config.pipelines import Bm25Step, CoverageStep, DenseStep
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.pipelines import indexing, ranking_steps
from nuggetjudge.programs.pipelines import indexing as encoders_of
from nuggetjudge.programs.pipelines.judged_steps import MENDED, JudgedSteps
from nuggetjudge.programs.pipelines.retrieve import asks_by_itself, plan_retrieve, retrieve
from nuggetjudge.programs.protocols.coverage.program import question_set
from nuggetjudge.records.judgements import Reason
from nuggetjudge.records.reading.problems import InputError, Problems
from nuggetjudge.records.relevance import read_trec_run
from nuggetjudge.records.rows import Topic
from nuggetjudge.retrieval.bm25 import Bm25
from nuggetjudge.retrieval.encoders import HashingEncoder
from nuggetjudge.retrieval.scored import Scored, by_rank

PASSAGES = {"a": "dam dam dam", "b": "dam dam clay", "c": "dam clay rock", "d": "bees sing"}
BY_BM25 = ["a", "b", "c"]
GIVEN = {"coverage": {"questions": "given"}}


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "topics.tsv").write_text("t\tdam\n", encoding="utf-8")
    write_passages(tmp_path, [{"docid": n, "text": text} for n, text in PASSAGES.items()])
    return tmp_path


def write_passages(folder, rows):
    (folder / "passages.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def write_run(folder, name, **scores):
    """A TREC run of the topic t, ranked as the scores stand."""
    lines = [f"t Q0 {p} {rank} {s} {name}" for rank, (p, s) in enumerate(scores.items(), 1)]
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
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
    (folder / "questions.jsonl").write_text(json.dumps(row), encoding="utf-8")
    return {"data.questions": folder / "questions.jsonl"}


@pytest.mark.parametrize("hits", [None, 2])
def test_a_dry_run_leaves_rankllm_out_and_counts_the_judges_behind_it(folder, hits):
    steps = ["bm25", {"rankllm": {"hits": hits}}, {"listwise": {"window": 2, "stride": 1}}]
    config = config_of(folder, steps)
    [estimate] = plan_retrieve(config)
    assert estimate.calls == (2 if hits is None else 1)  # windows of three passages, or of two
    assert asks_by_itself(config)
    assert not asks_by_itself(config_of(folder, "bm25, listwise"))
    assert not (folder / "runs").exists()


def test_a_dry_run_counts_ratings_and_refuses_a_judge_file_as_the_run_does(folder):
    more = of_questions(folder)
    [estimate] = plan_retrieve(config_of(folder, ["bm25", GIVEN], **more))
    assert estimate.calls == 6  # three passages, two questions
    more["judges.answerability.state"] = folder / "none.json"
    config = config_of(folder, ["bm25", GIVEN], **more)
    for run in (plan_retrieve, lambda config: retrieve(config, folder / "a.run")):
        with pytest.raises(InputError, match=r"none\.json: cannot be read"):
            run(config)


WANT_DATA = {
    "given questions": (GIVEN, {}, "sub-questions"),
    "the size of Z*": ({"cut": {"required": True}}, {}, "rated sub-questions"),
    "the questions of ratings": ("cut 1", {"data.ratings": ["ratings.jsonl"]}, "are missing"),
}


@pytest.mark.parametrize(("step", "more", "message"), WANT_DATA.values(), ids=WANT_DATA.keys())
def test_a_step_that_lacks_its_data_is_refused_before_anything_is_asked(
    folder, step, more, message
):
    (folder / "ratings.jsonl").write_text(
        '{"id": "t", "docid": "a", "rating": [5, 0]}\n', encoding="utf-8"
    )
    more = {name: [folder / path for path in paths] for name, paths in more.items()}
    with MockServer() as server:
        with pytest.raises(InputError, match=message):
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


@pytest.mark.parametrize(("runs", "step", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_scores_that_a_step_cannot_use_are_told_with_step_and_topic(folder, runs, step, message):
    given = [write_run(folder, f"{i}.run", **scores) for i, scores in enumerate(runs)]
    with pytest.raises(InputError, match=rf"^({message}): topic 't'"):
        ran(folder, [*given, step])
    assert not (folder / "a.run").exists()


FORWARDS, BACKWARDS = {"a": 3, "b": 2, "c": 1}, {"c": 3, "b": 2, "a": 1}
DAMS = 1 + math.log(2)  # what a word weighs that stands there twice
BY_RELEVANCE = {"relevance": "encoder", "weight": 1}
# runs, a step, and the scores that it gives, all worked out by hand
SCORES = {
    "rrf of k 1: a is first and third": (
        [FORWARDS, {"b": 3, "c": 2, "a": 1}],
        {"rrf": {"k": 1}},
        {"b": 1 / 3 + 1 / 2, "a": 1 / 2 + 1 / 4, "c": 1 / 4 + 1 / 3},
    ),
    "weighted, scores as they are": (
        [FORWARDS, BACKWARDS],
        {"weighted": {"weights": [1, 3], "norm": "none"}},
        {"c": 1 + 9, "b": 2 + 6, "a": 3 + 3},
    ),
    "mmr for relevance alone, by scores": (
        [BACKWARDS],
        {"mmr": {"weight": 1}},
        {"c": 1, "b": 1 / 2, "a": 0},
    ),
    "mmr for relevance alone, by cosines: dam; dam dam clay; dam clay rock": (
        [BACKWARDS],
        {"mmr": BY_RELEVANCE},
        {"a": 1, "b": DAMS / math.hypot(DAMS, 1), "c": 1 / math.sqrt(3)},
    ),
    "places, where others follow what was reranked": (
        [BACKWARDS],
        {"mmr": {**BY_RELEVANCE, "depth": 2}},
        {"b": 1, "c": 1 / 2, "a": 1 / 3},
    ),
}


@pytest.mark.parametrize(("runs", "step", "scores"), SCORES.values(), ids=SCORES.keys())
def test_a_step_gives_the_scores_that_its_settings_ask_for(folder, runs, step, scores):
    given = [write_run(folder, f"{i}.run", **scores) for i, scores in enumerate(runs)]
    ran(folder, [*given, step])
    ranking = read_trec_run(folder / "a.run", Problems())["t"]
    assert list(ranking.passage_ids) == list(scores)
    assert list(ranking.scores) == pytest.approx(list(scores.values()), abs=1e-5)


class Library:
    """A reranker that turns a ranking round, or fails, and counts as RankLLM does."""

    def __init__(self, error=None, **each_time):
        self.counts = Counter(windows=0, mended=0, failed=0)
        self.each_time = each_time
        self.error = error

    def rerank(self, query, ranked, texts):
        if self.error:
            raise self.error
        self.counts.update(self.each_time)
        return by_rank(one.passage_id for one in reversed(ranked))


# what each of two topics comes to; the ranking of t, calls, those that failed, those mended
LIBRARY = {
    "a good reply": ({"windows": 2}, BY_BM25[::-1], 4, 0, 0),
    "a mended one": ({"windows": 2, "mended": 1}, BY_BM25[::-1], 4, 0, 2),
    "a failed one": ({"windows": 2, "failed": 1}, BY_BM25[::-1], 4, 2, 0),
    "none at all": ({"error": JudgeError(Reason.REFUSED, "no")}, BY_BM25, 2, 2, 0),
}


@pytest.mark.parametrize(
    ("does", "ids", "asked", "failed", "mended"), LIBRARY.values(), ids=LIBRARY.keys()
)
def test_what_a_library_counts_is_counted_and_its_failure_leaves_the_order(
    folder, monkeypatch, does, ids, asked, failed, mended
):
    (folder / "topics.tsv").write_text("t\tdam\nu\tclay\n", encoding="utf-8")
    library = Library(**does)
    monkeypatch.setattr(ranking_steps, "make_rankllm", lambda config, step: library)
    ranking, manifest = ran(folder, "bm25, rankllm")
    assert ranking == ids
    assert manifest["asked"] == {"rankllm": asked}
    assert manifest["failed"] == ({"rankllm": failed} if failed else {})
    assert manifest["counts"] == ({MENDED: mended} if mended else {})


def test_a_ranking_with_a_passage_without_text_names_it(folder):
    step = write_run(folder, "other.run", a=3, zzz=2, yyy=1)
    message = r"^no text of 'yyy' \(2 of 3 passages\); add its file \(--passages\)$"
    with pytest.raises(InputError, match=message):
        ran(folder, [step, "mmr"])


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
    (folder / "topics.tsv").write_text("t\tdam\nu\tzebra\n", encoding="utf-8")
    _, manifest = ran(folder, ["bm25", {"cut": {"tokens": 2}}])
    about = manifest["runs"]["bm25"]
    assert about["topics_without_passages"] == ["u"]
    assert about["topics_cut_to_nothing"] == ["t"]


def test_a_topic_that_nothing_answers_requires_no_passage(folder):
    row = {"id": "t", "docid": "a", "rating": [0, 0]}
    (folder / "ratings.jsonl").write_text(json.dumps(row), encoding="utf-8")
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
    ranking, manifest = ran(many, steps)
    assert len(ranking) == n
    assert manifest["counts"] == {}
    again = load_config(None, {"retrieve": manifest["config"]["retrieve"]})
    assert again.retrieve[0].hits == max(100, manifest["config"]["retrieve"][0]["hits"])


def test_hits_that_are_told_stand_and_a_step_that_wants_more_is_named(many):
    ranking, manifest = ran(many, "bm25 10, cut 120")
    assert len(ranking) == 10
    assert manifest["counts"] == {"passages per topic, at most, reach cut 120 of bm25": 10}


def test_a_run_is_taken_whole_and_its_problems_are_in_the_manifest(many):
    scores = {f"p{i:03}": 150 - i for i in range(150)}
    step = write_run(many, "other.run", **scores)
    ranking, manifest = ran(many, [step])
    assert ranking == list(scores)
    assert manifest["problems"] == {}
    (many / "other.run").write_text("t Q0 p000 1 1.0 x\nt Q0 p001 2 2.0 x\n", encoding="utf-8")
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


CHANGED = {  # settings -> whether the index is another one
    "k1": (Bm25Step(step="bm25"), {"k1": 1.2}, True),
    "b": (Bm25Step(step="bm25"), {"b": 0.7}, True),
    "hits of bm25": (Bm25Step(step="bm25"), {"hits": 7}, False),
    "model": (DenseStep(step="dense"), {"model": "m"}, True),
    "query_prefix": (DenseStep(step="dense"), {"query_prefix": "q: "}, True),
    "passage_prefix": (DenseStep(step="dense"), {"passage_prefix": "p: "}, True),
    "normalise": (DenseStep(step="dense"), {"normalise": False}, True),
    "faiss": (DenseStep(step="dense"), {"faiss": "Flat"}, True),
}


@pytest.mark.parametrize(("step", "change", "is_another"), CHANGED.values(), ids=CHANGED.keys())
def test_an_index_is_named_by_the_settings_that_it_is_made_with(step, change, is_another):
    names = {indexing.name_of_index(each) for each in (step, step.model_copy(update=change))}
    assert len(names) == (2 if is_another else 1)


KEPT = {True: "home/nuggetjudge/vectors", "own": "own", False: None}  # run.cache -> its folder


@pytest.mark.parametrize(("cache", "kept"), KEPT.items(), ids=map(str, KEPT))
def test_vectors_are_kept_where_replies_are(folder, monkeypatch, cache, kept):
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "home"))
    monkeypatch.setattr(encoders_of, "SentenceEncoder", lambda model, **settings: HashingEncoder())
    run_cache = folder / cache if isinstance(cache, str) else cache
    ran(folder, ["bm25", {"mmr": {"encoder": "m"}}], **{"run.cache": run_cache})
    files = [str(path.relative_to(folder)) for path in folder.rglob("vectors.*")]
    assert files == ([f"{kept}/vectors.sqlite"] if kept else [])  # and no open one's log


def test_the_ratings_of_a_topic_are_asked_for_at_once(folder):
    """No reply comes before all three are asked; b and c, which say clay, earn the same."""
    barrier = asyncio.Barrier(3)

    async def verdicts(pairs, topic):
        async with asyncio.timeout(5):
            await barrier.wait()
        grade = 5 if "clay" in pairs[0]["context"] else 0
        return [SimpleNamespace(label=str(grade)) for _ in pairs], None

    judge_set = {"answerability": SimpleNamespace(window=5, verdicts=verdicts)}
    question = question_set("t", ["what is it of?"])
    steps = JudgedSteps(judge_set, {"t": question}, {})
    ranked = [Scored(name, 1.0) for name in BY_BM25]
    step = CoverageStep(step="coverage", questions="given")
    reranked = asyncio.run(steps.rerank(step, Topic(id="t", text="dam"), ranked, PASSAGES))
    assert [one.passage_id for one in reranked] == ["b", "a", "c"]
    assert steps.asked == {"ratings": 3}


def test_an_endpoint_that_no_rating_can_come_from_is_told_as_such(folder):
    with MockServer() as server:
        server.faults = lambda index, body: Status(401)
        with pytest.raises(EndpointUnusable):
            ran(folder, ["bm25", GIVEN], **of_questions(folder), **of_server(server))


def test_rankllm_takes_the_model_of_its_entry_over_an_endpoint_or_by_vllm(folder, monkeypatch):
    """What the library is opened with; tests/rerank asks a real one."""
    from nuggetjudge.programs.config.pipelines import RankLlmStep
    from nuggetjudge.retrieval.rerank.rankllm import RankLlm

    opened = {}
    monkeypatch.setattr(RankLlm, "__init__", lambda self, model, **given: opened.update(given))
    monkeypatch.setattr(RankLlm, "local", lambda model, **given: opened.update(given, model=model))
    step = RankLlmStep(step="rankllm", window=12, stride=6, first=True)
    entry = {"model": "openai/m", "api_base": "http://127.0.0.1:9/v1", "context_length": 999}
    ranking_steps.make_rankllm(load_config(None, {"models.default": entry}), step)
    assert opened.pop("api_base") == "http://127.0.0.1:9/v1"
    assert (opened.pop("window"), opened.pop("stride"), opened.pop("context_size")) == (12, 6, 999)
    opened.clear()
    zephyr = {"model": "some/zephyr", "engine": "vllm"}
    ranking_steps.make_rankllm(load_config(None, {"models.default": zephyr}), step)
    assert opened == {
        "model": "some/zephyr", "first": True, "window": 12, "stride": 6, "context_size": 4096,
    }  # fmt: skip
    with pytest.raises(InputError, match="engine: vllm"):
        ranking_steps.make_rankllm(load_config(None, {}), step)


def run_steps(folder, name, steps):
    """The rankings of a pipeline on the folder's passages, by topic."""
    out = folder / f"{name}.run"
    retrieve(config_of(folder, steps), out)
    return {t: r.passage_ids for t, r in read_trec_run(out, Problems()).items()}


def fuse(*rankings):
    """Reciprocal rank fusion by hand: sums of 1 / (60 + rank), equal ones in their first order."""
    scores = {}
    for ranking in rankings:
        for rank, passage in enumerate(ranking, 1):
            scores[passage] = scores.get(passage, 0) + 1 / (60 + rank)
    return sorted(scores, key=lambda passage: -scores[passage])


def test_a_ranking_is_fused_with_its_own_reranking(folder):
    before = write_run(folder, "r", **{"d": 4, "c": 3, "b": 2, "a": 1})
    reranked = {"listwise": {"depth": 3}}
    alone = run_steps(folder, "alone", [before, reranked])["t"]
    assert alone != ["d", "c", "b", "a"]
    kept = run_steps(folder, "kept", [before, {"listwise": {"depth": 3, "keep": True}}, "rrf"])
    assert list(kept["t"]) == fuse(["d", "c", "b", "a"], alone)


def test_the_reference_pipeline_of_the_track_keeps_what_it_reranks(folder):
    """arXiv:2411.09607, section 2; others stand in for the models that need a download."""
    path = Path(__file__).parents[3] / "examples" / "demo" / "reference_pipeline.yaml"
    steps = load_config(path, {}).retrieve
    assert [step.step for step in steps] == [
        "lucene", "dense", "dense", "dense", "rrf", "monot5", "rrf", "rankllm", "rrf", "cut",
    ]  # fmt: skip
    assert [step.hits for step in steps[:4]] == [3000] * 4
    assert [(step.depth, step.keep) for step in steps if step.step in ("monot5", "rankllm")] == [
        (3000, True), (100, True),
    ]  # fmt: skip
    assert (steps[0].rocchio, steps[-1].hits) == (True, 100)
    firsts = [{"bm25": {"k1": k1}} for k1 in (0.9, 0.1, 2.0)]
    first = run_steps(folder, "first", [*firsts, "rrf"])["t"]
    mmr, listwise = {"mmr": {"weight": 0.1}}, {"listwise": {"depth": 2}}
    given = {"run": {"path": str(folder / "first.run")}}
    second = fuse(first, run_steps(folder, "second", [given, mmr])["t"])
    given = write_run(folder, "s", **{p: -i for i, p in enumerate(second)})
    third = fuse(second, run_steps(folder, "third", [given, listwise])["t"])
    keep = [{name: {**of, "keep": True}} for each in (mmr, listwise) for name, of in each.items()]
    whole = run_steps(folder, "whole", [*firsts, "rrf", keep[0], "rrf", keep[1], "rrf"])
    assert list(whole["t"]) == third


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (["bm25", {"mmr": {"keep": True}}], "2 rankings are left; fuse them with rrf"),
        (["bm25", {"mmr": {"keep": True}}, "mmr"], "step 3, mmr: 2 rankings; fuse them first"),
        ([{"lucene": {"rm3": True, "rocchio": True}}], "rm3 and rocchio: use only one of them"),
    ],
)
def test_what_is_kept_has_to_be_fused(folder, steps, message):
    with pytest.raises(InputError, match=message):
        config_of(folder, steps)
