"""Five scores of a question, each 1 to 5, all there or none."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import QuestionScorer
from nuggetjudge.judges.lexical import questions as lexical_questions
from nuggetjudge.judges.makers.question_scorer import CRITERIA

SCORES = {"clarity": 5, "depth": 4, "expertise": 3, "sources": 2, "objectivity": 1}


def model_at(server):
    return ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)


def test_the_scores_come_by_criterion_with_their_call():
    with MockServer(lambda body: dict(reversed(SCORES.items()))) as server:
        scores, (call,) = asyncio.run(QuestionScorer(model_at(server)).scores("Why?"))
    assert scores == SCORES
    assert tuple(scores) == CRITERIA
    assert call.model == "mock"


@pytest.mark.parametrize("wrong", [0, 6, "5", 4.5, None])
def test_a_score_that_is_no_whole_number_of_the_scale_is_none(wrong):
    server = MockServer(lambda body: SCORES | {"sources": wrong})
    with server, pytest.raises(JudgeError) as caught:
        QuestionScorer(model_at(server))(question="Why?")
    assert caught.value.reason == "unparseable"
    assert "sources" in caught.value.detail


def test_a_criterion_that_is_missing_leaves_no_scores():
    server = MockServer(lambda body: dict.fromkeys(CRITERIA[:4], 5))
    with server, pytest.raises(JudgeError) as caught:
        QuestionScorer(model_at(server))(question="Why?")
    assert caught.value.reason == "incomplete"


@pytest.mark.parametrize(
    ("question", "criterion"),
    [
        ("Why is that?", "clarity"),
        ("How many houses does the heat network of Orrin Vale warm?", "depth"),
        ("Why do bees sing?", "sources"),
        ("Why is the white tower of Port Merrow the best harbour sight?", "objectivity"),
    ],
)
def test_the_twin_finds_the_weak_side_of_a_question(question, criterion):
    good = "Why did the dockers of Port Merrow strike, and how did the harbour board answer?"
    scores = QuestionScorer("lexical")(question=question).scores
    assert scores[criterion] < 3
    assert min(QuestionScorer("lexical")(question=good).scores.values()) >= 3


@given(st.text(max_size=200))
def test_the_twin_takes_any_text(question):
    scores = lexical_questions.score_question({"question": question})
    assert set(scores) == set(CRITERIA)
    assert all(1 <= score <= 5 for score in scores.values())
