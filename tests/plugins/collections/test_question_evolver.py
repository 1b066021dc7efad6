"""New questions: in both ways, each once, none of them the old one."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.plugins.collections import lexical
from nuggetjudge.plugins.collections.judges import QuestionEvolver

OLD = "Why did the dockers strike?"


def model_at(server):
    return ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)


def evolved(questions, n, way="depth"):
    with MockServer(lambda body: {"questions": questions}) as server:
        return asyncio.run(QuestionEvolver(model_at(server)).evolve(OLD, way, n))


def test_the_old_question_blanks_and_repetitions_do_not_count():
    replied = [" why DID the dockers  strike", "", "Why then?", "why then", " \n", "Who  paid?"]
    questions, (call,) = evolved(replied, 3)
    assert questions == ["Why then?", "Who paid?"]
    assert call.model == "mock"


def test_more_than_were_wanted_are_cut():
    assert evolved(["A?", "B?", "C?"], 2)[0] == ["A?", "B?"]


@pytest.mark.parametrize("questions", [[], [" "], [OLD]])
def test_no_new_question_is_no_reply(questions):
    with pytest.raises(JudgeError) as caught:
        evolved(questions, 1)
    assert caught.value.reason == "incomplete"


def test_each_way_has_a_prompt_of_its_own_that_names_domain_and_category():
    with MockServer(lambda body: {"questions": ["New?"]}) as server:
        judge = QuestionEvolver(model_at(server))
        for way in ("depth", "width"):
            judge(question=OLD, way=way, n=2, domain="history", category="cause")
        first, second = (request.body for request in server.requests)
    assert input_of(first) == input_of(second)
    assert input_of(first) == {
        "question": OLD, "domain": "history", "category": "cause", "wanted": 2,
    }  # fmt: skip
    assert first["messages"][0] != second["messages"][0]


def test_none_wanted_is_an_argument_error():
    with pytest.raises(ValueError, match="n must be 1 or more, got 0"):
        QuestionEvolver("lexical")(question=OLD, way="depth", n=0)


@given(st.text(max_size=200), st.integers(1, 6))
def test_the_baselines_take_any_text(question, wanted):
    for baseline in (lexical.deepen_question, lexical.widen_question):
        questions = baseline({"question": question, "wanted": wanted})["questions"]
        assert len(questions) == len(set(questions)) == min(wanted, 4)
