"""A label that is not sure is judged once more; it changes only for words of the text."""

import pytest
from mock_server import MockServer, input_of

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.judges import AnswerabilityGrader, Jury, SupportJudge, Verified
from nuggetjudge.records.judgements import Reason

ASKED = {
    "sentence": "Tides follow the moon.",
    "passage": "Fish sleep. The moon makes the tides. Boats wait.",
}
PARTS = "parts_in_question"


@pytest.fixture
def says():
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
def server(says):
    def brain(body):
        given = says[body["model"]]
        return given(input_of(body)) if callable(given) else given

    with MockServer(brain=brain, model_names=("weak", "strong")) as up:
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
def verified(member):
    def made(**when):
        return Verified(member("weak"), member("strong"), **(when or {"labels": ["partial"]}))

    return made


def test_a_changed_label_has_its_words_and_shows_the_one_before(verified, server):
    prediction = verified()(**ASKED)
    assert prediction.label == "full"
    assert prediction.votes == {"first": "partial", "verifier": "full"}
    assert [(each.quote, each.is_quoted) for each in prediction.evidence] == [
        ("The moon makes the tides", True)
    ]
    shown = [input_of(request.body) for request in server.requests]
    assert PARTS not in shown[0]
    assert shown[1][PARTS] == "The moon makes the tides."  # what stands nearest: it quoted nothing
    assert "partial" not in server.requests[1].body["messages"][-1]["content"]


def test_the_verifier_is_shown_what_the_first_judge_quoted(member, server, says):
    says["weak"] = {
        "sentence_quotes": [],
        "passage_quotes": ["Fish sleep", "not there"],
        "verdict": "partial",
    }
    judge = Verified(member("weak").explaining(evidence=True), member("strong"), labels=["partial"])
    judge(**ASKED)
    assert input_of(server.requests[1].body)[PARTS] == "Fish sleep"


@pytest.mark.parametrize("quotes", [[], ["The moon follows the tides"]])
def test_without_words_of_the_text_the_first_label_stands_and_both_are_seen(verified, says, quotes):
    says["strong"] = {"sentence_quotes": [], "passage_quotes": quotes, "verdict": "none"}
    prediction = verified()(**ASKED)
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
def test_only_a_label_that_is_not_sure_is_verified_and_only_once(verified, server, when, n):
    judge = verified(**when)
    prediction = judge(**ASKED)
    assert len(server.requests) == n
    assert (prediction.votes is None) == (n == 1)


def test_where_nothing_can_be_shown_nobody_is_asked(verified, server):
    prediction = verified()(sentence="Tides follow the moon.", passage="Nobody knows.")
    assert prediction.votes is None
    assert len(server.requests) == 1


def test_a_verification_that_fails_is_no_label(verified, says):
    strong = {"sentence_quotes": [], "passage_quotes": [], "verdict": "of no scale"}
    says["strong"] = strong
    with pytest.raises(JudgeError, match=r"verifier: .*\(first: partial\)") as failed:
        verified()(**ASKED)
    assert failed.value.reason is Reason.UNPARSEABLE


def test_the_unsure_items_of_a_window_are_verified_one_by_one(member, server, says):
    says["weak"] = {"grades": {"1": 0, "2": 3, "3": 5}}
    says["strong"] = {"context_quotes": {"1": ["Boats wait"]}, "grades": {"1": 4}}
    grader = AnswerabilityGrader
    judge = Verified(
        member("weak", grader, window=3), member("strong", grader, window=3), score=(0.5, 0.7)
    )
    item = {"context": "Fish sleep. Boats wait."}
    asked = [{**item, "question": f"What do boats do {n}?"} for n in range(3)]
    verdicts, calls = run_sync(judge.judged(asked))
    assert [verdict.label for verdict in verdicts] == ["0", "4", "5"]
    assert [bool(verdict.votes) for verdict in verdicts] == [False, True, False]
    assert len(calls) == len(server.requests) == 2


def test_a_jury_is_verified_where_its_votes_are_apart(member, server, says):
    says["strong"] = lambda asked: (
        {
            "sentence_quotes": [],
            "passage_quotes": ["The moon makes the tides"],
            "verdict": "partial",
        }
        if PARTS in asked
        else {"verdict": "full"}
    )
    jury = Jury({"a": member("weak"), "b": member("strong")}, quorum=2, ties="worst")
    votes = {"a": "partial", "b": "full", "first": "partial", "verifier": "partial"}
    assert Verified(jury, member("strong"), spread=1)(**ASKED).votes == votes
    assert len(server.requests) == 3
    assert Verified(jury, member("strong"), spread=2)(**ASKED).votes == {
        "a": "partial",
        "b": "full",
    }


def test_what_cannot_be_verified_is_refused(member, verified):
    weak, strong = member("weak"), member("strong")
    for wrong, what in (
        ({}, "wanted when"),
        ({"labels": ["maybe"]}, "'maybe' is none of"),
        ({"score": (0.7, 0.3)}, r"0\.7, 0\.3"),
        ({"spread": 1}, "of a jury"),
    ):
        with pytest.raises(ValueError, match=what):
            Verified(weak, strong, **wrong)
    with pytest.raises(ValueError, match="once"):
        Verified(verified(), strong, labels=["none"])
    with pytest.raises(ValueError, match="answerability"):
        Verified(weak, member("strong", AnswerabilityGrader), labels=["none"])
