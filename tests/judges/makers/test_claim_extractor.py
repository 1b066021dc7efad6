"""The claims of an answer: in its order, each once, and none of a blank answer."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import ClaimExtractor

ANSWER = "The dam broke in May. It was thin."


def saying(claims):
    return MockServer(lambda body: {"claims": claims})


def model_at(server):
    return ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)


def extracted(server, answer=ANSWER):
    return asyncio.run(ClaimExtractor(model_at(server)).extract(answer))


def test_an_answer_is_one_call_and_its_claims_come_in_order():
    with saying(["The dam broke in May.", "The dam was  thin.\n"]) as server:
        claims, calls = extracted(server)
        (request,) = server.requests
        assert input_of(request.body) == {"answer": ANSWER}
    assert claims == ["The dam broke in May.", "The dam was thin."]
    assert len(calls) == 1


@pytest.mark.parametrize("blank", ["", " \n\t"])
def test_a_blank_answer_has_no_claims_and_costs_no_call(blank):
    with saying(["made up"]) as server:
        assert extracted(server, blank) == ([], [])
        assert server.requests == []


def test_an_answer_may_make_no_claim():
    with saying([]) as server:
        claims, calls = extracted(server, "I cannot say.")
    assert claims == []
    assert len(calls) == 1


def test_blank_entries_are_dropped_and_a_claim_made_again_counts_once():
    with saying(["It broke.", "", " ", "It  broke.", "It held.", "it broke."]) as server:
        assert extracted(server)[0] == ["It broke.", "It held.", "it broke."]


@pytest.mark.parametrize("claims", ["It broke.", {"1": "It broke."}, ["It broke.", None], [["a"]]])
def test_what_is_no_list_of_texts_is_no_judgement(claims):
    with saying(claims) as server, pytest.raises(JudgeError) as caught:
        extracted(server)
    assert caught.value.reason == "unparseable"


def test_the_baseline_gives_the_statements_each_once():
    answer = (
        "## The dam\n\nThe dam broke in March [1]. Why did it break? Its wall was far too thin, "
        "and the town had known it for years. The dam broke in March."
    )
    assert ClaimExtractor("lexical")(answer=answer).claims == [
        "The dam broke in March",
        "Its wall was far too thin",
        "the town had known it for years",
    ]


def test_a_long_sentence_without_a_statement_is_a_claim_as_a_whole():
    long = "Among the reasons: rain,  wind, frost, thin walls, poor clay, bad luck and worse money."
    assert ClaimExtractor("lexical")(answer=long).claims == [" ".join(long.split())]
    assert ClaimExtractor("lexical")(answer=f"{long[:-1]}:").claims == []  # leads to a list


@given(st.text(max_size=300))
def test_the_baseline_takes_any_text(answer):
    claims = ClaimExtractor("lexical")(answer=answer).claims
    assert len(set(claims)) == len(claims)
    assert all(claim.strip() for claim in claims)
