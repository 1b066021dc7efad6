"""`judge calibrate` of judges that make lists, and runs with what it wrote, as a user does it."""

import json

import pytest
from graded_labels import write_jsonl
from mock_server import MockServer, input_of
from stamp_brain import RULE, stamp_brain
from stamped import wanted_of, write_nugget_data, write_question_data

SMALL = {
    "few-shot": (),
    "bootstrap": ("num_candidate_programs=2",),
    "mipro": ("num_candidates=3", "num_trials=4"),
    "simba": ("max_steps=2", "bsize=4", "num_candidates=3"),
    "gepa": ("max_metric_calls=30",),
}
N_TOPICS = 10


@pytest.fixture
def server():
    with MockServer(stamp_brain) as running:
        yield running


@pytest.fixture
def paths(tmp_path):
    return write_nugget_data(tmp_path, N_TOPICS) | write_question_data(tmp_path, N_TOPICS)


@pytest.fixture
def calibrate(judge, server, paths):
    """Runs the command on lists of 10 topics; returns how it ended."""

    def run(method, *flags, name="nuggetizer"):
        lists, source = ("nuggets", "candidates")
        if name == "subquestions":
            lists, source = ("questions", "reference")
        options = [part for text in SMALL[method] for part in ("--option", text)]
        entry = ("--model", "openai/mock", "--set", f"models.default.api_base={server.base_url}")
        return judge(
            *("calibrate", str(paths[lists]), "--judge", name, "--method", method, *entry),
            *("--set", f"data.{source}={paths[source]}", *options, *flags),
        )

    return run


