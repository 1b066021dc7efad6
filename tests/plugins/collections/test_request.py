"""A report request: its length is checked, and one worked example goes with it."""

import asyncio
import json

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, Truncated, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.plugins.collections import lexical
from nuggetjudge.plugins.collections.judges import RequestWriter

REPORT = (
    "The dockers of Port Merrow struck for nine days in 1911. Their union wanted the same wage "
    "for the night shift. Ada Quill, who led the harbour board, gave in on 4 May, and the night "
    "shift got 14 pence. The strike made Ada Quill known all over the country."
)
REQUEST = "Write a report on the strike of Port Merrow, its causes and its end."


def model_at(server):
    return ModelConfig(model="openai/mock", api_base=server.base_url, retries=0, reasks=0)


def saying(request):
    return MockServer(lambda body: {"request": request})


def test_the_request_comes_on_one_line_with_its_call():
    with saying(REQUEST.replace(" on ", " \n\ton ")) as server:
        text, call = asyncio.run(RequestWriter(model_at(server)).write(REPORT))
    assert text == REQUEST
    assert call.model == "mock"


@pytest.mark.parametrize("n_words", [8, 120])
def test_a_request_of_8_to_120_words_is_one(n_words):
    with saying("word " * n_words) as server:
        assert len(RequestWriter(model_at(server))(report=REPORT).request.split()) == n_words


@pytest.mark.parametrize("n_words", [0, 7, 121])
def test_a_shorter_or_longer_one_is_none(n_words):
    with saying("word " * n_words) as server, pytest.raises(JudgeError) as caught:
        RequestWriter(model_at(server))(report=REPORT)
    assert caught.value.reason == "unparseable"
    assert f"{n_words} words, wanted 8 to 120" in caught.value.detail


def test_a_truncated_reply_is_none():
    with saying(REQUEST) as server:
        server.faults = [Truncated()]
        with pytest.raises(JudgeError) as caught:
            RequestWriter(model_at(server))(report=REPORT)
    assert caught.value.reason == "truncated"


def test_a_blank_report_is_not_asked_about():
    with saying(REQUEST) as server:
        with pytest.raises(JudgeError) as caught:
            RequestWriter(model_at(server))(report=" \n")
        assert server.requests == []
    assert caught.value.reason == "no_passage"


def test_the_worked_example_goes_ahead_as_an_exchange():
    with saying(REQUEST) as server:
        judge = RequestWriter(model_at(server))
        judge(report=REPORT)
        messages = server.requests[0].body["messages"]
    (example,) = judge.compose.demos
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert input_of({"messages": messages[1:2]}) == {"report": example.report}
    assert json.loads(messages[2]["content"]) == {"request": example.request}
    assert input_of({"messages": messages}) == {"report": REPORT}


def test_the_example_obeys_the_rules_it_teaches():
    (example,) = RequestWriter("lexical").compose.demos
    words = example.request.split()
    assert 45 <= len(words) <= 55
    terms = {word.strip(".,") for word in example.report.split()}
    figures = {word for word in terms if any(map(str.isdigit, word))} - {"2011"}
    assert figures
    assert not figures & {word.strip(".,") for word in words}


def test_each_judge_has_an_example_list_of_its_own():
    first, second = RequestWriter("lexical"), RequestWriter("lexical")
    first.compose.demos = []
    first.compose.demos.append(dspy.Example(report="r", request="q"))
    assert len(second.compose.demos) == 1
    assert second.compose.demos[0].report.startswith("The car ferry")


def test_the_baseline_names_the_topic_and_what_is_spoken_of_and_no_figures():
    request = RequestWriter("lexical")(report=REPORT).request
    assert request.startswith("Write a report on Ada Quill and Port Merrow for a reader")
    assert "Cover the night shift, the" in request
    assert "the harbour board" in request
    assert not any(map(str.isdigit, request))


def test_the_baseline_stays_near_50_words_however_much_there_is_to_cover():
    kinds = ["red harbour", "fish market", "white tower", "rose garden", "old mill", "iron bridge"]
    report = " ".join(f"At Port Merrow one saw the {kind} of brick." for kind in kinds * 2)
    request = RequestWriter("lexical")(report=report).request
    assert 45 <= len(request.split()) <= 50
    assert request.startswith("Write a report on Port Merrow for")


def test_without_a_name_the_commonest_phrase_is_the_topic():
    report = "We saw the spring flood. After the spring flood, the old mill was gone."
    request = RequestWriter("lexical")(report=report).request
    assert request.startswith("Write a report on the spring flood for")
    assert "Cover the old mill, what" in request


def test_a_text_in_which_the_baseline_finds_no_topic_gives_no_request():
    with pytest.raises(JudgeError) as caught:
        RequestWriter("lexical")(report="日本語のテキスト")
    assert caught.value.reason == "unparseable"


@given(st.text(max_size=300))
def test_the_baseline_takes_any_text(report):
    request = lexical.write_request({"report": report})["request"]
    assert request == "" or 8 <= len(request.split()) <= 120
