"""`judge calibrate` as a user runs it: what it prints, how it ends, and what the page shows."""

import json
import re
import signal
import time
from pathlib import Path
from subprocess import PIPE

import orjson
import pytest
from graded_labels import support_rows
from json_lines import read_rows, write_rows
from mock_server import MockServer, input_of
from page_output import is_shown
from processes import JUDGE, run, start
from stamp_brain import RULE, stamp_brain
from stamped import stamped, wanted_of, write_nugget_data, write_question_data

from nuggetjudge.calibration.fitting import count_search_calls

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "trust" / "calibration.md").read_text(encoding="utf-8")
ROWS = support_rows()
THRESHOLD = ("--judge", "support", "--method", "threshold", "--option", "resamples=50")


@pytest.fixture
def labels(tmp_path):
    return write_rows(tmp_path / "labels.jsonl", ROWS)


@pytest.fixture
def server():
    """A model that finds half of what is there, too strict by far."""

    def brain(body):
        asked = input_of(body)
        words = asked["sentence"].split()
        share = sum(word in asked["passage"].split() for word in words) / len(words)
        return {"verdict": "partial" if share >= 0.7 else "none"}

    with MockServer(brain=brain) as running:
        yield running


def model_of(server):
    return ("--model", "hosted_vllm/mock", "--set", f"models.default.api_base={server.base_url}")


def test_a_table_tells_before_after_and_whether_it_helped(judge, labels, tmp_path):
    ran = judge("calibrate", labels, *THRESHOLD, "--out", "fitted/j.json")
    assert ran.code == 0, ran.err
    text = " ".join(ran.out.split())
    (report,) = judge("calibrate", labels, *THRESHOLD, "--json").rows
    linear = report["figures"]["linear"]
    before, after = (f"{linear[side]['value']:.2f}"[1:] for side in ("before", "after"))
    assert text.startswith(
        f"No significant effect of the fit: linear kappa went from {before} to {after} on topics "
    )
    assert "Tested on 24 labels of 2 topics" in text
    assert "72 labels; topics: train 3, dev 1, test 2." in text
    assert (
        "With 2 test topics, the intervals are only a rough guide; --folds 6 tests all 6." in text
    )
    assert ran.err.startswith("Judge file: fitted/j.json")
    assert max(map(len, ran.out.splitlines())) <= 80
    [row] = [line for line in ran.out.splitlines() if line.startswith("linear kappa")]
    for side in ("before", "after"):
        assert f" {linear[side]['value']:.3f}"[2:] in row
    whole = judge("calibrate", labels, *THRESHOLD, "--all").out
    for name in ("quadratic kappa", "kappa of full or not", "macro F1"):
        assert name not in ran.out
        assert name in whole
    assert (
        json.loads((tmp_path / "fitted/j.json").read_text(encoding="utf-8"))["fitted"]["figures"][
            "linear"
        ]
        == linear
    )


def test_a_fitted_file_loads_in_a_run(judge, labels, tmp_path):
    assert judge("calibrate", labels, *THRESHOLD, "--out", "j.json").code == 0
    (tmp_path / "topics.tsv").write_text(
        "".join(f"t{i:02}\twhy\n" for i in range(6)), encoding="utf-8"
    )
    passages = [{"docid": f"p{n}", "text": row["passage"]} for n, row in enumerate(ROWS)]
    write_rows(tmp_path / "passages.jsonl", passages)
    answers = {}
    for n, row in enumerate(ROWS):
        answers.setdefault(row["topic_id"], []).append((row["sentence"], f"p{n}"))
    runs = [
        {"run_id": "r", "topic_id": topic, "topic": "why", "references": [p for _, p in sentences],
         "response_length": 9,
         "answer": [{"text": text, "citations": [i]} for i, (text, _) in enumerate(sentences)]}
        for topic, sentences in answers.items()
    ]  # fmt: skip
    write_rows(tmp_path / "r.jsonl", runs)
    data = ["--runs", "r.jsonl", "--topics", "topics.tsv", "--passages", "passages.jsonl"]
    ran = judge("run", "support", *data, "--out", "res", "--set", "judges.support.state=j.json")
    assert ran.code == 0, ran.err
    judged = read_rows(tmp_path / "res/support.jsonl")
    truth = {(row["topic_id"], row["sentence_id"]): row["label"] for row in ROWS}
    right = sum(truth[row["topic_id"], row["sentence"]] == row["label"] for row in judged)
    assert right / len(judged) > 0.85


