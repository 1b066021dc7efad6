"""What a dry run counts is what a model that makes as much as it may is then asked."""

import json
import tempfile
from collections import Counter
from pathlib import Path

import pytest
from collections_to_build import write_documents, write_seeds
from fact_brain import fact_brain
from json_lines import write_rows
from mock_batches import MockBatches
from mock_server import MockServer, Status, input_of, schema_of

import nuggetjudge as nj
from nuggetjudge.backends.config import BatchConfig
from nuggetjudge.calibration.session import Fitting
from nuggetjudge.calibration.settings import Settings, split_topics
from nuggetjudge.judges import NuggetAssigner
from nuggetjudge.judges.fitted import FittedPrompt, JudgeFile
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.dry_run import estimate_calls
from nuggetjudge.programs.engine.spending import read_spending
from nuggetjudge.programs.run import judge_collection, plan
from nuggetjudge.records.reading.problems import InputError

LONG = " ".join(
    f"The mill of {name} burned in {1800 + i}." for i, name in enumerate("ABCDEFGH" * 5)
)
OWN = """\
name: tone
question: Is the tone of the text calm?
inputs: {text: a text}
labels: [loud, serene_and_calm]
"""


def generous(body):
    """A model that makes as much as it may, keeps all of it, and finds nothing twice."""
    asked, wanted = input_of(body), schema_of(body)["properties"]
    if "updated" in wanted:
        return {"updated": [f"fact {i}" for i in range(asked["limit"])]}
    if "importance" in wanted:
        return {"importance": dict.fromkeys(asked["nuggets"], "vital")}
    if "verdicts" in wanted:
        labels = wanted["verdicts"]["properties"]["1"]["enum"]
        more = {"evidence": dict.fromkeys(asked["key_points"], "")} if "evidence" in wanted else {}
        return more | {"verdicts": dict.fromkeys(wanted["verdicts"]["properties"], labels[0])}
    if "passages" in wanted:
        n = 3 if len(asked["part"]) > 1000 else 1
        return {"passages": [f"{asked['part'][:20]} {i}" for i in range(n)]}
    if "points" in wanted:
        first = asked["document"][:20]
        made = [{"text": f"{first} {i}", "spans": [first]} for i in range(8)]
        return {"points": [] if asked["known"] else made}
    if "merged" in wanted:
        points = asked["points"].items()
        return {"merged": [{"text": text, "members": [int(i)]} for i, text in points]}
    if "questions" in wanted:
        return {"questions": [f"why {i} of {asked}?" for i in range(asked["wanted"])]}
    if "subquestions" in wanted:
        return {"kind": "complex", "subquestions": ["why?"]}
    if "request" in wanted:
        return {"request": "Write a report on all that the summary says about it."}
    if "unambiguous" in wanted:
        return dict.fromkeys(wanted, "yes")
    if "grade" in wanted:
        return {"grade": 3}
    [(name, kind)] = [(n, k) for n, k in wanted.items() if n != "evidence"]
    labels = kind.get("enum") or [kind.get("minimum")]
    return dict.fromkeys(wanted, "") | {name: "yes" if "yes" in labels else labels[-1]}


@pytest.fixture
def server():
    with MockServer(brain=generous) as up:
        yield up


@pytest.fixture
def config_of(server, tmp_path):
    def config(**settings):
        given = {"run.out": tmp_path / "out", "run.cache": tmp_path / "cache", **settings}
        sets = [f"models.default.api_base={server.base_url}"]
        return load_config(None, given, sets, "hosted_vllm/mock")

    return config


def write(path, *rows):
    write_rows(path, rows)
    return path


def calls(estimates):
    return {each.judge: each.calls for each in estimates if each.calls}


def made(server):
    """Requests by the prompt that they render, as often as each was made."""
    return Counter(r.body["messages"][0]["content"] for r in server.requests)


def check(server, forecast):
    """Every judge that was forecast was asked so often; each has one prompt here."""
    assert sorted(calls(forecast).values()) == sorted(made(server).values())


