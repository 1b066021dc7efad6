"""A question has a kind, and as many sub-questions as one can search for."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import QuestionDecomposer, SearchKind
from nuggetjudge.judges.lexical import questions as lexical_questions


def split(kind, *parts, question="Why?"):
    """What the judge makes of a reply with this kind and these texts."""
    with MockServer(lambda body: {"kind": kind, "subquestions": parts}) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)
        return asyncio.run(QuestionDecomposer(model).decompose(question))


def test_the_question_has_a_kind_and_a_part_comes_once_on_one_line():
    (kind, parts), (call,) = split("complex", "Who \n paid?", "", "who paid?", "When?")
    assert kind is SearchKind.COMPLEX
    assert parts == ["Who paid?", "When?"]
    assert call.model == "mock"


def test_a_simple_question_is_searched_for_as_it_is():
    parts, _ = split("simple", "Who is he?", "What else?", question="Who  led it?")
    assert parts == (SearchKind.SIMPLE, ["Who led it?"])


def test_kinds_are_read_in_any_spelling():
    assert split("VAGUE", "Why so?")[0] == (SearchKind.VAGUE, ["Why so?"])


def test_an_unknown_kind_is_unparseable():
    with pytest.raises(JudgeError) as caught:
        split("hard", "Why?")
    assert caught.value.reason == "unparseable"


@pytest.mark.parametrize("n", [0, 11])
def test_none_or_too_many_parts_are_no_reply(n):
    with pytest.raises(JudgeError) as caught:
        split("complex", " ", *(f"Why {i}?" for i in range(n)))
    assert caught.value.reason == "unparseable"
    assert f"{n} sub-questions with text, wanted 1 to 10" in caught.value.detail


@pytest.mark.parametrize(
    ("question", "kind", "parts"),
    [
        ("Why did the dockers strike in 1911, and what problems come with it?", "complex",
         ["Why did the dockers strike in 1911?", "What problems come with it?"]),
        ("Who led the harbour board?", "simple", ["Who led the harbour board?"]),
        ("Bread and butter prices in Port Merrow?", "simple",
         ["Bread and butter prices in Port Merrow?"]),
        ("And why?", "vague", ["And why?"]),
    ],
)  # fmt: skip
def test_the_baseline_splits_where_another_question_begins(question, kind, parts):
    prediction = QuestionDecomposer("lexical")(question=question)
    assert (prediction.kind, prediction.subquestions) == (kind, parts)


@given(st.text(max_size=300))
def test_the_baseline_takes_any_text(question):
    parts = lexical_questions.split_question({"question": question})["subquestions"]
    assert 1 <= len(parts) <= 6