def test_a_limit_on_calls_ends_with_3_and_says_how_many_are_missing(judge, labels, server):
    given = ("calibrate", labels, *THRESHOLD, *model_of(server))
    ran = judge(*given, "--set", "run.max_calls=60")
    assert ran.code == 3
    assert len(server.requests) == 60
    assert "12 items were not judged and are excluded: budget 12." in ran.out
    assert judge(*given, "--set", "run.max_calls=12").code == 0  # the others came from the cache
    assert len(server.requests) == 72


def test_ctrl_c_ends_with_130_and_what_was_answered_is_not_asked_again(
    labels, server, environment, tmp_path
):
    server.latency_s = lambda index, body: 0.0 if index < 40 else 60.0
    given = [*THRESHOLD, *model_of(server), "--out", "j.json"]
    command = [*JUDGE, "calibrate", labels, *given]
    process = start(*command, env=environment, cwd=tmp_path, stderr=PIPE)
    for _ in range(600):
        if server.n_finished >= 40 and len(server.requests) > 40:
            break
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert "Traceback" not in stderr
    assert not (tmp_path / "j.json").exists()
    server.latency_s = 0.0
    server.clear()
    ran = run(*command, env=environment, cwd=tmp_path)
    assert ran.returncode == 0
    assert len(server.requests) == 32


# A study on the same data reached .535; about .42 without labels of the topic.


def commands_of_the_page():
    """(arguments, what it shows) of each `$ judge calibrate …` in the page's blocks."""
    for block in re.findall(r"^```\n(\$ judge .*?)^```", PAGE, re.DOTALL | re.MULTILINE):
        command, _, shown = block.removeprefix("$ judge ").partition("\n\n")
        yield command.replace("\\\n", " ").split(), shown