@pytest.mark.whole
def test_a_collection_of_summaries_asks_as_forecast_where_a_model_makes_all_it_may(
    server, config_of, tmp_path
):
    from nuggetjudge.plugins.collections.crux import build_crux, plan_build

    # The second summary has no name, phrase or statement in which the lexical judge sees anything.
    documents = {"mill": [LONG, "Rain fell."], "灯": ["灯塔很高"]}
    rows = [{"id": n, "documents": d, "summary": d[-1]} for n, d in documents.items()]
    summaries = write(tmp_path / "summaries.jsonl", *rows)
    config = config_of(**{"coverage.n": 4})
    forecast = plan_build(summaries, config)
    texts = (3 + 1 + 1) + (1 + 1)  # passages and the report of each
    assert calls(forecast) == {
        "request": 2, "subquestions": 2, "decontextualizer": 3, "answerability": texts * 4,
    }  # fmt: skip
    build_crux(summaries, config)
    check(server, forecast)


@pytest.mark.whole
@pytest.mark.parametrize("logprobs", [False, True])
def test_questions_and_key_points_ask_as_forecast_however_the_filter_asks(
    server, config_of, tmp_path, logprobs
):
    from nuggetjudge.plugins.collections.long2rag import build_long2rag, plan_long2rag

    rows = [{"id": "a", "text": "why do bees sing?"}, {"id": "b", "text": "x?"}]
    seeds = write(tmp_path / "seeds.jsonl", *rows)  # it keeps no "x?", and finds no bees
    texts = [("a", "1", LONG), ("a", "2", "nothing here"), ("b", "3", "灯塔很高")]
    rows = [{"topic_id": t, "docid": d, "text": text} for t, d, text in texts]
    documents = write(tmp_path / "documents.jsonl", *rows)
    more = {"models.default.logprobs": True} if logprobs else {}
    config = config_of(**more)
    forecast = plan_long2rag(seeds, documents, config)
    assert calls(forecast) == {
        "question_scorer": 2, "question_decomposer": 2, "keypoint_extractor": 3 * 2,
        "keypoint_merger": 2, "keypoint_filter": 3 * 8 * (1 if logprobs else 5),
    }  # fmt: skip
    build_long2rag(seeds, documents, config)
    check(server, forecast)


def collection(tmp_path):
    """Two topics, of which the lexical judge finds no candidate of the second relevant."""
    (tmp_path / "topics.tsv").write_text("1\twhy did the mill burn\n2\t灯塔\n", encoding="utf-8")
    write(tmp_path / "passages.jsonl", *({"docid": n, "text": f"{n} says much"} for n in "abc"))
    write(tmp_path / "candidates.jsonl", *({"topic_id": t, "docids": ["a", "b"]} for t in "12"))
    answers = [
        {"run_id": run, "topic_id": topic, "topic": "", "references": ["c"], "response_length": 3,
         "answer": [{"text": f"so says {run} {topic}", "citations": [0]}]}
        for run in "rs" for topic in "12"
    ]  # fmt: skip
    return {
        "program": ["nuggets"],
        "data.topics": tmp_path / "topics.tsv",
        "data.passages": [tmp_path / "passages.jsonl"],
        "data.candidates": tmp_path / "candidates.jsonl",
        "data.runs": [str(write(tmp_path / "runs.jsonl", *answers))],
    }


def test_nuggets_ask_as_forecast_also_where_the_lexical_judge_makes_few(
    server, config_of, tmp_path
):
    more = {"nuggets.max_nuggets": 25, "nuggets.keep": 12, "judges.assigner.window": 5}
    config = config_of(**collection(tmp_path), **more)
    forecast = plan(config)
    assert calls(forecast) == {
        "relevance": 2 * 2, "nuggetizer": 2, "importance": 2 * 3, "assigner": 4 * 3,
    }  # fmt: skip
    judge_collection(config)
    check(server, forecast)


