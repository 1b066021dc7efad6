"""A cascade in a config: unsure labels go on, sure ones stay, and no failure becomes a label."""

import itertools
import json

import pytest
from mock_server import input_of
from models_by_name import DEMO, demo_of, models_that_say

import nuggetjudge as nj
from nuggetjudge.backends.budget import Budget
from nuggetjudge.judges import Cascade, Jury, RelevanceJudge
from nuggetjudge.judges.combined.confidence import CascadeFile
from nuggetjudge.programs.config.judge_sections import JudgeConfig, list_members
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.judge_set import JudgeSet
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.labels import read_labels
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
        {"stages": [{"judge": {"jury": {"members": ["a", "b"], "method": "vote"}}}, "strong"]},
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
        "judge": "support", "scale": ("none", "partial", "full"), "members": ("b", "a"),
        "how": "median", "confidence": "agreement", "threshold": 0.0,
        "guarantee": {"agree": 0.8, "with": 0.9},
    }  # fmt: skip
    path.write_text(CascadeFile(**given).text(), encoding="utf-8")
    stated = {"stages": [FIRST, "strong"], "state": path}
    result = nj.run(config(stated | {"guarantee": {"agree": 0.8}}))
    assert {row["label"] for row in cited(result.folder)} == {"none"}
    wrong = {
        "the state was fitted for {'agree': 0.8": stated | {"guarantee": {"agree": 0.9}},
        "to b, a as the first stage; here it is one judge": {**stated, "stages": ["a", "strong"]},
    }
    for what, cascade in wrong.items():
        with pytest.raises(InputError, match=r"state.json: ") as error:
            nj.run(config(cascade, out="other"))
        assert what in str(error.value)