def test_the_page_shows_what_the_commands_print(judge, tmp_path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    n_shown = 0
    for arguments, shown in commands_of_the_page():
        ran = judge(*arguments)
        assert ran.code == 0, ran.err
        if shown:
            assert is_shown(ran.out, shown), ran.out
            n_shown += 1
    assert n_shown >= 2


# `judge calibrate --dry-run`: what it will ask, by the table of docs/reference/fitting.md.
HERE = Path(__file__).resolve().parents[2] / "tests/collection"
ARGS = ["calibrate", str(HERE / "labels/grounded.jsonl"), "--judge", str(HERE / "grounded.yaml")]


@pytest.mark.parametrize(
    ("method", "options", "most"),
    [  # t = 30 calls of train, d = 20 of dev, worked out by hand
        ("few-shot", {}, 40),
        ("bootstrap", {}, 11 * 20 + 9 * 30),
        ("bootstrap", {"num_candidate_programs": 2, "max_rounds": 2}, 5 * 20 + 3 * 30 * 2),
        ("mipro", {}, 11 * 20 + 4 * 30 + 6 + 11),
        ("simba", {}, 8 * (13 * 30 + 7 + 20) + 7 * 30 + 40),
        ("gepa", {"max_metric_calls": 90}, 90 + 30 + 40),
    ],
)
def test_the_most_that_a_search_asks(method, options, most):
    assert count_search_calls(method, options, 30, 20) == most


def test_a_method_that_fits_numbers_asks_every_item_once(judge):
    ran = judge(*ARGS, "--method", "threshold", "--model", "openai/gpt-4o", "--dry-run", "--json")
    (row,) = map(orjson.loads, ran.out.splitlines())
    assert (ran.code, row["calls"], row["model"]) == (0, 102, "openai/gpt-4o")
    assert row["cost"] > 0


def test_a_prompt_method_asks_the_test_items_twice_and_searches(judge, tmp_path):
    out = tmp_path / "judge.json"
    ran = judge(
        *(*ARGS, "--method", "few-shot", "--model", "openai/gpt-4o"),
        *("--dry-run", "--json", "--out", str(out)),
    )
    test, search = map(orjson.loads, ran.out.splitlines())
    assert test["calls"] % 2 == 0
    assert 0 < test["calls"] // 2 + search["calls"] // 2 < 102
    assert not out.exists()


# `judge calibrate` with the methods that search for a prompt, as a user runs it.
SMALL = {
    "few-shot": (), "bootstrap": ("num_candidate_programs=2",),
    "mipro": ("num_candidates=3", "num_trials=4"),
    "simba": ("max_steps=2", "bsize=8", "num_candidates=3"), "gepa": ("max_metric_calls=60",),
}  # fmt: skip


@pytest.fixture
def calibrate_prompts_server():
    with MockServer(stamp_brain) as running:
        yield running


@pytest.fixture
def calibrate(judge, calibrate_prompts_server, tmp_path):
    """Runs the command on 100 labelled items of 9 topics; returns how it ended."""
    rows = [
        {"topic_id": item.topic_id, "run_id": "r", "sentence_id": i, "passage_id": "p",
         **item.inputs, "label": item.label, "rationale": item.rationale}
        for i, item in enumerate(stamped(100, topics=9))
    ]  # fmt: skip
    labels = tmp_path / "labels.jsonl"
    write_rows(labels, rows)

    def run(method, *flags):
        options = [part for text in SMALL[method] for part in ("--option", text)]
        entry = (
            "--model", "openai/mock", "--set",
            f"models.default.api_base={calibrate_prompts_server.base_url}",
        )  # fmt: skip
        return judge(
            *("calibrate", str(labels), "--judge", "support", "--method", method, *entry),
            *(*options, *flags),
        )

    return run


@pytest.mark.parametrize("method", SMALL)
def test_it_helps_on_topics_that_the_search_never_saw(
    calibrate, calibrate_prompts_server, tmp_path, method
):
    out = tmp_path / "fitted/support.json"
    ran = calibrate(method, "--out", str(out), "--json")
    assert ran.out, ran.err
    report = json.loads(ran.out)
    assert (ran.code, report["verdict"]) == (0, "better"), ran.err
    figure = report["figures"]["linear"]
    assert figure["after"]["value"] > figure["before"]["value"] + 0.3
    file = json.loads(out.read_text(encoding="utf-8"))
    tried = [
        json.loads(line) for line in (tmp_path / "fitted/support.log.jsonl").open(encoding="utf-8")
    ]
    assert len(tried) >= 2
    prompt = file["prompts"]["judge"]
    assert RULE in prompt["instructions"] or prompt["demos"]
    (split,) = report["topics"]
    shown = {demo["passage"] for demo in prompt["demos"] if "passage" in demo}
    test_texts = {
        item.inputs["passage"] for item in stamped(100, topics=9) if item.topic_id in split["test"]
    }
    assert not shown & test_texts


def test_the_budget_holds_to_the_call_and_the_test_items_are_paid_for(
    calibrate, calibrate_prompts_server
):
    ran = calibrate("gepa", "--set", "run.max_calls=150", "--json")
    report = json.loads(ran.out)
    assert len(calibrate_prompts_server.requests) <= 150
    assert report["optimiser"]["stopped_by"] == "budget"
    (split,) = report["topics"]
    n_test = sum(item.topic_id in split["test"] for item in stamped(100, topics=9))
    assert (ran.code, report["n_unjudged"], report["n_test"]) == (0, 0, n_test)


@pytest.mark.parametrize("n_scored", [0, 1])
def test_a_search_that_could_try_no_new_prompt_writes_nothing_and_ends_with_3(
    calibrate, calibrate_prompts_server, tmp_path, n_scored
):
    """Scored at most: the judge's own prompt, on all of dev."""
    out, log = tmp_path / "support.json", tmp_path / "support.log.jsonl"
    calibrate("gepa", "--out", out)
    kept = out.read_bytes(), log.read_bytes()
    (split,) = json.loads(kept[0])["fitted"]["topics"]
    n_dev, n_test = (
        sum(item.topic_id in split[part] for item in stamped(100, topics=9))
        for part in ("dev", "test")
    )
    limit = n_test + n_dev + (10 if n_scored else -1) + n_test
    fresh = ("--set", f"run.cache={tmp_path / 'fresh'}")
    ran = calibrate("gepa", "--set", f"run.max_calls={limit}", "--out", out, *fresh)
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == (
        "judge: budget: the search ended before a new prompt was scored on all of dev; "
        f"{n_test} calls were kept to test it on. No judge file is written; raise the limit.\n"
    )
    assert (out.read_bytes(), log.read_bytes()) == kept
    tried = tmp_path / "support.log.jsonl.part"
    assert tried.exists() == bool(n_scored)
    assert not n_scored or len(tried.read_text(encoding="utf-8").splitlines()) == 1


# `judge calibrate` of judges that make lists, and runs with what it wrote, as a user does it.
CALIBRATE_LISTS_SMALL = {
    "few-shot": (), "bootstrap": ("num_candidate_programs=2",),
    "mipro": ("num_candidates=3", "num_trials=4"),
    "simba": ("max_steps=2", "bsize=4", "num_candidates=3"), "gepa": ("max_metric_calls=30",),
}  # fmt: skip
N_TOPICS = 10


@pytest.fixture
def calibrate_lists_server():
    with MockServer(stamp_brain) as running:
        yield running


@pytest.fixture
def paths(tmp_path):
    return write_nugget_data(tmp_path, N_TOPICS) | write_question_data(tmp_path, N_TOPICS)


@pytest.fixture
def calibrate_lists_calibrate(judge, calibrate_lists_server, paths):
    """Runs the command on lists of 10 topics; returns how it ended."""

    def run(method, *flags, name="nuggetizer"):
        lists, source = ("nuggets", "candidates")
        if name == "subquestions":
            lists, source = ("questions", "reference")
        options = [part for text in CALIBRATE_LISTS_SMALL[method] for part in ("--option", text)]
        entry = (
            "--model", "openai/mock", "--set",
            f"models.default.api_base={calibrate_lists_server.base_url}",
        )  # fmt: skip
        return judge(
            *("calibrate", str(paths[lists]), "--judge", name, "--method", method, *entry),
            *("--set", f"data.{source}={paths[source]}", *options, *flags),
        )

    return run


@pytest.mark.parametrize("method", CALIBRATE_LISTS_SMALL)
def test_lists_of_topics_that_the_search_never_saw_get_better(
    calibrate_lists_calibrate, tmp_path, method
):
    out = tmp_path / "fitted/nuggetizer.json"
    ran = calibrate_lists_calibrate(method, "--out", str(out), "--json")
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
    judge, calibrate_lists_calibrate, calibrate_lists_server, paths, tmp_path, method
):
    fit = calibrate_lists_calibrate(method, "--out", "nuggetizer.json")
    assert fit.code == 0
    assert "Tested on 4 lists of 4 topics" in fit.out
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
                 "runs": str(write_rows(tmp_path / "run.jsonl", answers))},
        "models": {"mock": {"model": "openai/mock", "api_base": calibrate_lists_server.base_url},
                   "default": {"model": "lexical"}},
        "judges": {"nuggetizer": {"model": "mock", "state": "nuggetizer.json"}},
        "run": {"out": "results", "cache": False},
    }  # fmt: skip
    (tmp_path / "run.yaml").write_text(json.dumps(config), encoding="utf-8")
    calibrate_lists_server.clear()
    ran = judge("run", "run.yaml")
    assert ran.code == 0, ran.err
    prompt = fitted["prompts"]["update"]
    assert len(calibrate_lists_server.requests) == N_TOPICS
    for request in calibrate_lists_server.requests:
        system, *others = request.body["messages"]
        assert all(part in system["content"] for part in prompt["instructions"].split("\n\n"))
        assert len(others) == 2 * len(prompt["demos"]) + 1
    made = [json.loads(row) for row in (tmp_path / "results/nuggets.jsonl").open(encoding="utf-8")]
    wanted = {text for i in range(N_TOPICS) for text in wanted_of(i)}
    is_wanted = [nugget["text"] in wanted for bank in made for nugget in bank["nuggets"]]
    assert sum(is_wanted) / len(is_wanted) > 0.6
    manifest = json.loads((tmp_path / "results/manifest.json").read_text(encoding="utf-8"))
    assert manifest["judges"]["nuggetizer"]["state"] is not None


