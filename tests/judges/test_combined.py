"""A jury of judges: what its members say is combined, and a vote that is not there is no vote."""

import json

import pytest
from mock_server import MockServer, input_of

import nuggetjudge as nj
from nuggetjudge.backends import open_backend
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import (
    AnswerabilityGrader,
    CustomJudge,
    CustomJudgeDefinition,
    EntailmentJudge,
    Jury,
    NuggetAssigner,
    RelevanceJudge,
    SupportJudge,
    Verified,
)
from nuggetjudge.judges.combined.jury import labels_as_text
from nuggetjudge.judges.fitted import Correction
from nuggetjudge.judges.verdicts import Verdict
from nuggetjudge.records.judgements import Evidence, Reason

ASKED = {"sentence": "Tides follow the moon.", "passage": "The moon makes the tides."}
MODELS = ("a", "b", "c", "d")


@pytest.fixture
def says():
    """What each model says of anything, by its name."""
    return dict.fromkeys(MODELS, "full")


@pytest.fixture
def server(says):
    def brain(body):
        reply = says[body["model"]]
        if reply == "refused":
            return {"verdict": "of no scale"}
        return reply if isinstance(reply, dict) else {"verdict": reply}

    with MockServer(brain=brain, model_names=MODELS) as up:
        yield up


@pytest.fixture
def member(server):
    def made(name, kind=SupportJudge, **options):
        config = ModelConfig(
            model=f"hosted_vllm/{name}", api_base=server.base_url, reasks=0, retries=0
        )
        return kind(backend=open_backend(config), **options)

    return made


@pytest.fixture
def jury(member):
    def made(*args, names="abc", **options):
        return Jury({name: member(name) for name in names}, *args, **options)

    return made


@pytest.mark.parametrize(
    ("how", "votes", "label"),
    [
        ("median", ("full", "none", "partial"), "partial"),
        ("vote", ("full", "none", "full"), "full"),
        ("mean", ("full", "none", "none"), "partial"),
    ],
)
def test_the_labels_of_the_members_become_one(jury, says, how, votes, label):
    says.update(zip("abc", votes, strict=True))
    prediction = jury(how)(**ASKED)
    assert prediction.label == label
    assert prediction.votes == dict(zip("abc", votes, strict=True))
    assert prediction.score == pytest.approx(
        sum({"none": 0, "partial": 0.5, "full": 1}[v] for v in votes) / 3
    )
    assert prediction.spread == 2


def test_a_member_that_fails_is_a_vote_that_is_not_there(jury, says):
    says["b"] = "refused"
    prediction = jury()(**ASKED)
    assert (prediction.label, prediction.score) == ("full", 1.0)
    assert prediction.votes == {"a": "full", "b": None, "c": "full"}


def test_too_few_votes_are_no_judgement_and_say_who_failed(jury, says):
    says.update(a="refused", b="refused")
    with pytest.raises(JudgeError) as error:
        jury()(**ASKED)
    assert error.value.reason is Reason.QUORUM
    assert "1 of 3 members judged, wanted 2; a: unparseable" in error.value.detail
    assert jury(quorum=1)(**ASKED).label == "full"


def test_a_limit_that_one_member_met_is_that_of_the_item(member):
    from nuggetjudge.backends.budget import Budget

    spent = member("b")
    config = spent.backend.config
    spent.backend = open_backend(config, budget=Budget(max_calls=0))
    with pytest.raises(JudgeError) as error:
        Jury({"a": member("a"), "b": spent, "c": member("c")})(**ASKED)
    assert error.value.reason is Reason.BUDGET


def test_a_tie_may_be_left_unjudged(jury, says):
    says.update(a="none", b="full")
    with pytest.raises(JudgeError) as error:
        jury("vote", names="ab", ties="unjudged")(**ASKED)
    assert error.value.reason is Reason.ABSTAINED
    assert jury("vote", names="ab", ties="worst")(**ASKED).label == "none"


def test_the_adjudicator_sees_labels_and_counts_and_decides_where_they_differ(
    jury, says, member, server
):
    says.update(a="none", b="none", c="full", d="full")
    seated = jury("vote", adjudicator=member("d"))
    verdict, _ = run_sync(seated.verdict(**ASKED))
    assert (verdict.label, verdict.method) == ("full", "adjudicated")
    assert verdict.votes == {"a": "none", "b": "none", "c": "full"}
    [asked] = [input_of(r.body) for r in server.requests if r.body["model"] == "d"]
    assert set(asked) == {"other_judges", "sentence", "passage"}
    assert sorted(asked["other_judges"].splitlines()) == ["full: 1 of 3", "none: 2 of 3"]
    server.clear()
    says.update(a="full", b="full")
    assert seated(**ASKED).label == "full"
    assert {r.body["model"] for r in server.requests} == set("abc")
    says.update(a="none")
    assert jury("vote", adjudicator=member("d"), spread=3)(**ASKED).label == "full"


