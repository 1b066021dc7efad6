"""Claims that state a key point, by a model and by the baseline."""

import asyncio
import json
from typing import NamedTuple

import pytest
from mock_server import MockServer, Reply, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import ClaimJudge
from nuggetjudge.judges.items import calls, judge_items
from nuggetjudge.judges.keypoints import number_key_points

POINTS = ["Bees make honey from nectar\nof flowers.", "Bees hum."]


class Asked(NamedTuple):
    ids: dict[str, str]
    inputs: dict[str, str]


@pytest.fixture
def served():
    """A server that takes claims about bees for statements of a key point, and its model."""

    def brain(body):
        claims = input_of(body)["claims"].items()
        return {"verdicts": {i: "yes" if "Bees" in claim else "no" for i, claim in claims}}

    with MockServer(brain) as server:
        yield server, ModelConfig(model="openai/mock", api_base=server.base_url)


def test_key_points_are_one_text_with_a_line_for_each():
    assert number_key_points(POINTS) == "1. Bees make honey from nectar of flowers.\n2. Bees hum."
    assert number_key_points([]) == ""


def test_claims_are_asked_about_ten_at_a_time_beside_all_key_points(served):
    server, model = served
    claims = [f"{'Bees' if i % 3 else 'Wasps'} know fact {i}." for i in range(12)]
    prediction = ClaimJudge(model)(key_points=number_key_points(POINTS), claims=claims)
    assert prediction.verdicts == ["yes" if i % 3 else "no" for i in range(12)]
    asked = [input_of(request.body) for request in server.requests]
    assert [call["key_points"] for call in asked] == [number_key_points(POINTS)] * 2
    assert [list(call["claims"].values()) for call in asked] == [claims[:10], claims[10:]]
    assert list(asked[1]["claims"]) == ["1", "2"]


def test_no_claim_takes_no_call(served):
    server, model = served
    assert ClaimJudge(model)(key_points=number_key_points(POINTS), claims=[]).verdicts == []
    assert server.requests == []


def test_claims_of_one_answer_share_calls_and_answers_do_not():
    items = [
        Asked({"topic_id": "t1", "run_id": run}, {"key_points": "1. a", "claim": f"claim {i}"})
        for i in range(3)
        for run in "xy"
    ]
    assert calls(ClaimJudge("lexical", window=2), items) == [[0, 2], [4], [1, 3], [5]]
    judged = asyncio.run(judge_items(ClaimJudge("lexical"), items))
    assert [verdict.label for verdict, _ in judged] == ["no"] * 6


@pytest.mark.parametrize(
    ("verdicts", "reason"),
    [
        ({"1": "yes"}, "incomplete"),
        ({"1": "yes", "2": "no", "3": "no"}, "unparseable"),
        ({"1": "yes", "2": "partly"}, "unparseable"),
        (["yes", "no"], "unparseable"),
    ],
)
def test_labels_go_by_the_number_of_the_claim_and_none_is_made_up(verdicts, reason):
    with MockServer(lambda body: json.dumps({"verdicts": verdicts})) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, reasks=0)
        with pytest.raises(JudgeError) as caught:
            ClaimJudge(model)(key_points="1. a", claims=["a", "b"])
    assert caught.value.reason == reason


def test_the_score_is_the_probability_of_yes_where_the_model_gives_it():
    chances = {"1": {"no": 0.1, "yes": 0.9}, "2": {"no": 0.6, "yes": 0.4}}
    reply = Reply('{"verdicts": {"1": "yes", "2": "no"}}', probabilities=chances)
    with MockServer(lambda body: reply) as server:
        model = ModelConfig(model="openai/mock", api_base=server.base_url, logprobs=True)
        prediction = ClaimJudge(model)(key_points="1. a", claims=["a", "b"])
    assert prediction.scores == pytest.approx([0.9, 0.4])


@pytest.mark.parametrize(
    ("claim", "score", "verdict"),
    [
        ("Bees hum!", 1.0, "yes"),  # all of the second
        ("Bees make honey.", 1.0, "yes"),  # a part of the first, without a word of its own
        # Of the shorter "Bees hum.": bee of 2 words; bee, ees, "es " and "s h" of 6 runs.
        ("Bees hate smoke.", (1 / 2 + 4 / 6) / 2, "yes"),
        ("Wasps sting.", 0.0, "no"),
    ],
)
def test_the_baseline_takes_the_nearest_point_and_looks_for_the_shorter_text(claim, score, verdict):
    prediction = ClaimJudge("lexical")(key_points=number_key_points(POINTS), claims=[claim])
    assert prediction.verdicts == [verdict]
    assert prediction.scores == [pytest.approx(score)]


def test_without_key_points_no_claim_states_one():
    prediction = ClaimJudge("lexical")(key_points=number_key_points([]), claims=["Bees hum."])
    assert (prediction.verdicts, prediction.scores) == (["no"], [0.0])