def test_the_budget_holds_and_the_test_lists_are_paid_for(
    calibrate_lists_calibrate, calibrate_lists_server
):
    flags = ("--match", "entailment", "--set", "run.max_calls=140", "--json")
    (report,) = calibrate_lists_calibrate(
        "bootstrap", "--option", "num_candidate_programs=6", *flags
    ).rows
    assert len(calibrate_lists_server.requests) <= 140
    assert report["optimiser"]["stopped_by"] == "budget"
    assert (report["n_unjudged"], report["n_unmatched"], report["n_test"]) == (0, 0, 4)


def test_a_budget_that_allows_no_new_prompt_writes_nothing(calibrate_lists_calibrate, tmp_path):
    ran = calibrate_lists_calibrate("gepa", "--set", "run.max_calls=11", "--out", "n.json")
    assert (ran.code, ran.out) == (3, "")
    assert "No judge file is written; raise the limit." in ran.err
    assert not (tmp_path / "n.json").exists()


@pytest.mark.parametrize(
    ("method", "flags", "message"),
    [
        ("few-shot", ("--scale", "no,yes"), "apply to labels, but these are lists"),
        ("few-shot", ("--match", "relevance"), "does not look for one text in another"),
        ("few-shot", ("--match", "nobody"), "--match nobody: wanted lexical, or a judge such as"),
        ("few-shot", ("--folds", "2"), "folds are for methods that fit numbers"),
        ("few-shot", ("--objective", "kappa"), "lists are chosen by f1"),
        ("few-shot", ("--method", "threshold"), "makes lists, which no cut corrects; wanted one"),
        ("few-shot", ("--model", "lexical"), "so it needs a language model"),
        ("few-shot", ("--max-cost", "1"), "the price of model 'openai/mock' is unknown"),
    ],
)
def test_what_cannot_work_is_refused_before_anything_is_asked(
    calibrate_lists_calibrate, calibrate_lists_server, method, flags, message
):
    ran = calibrate_lists_calibrate(method, *flags)
    assert ran.code == 2
    assert message in ran.err
    assert calibrate_lists_server.requests == []


