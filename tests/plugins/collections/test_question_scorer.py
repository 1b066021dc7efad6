"""Five points of a question, all there or none."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import YesNo
from nuggetjudge.plugins.collections import lexical
from nuggetjudge.plugins.collections.judges import CRITERIA, QuestionScorer

LABELS = {"uncommon": "yes", "clear": "no", "unambiguous": "Yes", "complex": "no", "opinion": "yes"}


def model_at(server):
    return ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)


def test_each_criterion_that_is_met_is_a_point():
    with MockServer(lambda body: dict(reversed(LABELS.items()))) as server:
        scores, (call,) = asyncio.run(QuestionScorer(model_at(server)).scores("Why?"))
    assert scores == {"uncommon": 1, "clear": 0, "unambiguous": 1, "complex": 0, "opinion": 1}
    assert tuple(scores) == CRITERIA
    assert call.model == "mock"


def test_the_criteria_are_those_of_the_paper():
    # arXiv:2410.23000, appendix B: no common sense, clear, not ambiguous, complex, and one that
    # rewards the questions that ask for a view.
    system = QuestionScorer("lexical").prompt("score").fixed[0]["content"]
    for meaning in ("common knowledge", "scope", "interpretation", "reasoning", "personal view"):
        assert meaning in system


@pytest.mark.parametrize("wrong", [1, True, "maybe", None])
def test_a_label_that_is_neither_yes_nor_no_is_no_point(wrong):
    server = MockServer(lambda body: LABELS | {"complex": wrong})
    with server, pytest.raises(JudgeError) as caught:
        QuestionScorer(model_at(server))(question="Why?")
    assert caught.value.reason == "unparseable"
    assert "complex" in caught.value.detail


def test_a_criterion_that_is_missing_leaves_no_scores():
    server = MockServer(lambda body: dict.fromkeys(CRITERIA[:4], "yes"))
    with server, pytest.raises(JudgeError) as caught:
        QuestionScorer(model_at(server))(question="Why?")
    assert caught.value.reason == "incomplete"


GOOD = "Why did the dockers of Port Merrow strike, and how did the harbour board answer?"


@pytest.mark.parametrize(
    ("question", "missed"),
    [
        (GOOD, {"opinion"}),
        ("Why should the dockers of Port Merrow strike again?", set()),
        ("How many houses does the heat network of Orrin Vale warm?", {"complex", "opinion"}),
        ("Why do bees sing?", {"uncommon", "opinion"}),
        ("Why is that?", {"uncommon", "clear", "opinion"}),
        ("It stood on which bank of the river Merrow?", {"unambiguous", "complex", "opinion"}),
    ],
)
def test_the_baseline_finds_the_weak_sides_of_a_question(question, missed):
    scores = QuestionScorer("lexical")(question=question).scores
    assert {name for name, point in scores.items() if not point} == missed


@given(st.text(max_size=200))
def test_the_baseline_takes_any_text(question):
    scores = lexical.score_question({"question": question})
    assert set(scores) == set(CRITERIA)
    assert {*scores.values()} <= {YesNo.YES, YesNo.NO}
