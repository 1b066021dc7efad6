"""The same judge with its labels or inputs in another order: the words stay, their order moves."""

import json

import pytest
from mock_server import MockServer, input_of, schema_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import EntailmentJudge, NuggetAssigner, RelevanceJudge, SupportJudge
from nuggetjudge.plugins.lab.probe.variants import (
    list_inputs,
    list_labels,
    with_first_input,
    with_label_order,
    with_lexical,
    without_evidence,
)

ORDER = ("partial_support", "support", "not_support")


def system_of(body):
    return body["messages"][0]["content"]


@pytest.fixture
def assigned():
    """A server that picks the first label it is offered, and an assigner that asks it."""

    def brain(body):
        offered = schema_of(body)["properties"]["verdicts"]["properties"]["1"]["enum"]
        return {"verdicts": dict.fromkeys(input_of(body)["nuggets"], offered[0])}

    with MockServer(brain) as server:
        yield server, NuggetAssigner(ModelConfig(model="openai/mock", api_base=server.base_url))


def test_labels_move_in_prompt_and_schema_and_keep_their_meaning(assigned):
    server, judge = assigned
    asked = {"question": "why", "answer": "so", "nuggets": ["a", "b"]}
    baseline = with_label_order(judge, ORDER)
    assert list_labels(baseline) == ORDER
    assert judge(**asked).verdicts == ["not_support", "not_support"]
    assert baseline(**asked).verdicts == ["partial_support", "partial_support"]
    before, after = (request.body for request in server.requests)
    assert '"partial_support" | "support" | "not_support"' in system_of(after)
    assert after["response_format"]["json_schema"]["name"] == "AssignNuggets"
    assert sorted(system_of(before)) == sorted(system_of(after))
    assert baseline.scale == judge.scale
    assert list_labels(judge) == ("not_support", "partial_support", "support")


def test_an_input_moves_to_the_front_of_what_is_shown(assigned):
    server, judge = assigned
    baseline = with_first_input(judge, "answer")
    assert list_inputs(baseline) == ("answer", "question", "nuggets")
    baseline(question="why", answer="so", nuggets=["a"])
    assert list(input_of(server.requests[0].body)) == ["answer", "question", "nuggets"]
    assert baseline.prompt("assign").shape({"nuggets": {"1": "a"}}) == (("1",),)


def test_other_spellings_of_a_reordered_label_are_still_read():
    baseline = with_label_order(SupportJudge("lexical"), ("full", "none", "partial"))
    row = baseline.prompt("judge").parse(json.dumps({"verdict": " Full"}), None)
    assert str(row["verdict"]) == "full"


def test_what_has_no_such_order_is_refused():
    grades = RelevanceJudge("lexical")
    assert list_labels(grades) == ()
    with pytest.raises(ValueError, match="wanted the labels"):
        with_label_order(grades, ("3", "2", "1", "0"))
    with pytest.raises(ValueError, match="wanted the labels"):
        with_label_order(SupportJudge("lexical"), ("full", "none"))
    with pytest.raises(ValueError, match="one of passage, title, sentence"):
        with_first_input(SupportJudge("lexical"), "answer")


def test_a_judge_that_quotes_is_asked_for_its_label_alone():
    with MockServer(lambda body: {"verdict": "yes"}) as server:
        judge = EntailmentJudge(ModelConfig(model="openai/mock", api_base=server.base_url))
        baseline = without_evidence(judge)
        prediction = baseline(response="r", key_point="p")
        assert (prediction.verdict, prediction.evidence, prediction.is_quoted) == (
            "yes",
            None,
            None,
        )
        (sent,) = server.requests
    assert list(schema_of(sent.body)["properties"]) == ["verdict"]
    assert "copied word for word" not in system_of(sent.body)
    assert judge.evidence == {"evidence": "response"}
    assert "copied word for word" in judge.prompt("judge_one").fixed[0]["content"]


def test_the_lexical_judge_stands_beside_a_model_and_not_beside_itself():
    with MockServer(lambda body: {"verdict": "none"}) as server:
        judge = SupportJudge(ModelConfig(model="openai/mock", api_base=server.base_url))
        texts = {"sentence": "Tides rise.", "passage": "Tides rise."}
        assert with_lexical(judge)(**texts).verdict == "full"
        assert judge(**texts).verdict == "none"
        assert len(server.requests) == 1
    assert with_lexical(SupportJudge("lexical")) is None