def test_a_failed_adjudicator_leaves_no_label(jury, says, member):
    says.update(a="none", d="refused")
    with pytest.raises(JudgeError) as error:
        jury("vote", adjudicator=member("d"))(**ASKED)
    assert error.value.reason is Reason.UNPARSEABLE
    assert error.value.detail.startswith("adjudicator: ")


def test_every_call_of_every_member_is_counted(jury):
    outcomes, calls = run_sync(jury().judge_items([ASKED]))
    assert [call.model.partition(":")[0] for call in calls] == ["a", "b", "c"]
    verdicts, total = run_sync(jury().verdicts([ASKED]))
    assert verdicts == outcomes
    assert total.prompt_tokens == sum(call.prompt_tokens for call in calls)


def test_a_fit_puts_its_cuts_on_the_mean(jury, says):
    says.update(a="none", b="partial", c="partial")
    seated = jury()
    seated.correction = Correction(cuts=(0.2, 0.3))
    verdict, _ = run_sync(seated.verdict(**ASKED))
    assert (verdict.label, verdict.score) == ("full", pytest.approx(1 / 3))
    assert verdict.votes == {"a": "none", "b": "partial", "c": "partial"}


def test_where_cuts_decide_a_tie_of_the_votes_is_none(jury, says):
    says.update(a="none", b="full")
    seated = jury("vote", names="ab", ties="unjudged")
    seated.correction = Correction(cuts=(0.2, 0.6))
    assert run_sync(seated.verdict(**ASKED))[0].label == "partial"


def test_replicates_of_one_model_are_asked_each_by_itself(member, server):
    judges = [member("a") for _ in range(3)]
    for i, judge in enumerate(judges):
        judge.replicate = i
    seated = Jury(judges)
    assert list(seated.members) == ["hosted_vllm/a", "hosted_vllm/a 2", "hosted_vllm/a 3"]
    assert seated(**ASKED).label == "full"
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("kind", "options", "asked"),
    [
        (RelevanceJudge, {}, {"question": "why tides", "passage": "The moon makes the tides."}),
        (AnswerabilityGrader, {}, {"question": "why tides", "context": "The moon does."}),
        (EntailmentJudge, {}, {"key_point": "the moon", "response": "It is the moon."}),
        (NuggetAssigner, {}, {"question": "why", "answer": "the moon", "nuggets": ["the moon"]}),
        (EntailmentJudge, {"window": 2}, {"response": "the moon", "key_points": ["the moon", "x"]}),
    ],
)
def test_every_judge_of_items_can_sit_on_a_jury(kind, options, asked):
    one = kind(model="lexical", **options)
    prediction = Jury([kind(model="lexical", **options) for _ in range(3)], "vote")(**asked)
    alone = one(**asked)
    labels = prediction.verdicts if "verdicts" in prediction else [prediction.label]
    wanted = next(alone[name] for name in ("verdicts", "grade", "verdict") if name in alone)
    assert labels == (list(map(str, wanted)) if isinstance(wanted, list) else [str(wanted)])


def test_labels_without_an_order_are_voted_on(member, says):
    definition = CustomJudgeDefinition(
        name="tone", question="Which?", inputs={"text": "a text"}, labels=["one", "two"],
        ordered=False,
    )  # fmt: skip
    says.update(a={"label": "one"}, b={"label": "two"}, c={"label": "two"})
    members = [member(name, CustomJudge, definition=definition) for name in "abc"]
    prediction = Jury(members, "vote")(text="any")
    assert (prediction.label, prediction.score, prediction.spread) == ("two", None, 1)
    with pytest.raises(ValueError, match="labels without an order need method: vote"):
        Jury(members, "median")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"method": "most"}, "method: one of vote, median, mean"),
        ({"quorum": 4}, "quorum from 1 to 3"),
        ({"spread": 0}, "spread of 1"),
    ],
)
def test_settings_that_do_not_fit_are_refused(jury, options, what):
    with pytest.raises(ValueError, match=what):
        jury(**options)


