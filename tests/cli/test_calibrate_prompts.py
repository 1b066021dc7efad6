"""`judge calibrate` with the methods that search for a prompt, as a user runs it."""

import json
from collections import Counter

import pytest
from mock_rules import RULE, stamp_brain, stamped
from mock_server import MockServer

SMALL = {
    "few-shot": (),
    "bootstrap": ("num_candidate_programs=2",),
    "mipro": ("num_candidates=3", "num_trials=4"),
    "simba": ("max_steps=2", "bsize=8", "num_candidates=3"),
    "gepa": ("max_metric_calls=60",),
}


@pytest.fixture
def server():
    with MockServer(stamp_brain) as running:
        yield running


@pytest.fixture
def calibrate(judge, server, tmp_path):
    """Runs the command on 100 labelled items of 9 topics; returns how it ended."""
    rows = [
        {"topic_id": item.topic_id, "run_id": "r", "sentence_id": i, "passage_id": "p",
         **item.inputs, "label": item.label, "rationale": item.rationale}
        for i, item in enumerate(stamped(100, topics=9))
    ]  # fmt: skip
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    def run(method, *flags):
        options = [part for text in SMALL[method] for part in ("--option", text)]
        entry = ("--model", "openai/mock", "--set", f"models.default.api_base={server.base_url}")
        return judge(
            *("calibrate", str(labels), "--judge", "support", "--method", method, *entry),
            *(*options, *flags),
        )

    return run


@pytest.mark.parametrize("method", SMALL)
def test_it_helps_on_topics_that_the_search_never_saw(calibrate, server, tmp_path, method):
    out = tmp_path / "fitted/support.json"
    ran = calibrate(method, "--out", str(out), "--json")
    assert ran.out, ran.err
    report = json.loads(ran.out)
    assert (ran.code, report["verdict"]) == (0, "better"), ran.err
    figure = report["figures"]["linear"]
    assert figure["after"]["value"] > figure["before"]["value"] + 0.3
    file = json.loads(out.read_text(encoding="utf-8"))
    tried = [json.loads(line) for line in (tmp_path / "fitted/support.log.jsonl").open()]
    assert len(tried) >= 2
    prompt = file["prompts"]["judge"]
    assert RULE in prompt["instructions"] or prompt["demos"]
    (split,) = report["topics"]
    shown = {demo["passage"] for demo in prompt["demos"] if "passage" in demo}
    test_texts = {
        item.inputs["passage"] for item in stamped(100, topics=9) if item.topic_id in split["test"]
    }
    assert not shown & test_texts


def test_the_diff_shows_what_became_of_the_prompt(calibrate):
    ran = calibrate("gepa", "--diff")
    assert "--- support.judge as it was" in ran.out
    assert any(line.startswith("+Go by the colour of the stamp") for line in ran.out.splitlines())


def test_the_budget_holds_to_the_call_and_the_test_items_are_paid_for(calibrate, server):
    ran = calibrate("gepa", "--max-calls", "130", "--json")
    report = json.loads(ran.out)
    assert len(server.requests) <= 130
    assert report["optimiser"]["stopped_by"] == "budget"
    (split,) = report["topics"]
    n_test = sum(item.topic_id in split["test"] for item in stamped(100, topics=9))
    assert (ran.code, report["n_unjudged"], report["n_test"]) == (0, 0, n_test)


def test_the_same_again_asks_nothing_and_writes_the_same_bytes(calibrate, server, tmp_path):
    out = tmp_path / "support.json"
    calibrate("mipro", "--out", str(out))
    asked, first = Counter(str(request.body) for request in server.requests), out.read_bytes()
    assert max(asked.values()) == 1
    again = calibrate("mipro", "--out", str(out), "--offline")
    assert (again.code, out.read_bytes()) == (0, first)
    assert len(server.requests) == sum(asked.values())