def test_key_points_that_the_lexical_judge_would_drop_are_looked_for_in_the_answers(
    server, config_of, tmp_path
):
    document = {"topic_id": "1", "docid": "1", "text": "灯塔很高"}  # nothing that is asked about
    settings = collection(tmp_path) | {
        "program": ["keypoints"], "data.documents": write(tmp_path / "documents.jsonl", document),
        "keypoints.precision": False, "keypoints.threshold": 0.01,
        "models.default.logprobs": True,
    }  # fmt: skip
    config = config_of(**settings)
    forecast = plan(config)
    assert calls(forecast) == {
        "keypoint_extractor": 2, "keypoint_merger": 1, "keypoint_filter": 8, "entailment": 2 * 8,
    }  # fmt: skip
    judge_collection(config)
    check(server, forecast)


def test_for_the_lexical_judge_itself_a_forecast_is_what_it_does(config_of, tmp_path):
    settings = collection(tmp_path) | {"models.default": {"model": "lexical"}}
    settings["run.out"] = tmp_path / "out"
    config = load_config(None, settings)
    asked = calls(plan(config))
    assert asked == {"relevance": 4}  # none is relevant to it, so that it makes no nuggets
    assert judge_collection(config).manifest["judged"]["relevance"] == 4


def test_a_judge_without_a_lexical_rule_is_counted_with_its_first_label(
    server, config_of, tmp_path
):
    own = tmp_path / "tone.yaml"
    own.write_text(OWN, encoding="utf-8")
    rows = [{"topic_id": "t", "run_id": f"r{i}", "text": f"quiet {i}"} for i in range(3)]
    settings = {
        "program": ["items"],
        "data.items": write(tmp_path / "items.jsonl", *rows),
        "items.judge": str(own),
    }
    config = config_of(**settings)
    [forecast] = plan(config)
    assert (forecast.judge, forecast.calls) == ("item", 3)
    assert forecast.completion_tokens == 3 * ((len("label loud") + 2 * len('{"":""}')) // 4 + 1)
    judge_collection(config)
    assert len(server.requests) == 3
    with pytest.raises(InputError, match="lexical"):  # as the run itself says it
        plan(load_config(None, settings | {"run.out": tmp_path / "other"}, model="lexical"))


def fitted(tmp_path, model):
    judge = NuggetAssigner("lexical")
    prompts = {"assign": FittedPrompt(instructions="Be strict. " * 400)}
    file = JudgeFile(
        judge="assigner", version=judge.version, scale=judge.scale, model=model, prompts=prompts
    )
    path = tmp_path / "assigner.json"
    path.write_text(file.text(), encoding="utf-8")
    return {"judges.assigner.state": path}


def test_a_fitted_prompt_is_as_long_as_it_is_and_a_file_that_does_not_fit_is_refused(
    config_of, tmp_path
):
    data = collection(tmp_path)
    plain, long = (
        next(e for e in plan(config_of(**data, **more)) if e.judge == "assigner")
        for more in ({}, fitted(tmp_path, "hosted_vllm/mock"))
    )
    assert long.calls == plain.calls
    assert long.prompt_tokens - plain.prompt_tokens > plain.calls * 900
    with pytest.raises(InputError, match=r"none\.json: cannot be read"):
        plan(config_of(**data, **{"judges.assigner.state": tmp_path / "none.json"}))


def test_no_limit_key_or_executor_matters_and_nothing_is_asked(
    server, config_of, tmp_path, monkeypatch
):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    free = calls(plan(config_of(**collection(tmp_path))))
    for more in (
        {"run.max_calls": 1}, {"run.max_tokens": 1}, {"run.offline": True},
        {"run.executor": "batch"},
        {"models.default": {"model": "openai/gpt-4o"}},
    ):  # fmt: skip
        assert calls(plan(config_of(**collection(tmp_path), **more))) == free, more
    assert not server.requests


def test_what_the_lexical_judge_cannot_do_does_not_end_a_dry_run():
    allowed = []
    config = load_config(None, {"run.allow_missing": 0})
    estimate_calls(config, lambda alone, judge_set: allowed.append(alone.run.allow_missing))
    assert allowed == [1.0]  # a closed loop ends where more is missing


@pytest.mark.parametrize("error", [KeyboardInterrupt, InputError])
def test_what_ends_a_dry_run_leaves_no_folder(tmp_path, monkeypatch, error):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def work(alone, judge_set):
        alone.run.out.mkdir()
        assert list(tmp_path.iterdir())
        raise error

    with pytest.raises(error):
        estimate_calls(load_config(None, {}), work)
    assert not list(tmp_path.iterdir())


def test_a_calibration_asks_as_forecast(server, config_of, tmp_path):
    rows = [
        {"topic_id": f"t{i % 9}", "run_id": "r", "sentence_id": str(i), "passage_id": "p",
         "sentence": f"claim {i} burned", "passage": "the mill burned",
         "label": ("full_support", "no_support")[i % 2]}
        for i in range(36)
    ]  # fmt: skip
    labels = write(tmp_path / "labels.jsonl", *rows)
    settings = Settings(method="threshold", folds=3)
    [forecast] = Fitting(labels, "support", config_of(), settings).plan()
    assert (forecast.judge, forecast.calls) == ("support every item", 36)
    with pytest.raises(InputError):  # it says the same of every item: nothing can be fitted
        Fitting(labels, "support", config_of(), settings).fit()
    assert len(server.requests) == 36
    for wrong in (Settings(method="platt", folds=1), Settings(method="few-shot", options={"z": 1})):
        messages = []
        fitting = Fitting(labels, "support", config_of(), wrong)
        for ask in (fitting.plan, fitting.fit):
            with pytest.raises(InputError) as refused:
                ask()
            messages.append(str(refused.value))
        assert messages[0] == messages[1]
    assert len(server.requests) == 36


def test_a_search_counts_as_the_most_it_may_take_and_its_test_twice(server, config_of, tmp_path):
    rows = [
        {"topic_id": f"t{i % 9}", "run_id": "r", "sentence_id": str(i), "passage_id": "p",
         "sentence": f"claim {i} burned", "passage": f"mill {i}",
         "label": ("full_support", "no_support")[i // 9 % 2]}
        for i in range(36)
    ]  # fmt: skip
    labels = write(tmp_path / "labels.jsonl", *rows)
    settings = Settings(method="few-shot", options={"k": 2})
    split = split_topics([f"t{i}" for i in range(9)], shares=settings.shares, seed=settings.seed)
    n_dev, n_test = 4 * len(split.dev), 4 * len(split.test)
    forecast = calls(Fitting(labels, "support", config_of(), settings).plan())
    assert forecast == {"support test, twice": 2 * n_test, "support search, at most": 2 * n_dev}
    Fitting(labels, "support", config_of(), settings).fit()
    assert len(server.requests) <= sum(forecast.values())
    assert len(server.requests) >= n_test + n_dev
    with pytest.raises(InputError, match="needs a language model"):
        Fitting(labels, "support", load_config(None, {}, model="lexical"), settings).plan()


# Runs by a provider's batch API give the results of local ones, in as few batches as rounds.
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
DEMO = EXAMPLES.parent / "tests" / "collection" / "judge.yaml"
PRICE = "{input: 100, output: 200}"


@pytest.fixture
def batch_executor_server():
    with MockBatches() as up:
        yield up


@pytest.fixture
def config(batch_executor_server, tmp_path):
    """`config("batch", program=["support"])`: the demo, or `file=`, in a folder of its own."""

    def make(executor, file=DEMO, *, price=None, **settings):
        out = tmp_path / settings.pop("out", executor)
        given = {"run.out": out, "run.cache": tmp_path / f"cache-{out.name}"}
        given |= {"run.executor": executor, "run.batch.quiet_s": 0.25, "run.batch.poll_s": 0.05}
        sets = [f"models.default.api_base={batch_executor_server.base_url}"]
        sets += [f"models.default.price={price}"] if price else []
        return load_config(file, given | settings, sets, "hosted_vllm/mock")

    return make


def files_of(folder):
    return {
        path.name: path.read_bytes()
        for path in sorted(folder.iterdir())
        if path.is_file() and path.name not in ("manifest.json", "spend.jsonl", "DATASHEET.md")
    }


def asked(batch_executor_server):
    return sorted(
        json.dumps(request.body["messages"]) for request in batch_executor_server.requests
    )


@pytest.mark.slow
def test_results_are_those_of_a_local_run(batch_executor_server, config, tmp_path):
    programs = ["relevance", "nuggets", "support"]
    data = EXAMPLES.parent / "tests" / "collection"
    sources = {"data.candidates": data / "candidates.jsonl", "data.qrels": data / "qrels.txt"}
    settings = {"program": programs, "data.nuggets": None, **sources}
    nj.run(config("local", **settings))
    one_by_one = asked(batch_executor_server)
    batch_executor_server.clear()
    result = nj.run(config("batch", **settings))
    assert result.is_complete
    assert asked(batch_executor_server) == one_by_one
    assert len(set(one_by_one)) == len(one_by_one)
    assert files_of(tmp_path / "batch") == files_of(tmp_path / "local")
    assert result.manifest["this_time"]["requests"] == len(one_by_one)
    spent = read_spending(result.folder)
    assert sum(row["requests"] for row in spent) == len(one_by_one)
    assert {row["stage"] for row in spent} == result.manifest["judged"].keys()


@pytest.mark.slow
def test_rounds_of_a_judge_are_batches_one_after_another(batch_executor_server, config):
    """Each topic's nuggets grow window by window, and the windows of all topics share a batch."""
    data = EXAMPLES.parent / "tests" / "collection"
    sources = {"data.candidates": data / "candidates.jsonl", "data.qrels": data / "qrels.txt"}
    settings = {"data.nuggets": None, "judges.nuggetizer.window": 1, **sources}
    nj.run(config("batch", program=["nuggets"], **settings))
    names = [
        {line["body"]["response_format"]["json_schema"]["name"] for line in batch.lines}
        for batch in batch_executor_server.batches.values()
    ]
    assert all(len(each) == 1 for each in names)
    n_updates = sum("Update" in each.copy().pop() for each in names)
    of_topics = [line for batch in batch_executor_server.batches.values() for line in batch.lines]
    n_calls = sum("Update" in line["body"]["response_format"]["json_schema"]["name"]
                  for line in of_topics)  # fmt: skip
    assert 1 < n_updates < n_calls


@pytest.mark.slow
def test_judges_with_rounds_and_filters_work_unchanged(batch_executor_server, config, tmp_path):
    batch_executor_server.brain = fact_brain
    folder = EXAMPLES / "keypoints"
    data = {"data.topics": folder / "topics.jsonl", "data.documents": folder / "documents.jsonl"}
    data |= {"data.runs": [str(folder / "answers")]}
    for executor in ("local", "batch"):
        nj.run(config(executor, None, program=["keypoints"], **data))
    assert files_of(tmp_path / "batch") == files_of(tmp_path / "local")


@pytest.mark.slow
@pytest.mark.whole
def test_collections_are_built_in_batches_too(batch_executor_server, config, tmp_path):
    from nuggetjudge.plugins.collections.long2rag import build_long2rag

    batch_executor_server.brain = fact_brain
    seeds = write_seeds(tmp_path / "seeds.jsonl", {"tide": "A tide", "kelp": "E kelp"})
    path = write_documents(tmp_path / "docs.jsonl", {"tide": ["A1 is so. B2 is so", "B2 too."]})
    settings = {"long2rag.evolve": 1, "keypoints.rounds": 1, "keypoints.samples": 2}
    for executor in ("local", "batch"):
        build_long2rag(seeds, path, config(executor, None, **settings))
    assert files_of(tmp_path / "batch") == files_of(tmp_path / "local")
    assert batch_executor_server.batches


def test_a_lexical_judge_needs_no_batch(batch_executor_server, config, tmp_path):
    judges = {"judges.support.model": "words", "models.words": {"model": "lexical"}}
    assert nj.run(config("batch", program=["support"], **judges)).is_complete
    assert not batch_executor_server.batches


@pytest.mark.slow
def test_no_more_judgements_are_held_than_said(batch_executor_server, config):
    nj.run(config("batch", program=["support"], **{"run.batch.at_once": 20}))
    sizes = [len(batch.lines) for batch in batch_executor_server.batches.values()]
    assert max(sizes) <= 20
    assert sum(sizes) == len(batch_executor_server.requests)


def test_lines_that_failed_end_as_unjudged_and_the_same_run_asks_them_again(
    batch_executor_server, config
):
    batch_executor_server.faults = lambda index, body: Status(400) if index in (3, 5) else None
    first = nj.run(config("batch", program=["support"]))
    assert first.manifest["unjudged_by_reason"] == {"error": 2}
    n_asked = len(batch_executor_server.requests)
    batch_executor_server.faults = None
    assert nj.run(config("batch", program=["support"])).is_complete
    assert len(batch_executor_server.requests) == n_asked + 2


def test_a_batch_costs_half_in_the_plan_and_in_the_budget(batch_executor_server, config):
    settings = {"program": ["support"], "price": PRICE}
    [local], [batch] = (plan(config(how, **settings)) for how in ("local", "batch"))
    assert batch.calls == local.calls
    assert batch.cost == pytest.approx(local.cost / 2)
    assert not batch_executor_server.batches
    runs = [nj.run(config(how, **settings)) for how in ("local", "batch")]
    costs = [result.manifest["this_time"]["cost"] for result in runs]
    assert costs[1] == pytest.approx(costs[0] / 2)
    limited = nj.run(config("batch", out="limited", **settings, **{"run.max_cost": costs[1] / 2}))
    assert 0 < limited.manifest["this_time"]["cost"] <= costs[1] / 2
    assert limited.manifest["limit_reached"]


def test_a_finished_run_is_replayed_without_a_batch(batch_executor_server, config, tmp_path):
    nj.run(config("batch", program=["support"]))
    n_batches, before = len(batch_executor_server.batches), files_of(tmp_path / "batch")
    nj.run(config("batch", program=["support"]))
    (tmp_path / "batch" / "manifest.json").unlink()
    for path in (tmp_path / "batch" / "journal").glob("*.jsonl"):
        path.unlink()
    nj.run(config("batch", program=["support"]))  # from the reply cache
    assert len(batch_executor_server.batches) == n_batches
    assert files_of(tmp_path / "batch") == before


def test_batches_need_the_reply_cache(batch_executor_server, config):
    """A killed run gets to its later rounds by replaying the earlier ones."""
    with pytest.raises(InputError, match=r"Remove run\.cache: false"):
        nj.run(config("batch", program=["support"], **{"run.cache": False}))
    assert not batch_executor_server.batches
    judges = {"judges.support.model": "words", "models.words": {"model": "lexical"}}
    assert nj.run(config("batch", program=["support"], **judges, **{"run.cache": False}))


def test_another_endpoint_has_other_batches(batch_executor_server, config, tmp_path):
    batch_executor_server.held.set()
    first = config("batch", program=["support"], **{"run.batch.hours": 0.5 / 3600})
    assert nj.run(first).n_judged == 0
    assert batch_executor_server.batches
    with MockBatches() as other:
        model = first.models["default"].model_copy(update={"api_base": other.base_url})
        run = first.run.model_copy(update={"batch": BatchConfig(quiet_s=0.25, poll_s=0.05)})
        second = first.model_copy(update={"models": {"default": model}, "run": run})
        result = nj.run(second)
        assert result.is_complete
        assert len(other.requests) == result.n_judged
