"""The agent of the evidence program is fitted to outcomes that people gave sentences."""

import json
from pathlib import Path

import pytest
from mock_replies import input_of, schema_of
from mock_server import MockServer
from stamp_brain import stamp_brain
from typer.testing import CliRunner

from nuggetjudge.cli.app import app
from nuggetjudge.judges import EvidencePlanner
from nuggetjudge.judges.lexical.contradiction import judge_contradiction, write_queries
from nuggetjudge.judges.lexical.keypoints import extract_claims
from nuggetjudge.judges.lexical.nuggets_and_citations import judge_support

DEMO = Path(__file__).resolve().parents[2] / "tests" / "collection"


@pytest.fixture
def outcomes(tmp_path):
    """Of each topic a sentence that cites the wrong passage, and one that no passage carries."""
    path = tmp_path / "outcomes.jsonl"
    written = (DEMO / "runs" / "miscited.jsonl").read_text(encoding="utf-8").splitlines()
    with path.open("w", encoding="utf-8") as file:
        for answer in map(json.loads, written):
            first, names = answer["answer"][0], answer["references"]
            row = {"topic_id": answer["topic_id"], "question": answer["topic"], "documents": None}
            row |= {"references": names, "label": "none", "cited": names[first["citations"][0]]}
            for text, outcome in (
                (first["text"], "wrong_citation"),
                (f"Zebras graze on {len(names)} lawns.", "not_found"),
            ):
                file.write(json.dumps(row | {"sentence": text, "outcome": outcome}) + "\n")
    return path


def brain(body):
    if schema_of(body) is None:
        return stamp_brain(body)  # proposes instructions
    asked, system = input_of(body), body["messages"][0]["content"]
    if "turns" in asked:
        return EvidencePlanner.twins["plan"](asked)
    if '"queries"' in system:
        return write_queries(asked)
    if "contradicts" in system:
        return judge_contradiction(asked)
    return judge_support(asked) if "passage" in asked else extract_claims(asked)


@pytest.mark.parametrize(
    ("how", "judges"),
    [
        ("plan", ["support", "query_writer", "contradiction", "claim_extractor"]),
        ("react", ["evidence_planner", "support"]),
    ],
)
def test_the_command_fits_the_judges_that_look_for_evidence(how, judges, outcomes, tmp_path):
    command = ["calibrate", str(outcomes), "--agent", "evidence", "--model", "openai/mock"]
    command += ["--passages", str(DEMO / "passages.jsonl"), "--out", str(tmp_path / "fits")]
    command += ["--option", "max_metric_calls=4", "--json"]
    with MockServer(brain) as server:
        for setting in (
            f"models.default.api_base={server.base_url}",
            f"run.cache={tmp_path / 'cache'}",
            f"evidence.how={how}",
            "judges.support.evidence=false",  # the twins answer with labels
        ):
            command += ["--set", setting]
        done = CliRunner().invoke(app, command)
        planned = CliRunner().invoke(app, [*command, "--dry-run"])
    assert done.exit_code == 0, (done.output, done.exception)
    report = json.loads(done.stdout)
    assert report["agent"].startswith("evidence")
    assert report["figures"]["accuracy"]["before"]["value"] >= 0.5
    assert report["unjudged"] == {"before": {}, "after": {}}
    assert sorted(report["judges"]) == sorted(judges)
    asked = {name for name, of in report["judges"].items() if of["n_train"]}
    assert asked >= set(judges) - {"claim_extractor"}
    assert planned.exit_code == 0, planned.output
    assert "search, at most" in planned.stdout
