"""Verified labels in a config: what changed stands in rows and counts, and beside people's."""

import json
from pathlib import Path

import pytest
from mock_server import MockServer, input_of
from models_by_name import demo_of
from processes import JUDGE, run
from typer.testing import CliRunner

import nuggetjudge as nj
from nuggetjudge.backends.budget import Budget
from nuggetjudge.cli.app import app
from nuggetjudge.programs.analysis.agree_labels import measure_verification
from nuggetjudge.programs.engine.judge_set import JudgeSet, check_prices
from nuggetjudge.programs.run import plan
from nuggetjudge.records.reading.problems import InputError

VERIFY = {"model": "strong", "when": {"labels": ["partial"]}}
PARTS = "parts_in_question"


@pytest.fixture
def says():
    return {"weak": lambda asked: "partial", "strong": lambda asked: "full"}


@pytest.fixture
def server(says):
    def brain(body):
        asked = input_of(body)
        verdict = {"verdict": says[body["model"]](asked)}
        if body["model"] == "weak":
            return verdict
        return {"sentence_quotes": [], "passage_quotes": [asked["passage"][:20]]} | verdict

    with MockServer(brain=brain, model_names=("weak", "strong")) as up:
        yield up


@pytest.fixture
def config(server, tmp_path):
    def made(verify=VERIFY, out="out", **more):
        judged = {"judges.support.model": "weak", "judges.support.verify": verify}
        return demo_of(server, tmp_path, {"program": "support", **judged, **more}, out)

    return made


def rows(folder, name):
    return [json.loads(line) for line in (folder / name).open(encoding="utf-8")]


def test_rows_have_the_label_before_and_the_run_says_how_many_changed(config, server):
    planned = {row.judge: row for row in plan(config())}
    assert planned["support verifier"].model == "strong (hosted_vllm/strong)"
    result = nj.run(config())
    assert result.is_complete
    cited = [row for row in rows(result.folder, "support.jsonl") if row["citation"]]
    changed = [row for row in cited if row["label"] == "full"]
    assert changed
    assert all(row["votes"] == {"first": "partial", "verifier": "full"} for row in changed)
    assert {(row["method"], row["superseded"]) for row in changed} == {("verified", "partial")}
    counts = result.manifest["counts"]
    assert counts["labels that were verified"] == counts["labels that the verifier changed"]
    n_asked = dict.fromkeys(("weak", "strong"), 0)
    for request in server.requests:
        n_asked[request.body["model"]] += 1
    assert n_asked["weak"] == planned["support"].calls
    assert 0 < n_asked["strong"] <= planned["support verifier"].calls
    server.clear()
    assert nj.run(config()).is_complete
    assert server.requests == []


def test_a_limit_in_dollars_asks_for_the_price_of_the_verifier_too(config):
    limited = config(**{"run.max_cost": 1})
    check_prices(limited, ["support"])
    limited.models["strong"] = limited.models["strong"].model_copy(update={"price": None})
    with pytest.raises(InputError, match=r"set models\.strong\.price"):
        check_prices(limited, ["support"])


def test_a_failed_verification_is_unjudged_and_asked_again(config, says, server):
    says["strong"] = lambda asked: "none" if len(asked["sentence"]) % 3 else "no label"
    result = nj.run(config())
    lost = rows(result.folder, "unjudged.jsonl")
    assert {row["reason"] for row in lost} == {"unparseable"}
    assert all("(first: partial)" in row["detail"] for row in lost)
    server.clear()
    says["strong"] = lambda asked: "none"
    assert nj.run(config()).is_complete
    assert {request.body["model"] for request in server.requests} == {"strong"}


@pytest.mark.parametrize(
    "change",
    [
        {"model": "weak"},
        {"when": {"labels": ["none"]}},
        {"when": {"labels": ["partial"], "score": [0.2, 0.4]}},
    ],
)
def test_whoever_verifies_and_when_is_in_the_identity(config, change):
    def fingerprint(verify):
        judge_set = JudgeSet(config(verify), cache=None, budget=Budget())
        assert judge_set["support"]
        return judge_set.fingerprint(["support"])

    assert fingerprint(VERIFY | change) != fingerprint(VERIFY) == fingerprint(dict(VERIFY))