@pytest.mark.parametrize("method", SMALL)
def test_lists_of_topics_that_the_search_never_saw_get_better(calibrate, tmp_path, method):
    out = tmp_path / "fitted/nuggetizer.json"
    ran = calibrate(method, "--out", str(out), "--json")
    assert ran.code == 0, ran.err
    (report,) = ran.rows
    assert report["verdict"] == "better"
    assert (report["match"], report["n_lists"], report["n_test"]) == ("lexical", N_TOPICS, 4)
    for name in ("precision", "recall", "f1"):
        figure = report["figures"][name]
        assert figure["after"]["value"] > figure["before"]["value"] + 0.3
        assert figure["difference"]["low"] is not None
    assert len(report["lists"]) == 4
    file = json.loads(out.read_text(encoding="utf-8"))
    assert (file["scale"], file["correction"]) == ([], None)
    assert "lists" not in file["fitted"]
    prompt = file["prompts"]["update"]
    assert RULE in prompt["instructions"] or prompt["demos"]
    (split,) = report["topics"]
    assert file["fitted_on"] == sorted(split["train"] + split["dev"])
    shown = {demo["question"] for demo in prompt["demos"]}
    assert not shown & {f"What of number {topic[1:]}?" for topic in split["test"]}
    log = (tmp_path / "fitted/nuggetizer.log.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(log) == report["optimiser"]["n_candidates"] >= 2


@pytest.mark.parametrize("method", ["bootstrap", "gepa"])
def test_a_run_makes_its_nuggets_with_the_prompt_of_the_file(
    judge, calibrate, server, paths, tmp_path, method
):
    assert calibrate(method, "--out", "nuggetizer.json").code == 0
    fitted = json.loads((tmp_path / "nuggetizer.json").read_text(encoding="utf-8"))
    answers = [
        {"run_id": "r", "topic_id": f"t{i}", "references": [],
         "answer": [{"text": wanted_of(i)[0], "citations": []}]}
        for i in range(N_TOPICS)
    ]  # fmt: skip
    qrels = "".join(f"t{i} 0 d{i}.{p} 1\n" for i in range(N_TOPICS) for p in range(2))
    (tmp_path / "qrels.txt").write_text(qrels, encoding="utf-8")
    config = {
        "program": "nuggets",
        "data": {"candidates": str(paths["candidates"]), "qrels": "qrels.txt",
                 "runs": str(write_jsonl(tmp_path / "run.jsonl", answers))},
        "models": {"mock": {"model": "openai/mock", "api_base": server.base_url},
                   "default": {"model": "lexical"}},
        "judges": {"nuggetizer": {"model": "mock", "state": "nuggetizer.json"}},
        "run": {"out": "results", "cache": False},
    }  # fmt: skip
    (tmp_path / "run.yaml").write_text(json.dumps(config), encoding="utf-8")
    server.clear()
    ran = judge("run", "run.yaml")
    assert ran.code == 0, ran.err
    prompt = fitted["prompts"]["update"]
    assert len(server.requests) == N_TOPICS
    for request in server.requests:
        system, *others = request.body["messages"]
        assert all(part in system["content"] for part in prompt["instructions"].split("\n\n"))
        assert len(others) == 2 * len(prompt["demos"]) + 1
    made = [json.loads(row) for row in (tmp_path / "results/nuggets.jsonl").open(encoding="utf-8")]
    wanted = {text for i in range(N_TOPICS) for text in wanted_of(i)}
    is_wanted = [nugget["text"] in wanted for bank in made for nugget in bank["nuggets"]]
    assert sum(is_wanted) / len(is_wanted) > 0.6
    manifest = json.loads((tmp_path / "results/manifest.json").read_text(encoding="utf-8"))
    assert manifest["judges"]["nuggetizer"]["state"] is not None


def test_the_budget_holds_and_the_test_lists_are_paid_for(calibrate, server):
    flags = ("--match", "entailment", "--set", "run.max_calls=140", "--json")
    (report,) = calibrate("bootstrap", "--option", "num_candidate_programs=6", *flags).rows
    assert len(server.requests) <= 140
    assert report["optimiser"]["stopped_by"] == "budget"
    assert (report["n_unjudged"], report["n_unmatched"], report["n_test"]) == (0, 0, 4)


def test_a_budget_that_allows_no_new_prompt_writes_nothing(calibrate, tmp_path):
    ran = calibrate("gepa", "--set", "run.max_calls=11", "--out", "n.json")
    assert (ran.code, ran.out) == (3, "")
    assert "No judge file is written; raise the limit." in ran.err
    assert not (tmp_path / "n.json").exists()


@pytest.mark.parametrize(
    ("method", "flags", "message"),
    [
        ("few-shot", ("--scale", "no,yes"), "are about labels, and these are lists"),
        ("few-shot", ("--match", "relevance"), "does not look for one text in another"),
        ("few-shot", ("--match", "nobody"), "--match nobody: wanted lexical, or a judge such as"),
        ("few-shot", ("--folds", "2"), "folds are for methods that fit numbers"),
        ("few-shot", ("--objective", "kappa"), "lists are chosen by f1"),
        ("few-shot", ("--method", "threshold"), "makes lists, which no cut corrects; wanted one"),
        ("few-shot", ("--model", "lexical"), "which only a language model has"),
        ("few-shot", ("--max-cost", "1"), "the price of model 'openai/mock' is not known"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_asked(
    calibrate, server, method, flags, message
):
    ran = calibrate(method, *flags)
    assert ran.code == 2
    assert message in ran.err
    assert server.requests == []


def test_nuggets_of_real_topics_are_fitted_to_those_of_the_assessors(
    judge, server, shared_data, tmp_path
):
    """A model that lists what the lexical judge does once it is shown an example, else little."""
    from nuggetjudge.judges.lexical.overlap import update_nuggets

    def brain(body):
        data = input_of(body)
        is_shown = any(message["role"] == "assistant" for message in body["messages"])
        return {"updated": update_nuggets(data)["updated"][: 30 if is_shown else 3]}

    server.brain = brain
    data = shared_data / "rag24_e2e"
    ran = judge(
        *("calibrate", data / "nuggets_nist.jsonl", "--judge", "nuggetizer"),
        *("--method", "few-shot", "--model", "openai/mock"),
        *("--set", "judges.nuggetizer.example=false"),
        *("--set", f"models.default.api_base={server.base_url}", "--topics", data / "topics.tsv"),
        *(
            "--set",
            f"data.candidates={data / 'candidates.jsonl'}",
            "--passages",
            data / "passages.jsonl",
        ),
        *("--set", f"data.qrels={data / 'qrels_nist.txt'}", "--json"),
    )
    assert ran.code == 0, ran.err
    (report,) = ran.rows
    assert (report["n_lists"], report["n_test"]) == (12, 5)
    recall = report["figures"]["recall"]
    assert recall["after"]["value"] > recall["before"]["value"] + 0.1
