"""`judge run items`, and what docs/protocols/own-judges.md shows of it."""

import json
import re
from pathlib import Path

import pytest
from mock_server import MockServer, input_of

ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "docs" / "protocols" / "own-judges.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```\w*\n(.*?)```", PAGE, re.DOTALL)
OWN = """\
name: grounded
question: Does the source state the claim?
inputs: {claim: a statement, source: a text}
labels: [no, yes]
"""


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(OWN, encoding="utf-8")
    return path


@pytest.fixture
def items(tmp_path):
    path = tmp_path / "items.jsonl"
    rows = [
        {"topic_id": "t1", "run_id": run, "sentence_id": i, "sentence": f"claim {i}", "source": "s"}
        for run, i in (("one", 0), ("one", 1), ("two", 0))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_flags_name_items_judge_and_fields(judge, own, items):
    with MockServer(brain=lambda body: {"label": "yes"}) as server:
        model = ["--model", "hosted_vllm/mock", "--set"]
        model += [f"models.default.api_base={server.base_url}"]
        data = ["--items", items, "--judge", own, "--set", "items.fields.claim=sentence"]
        ran = judge("run", "items", *data, *model, "--out", "out", "--json")
        asked = [input_of(request.body) for request in server.requests]
    assert ran.code == 0, ran.err
    assert {row["claim"] for row in asked} == {"claim 0", "claim 1"}
    means = {
        (row["run_id"], row["measure"]): row["value"]
        for row in ran.rows
        if row["topic_id"] == "all"
    }
    assert means["one", "mean_gain"] == means["two", "share_yes"] == 1.0


def test_a_judge_that_gives_everything_one_label_is_said(judge, own, tmp_path):
    path = tmp_path / "many.jsonl"
    rows = [{"topic_id": f"t{i}", "claim": f"claim {i}", "source": "s"} for i in range(15)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with MockServer(brain=lambda body: {"label": "no"}) as server:
        model = ["--model", "hosted_vllm/mock", "--api-base", server.base_url]
        ran = judge("run", "items", "--items", path, "--judge", own, *model, "--quiet")
    (line,) = [line for line in ran.err.splitlines() if "same label" in line]
    assert (ran.code, line.startswith("Judge item gave all 15 items the same label (no)")) == (
        0,
        True,
    )


def test_the_page_shows_the_demos_judge_and_what_the_commands_print(judge, tmp_path):
    assert BLOCKS[0] == (ROOT / "examples" / "demo" / "grounded.yaml").read_text(encoding="utf-8")
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    ran = judge(*BLOCKS[1].split()[1:], "--quiet")
    assert ran.out.strip() == BLOCKS[2].strip()
    command = next(b for b in BLOCKS if b.startswith("judge agree")).splitlines()[0]
    printed = judge(*command.split()[1:]).out
    shown = next(b for b in BLOCKS if b.startswith("The judge agrees"))
    assert set(shown.splitlines()) < set(printed.splitlines())
