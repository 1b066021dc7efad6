"""The makers of a collection: requests, standalone passages, new questions and their scores."""

import asyncio
import json

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mock_server import MockServer, Truncated, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import YesNo
from nuggetjudge.plugins.collections import lexical
from nuggetjudge.plugins.collections.judges import (
    CRITERIA,
    Decontextualizer,
    QuestionEvolver,
    QuestionScorer,
    RequestWriter,
)

# A report request: its length is checked, and one worked example goes with it.
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


# Standalone passages: one call a segment, in order, and what is no passage is an error.
DOCUMENT = "One two three.\n\nFour five six.\n\nSeven eight nine."


def echo(body):
    """Two passages of a part, which name it."""
    part = input_of(body)["part"]
    return {"passages": [f"{part} first", f" {part} second\n"]}


def decontextualizer_saying(*passages):
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
    with decontextualizer_saying(*map(str, range(n)), "", " ") as server:
        passages = Decontextualizer(model_at(server))(document=DOCUMENT).passages
    assert passages == list(map(str, range(n)))


@pytest.mark.parametrize("passages", [[], ["", "\n"], list("abcdefg")])
def test_none_or_more_than_six_are_no_judgement(passages):
    with decontextualizer_saying(*passages) as server, pytest.raises(JudgeError) as caught:
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


# New questions: in both ways, each once, none of them the old one.
OLD = "Why did the dockers strike?"


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


# Five points of a question, all there or none.
LABELS = {"uncommon": "yes", "clear": "no", "unambiguous": "Yes", "complex": "no", "opinion": "yes"}


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
def test_question_scorer_the_baseline_takes_any_text(question):
    scores = lexical.score_question({"question": question})
    assert set(scores) == set(CRITERIA)
    assert {*scores.values()} <= {YesNo.YES, YesNo.NO}
