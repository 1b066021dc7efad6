"""Standalone passages: one call a segment, in order, and what is no passage is an error."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, Truncated, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.plugins.collections import lexical
from nuggetjudge.plugins.collections.judges import Decontextualizer

DOCUMENT = "One two three.\n\nFour five six.\n\nSeven eight nine."


def model_at(server):
    return ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)


def echo(body):
    """Two passages of a part, which name it."""
    part = input_of(body)["part"]
    return {"passages": [f"{part} first", f" {part} second\n"]}


def saying(*passages):
    return MockServer(lambda body: {"passages": list(passages)})


def test_a_short_document_is_one_call_with_nothing_before_it():
    with MockServer(echo) as server:
        passages, calls = asyncio.run(Decontextualizer(model_at(server)).split(f"{DOCUMENT}\n"))
        (request,) = server.requests
        assert input_of(request.body) == {"before": "", "part": DOCUMENT}
    assert passages == [f"{DOCUMENT} first", f"{DOCUMENT} second"]
    assert len(calls) == 1


def test_a_long_one_is_a_call_for_each_segment_and_its_passages_come_in_order():
    with MockServer(echo) as server:
        judge = Decontextualizer(model_at(server), most_tokens=3)
        passages, calls = asyncio.run(judge.split(DOCUMENT))
        sent = [input_of(request.body) for request in server.requests]
    parts = ["One two three.", "Four five six.", "Seven eight nine."]
    assert passages == [f"{part} {n}" for part in parts for n in ("first", "second")]
    assert len(calls) == 3
    assert sorted(sent, key=lambda each: parts.index(each["part"])) == [
        {"before": "", "part": parts[0]},
        {"before": parts[0], "part": parts[1]},
        {"before": parts[1], "part": parts[2]},
    ]


def test_tokens_are_counted_by_what_is_given():
    with MockServer(echo) as server:
        Decontextualizer(model_at(server), most_tokens=20, count=len)(document=DOCUMENT)
        assert len(server.requests) == 3


def test_a_blank_document_has_no_passages_and_costs_no_call():
    with MockServer(echo) as server:
        assert Decontextualizer(model_at(server))(document=" \n").passages == []
        assert server.requests == []


@pytest.mark.parametrize("n", [1, 3, 6])
def test_one_to_six_passages_are_taken_as_they_are(n):
    with saying(*map(str, range(n)), "", " ") as server:
        passages = Decontextualizer(model_at(server))(document=DOCUMENT).passages
    assert passages == list(map(str, range(n)))


@pytest.mark.parametrize("passages", [[], ["", "\n"], list("abcdefg")])
def test_none_or_more_than_six_are_no_judgement(passages):
    with saying(*passages) as server, pytest.raises(JudgeError) as caught:
        Decontextualizer(model_at(server))(document=DOCUMENT)
    assert caught.value.reason == "unparseable"
    assert "wanted 1 to 6" in caught.value.detail


def test_a_segment_that_fails_fails_the_document_instead_of_shortening_it():
    with MockServer(echo, faults=[None, Truncated()]) as server:
        judge = Decontextualizer(model_at(server), most_tokens=3)
        with pytest.raises(JudgeError) as caught:
            judge(document=DOCUMENT)
    assert caught.value.reason == "truncated"


def test_the_baseline_packs_sentences_evenly_into_passages_of_at_most_200_words():
    document = " ".join(f"It has {i} words here." for i in range(90))  # 450 words
    passages = Decontextualizer("lexical")(document=document).passages
    assert [len(passage.split()) for passage in passages] == [150, 150, 150]
    assert " ".join(passages) == document


def test_the_baseline_gives_no_more_passages_than_a_reply_may_hold():
    document = " ".join(["word " * 150 + "end."] * 6 + ["A " + "word " * 110 + "end."])
    passages = Decontextualizer("lexical")(document=document).passages
    assert 1 < len(passages) <= 6
    assert " ".join(passages).split() == document.split()


@given(st.text(max_size=400), st.integers(1, 9))
def test_the_baseline_loses_no_text(document, most):
    passages = lexical.write_passages({"before": "", "part": document})["passages"]
    assert "".join("".join(passages).split()) == "".join(document.split())
    judged = Decontextualizer("lexical", most_tokens=most)(document=document).passages
    assert "".join("".join(judged).split()) == "".join(document.split())