def test_judges_of_different_things_are_no_jury(member):
    with pytest.raises(ValueError, match="name is 'relevance', the others have 'support'"):
        Jury([member("a"), member("b", RelevanceJudge)])
    with pytest.raises(ValueError, match="2 or more members"):
        Jury([member("a")])


def test_a_tie_in_a_window_would_lose_the_others(member):
    judges = [member(name, NuggetAssigner) for name in "ab"]
    with pytest.raises(ValueError, match="a tie on one of the 10 items"):
        Jury(judges, "vote", ties="unjudged")


def test_its_prompts_are_those_of_its_members(jury, member):
    prompts = jury(adjudicator=member("d")).prompts()
    assert sorted(prompts) == ["a.judge", "adjudicator.judge", "b.judge", "c.judge"]
    assert prompts["a.judge"].prompt_hash() == prompts["b.judge"].prompt_hash()
    assert prompts["a.judge"].prompt_hash() != prompts["adjudicator.judge"].prompt_hash()
    json.dumps(nj.judges.Verdict("full", votes={"a": None}).as_row())


def test_the_quotes_are_those_of_the_members_that_gave_the_label(member, says):
    quotes = {"a": "The moon makes", "b": "the tides", "c": "the tides"}
    labels = {"a": "none", "b": "full", "c": "full"}
    for name, quote in quotes.items():
        reply = {"passage_quotes": [quote], "sentence_quotes": [], "verdict": labels[name]}
        says[name] = reply
    members = {name: member(name).explaining(evidence=True) for name in "abc"}
    jury = Jury(members)
    (verdict,), _ = run_sync(jury.verdicts([ASKED]))
    assert verdict.label == "full"
    assert [each.quote for each in verdict.evidence] == ["the tides"]


# A label that is not sure is judged once more; it changes only for words of the text.
VERIFIED_ASKED = {
    "sentence": "Tides follow the moon.",
    "passage": "Fish sleep. The moon makes the tides. Boats wait.",
}
PARTS = "parts_in_question"


@pytest.fixture
def verified_says():
    """What each model answers, by its name."""
    return {
        "weak": {"verdict": "partial"},
        "strong": {
            "sentence_quotes": [],
            "passage_quotes": ["The moon makes the tides"],
            "verdict": "full",
        },
    }


@pytest.fixture
def verified_server(verified_says):
    def brain(body):
        given = verified_says[body["model"]]
        return given(input_of(body)) if callable(given) else given

    with MockServer(brain=brain, model_names=("weak", "strong")) as up:
        yield up


@pytest.fixture
def verified_member(verified_server):
    def made(name, kind=SupportJudge, **options):
        config = ModelConfig(
            model=f"hosted_vllm/{name}", api_base=verified_server.base_url, reasks=0, retries=0
        )
        return kind(backend=open_backend(config), **options)

    return made


@pytest.fixture
def verified(verified_member):
    def made(**when):
        return Verified(
            verified_member("weak"), verified_member("strong"), **(when or {"labels": ["partial"]})
        )

    return made


def test_a_changed_label_has_its_words_and_shows_the_one_before(verified, verified_server):
    prediction = verified()(**VERIFIED_ASKED)
    assert prediction.label == "full"
    assert prediction.votes == {"first": "partial", "verifier": "full"}
    assert [(each.quote, each.is_quoted) for each in prediction.evidence] == [
        ("The moon makes the tides", True)
    ]
    shown = [input_of(request.body) for request in verified_server.requests]
    assert PARTS not in shown[0]
    assert shown[1][PARTS] == "The moon makes the tides."  # what stands nearest: it quoted nothing
    assert "partial" not in verified_server.requests[1].body["messages"][-1]["content"]


def test_the_verifier_is_shown_what_the_first_judge_quoted(
    verified_member, verified_server, verified_says
):
    verified_says["weak"] = {
        "sentence_quotes": [],
        "passage_quotes": ["Fish sleep", "not there"],
        "verdict": "partial",
    }
    judge = Verified(
        verified_member("weak").explaining(evidence=True),
        verified_member("strong"),
        labels=["partial"],
    )
    judge(**VERIFIED_ASKED)
    assert input_of(verified_server.requests[1].body)[PARTS] == "Fish sleep"


@pytest.mark.parametrize("quotes", [[], ["The moon follows the tides"]])
def test_without_words_of_the_text_the_first_label_stands_and_both_are_seen(
    verified, verified_says, quotes
):
    verified_says["strong"] = {"sentence_quotes": [], "passage_quotes": quotes, "verdict": "none"}
    prediction = verified()(**VERIFIED_ASKED)
    assert prediction.label == "partial"
    assert prediction.votes == {"first": "partial", "verifier": "none"}