@pytest.mark.parametrize(
    ("verify", "what"),
    [
        ({"model": "nobody", "when": {"labels": ["none"]}}, "no model 'nobody'"),
        ({"model": "strong", "when": {}}, "when: wanted score, labels or spread"),
        ({"model": "strong", "when": {"spread": 1}}, "judge with a jury"),
        ({"model": "strong", "when": {"labels": ["maybe"]}}, "'maybe' is not one of none, partial"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(config, server, verify, what):
    with pytest.raises(InputError, match=what):
        nj.run(config(verify))
    assert server.requests == []


def test_a_cascade_is_not_verified(config):
    cascade = {"stages": ["weak", "strong"], "threshold": 0.5}
    with pytest.raises(InputError, match="not with a cascade"):
        config(**{"judges.support.cascade": cascade})


def test_a_judge_that_quotes_nothing_cannot_be_verified(config):
    with pytest.raises(InputError, match=r"importance\.verify: only .*support.* can be verified"):
        config(**{"judges.importance.verify": VERIFY})


# Counted by hand: 8 cells, 2 of each of 4 topics; a is what stands now, b what stood before.
def test_what_verifying_did_is_counted_against_people():
    cells = [(f"t{i // 2}", str(i)) for i in range(8)]
    truth = dict(zip(cells, "yyyynnnn", strict=True))
    before = dict(zip(cells, "nnynnnnn", strict=True))
    after = dict(zip(cells, "yyyymnnn", strict=True))
    votes = {cell: {"first": before[cell], "verifier": after[cell]} for cell in cells[:6]}
    topics = [topic for topic, _ in cells]
    figures = measure_verification(votes, after, truth, cells, topics, {})
    assert (figures["n_verified"], figures["n_changed"]) == (6, 4)
    assert (figures["wrong_to_right"], figures["right_to_wrong"], figures["wrong_to_wrong"]) == (
        3, 1, 0,
    )  # fmt: skip
    assert figures["difference"]["value"] == pytest.approx(2 / 8)
    assert figures["helped"] is None  # of the topics +1, +1/2, -1/2 and 0
    assert measure_verification({}, after, truth, cells, topics, {}) is None


def test_agree_says_that_verification_did_not_help(config, tmp_path):
    result = nj.run(config())
    cited = [row for row in rows(result.folder, "support.jsonl") if row["citation"]]
    keys = ("topic_id", "run_id", "sentence_id", "passage_id")
    labels = tmp_path / "people.jsonl"
    names = {"sentence_id": "sentence", "passage_id": "citation"}
    with labels.open("w", encoding="utf-8") as file:
        for i, row in enumerate(cited):
            ids = {key: str(row[names.get(key, key)]) for key in keys}
            label = "partial" if i % 2 else "full"
            file.write(json.dumps({**ids, "label": label}) + "\n")
    done = CliRunner().invoke(app, ["agree", str(labels), str(result.folder)])
    assert done.exit_code == 0, done.output
    assert "labels were verified" in done.output
    assert "verification did not help." in done.output


# A system that was made with the judge is never ranked as if it had not been.
ROOT = Path(__file__).resolve().parents[3]
DEMO = ROOT / "tests" / "collection"


@pytest.fixture
def judge(tmp_path):
    def go(*words):
        return run(
            *JUDGE, *words, cwd=tmp_path, env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        )

    return go


def independence_config(tmp_path, independence, runs=f"{DEMO}/runs/*.jsonl", model="lexical"):
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
    ran = judge("run", str(independence_config(tmp_path, independence)), "--quiet")
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
    assert (
        judge("run", str(independence_config(tmp_path, {"comp*": ["judge"]})), "--quiet").returncode
        == 0
    )
    judge("report", "out", "--out", "page.html")
    assert "Made with this judge: complete." in (tmp_path / "page.html").read_text("utf-8")


def test_nothing_is_said_where_nothing_is_known(judge, tmp_path):
    ran = judge("run", str(independence_config(tmp_path, {})), "--quiet")
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
        path = independence_config(tmp_path, {}, runs=answers, model=model)
        ran = judge("run", str(path), "--offline", "--force", "--quiet")
        assert ran.returncode == 3, ran.stderr  # nothing is judged offline
        assert bool(known(tmp_path)) is saw
