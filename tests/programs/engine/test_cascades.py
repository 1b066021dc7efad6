"""A cascade in a config: unsure labels go on, sure ones stay, and no failure becomes a label."""

import json

import pytest
from models_by_name import DEMO, demo_of, models_that_say

import nuggetjudge as nj
from nuggetjudge.backends.budget import Budget
from nuggetjudge.judges import Cascade
from nuggetjudge.judges.combined.confidence import CascadeFile
from nuggetjudge.programs.engine.judge_set import JudgeSet
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.reading.problems import InputError, Problems

FIRST = {"judge": {"jury": {"members": ["a", "b"]}}}
CASCADE = {"stages": [FIRST, "strong"], "threshold": 1.0}


@pytest.fixture
def says():
    """What a model answers, by its name: a and b differ on sentences of even length."""

    def b(asked):
        return {"verdict": "none" if len(asked["sentence"]) % 2 else "partial"}

    return {
        "a": lambda asked: {"verdict": "none"},
        "b": b,
        "strong": lambda asked: {"verdict": "full"},
    }


@pytest.fixture
def server(says):
    with models_that_say(says) as up:
        yield up


@pytest.fixture
def config(server, tmp_path):
    def made(cascade=CASCADE, *, judge="support", program="support", out="out", **more):
        settings = {"program": program, f"judges.{judge}.cascade": cascade, **more}
        return demo_of(server, tmp_path, settings, out)

    return made


def rows(folder, name):
    return [json.loads(line) for line in (folder / name).open(encoding="utf-8")]


def cited(folder):
    return [row for row in rows(folder, "support.jsonl") if row["citation"]]


def test_what_is_sure_stays_and_the_rest_is_judged_again(config, server):
    result = nj.run(config())
    assert result.is_complete
    citations = cited(result.folder)
    kept = [row for row in citations if row["confidence"] == 1.0]
    again = [row for row in citations if row["confidence"] < 1.0]
    assert kept
    assert again
    assert {(row["label"], row.get("method")) for row in kept} == {("none", None)}
    assert {(row["label"], row["method"], row["superseded"]) for row in again} == {
        ("full", "stage 2", "none")
    }
    asked = [request.body["model"] for request in server.requests]
    assert asked.count("a") == asked.count("b") > asked.count("strong") > 0
    about = json.loads((result.folder / "manifest.json").read_text())["judges"]["support"]
    assert about["cascade"]["threshold"] == 1.0
    assert list(about["stages"][0]["members"]) == ["a", "b"]
    again = list(score_path(result.folder, Problems()))
    assert [row.value for row in again] == [row.value for row in result.scores]


def test_a_failed_first_stage_goes_on_and_a_failed_last_one_is_no_label(config, says):
    def fails_on_even(label):
        return lambda asked: {"verdict": label if len(asked["sentence"]) % 2 else "of no scale"}

    says["a"] = fails_on_even("none")
    result = nj.run(config())
    assert {(row["label"], row.get("confidence")) for row in cited(result.folder)} == {
        ("none", 1.0),
        ("full", None),
    }
    assert all("superseded" not in row for row in cited(result.folder))
    says["a"] = lambda asked: {"verdict": "none"}
    says["b"] = lambda asked: {"verdict": "none" if len(asked["sentence"]) % 3 else "partial"}
    says["strong"] = fails_on_even("full")
    result = nj.run(config(out="second", **{"run.cache": False}))
    assert not result.is_complete
    assert None in {row["label"] for row in cited(result.folder)} <= {"none", "full", None}
    (detail, *_) = {row["detail"] for row in rows(result.folder, "unjudged.jsonl")}
    assert detail.startswith("stage 2: ")
    assert "the first stage said 'none'" in detail


def test_people_as_the_last_stage_leave_items_unjudged(config):
    result = nj.run(config({"stages": [FIRST, "people"], "threshold": 1.0}))
    assert not result.is_complete
    lost = rows(result.folder, "unjudged.jsonl")
    assert {row["reason"] for row in lost} == {"abstained"}
    assert "left to people: 'none' with confidence 0.750, wanted 1.000" in lost[0]["detail"]
    assert {row["label"] for row in cited(result.folder)} == {"none", None}


def test_a_limit_that_is_met_leaves_no_label_of_an_earlier_stage(config):
    result = nj.run(config(**{"run.max_calls": 8}))
    assert {row["reason"] for row in rows(result.folder, "unjudged.jsonl")} == {"budget"}
    assert all(row["confidence"] == 1.0 or row["label"] == "full"
               for row in cited(result.folder) if row["label"])  # fmt: skip
    assert nj.run(config()).is_complete


def test_what_a_limit_stopped_is_not_left_to_people(config):
    stages = {"stages": [FIRST, "people"], "threshold": 1.0}
    result = nj.run(config(stages, **{"run.max_calls": 8}))
    reasons = [row["reason"] for row in rows(result.folder, "unjudged.jsonl")]
    nj.run(config(stages))
    left = [row["reason"] for row in rows(result.folder, "unjudged.jsonl")]
    assert "budget" in reasons
    assert {*left} == {"abstained"}
    assert reasons.count("abstained") < len(left)