@pytest.mark.parametrize(
    ("cascade", "what"),
    [
        (
            {"stages": [FIRST, "strong"]},
            "wanted either a state (from judge cascade fit) or a threshold",
        ),
        ({"stages": [FIRST], "threshold": 1}, "stages: Tuple should have at least 2 items"),
        ({"stages": [FIRST, "z"], "threshold": 1}, "stage 2: no model 'z'; models: default, a"),
        ({"stages": ["people", FIRST], "threshold": 1}, "stages: people can only be the last"),
        (
            {"stages": [{"model": "a"}, "strong"], "threshold": 1},
            "stage 1: got {'model': 'a'}, wanted a name under models:",
        ),
        ({**CASCADE, "share": 0.3}, "share: needs a state"),
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
        ("margin", "gives no label probabilities; set logprobs if the model"),
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


# A jury in a config: a run as of any judge, with a vote of each member in its rows.
MODELS = ("a", "b", "c", "d")
JURY = {"members": ["a", "b", "c"], "method": "median"}


@pytest.fixture
def juries_says():
    """What a model answers, by its name: a function of what it is asked."""
    verdicts = {"a": "none", "b": "partial", "c": "full", "d": "full"}
    return {name: lambda asked, name=name: {"verdict": verdicts[name]} for name in MODELS}


@pytest.fixture
def juries_server(juries_says):
    with models_that_say(juries_says) as up:
        yield up


@pytest.fixture
def juries_config(juries_server, tmp_path):
    def made(jury=JURY, *, judge="support", program="support", out="out", **more):
        settings = {"program": program, f"judges.{judge}.jury": jury, **more}
        return demo_of(juries_server, tmp_path, settings, out)

    return made


def test_a_run_keeps_the_votes_and_can_be_scored_again(juries_config, juries_server):
    result = nj.run(juries_config())
    assert result.is_complete
    cited = [row for row in rows(result.folder, "support.jsonl") if row["citation"]]
    assert {row["label"] for row in cited} == {"partial"}
    assert {json.dumps(row["votes"]) for row in cited} == {
        '{"a": "none", "b": "partial", "c": "full"}'
    }
    assert len(juries_server.requests) == 3 * len(
        {r["sentence"] for r in map(_asked, juries_server.requests)}
    )
    labels = read_labels(result.folder / "support.jsonl", Problems())
    assert set(labels.votes) == set(labels.cells)
    manifest = json.loads((result.folder / "manifest.json").read_text(encoding="utf-8"))
    about = manifest["judges"]["support"]
    assert about["jury"]["quorum"] == 2
    assert list(about["members"]) == ["a", "b", "c"]
    assert list(manifest["tokens_by"]) == ["a: a", "b: b", "c: c"]
    of_members = [each["prompt"] for each in manifest["tokens_by"].values()]
    assert manifest["tokens"]["prompt"] == sum(of_members) > max(of_members)
    again = list(score_path(result.folder, Problems()))
    assert again
    assert [row.value for row in again] == [row.value for row in result.scores]


def _asked(request):
    return input_of(request.body)


@pytest.mark.parametrize(
    "change",
    [
        {"method": "vote"},
        {"quorum": 3},
        {"ties": "worst"},
        {"adjudicator": "d"},
        {"members": ["a", "b", {"model": "c", "temperature": 1}]},
        {"members": ["a", "b", "d"]},
    ],
)
def test_juries_whatever_could_change_a_label_is_in_its_identity(juries_config, change):
    def named(jury):
        judge_set = JudgeSet(juries_config(jury), cache=None, budget=Budget())
        assert isinstance(judge_set["support"], Jury)
        return judge_set.fingerprint(["support"])

    assert named(JURY | change) != named(JURY) == named(dict(JURY))


def test_a_finished_run_that_is_started_again_asks_nothing(juries_config, juries_server):
    nj.run(juries_config())
    juries_server.clear()
    assert nj.run(juries_config()).is_complete
    assert nj.run(juries_config(out="elsewhere")).is_complete  # from the cache
    assert juries_server.requests == []


def test_too_few_votes_are_unjudged_and_asked_again_of_who_gave_none(
    juries_config, juries_server, juries_says
):
    replies = itertools.chain(["full"] * 2, itertools.repeat("no label"))
    juries_says["b"] = juries_says["c"] = lambda asked: {
        "verdict": next(replies)
    }  # one each can be read
    result = nj.run(juries_config())
    assert not result.is_complete
    (reason,) = {row["reason"] for row in rows(result.folder, "unjudged.jsonl")}
    assert reason == "quorum"
    cited = [row for row in rows(result.folder, "support.jsonl") if row["citation"]]
    assert sum(row["label"] is not None for row in cited) <= 2
    juries_server.clear()
    juries_says["b"] = juries_says["c"] = lambda asked: {"verdict": "full"}
    assert nj.run(juries_config()).is_complete
    assert {request.body["model"] for request in juries_server.requests} == {"b", "c"}


def test_a_budget_that_ends_leaves_no_label_by_those_who_were_asked(juries_config, juries_server):
    result = nj.run(juries_config({**JURY, "quorum": 1}, **{"run.max_calls": 10}))
    judged = [row for row in rows(result.folder, "support.jsonl") if row.get("votes")]
    assert all(None not in row["votes"].values() for row in judged)
    assert {row["reason"] for row in rows(result.folder, "unjudged.jsonl")} == {"budget"}
    juries_server.clear()
    assert nj.run(juries_config({**JURY, "quorum": 1})).is_complete


def test_a_dry_run_counts_every_member_and_the_adjudicator_on_each_item(
    juries_config, juries_server
):
    estimates = {e.judge: e for e in plan(juries_config({**JURY, "adjudicator": "d"}))}
    assert list(estimates) == [f"support {name}" for name in ("a", "b", "c", "adjudicator")]
    assert estimates["support b"].model == "b (hosted_vllm/b)"
    assert len({e.calls for e in estimates.values()}) == 1
    assert all(e.cost for e in estimates.values())
    assert juries_server.requests == []
    nj.run(juries_config({**JURY, "adjudicator": "d"}))
    assert len(juries_server.requests) == sum(e.calls for e in estimates.values())


def test_members_may_be_replicates_with_a_temperature(juries_config, juries_server):
    members = [{"model": "a", "replicates": 3, "temperature": 0.7}]
    result = nj.run(juries_config({"members": members, "method": "vote"}))
    votes = next(row["votes"] for row in rows(result.folder, "support.jsonl") if row["citation"])
    assert list(votes) == ["a-1", "a-2", "a-3"]
    assert {request.body["temperature"] for request in juries_server.requests} == {0.7}
    texts = [json.dumps(request.body["messages"]) for request in juries_server.requests]
    assert {texts.count(text) for text in texts} == {3}


def test_a_fit_of_the_jury_is_none_of_its_members(tmp_path):
    settings = JudgeConfig(jury=JURY | {"adjudicator": "d"}, state=tmp_path / "fit.json")
    assert [member.settings.state for member in list_members(settings)] == [None] * 4


def test_nuggets_are_judged_in_windows_by_each_member(juries_config, juries_server, juries_says):
    def all_of(label):
        return lambda asked: {"verdicts": dict.fromkeys(asked["nuggets"], label)}

    juries_says.update(a=all_of("support"), b=all_of("not_support"), c=all_of("support"))
    more = {"data.nuggets": DEMO / "nuggets.jsonl"}
    result = nj.run(juries_config(judge="assigner", program="nuggets", **more))
    assigned = [
        nugget for row in rows(result.folder, "assignments.jsonl") for nugget in row["nuggets"]
    ]
    assert {nugget["assignment"] for nugget in assigned} == {"support"}
    assert {tuple(nugget["votes"].values()) for nugget in assigned} == {
        ("support", "not_support", "support")
    }


def test_recorded_members_need_no_model(tmp_path):
    """The labels of three judges on two passages, as recordings."""
    texts, question = {"p1": "The moon makes tides.", "p2": "Kelp."}, "what makes tides"
    grades_by_member = {"one": (3, 0), "two": (2, 0), "three": (0, 1)}
    prompt = RelevanceJudge(model="lexical").prompt("judge")
    given = {
        "program": "items", "items.judge": "relevance", "data.items": tmp_path / "items.jsonl",
        "judges.relevance.jury": {"members": list(grades_by_member), "method": "mean"},
        "run.out": tmp_path / "out",
    }  # fmt: skip
    for name, grades in grades_by_member.items():
        path = tmp_path / f"{name}.jsonl"
        given[f"models.{name}"] = {"model": name, "engine": "recorded", "recording": str(path)}
        with path.open("w", encoding="utf-8") as file:
            for text, grade in zip(texts.values(), grades, strict=True):
                messages = prompt.messages({"passage": text, "question": question})
                reply = {"messages": messages, "text": json.dumps({"grade": grade})}
                file.write(json.dumps(reply) + "\n")
    items = (
        {"topic_id": "t", "passage_id": name, "question": question, "passage": text}
        for name, text in texts.items()
    )
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(i) + "\n" for i in items))
    result = nj.run(load_config(None, given))
    assert result.is_complete
    labels = rows(result.folder, "labels.jsonl")
    assert [(row["label"], row["score"]) for row in labels] == [
        ("2", pytest.approx(5 / 9)),
        ("0", pytest.approx(1 / 9)),
    ]
    assert labels[0]["votes"] == {"one": "3", "two": "2", "three": "0"}


@pytest.mark.parametrize(
    ("jury", "what"),
    [
        ({"members": ["a"]}, "judges.support.jury: wanted 2 or more members, got a"),
        ({"members": ["a", "a"]}, "two members are named 'a'; give the member another `name`"),
        ({"members": ["a", "z"]}, "z: no model 'z'; models: default, a, b, c, d"),
        ({"members": ["a", "b"], "quorum": 3}, "quorum: 3 is more than the 2 members"),
        (
            {"members": ["a", "b"], "method": "dawid_skene"},
            "method: Input should be 'vote', 'median'",
        ),
        ({"members": ["a", {"model": "b", "window": 2}]}, "window: set it for the judge"),
    ],
)
def test_a_jury_that_cannot_sit_is_refused_where_it_is_said(juries_config, jury, what):
    with pytest.raises(InputError) as error:
        juries_config(jury)
    assert what in str(error.value)


def test_only_judges_of_items_can_be_a_jury(juries_config):
    with pytest.raises(InputError, match=r"nuggetizer\.jury: only assigner, support"):
        juries_config(judge="nuggetizer")
