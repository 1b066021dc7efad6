"""What our own pipeline failed to make: told, counted, and no zero of the system."""

import json

import pytest
from mock_server import MockServer, Refusal, input_of

QUESTIONS = {"t1": "what makes tides", "t2": "what sways bridges", "t3": "what do bees sing"}
STATED = {"t1": "support", "t2": "not_support", "t3": "not_support"}  # the nugget of each topic


def brain(body):
    asked = input_of(body)
    if "passages" in asked:
        return {"answer": [{"text": f"About {asked['question']}.", "citations": [1]}]}
    if "nuggets" in asked:
        return {"verdicts": {n: STATED[text[:2]] for n, text in asked["nuggets"].items()}}
    return {"verdict": "full"}


def no_answer_to_the_third(index, body):
    asked = input_of(body)
    return Refusal() if "passages" in asked and asked["question"] == QUESTIONS["t3"] else None


@pytest.fixture
def loop(tmp_path, judge):
    """Runs a closed loop over three topics, each with a nugget; the second time it goes on."""

    def rows(name, *objects):
        (tmp_path / name).write_text("".join(json.dumps(o) + "\n" for o in objects), "utf-8")

    rows("topics.jsonl", *({"id": t, "title": text} for t, text in QUESTIONS.items()))
    rows("passages.jsonl", *({"id": f"p{t}", "text": text} for t, text in QUESTIONS.items()))
    rows(
        "nuggets.jsonl",
        *(
            {"qid": t, "query": text, "nuggets": [{"text": f"{t} told", "importance": "vital"}]}
            for t, text in QUESTIONS.items()
        ),
    )
    data = {name: f"{name}.jsonl" for name in ("topics", "passages", "nuggets")}
    config = {"program": ["nuggets", "support"], "data": data, "retrieve": "bm25 1"}
    config |= {"generate": {}, "run": {"out": "out"}}

    def run(server, *arguments):
        entry = {"model": "hosted_vllm/mock", "api_base": server.base_url}
        text = json.dumps({**config, "models": {"default": entry}})
        (tmp_path / "loop.yaml").write_text(text, "utf-8")
        return judge("run", "loop.yaml", "--quiet", "--json", *arguments)

    return run


def means(ran):
    return {r["measure"]: r for r in ran.rows if r["topic_id"] == "all"}


def bounds(row):
    return tuple(round(row[name], 4) for name in ("value", "low", "high"))


def test_a_refused_answer_is_unjudged_and_what_may_be_missing_ends_with_0(loop, judge, tmp_path):
    with MockServer(brain, faults=no_answer_to_the_third) as server:
        ran = loop(server, "--set", "run.allow_missing=50%")
        assert ran.code == 0, ran.err
        assert "4 judged, 1 missing" in ran.err
        assert bounds(means(ran)["V_strict"]) == (0.5, 0.3333, 0.6667)  # and no .3333
        assert bounds(means(ran)["support_recall"]) == (1.0, 0.6667, 1.0)
        scored = judge("score", "out", "--json")
        assert scored.rows == ran.rows
        assert (
            loop(server, "--set", "run.allow_missing=20%").code == 3
        )  # of answers a third is missing
        assert loop(server).code == 3

        server.faults = None
        n = len(server.requests)
        whole = loop(server)
    assert (whole.code, len(server.requests)) == (0, n + 3)  # answer, nugget, citation
    for measure, row in means(ran).items():
        known = means(whole)[measure]["value"]
        assert row["low"] is None or row["low"] <= known <= row["high"]
    assert not (tmp_path / "out" / "unjudged.jsonl").read_text("utf-8")


def test_the_file_of_answers_tells_a_later_run_which_is_missing(loop, judge, tmp_path):
    """Judged by itself, and by a program that did not write it."""
    with MockServer(brain, faults=no_answer_to_the_third) as server:
        loop(server, "--set", "run.allow_missing=50%")
    answers = tmp_path / "out" / "generated" / "answers" / "bm25.jsonl"
    data = ("--topics", "topics.jsonl", "--nuggets", "nuggets.jsonl", "--runs", answers)
    ran = judge("run", "nuggets", *data, "--out", "later", "--quiet", "--json")
    assert ran.code == 3
    lost = [json.loads(line) for line in (tmp_path / "later/unjudged.jsonl").open(encoding="utf-8")]
    assert [(r["stage"], r["topic_id"], r["run_id"], r["reason"]) for r in lost] == [
        ("answers", "t3", "bm25", "refused")
    ]
    assert means(ran)["V_strict"]["n_unjudged"] == 1
    rows = [line for line in answers.read_text("utf-8").splitlines() if "not_made" not in line]
    answers.write_text("\n".join(rows), "utf-8")  # as any other tool would leave it out
    ran = judge("run", "nuggets", *data, "--out", "foreign", "--quiet", "--json")
    assert ran.code == 0
    assert means(ran)["V_strict"]["n_unjudged"] == 0
