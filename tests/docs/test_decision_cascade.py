"""The ten lines of the page of decision models run, on the demo and two local servers."""

import os
import re
import shlex
import shutil
from collections import Counter
from pathlib import Path

import pytest
from json_lines import read_rows, write_rows
from mock_decisions import DecisionServer
from mock_server import MockServer, input_of
from processes import JUDGE, run

from nuggetjudge.cli.stopping import INCOMPLETE

pytestmark = pytest.mark.whole
ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "examples" / "demo"
PAGE = ROOT / "docs" / "howto" / "decision-models.md"
TOPICS = 4  # of 12
POSITIONS = {"none": 0.0, "partial": 0.5, "full": 1.0}


def share_words(asked):
    """The share of a sentence's words that its passage has."""
    words = re.findall(r"\w+", asked["sentence"].lower())
    passage = asked["passage"].lower()
    return sum(word in passage for word in words) / max(1, len(words))


def decide(state, question, labels):
    """Too lenient, and unsure in the middle."""
    at = share_words(state["data"]) + 0.3
    weights = {label: 2 ** (-8 * abs(POSITIONS[label] - at)) for label in labels}
    return {label: weight / sum(weights.values()) for label, weight in weights.items()}


def answer(body):
    asked = input_of(body)
    share = share_words(asked)
    if len(asked["sentence"]) % 10 == 0:
        return "I cannot say."
    return {"verdict": "full" if share > 0.8 else "partial" if share > 0.5 else "none"}


@pytest.fixture
def demo(tmp_path):
    """A few topics of the demo, laid out as the page has it."""
    kept = (DEMO / "topics.tsv").read_text("utf-8").splitlines()[:TOPICS]
    (tmp_path / "topics.tsv").write_text("\n".join(kept) + "\n", encoding="utf-8")
    names = {line.split("\t")[0] for line in kept}
    for path in (*(DEMO / "runs").glob("*.jsonl"), DEMO / "labels" / "support.jsonl"):
        new = tmp_path / path.relative_to(DEMO)
        new.parent.mkdir(exist_ok=True)
        write_rows(new, [row for row in read_rows(path) if find_topic(row) in names])
    shutil.copy(DEMO / "passages.jsonl", tmp_path)
    return tmp_path


def find_topic(row):
    return row.get("topic_id") or row["metadata"]["topic_id"]


@pytest.mark.slow
def test_the_fitted_cascade_of_the_page_runs(demo):
    section = PAGE.read_text("utf-8").split("## A fitted cascade")[1].split("\n## ")[0]
    config, commands = re.findall(r"^```\w*\n(.*?)^```$", section, re.DOTALL | re.MULTILINE)
    lines = commands.splitlines()
    assert len(config.splitlines()) + len(lines) == 10
    env = {**os.environ, "HOME": str(demo), "XDG_CACHE_HOME": str(demo / "cache")}
    with DecisionServer(decide) as first, MockServer(answer) as second:
        for model, entry in (
            ("typesafe/jev-1.13.0", f"hosted_vllm/m, engine: decision, api_base: {first.base_url}"),
            ("openai/gpt-4o", f"openai/mock, api_base: {second.base_url}, reasks: 0"),
        ):
            assert model in config
            config = config.replace(model, entry)
        (demo / "judge.yaml").write_text(config, encoding="utf-8")
        for line in (*lines, "judge next results/cascade --kept 10 --out people.csv"):
            ran = run(*JUDGE, *shlex.split(line)[1:], cwd=demo, env=env)
            assert ran.returncode in (0, INCOMPLETE), f"{line}: {ran.stderr}"
    rows = read_rows(demo / "results" / "cascade" / "support.jsonl")
    rows = [row for row in rows if row["citation"] is not None]
    stages = Counter(row.get("method", "stage 1") if row["label"] else "people" for row in rows)
    assert stages.keys() == {"stage 1", "stage 2", "people"}
    assert 0.6 < stages["stage 1"] / len(rows) < 0.8  # 30% go on
    assert (demo / "people.csv").read_text("utf-8-sig").count("\n") > 10
