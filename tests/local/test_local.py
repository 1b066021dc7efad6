"""A real model judges the demo: what it replies can be read, and what cannot is counted.

Nothing here is about how well it judges.
"""

import json

import pytest
from local.conftest import DEMO

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import SupportJudge

DATA = {
    "topics": str(DEMO / "topics.tsv"), "passages": str(DEMO / "passages.jsonl"),
    "candidates": str(DEMO / "candidates.jsonl"), "qrels": str(DEMO / "qrels.txt"),
    "runs": [str(DEMO / "runs" / f"{name}.jsonl") for name in ("complete", "thin")],
}  # fmt: skip
MAX_UNREADABLE = 0.05
SUPPORT, NUGGET = ("none", "partial", "full"), ("not_support", "partial_support", "support")


def check_form(ran, stage):
    """Every item has a label or the reason why not, and nearly all have a label."""
    assert ran.code in (0, 3), ran.err
    assert ran.manifest, ran.err
    judged = ran.manifest["judged"][stage]
    unjudged = [row for row in ran.rows("unjudged.jsonl") if row["stage"] == stage]
    n_unjudged = sum(row["n"] for row in unjudged)
    reasons = {row["reason"] for row in unjudged}
    assert n_unjudged == ran.manifest["unjudged"].get(stage, 0)
    assert n_unjudged <= MAX_UNREADABLE * (judged + n_unjudged), unjudged
    assert reasons <= {"truncated", "unparseable", "incomplete"}
    return judged


def test_doctor_finds_that_it_takes_schemas_and_gives_probabilities(judge):
    ran = judge("doctor", {}, "--json")
    row = json.loads(ran.out.splitlines()[0])  # of the model; the other entry is lexical
    assert (row["answers"], row["schema"], row["logprobs"]) == (True, "json_schema", True), ran.err


@pytest.mark.parametrize("explain", [False, True])
def test_citations_are_labelled(judge, work, explain):
    data = {**DATA, "runs": DATA["runs"][explain:]}  # reasons take ten times as long
    config = {"program": "support", "data": data, "run": {"out": str(work / f"support-{explain}")}}
    ran = judge("run", config, "--limit", "3", *["--set", "run.explain=true"] * explain)
    assert check_form(ran, "support") >= (5 if explain else 20)
    labels = [row for row in ran.rows("support.jsonl") if "label" in row]
    assert {row["label"] for row in labels} <= {*SUPPORT}
    cited = [row for row in labels if row["citation"] is not None]
    assert any("evidence" in row or "rationale" in row for row in cited) == explain


@pytest.mark.parametrize("explain", [False, True])
def test_nuggets_are_assigned(judge, work, explain):
    (line, *_) = (DEMO / "nuggets.jsonl").read_text("utf-8").splitlines()
    topic = json.loads(line)
    bank = work / "bank.jsonl"
    bank.write_text(json.dumps({**topic, "nuggets": topic["nuggets"][:6]}), encoding="utf-8")
    config = {
        "program": "nuggets",
        "data": {**DATA, "nuggets": str(bank), "runs": DATA["runs"][explain:]},
        "judges": {"assigner": {"window": 2 if explain else 10}},
        "run": {"out": str(work / f"nuggets-{explain}")},
    }
    ran = judge("run", config, "--limit", "1", *["--set", "run.explain=true"] * explain)
    assert check_form(ran, "assignments") == 6 * len(DATA["runs"][explain:])
    found = {one["assignment"] for row in ran.rows("assignments.jsonl") for one in row["nuggets"]}
    assert found <= {*NUGGET, None}


def test_nuggets_are_made_of_passages(judge, work):
    config = {
        "program": "nuggets", "data": DATA,
        "judges": {"nuggetizer": {"window": 4}, "importance": {"model": "words"}},
        "nuggets": {"max_nuggets": 6, "keep": 6}, "run": {"out": str(work / "made")},
    }  # fmt: skip
    ran = judge("run", config, "--limit", "1")
    check_form(ran, "nuggets")
    for row in ran.rows("nuggets.jsonl"):
        assert 1 <= len(row["nuggets"]) <= 6
        assert all(0 < len(one["text"]) <= 160 for one in row["nuggets"])


def test_a_run_goes_on_without_asking_again(judge, work):
    config = {"program": "support", "data": DATA, "run": {"out": str(work / "support-False")}}
    assert judge("run", config, "--limit", "3").manifest["this_time"]["requests"] == 0


def test_a_threshold_is_fitted_to_the_cached_replies(judge, work):
    folder = work / "support-False"
    labels = folder / "people.jsonl"
    rows = [json.loads(line) for line in (folder / "support.jsonl").read_text().splitlines()]
    rows = [row for row in rows if row["citation"] is not None]
    keys = ("run_id", "topic_id", "sentence", "citation")
    with labels.open("w", encoding="utf-8") as file:
        for i, row in enumerate(rows):
            label = {"label": SUPPORT[i % 3]}
            file.write(json.dumps({name: row[name] for name in keys} | label) + "\n")
    flags = [
        "--judge", "support", "--method", "threshold", "--set", "run.offline=true", "--folds",
        "2",
    ]  # fmt: skip
    ran = judge("calibrate", {"data": DATA}, str(labels), *flags, "--out", str(work / "fit.json"))
    assert ran.code in (0, 3), ran.err


def test_a_label_below_the_listed_tokens_has_a_bound_that_a_longer_list_confirms(model_url):
    item = {"sentence": "Wind moves decks.", "passage": "Strong wind can lift and twist a deck."}
    entry = {"model": "hosted_vllm/smollm2", "api_base": model_url, "timeout_s": 600}
    short, long = (SupportJudge(ModelConfig(**entry, logprobs=n))(**item) for n in (20, 200))
    assert short.label == long.label
    for verdict in (short, long):
        assert [*verdict.probabilities] == list(SUPPORT)
        assert sum(verdict.probabilities.values()) == pytest.approx(1)
        assert all(p > 0 for p in verdict.probabilities.values())
    for label in SUPPORT:
        if label != short.label:
            assert long.probabilities[label] <= short.probabilities[label] * 1.01
