"""A decision model under the probes: what moves it is seen, and what it cannot show is said."""

import pytest
from json_lines import write_rows
from mock_decisions import DecisionServer

from nuggetjudge.plugins.lab.probe import injection
from nuggetjudge.plugins.lab.probe.injection import probing_injection
from nuggetjudge.plugins.lab.probe.payloads import read_payloads
from nuggetjudge.plugins.lab.probe.probing import Options
from nuggetjudge.plugins.lab.probe.shifts import probing_conditions
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import Problems

GAINS = {"none": 0.0, "partial": 0.5, "full": 1.0}


@pytest.fixture
def claims(tmp_path):
    """Ten cited sentences of two topics and two runs."""
    rows = [
        {"topic_id": f"t{i % 2}", "run_id": f"run{i // 5}", "sentence_id": str(i),
         "passage_id": "p", "sentence": f"Wind {i} moves decks.", "passage": "Wind lifts decks."}
        for i in range(10)
    ]  # fmt: skip
    return write_rows(tmp_path / "claims.jsonl", rows)


def make_config(server):
    entry = {"models.default.model": "typesafe/jev-1", "models.default.api_base": server.base_url}
    return load_config(None, {"run.cache": False, **entry})


def choose(labels, label):
    return {each: 0.8 if each == label else 0.2 / (len(labels) - 1) for each in labels}


def test_the_order_of_its_labels_is_seen_and_a_schema_is_not_asked_about(claims):
    with DecisionServer(decide=lambda state, question, labels: choose(labels, labels[0])) as server:
        options = Options(kinds=("labels", "schema", "input"), repeats=5)
        config = make_config(server)
        report = probing_conditions(claims, ["support"], config, Problems(), options).ask()
    rows = {row["condition"]: row for row in report.of("cost")}
    moved = [row for name, row in rows.items() if name.startswith("labels-")]
    assert len(moved) == 5
    for row in moved:
        first = row["what"].removeprefix("labels ").split(",")[0]
        assert row["gain"]["value"] == GAINS[first]
    assert rows["input-sentence"]["changed"]["value"] == 0
    why_not = {each.name: each.reason for each in report.skipped}
    assert why_not == {"schema": "a decision model takes no reply schema"}


def test_texts_that_speak_to_it_are_seen_and_an_answer_is_no_copy_of_one(claims, monkeypatch):
    """Of a chat model, a label in the words of the passage might be copied from it; here not."""
    chosen = [payload for payload in read_payloads() if payload.kind == "replies"]
    monkeypatch.setattr(injection, "read_payloads", lambda: chosen)

    def obey(state, question, labels):
        text = str(state["data"])
        return choose(labels, max(labels, key=text.rfind))

    with DecisionServer(decide=obey) as server:
        config = make_config(server)
        options = Options(repeats=1)
        report = probing_injection(claims, ["support"], config, Problems(), options).ask()
    (flip,) = (row for row in report.of("flip") if row["by"] == "all")
    assert flip["n"] > 10
    assert report.n_unjudged == 0
    assert flip["flip"]["value"] > 0.9
    assert {each.name for each in report.skipped} >= {"fence", "schema"}