@pytest.mark.parametrize(
    "change",
    [
        {"threshold": 0.5},
        {"stages": [FIRST, "strong", "people"]},
        {"stages": [FIRST, "a"]},
        {"stages": [{"judge": {"jury": {"members": ["a", "b"], "how": "vote"}}}, "strong"]},
    ],
)
def test_whatever_could_change_a_label_is_in_its_identity(config, change):
    def named(cascade):
        judge_set = JudgeSet(config(cascade), cache=None, budget=Budget())
        assert isinstance(judge_set["support"], Cascade)
        return judge_set.fingerprint(["support"])

    assert named(CASCADE | change) != named(CASCADE) == named(dict(CASCADE))


def test_a_dry_run_counts_every_stage_on_every_item(config, server):
    estimates = {e.judge: e for e in plan(config())}
    assert list(estimates) == ["support stage 1 a", "support stage 1 b", "support stage 2"]
    assert len({e.calls for e in estimates.values()}) == 1
    third = {e.judge: e for e in plan(config({**CASCADE, "stages": [FIRST, "b", "strong"]}))}
    assert third["support stage 3"].calls == estimates["support stage 2"].calls
    assert server.requests == []
    nj.run(config())
    assert len(server.requests) < sum(e.calls for e in estimates.values())


def test_nuggets_of_one_window_are_kept_and_judged_again_each_by_itself(config, server, says):
    def first(asked, odd):
        names = list(asked["nuggets"])
        return {"verdicts": {n: odd if int(n) % 2 else "not_support" for n in names}}

    says["a"] = lambda asked: first(asked, "support")
    says["b"] = lambda asked: first(asked, "not_support")
    says["strong"] = lambda asked: {"verdicts": dict.fromkeys(asked["nuggets"], "support")}
    more = {"data.nuggets": DEMO / "nuggets.jsonl"}
    result = nj.run(config(judge="assigner", program="nuggets", **more))
    assert result.is_complete
    for row in rows(result.folder, "assignments.jsonl"):
        labels = [(n["assignment"], n["confidence"]) for n in row["nuggets"]]
        assert labels[::2] == [("support", 0.5)] * len(labels[::2])
        assert labels[1::2] == [("not_support", 1.0)] * len(labels[1::2])


def test_a_state_decides_and_promises(config, tmp_path):
    path = tmp_path / "state.json"
    given = {
        "judge": "support",
        "scale": ("none", "partial", "full"),
        "members": ("b", "a"),
        "how": "median",
        "confidence": "agreement",
        "threshold": 0.0,
        "guarantee": {"agree": 0.8, "with": 0.9},
    }
    path.write_text(CascadeFile(**given).text(), encoding="utf-8")
    stated = {"stages": [FIRST, "strong"], "state": path}
    result = nj.run(config(stated | {"guarantee": {"agree": 0.8}}))
    assert {row["label"] for row in cited(result.folder)} == {"none"}
    wrong = {
        "it was fitted for {'agree': 0.8": stated | {"guarantee": {"agree": 0.9}},
        "of b, a as the first stage, this is one judge": {**stated, "stages": ["a", "strong"]},
    }
    for what, cascade in wrong.items():
        with pytest.raises(InputError, match=r"state.json: ") as error:
            nj.run(config(cascade, out="other"))
        assert what in str(error.value)


@pytest.mark.parametrize(
    ("cascade", "what"),
    [
        ({"stages": [FIRST, "strong"]}, "wanted a state (judge cascade fit) or a threshold"),
        ({"stages": [FIRST], "threshold": 1}, "stages: Tuple should have at least 2 items"),
        ({"stages": [FIRST, "z"], "threshold": 1}, "stage 2: no model 'z'; there is default, a"),
        ({"stages": ["people", FIRST], "threshold": 1}, "stages: people can only be the last"),
        (
            {"stages": [{"model": "a"}, "strong"], "threshold": 1},
            "stage 1: got {'model': 'a'}, wanted a name under models:",
        ),
        ({**CASCADE, "share": 0.3}, "share: wanted a state that was fitted for it"),
    ],
)
def test_a_cascade_that_cannot_be_asked_is_refused_where_it_is_said(config, cascade, what):
    with pytest.raises(InputError) as error:
        config(cascade)
    assert what in str(error.value)


@pytest.mark.parametrize(
    ("confidence", "what"),
    [
        ("agreement", "one judge, without votes; make it a jury"),
        ("margin", "gives no label probabilities; set logprobs for a model"),
    ],
)
def test_a_threshold_on_what_the_first_stage_lacks_is_refused_with_what_to_do(
    config, confidence, what
):
    lexical = {"models.default.model": "lexical"}
    cascade = {"stages": ["default", "strong"], "threshold": 0.5, "confidence": confidence}
    with pytest.raises(InputError, match=r"judges.support.cascade: ") as error:
        nj.run(config(cascade, **lexical))
    assert what in str(error.value)
    assert "judge cascade fit" in str(error.value)
