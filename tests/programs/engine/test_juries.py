"""A jury in a config: a run as of any judge, with a vote of each member in its rows."""

import itertools
import json

import pytest
from mock_server import input_of
from models_by_name import DEMO, demo_of, models_that_say

import nuggetjudge as nj
from nuggetjudge.backends.budget import Budget
from nuggetjudge.judges import Jury, RelevanceJudge
from nuggetjudge.programs.config.judge_sections import JudgeConfig, seats
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.programs.engine.judge_set import JudgeSet
from nuggetjudge.programs.run import plan
from nuggetjudge.programs.scoring.score import score_path
from nuggetjudge.records.labels import read_labels
from nuggetjudge.records.reading.problems import InputError, Problems

MODELS = ("a", "b", "c", "d")
JURY = {"members": ["a", "b", "c"], "how": "median"}


@pytest.fixture
def says():
    """What a model answers, by its name: a function of what it is asked."""
    verdicts = {"a": "none", "b": "partial", "c": "full", "d": "full"}
    return {name: lambda asked, name=name: {"verdict": verdicts[name]} for name in MODELS}


@pytest.fixture
def server(says):
    with models_that_say(says) as up:
        yield up


@pytest.fixture
def config(server, tmp_path):
    def made(jury=JURY, *, judge="support", program="support", out="out", **more):
        settings = {"program": program, f"judges.{judge}.jury": jury, **more}
        return demo_of(server, tmp_path, settings, out)

    return made


def rows(folder, name):
    return [json.loads(line) for line in (folder / name).open(encoding="utf-8")]


def test_a_run_keeps_the_votes_and_can_be_scored_again(config, server):
    result = nj.run(config())
    assert result.is_complete
    cited = [row for row in rows(result.folder, "support.jsonl") if row["citation"]]
    assert {row["label"] for row in cited} == {"partial"}
    assert {json.dumps(row["votes"]) for row in cited} == {
        '{"a": "none", "b": "partial", "c": "full"}'
    }
    assert len(server.requests) == 3 * len({r["sentence"] for r in map(_asked, server.requests)})
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
        {"how": "vote"},
        {"quorum": 3},
        {"ties": "worst"},
        {"adjudicator": "d"},
        {"members": ["a", "b", {"model": "c", "temperature": 1}]},
        {"members": ["a", "b", "d"]},
    ],
)
def test_whatever_could_change_a_label_is_in_its_identity(config, change):
    def named(jury):
        judge_set = JudgeSet(config(jury), cache=None, budget=Budget())
        assert isinstance(judge_set["support"], Jury)
        return judge_set.fingerprint(["support"])

    assert named(JURY | change) != named(JURY) == named(dict(JURY))


def test_a_finished_run_that_is_started_again_asks_nothing(config, server):
    nj.run(config())
    server.clear()
    assert nj.run(config()).is_complete
    assert nj.run(config(out="elsewhere")).is_complete  # from the cache
    assert server.requests == []


def test_too_few_votes_are_unjudged_and_asked_again_of_who_gave_none(config, server, says):
    replies = itertools.chain(["full"] * 2, itertools.repeat("no label"))
    says["b"] = says["c"] = lambda asked: {"verdict": next(replies)}  # one each can be read
    result = nj.run(config())
    assert not result.is_complete
    (reason,) = {row["reason"] for row in rows(result.folder, "unjudged.jsonl")}
    assert reason == "quorum"
    cited = [row for row in rows(result.folder, "support.jsonl") if row["citation"]]
    assert sum(row["label"] is not None for row in cited) <= 2
    server.clear()
    says["b"] = says["c"] = lambda asked: {"verdict": "full"}
    assert nj.run(config()).is_complete
    assert {request.body["model"] for request in server.requests} == {"b", "c"}


def test_a_budget_that_ends_leaves_no_label_by_those_who_were_asked(config, server):
    result = nj.run(config({**JURY, "quorum": 1}, **{"run.max_calls": 10}))
    judged = [row for row in rows(result.folder, "support.jsonl") if row.get("votes")]
    assert all(None not in row["votes"].values() for row in judged)
    assert {row["reason"] for row in rows(result.folder, "unjudged.jsonl")} == {"budget"}
    server.clear()
    assert nj.run(config({**JURY, "quorum": 1})).is_complete


def test_a_dry_run_counts_every_member_and_the_adjudicator_on_each_item(config, server):
    estimates = {e.judge: e for e in plan(config({**JURY, "adjudicator": "d"}))}
    assert list(estimates) == [f"support {name}" for name in ("a", "b", "c", "adjudicator")]
    assert estimates["support b"].model == "b (hosted_vllm/b)"
    assert len({e.calls for e in estimates.values()}) == 1
    assert all(e.cost for e in estimates.values())
    assert server.requests == []
    nj.run(config({**JURY, "adjudicator": "d"}))
    assert len(server.requests) == sum(e.calls for e in estimates.values())


def test_members_may_be_replicates_with_a_temperature(config, server):
    members = [{"model": "a", "replicates": 3, "temperature": 0.7}]
    result = nj.run(config({"members": members, "how": "vote"}))
    votes = next(row["votes"] for row in rows(result.folder, "support.jsonl") if row["citation"])
    assert list(votes) == ["a-1", "a-2", "a-3"]
    assert {request.body["temperature"] for request in server.requests} == {0.7}
    texts = [json.dumps(request.body["messages"]) for request in server.requests]
    assert {texts.count(text) for text in texts} == {3}


def test_a_fit_of_the_jury_is_none_of_its_members(tmp_path):
    settings = JudgeConfig(jury=JURY | {"adjudicator": "d"}, state=tmp_path / "fit.json")
    assert [seat.settings.state for seat in seats(settings)] == [None] * 4


def test_nuggets_are_judged_in_windows_by_each_member(config, server, says):
    def all_of(label):
        return lambda asked: {"verdicts": dict.fromkeys(asked["nuggets"], label)}

    says.update(a=all_of("support"), b=all_of("not_support"), c=all_of("support"))
    more = {"data.nuggets": DEMO / "nuggets.jsonl"}
    result = nj.run(config(judge="assigner", program="nuggets", **more))
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
        "program": "items",
        "items.judge": "relevance",
        "data.items": tmp_path / "items.jsonl",
        "judges.relevance.jury": {"members": list(grades_by_member), "how": "mean"},
        "run.out": tmp_path / "out",
    }
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
        ({"members": ["a", "a"]}, "two members are called 'a'; give the member a `name`"),
        ({"members": ["a", "z"]}, "z: no model 'z'; there is default, a, b, c, d"),
        ({"members": ["a", "b"], "quorum": 3}, "quorum: it is 3, there are 2 members"),
        ({"members": ["a", "b"], "how": "dawid_skene"}, "how: Input should be 'vote', 'median'"),
        ({"members": ["a", {"model": "b", "window": 2}]}, "window: wanted of the judge"),
    ],
)
def test_a_jury_that_cannot_sit_is_refused_where_it_is_said(config, jury, what):
    with pytest.raises(InputError) as error:
        config(jury)
    assert what in str(error.value)


def test_only_judges_of_items_can_be_a_jury(config):
    with pytest.raises(InputError, match=r"nuggetizer\.jury: only assigner, support"):
        config(judge="nuggetizer")
