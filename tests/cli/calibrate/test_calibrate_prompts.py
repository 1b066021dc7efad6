"""`judge calibrate` with the methods that search for a prompt, as a user runs it."""

import json

import pytest
from mock_server import MockServer
from stamp_brain import RULE, stamp_brain
from stamped import stamped

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


def test_the_budget_holds_to_the_call_and_the_test_items_are_paid_for(calibrate, server):
    ran = calibrate("gepa", "--set", "run.max_calls=150", "--json")
    report = json.loads(ran.out)
    assert len(server.requests) <= 150
    assert report["optimiser"]["stopped_by"] == "budget"
    (split,) = report["topics"]
    n_test = sum(item.topic_id in split["test"] for item in stamped(100, topics=9))
    assert (ran.code, report["n_unjudged"], report["n_test"]) == (0, 0, n_test)


@pytest.mark.parametrize("n_scored", [0, 1])
def test_a_search_that_could_try_no_new_prompt_writes_nothing_and_ends_with_3(
    calibrate, server, tmp_path, n_scored
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