def test_nuggets_of_real_topics_are_fitted_to_those_of_the_assessors(
    judge, calibrate_lists_server, shared_data, tmp_path
):
    """A model that lists what the lexical judge does once it is shown an example, else little."""
    from nuggetjudge.judges.lexical.overlap import update_nuggets

    def brain(body):
        data = input_of(body)
        is_shown = any(message["role"] == "assistant" for message in body["messages"])
        return {"updated": update_nuggets(data)["updated"][: 30 if is_shown else 3]}

    calibrate_lists_server.brain = brain
    data = shared_data / "rag24_e2e"
    ran = judge(
        *("calibrate", data / "nuggets_nist.jsonl", "--judge", "nuggetizer"),
        *("--method", "few-shot", "--model", "openai/mock"),
        *("--set", "judges.nuggetizer.example=false"),
        *(
            "--set", f"models.default.api_base={calibrate_lists_server.base_url}", "--topics",
            data / "topics.tsv",
        ),
        *(
            "--set", f"data.candidates={data / 'candidates.jsonl'}", "--passages",
            data / "passages.jsonl",
        ),
        *("--set", f"data.qrels={data / 'qrels_nist.txt'}", "--json"),
    )  # fmt: skip
    assert ran.code == 0, ran.err
    (report,) = ran.rows
    assert (report["n_lists"], report["n_test"]) == (12, 5)
    recall = report["figures"]["recall"]
    assert recall["after"]["value"] > recall["before"]["value"] + 0.1