@pytest.mark.parametrize(
    ("when", "n"),
    [
        ({"labels": ["full"]}, 1),
        ({"labels": ["none", "partial"]}, 2),
        ({"score": (0.4, 0.6)}, 2),  # partial without a score: its place on the scale, .5
        ({"score": (0.6, 1)}, 1),
    ],
)
def test_only_a_label_that_is_not_sure_is_verified_and_only_once(
    verified, verified_server, when, n
):
    judge = verified(**when)
    prediction = judge(**VERIFIED_ASKED)
    assert len(verified_server.requests) == n
    assert (prediction.votes is None) == (n == 1)


def test_where_nothing_can_be_shown_nobody_is_asked(verified, verified_server):
    prediction = verified()(sentence="Tides follow the moon.", passage="Nobody knows.")
    assert prediction.votes is None
    assert len(verified_server.requests) == 1


def test_a_verification_that_fails_is_no_label(verified, verified_says):
    strong = {"sentence_quotes": [], "passage_quotes": [], "verdict": "of no scale"}
    verified_says["strong"] = strong
    with pytest.raises(JudgeError, match=r"verifier: .*\(first: partial\)") as failed:
        verified()(**VERIFIED_ASKED)
    assert failed.value.reason is Reason.UNPARSEABLE


def test_the_unsure_items_of_a_window_are_verified_one_by_one(
    verified_member, verified_server, verified_says
):
    verified_says["weak"] = {"grades": {"1": 0, "2": 3, "3": 5}}
    verified_says["strong"] = {"context_quotes": {"1": ["Boats wait"]}, "grades": {"1": 4}}
    grader = AnswerabilityGrader
    judge = Verified(
        verified_member("weak", grader, window=3),
        verified_member("strong", grader, window=3),
        score=(0.5, 0.7),
    )
    item = {"context": "Fish sleep. Boats wait."}
    asked = [{**item, "question": f"What do boats do {n}?"} for n in range(3)]
    verdicts, calls = run_sync(judge.judge_items(asked))
    assert [verdict.label for verdict in verdicts] == ["0", "4", "5"]
    assert [bool(verdict.votes) for verdict in verdicts] == [False, True, False]
    assert len(calls) == len(verified_server.requests) == 2


def test_a_jury_is_verified_where_its_votes_are_apart(
    verified_member, verified_server, verified_says
):
    verified_says["strong"] = lambda asked: (
        {
            "sentence_quotes": [],
            "passage_quotes": ["The moon makes the tides"],
            "verdict": "partial",
        }
        if PARTS in asked
        else {"verdict": "full"}
    )
    jury = Jury(
        {"a": verified_member("weak"), "b": verified_member("strong")}, quorum=2, ties="worst"
    )
    votes = {"a": "partial", "b": "full", "first": "partial", "verifier": "partial"}
    assert Verified(jury, verified_member("strong"), spread=1)(**VERIFIED_ASKED).votes == votes
    assert len(verified_server.requests) == 3
    assert Verified(jury, verified_member("strong"), spread=2)(**VERIFIED_ASKED).votes == {
        "a": "partial",
        "b": "full",
    }


def test_what_cannot_be_verified_is_refused(verified_member, verified):
    weak, strong = verified_member("weak"), verified_member("strong")
    for wrong, what in (
        ({}, "wanted a condition"),
        ({"labels": ["maybe"]}, "'maybe' is not one of"),
        ({"score": (0.7, 0.3)}, r"0\.7, 0\.3"),
        ({"spread": 1}, "of a jury"),
    ):
        with pytest.raises(ValueError, match=what):
            Verified(weak, strong, **wrong)
    with pytest.raises(ValueError, match="once"):
        Verified(verified(), strong, labels=["none"])
    with pytest.raises(ValueError, match="answerability"):
        Verified(weak, verified_member("strong", AnswerabilityGrader), labels=["none"])


# What an adjudicator is shown of the others: labels, counts and the words that they quoted.
def test_a_label_stands_with_its_count_and_the_words_of_one_quote():
    quoted = Verdict("full", evidence=(Evidence(of="passage", quote="the tides"),))
    text = labels_as_text(
        {"passage": "p"}, {"a": quoted, "b": Verdict("none"), "c": Verdict("full")}
    )
    assert sorted(text.splitlines()) == ['full: 2 of 3, going by "the tides"', "none: 1 of 3"]
