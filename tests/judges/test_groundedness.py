"""Statements against the context of their answer: by a model, in parts, and by the baseline."""

import asyncio

import pytest
from mock_server import MockServer, Reply, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import GroundednessJudge
from nuggetjudge.judges.fitted import Correction
from nuggetjudge.records.groundedness import join_context
from nuggetjudge.records.judgements import Unjudged

MOON = "The moon pulls at the sea, which makes the tides."
BOATS = "Boats wait for high water for 3 hours."


@pytest.fixture
def served():
    """A server that finds a label written behind each statement's name in the context it sees."""

    def brain(body):
        asked = input_of(body)
        words = asked["context"].split()
        seen = {text: text in words for text in ("FAIL",)}
        if seen["FAIL"]:
            return Reply("no JSON at all")
        said = dict(word.split("=") for word in words if "=" in word)
        return {"verdicts": {i: said.get(t, "not_found") for i, t in asked["statements"].items()}}

    with MockServer(brain) as server:
        yield server, ModelConfig(model="openai/mock", api_base=server.base_url, reasks=0)


def labels_of(model, passages, statements, **options):
    judge = GroundednessJudge(model, **options)
    return [str(each) for each in judge(context=passages, statements=statements).verdicts]


def test_many_statements_share_a_call_with_all_passages(served):
    server, model = served
    passages = ["a=supported b=contradicted", "c=supported"]
    assert labels_of(model, passages, ["a", "b", "c", "d"]) == [
        *("supported", "contradicted", "supported", "not_found"),
    ]
    [request] = server.requests
    assert input_of(request.body)["context"] == "\n\n".join(passages)


def test_eleven_statements_are_two_calls(served):
    server, model = served
    assert labels_of(model, ["x=supported"], ["x"] * 11) == ["supported"] * 11
    asked = [list(input_of(request.body)["statements"]) for request in server.requests]
    assert sorted(map(len, asked)) == [1, 10]


# By the parts of a long context: any support wins, then any contradiction.
@pytest.mark.parametrize(
    ("first", "second", "wanted"),
    [
        ("supported", "supported", "supported"),
        ("contradicted", "supported", "supported"),
        ("supported", "contradicted", "supported"),
        ("not_found", "supported", "supported"),
        ("not_found", "contradicted", "contradicted"),
        ("contradicted", "not_found", "contradicted"),
        ("not_found", "not_found", "not_found"),
    ],
)
def test_the_labels_of_parts_become_one(served, first, second, wanted):
    server, model = served
    judge = GroundednessJudge(model, context_words=2)
    said = judge(context=[f"a={first} one", f"a={second} two"], statement="a")
    assert said.label == wanted
    assert len(server.requests) == 2


def combined(model, passages):
    judge = GroundednessJudge(model, context_words=2)
    return asyncio.run(judge.verdicts([{"statement": "a", "context": join_context(passages)}]))


@pytest.mark.parametrize("other", ["contradicted", "not_found"])
def test_a_part_that_failed_is_never_a_label(served, other):
    [verdict], _ = combined(served[1], ["FAIL one", f"a={other} two"])
    assert isinstance(verdict, Unjudged)
    assert verdict.detail.startswith("1 of 2 parts of the context were not judged")


def test_support_by_one_part_stands_although_another_failed(served):
    [verdict], call = combined(served[1], ["FAIL one", "a=supported two"])
    assert verdict.label == "supported"
    assert verdict.parts == {"1": None, "2": "supported"}
    assert call.attempts == 1


def test_a_window_without_a_reply_raises(served):
    with pytest.raises(JudgeError):
        labels_of(served[1], ["FAIL"], ["a"])


def test_quotes_of_a_part_are_found_in_the_whole_context():
    judge = GroundednessJudge("lexical", context_words=10).explaining(evidence=True)
    said = judge(context=[MOON, BOATS], statement=BOATS)
    [quote] = said.evidence
    whole = join_context([MOON, BOATS])
    assert whole[quote.start : quote.end] == BOATS == quote.quote


def test_a_correction_applies_to_the_label_that_the_parts_become():
    judge = GroundednessJudge("lexical", context_words=10)
    judge.correction = Correction(cuts=(0.0, 0.99))
    said = judge(context=[MOON, BOATS], statement="The moon makes the tides of the sea.")
    assert said.label == "not_found"
    assert said.score < 0.99


@pytest.mark.parametrize(
    ("statement", "wanted"),
    [
        ("The moon makes the tides.", "supported"),
        ("Boats wait for high water for 5 hours.", "contradicted"),
        ("Boats do not wait for high water for 3 hours.", "contradicted"),
        ("Bees sing in the evening.", "not_found"),
    ],
)
def test_the_baseline_compares_words(statement, wanted):
    assert labels_of("lexical", [MOON, BOATS], [statement]) == [wanted]


def test_a_passage_that_supports_outweighs_one_that_contradicts():
    passages = [BOATS, "Boats wait for high water for 5 hours."]
    assert labels_of("lexical", passages, ["Boats wait for high water for 5 hours."]) == [
        "supported"
    ]


def test_a_list_and_a_single_statement_cannot_both_be_given():
    with pytest.raises(ValueError, match="either statement or statements"):
        GroundednessJudge("lexical")(context=MOON, statement="a", statements=["a"])


def test_a_context_in_parts_without_words_is_refused():
    with pytest.raises(ValueError, match="context_words must be 1 or more"):
        GroundednessJudge("lexical", context_words=0)
