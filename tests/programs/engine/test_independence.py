"""A system that was made with the judge is never ranked as if it had not been."""

import json
from pathlib import Path

import pytest
from processes import JUDGE, run

ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "tests" / "collection"


@pytest.fixture
def judge(tmp_path):
    def go(*words):
        return run(
            *JUDGE, *words, cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        )

    return go


def config(tmp_path, independence, runs=f"{DEMO}/runs/*.jsonl", model="lexical"):
    data = {"topics": f"{DEMO}/topics.tsv", "nuggets": f"{DEMO}/nuggets.jsonl", "runs": runs}
    models = {"default": {"model": model}}
    settings = {"program": ["nuggets"], "models": models, "run": {"out": "out"}}
    path = tmp_path / "judge.yaml"
    path.write_text(json.dumps({**settings, "data": {**data, "independence": independence}}))
    return path


def known(tmp_path):
    return json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8")).get("independence")


def test_what_is_said_of_runs_is_kept_and_stands_below_every_leaderboard(judge, tmp_path):
    independence = {"comp*": ["judge", "nuggets"], "thin": "none", "nobody": "prompts"}
    independence |= {"*lete": "none"}  # the first that fits counts
    ran = judge("run", str(config(tmp_path, independence)), "--quiet")
    assert ran.returncode == 0, ran.stderr
    assert known(tmp_path) == {"complete": ["judge", "nuggets"], "thin": []}
    assert "1 no_such_run" in ran.stderr
    for text in (ran.stdout, judge("score", "out").stdout, judge("show", "out").stdout):
        assert "Made with this judge: complete." in text
        assert "Made with its nuggets: complete." in text
        assert "Not known of 2 of 4 runs" in text
    assert "Made with this judge" in judge("show", "out", "complete", "demo-bees").stdout
    assert "Made with" not in judge("show", "out", "thin", "demo-bees").stdout


@pytest.mark.whole
def test_what_is_said_of_runs_stands_in_the_report(judge, tmp_path):
    assert judge("run", str(config(tmp_path, {"comp*": ["judge"]})), "--quiet").returncode == 0
    judge("report", "out", "--out", "page.html")
    assert "Made with this judge: complete." in (tmp_path / "page.html").read_text("utf-8")


def test_nothing_is_said_where_nothing_is_known(judge, tmp_path):
    ran = judge("run", str(config(tmp_path, {})), "--quiet")
    assert known(tmp_path) is None
    assert "Made with" not in ran.stdout
    assert "Not known" not in ran.stdout


def test_answers_of_ours_by_the_model_that_judges_them_have_seen_the_judge(judge, tmp_path):
    data = ["--topics", f"{DEMO}/topics.tsv", "--passages", f"{DEMO}/passages.jsonl"]
    retrieved = judge("retrieve", *data, "--pipeline", "bm25 5", "--out", "found.run")
    assert retrieved.returncode == 0, retrieved.stderr
    made = judge("generate", *data, "--retrieval", "found.run", "--k", "5", "--out", "made")
    assert made.returncode == 0, made.stderr
    manifest = tmp_path / "made" / "manifest.json"  # as a model would have left it
    text = manifest.read_text("utf-8")
    assert text.count('"model": "lexical"') > 0
    manifest.write_text(text.replace('"model": "lexical"', '"model": "openai/m-1"'), "utf-8")
    answers = str(tmp_path / "made" / "answers" / "*.jsonl")
    for model, saw in (("openai/m-1", True), ("openai/other", False)):
        path = config(tmp_path, {}, runs=answers, model=model)
        ran = judge("run", str(path), "--offline", "--force", "--quiet")
        assert ran.returncode == 3, ran.stderr  # nothing is judged offline
        assert bool(known(tmp_path)) is saw
