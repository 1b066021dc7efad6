"""Sub-questions have a kind each, and are as many as one can search for."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import QuestionDecomposer, SearchKind, SubQuery
from nuggetjudge.judges.lexical import questions as lexical_questions


def split(*parts):
    """What the judge makes of these (text, kind)."""
    told = {"subquestions": [{"text": text, "kind": kind} for text, kind in parts]}
    with MockServer(lambda body: told) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)
        return asyncio.run(QuestionDecomposer(model).decompose("Why?"))


def test_a_part_comes_once_on_one_line_with_its_first_kind():
    parts, (call,) = split(("Who \n paid?", "simple"), ("", "vague"), ("who paid?", "Complex"))
    assert parts == [SubQuery("Who paid?", SearchKind.SIMPLE)]
    assert call.model == "mock"


def test_kinds_are_read_in_any_spelling():
    assert split(("Why?", "VAGUE"))[0] == [SubQuery("Why?", SearchKind.VAGUE)]


def test_an_unknown_kind_is_unparseable():
    with pytest.raises(JudgeError) as caught:
        split(("Why?", "hard"))
    assert caught.value.reason == "unparseable"


@pytest.mark.parametrize("n", [0, 11])
def test_none_or_too_many_parts_are_no_reply(n):
    with pytest.raises(JudgeError) as caught:
        split((" ", "simple"), *((f"Why {i}?", "simple") for i in range(n)))
    assert caught.value.reason == "unparseable"
    assert f"{n} sub-questions with text, wanted 1 to 10" in caught.value.detail


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        (
            "Why did the dockers strike in 1911, and what problems come with it?",
            [("Why did the dockers strike in 1911?", "complex"),
             ("What problems come with it?", "vague")],
        ),
        ("Who led the harbour board?", [("Who led the harbour board?", "simple")]),
        ("Bread and butter prices in Port Merrow?",
         [("Bread and butter prices in Port Merrow?", "simple")]),
        ("And why?", [("And why?", "vague")]),
    ],
)  # fmt: skip
def test_the_twin_splits_where_another_question_begins(question, parts):
    assert QuestionDecomposer("lexical")(question=question).subquestions == parts


@given(st.text(max_size=300))
def test_the_twin_takes_any_text(question):
    found = lexical_questions.split_question({"question": question})["subquestions"]
    assert 1 <= len(found) <= 6
