"""An answer's value as a DSPy metric: in dspy.Evaluate, for GEPA; and results as samples."""

import logging
import math

import pytest
from mock_server import MockServer, Status

import nuggetjudge as nj
from nuggetjudge.backends.errors import EndpointUnusable
from nuggetjudge.plugins.harnesses.dspy_metric import AnswerMetric, samples
from nuggetjudge.records.reading.problems import InputError

dspy = pytest.importorskip("dspy")
DummyLM = dspy.utils.DummyLM

NUGGETS = ["wind moves decks", "cables carry load"]
ANSWERS = {
    "Why wind?": "Wind moves decks.",
    "Why both?": "Wind moves decks. Cables carry load.",
    "Why stripes?": "Zebra.",
}


class Program(dspy.Module):
    def forward(self, question):
        return dspy.Prediction(response=ANSWERS[question], context=["Wind moves decks."])


@pytest.fixture
def devset():
    # The gold answer of an example states all: judged in the place of the program's it gives 1.
    gold = "Wind moves decks. Cables carry load."
    rows = [dspy.Example(question=q, answer=gold, nuggets=NUGGETS) for q in ANSWERS]
    return [row.with_inputs("question") for row in rows]


def values(result):
    return [score for *_, score in result.results]


def test_evaluate_scores_what_the_program_answered_and_not_the_gold_answer(devset):
    metric = AnswerMetric("V_strict", model="lexical")
    result = dspy.Evaluate(devset=devset, metric=metric, num_threads=3)(Program())
    assert values(result) == [0.5, 1.0, 0.0]  # by hand: 1 of 2, 2 of 2, 0 of 2 vital nuggets
    assert result.score == 50.0


def test_an_answer_that_was_not_judged_is_no_0(devset, refusing, caplog):
    metric = AnswerMetric("V_strict", model=refusing, cache=False)
    evaluate = dspy.Evaluate(devset=devset, metric=metric, failure_score=math.nan)
    with caplog.at_level(logging.CRITICAL), pytest.warns(RuntimeWarning, match="refused 1"):
        result = evaluate(Program())
    assert [math.isnan(value) for value in values(result)] == [False, False, True]
    assert math.isnan(result.score)
    assert [error.reason.value for error in metric.unjudged] == ["refused"]
    assert "2 unjudged" in str(metric.unjudged[0])


def test_a_model_that_can_judge_nothing_is_no_0_and_is_told(devset, caplog):
    with MockServer(faults=lambda *_: Status(401)) as server:
        entry = {"model": "hosted_vllm/mock", "api_base": server.base_url, "retries": 0}
        metric = AnswerMetric("V_strict", model=entry, cache=False)
        evaluate = dspy.Evaluate(devset=devset, metric=metric, failure_score=math.nan)
        with caplog.at_level(logging.CRITICAL), pytest.warns(RuntimeWarning, match="401"):
            result = evaluate(Program())
    assert all(math.isnan(value) for value in values(result))
    assert [type(error) for error in metric.unjudged] == [EndpointUnusable] * 3


def test_gepa_reads_what_an_answer_misses(devset):
    metric = AnswerMetric("V_strict", model="lexical")
    prediction = metric(devset[0], Program()(question="Why wind?"), None, "answerer", None)
    assert prediction.score == metric(devset[0], Program()(question="Why wind?")) == 0.5
    assert "does not state:\n- cables carry load" in prediction.feedback
    assert "wind moves decks" not in prediction.feedback


def test_fields_of_other_names_are_named_and_a_wrong_name_is_told():
    example = dspy.Example(query="Why wind?", facts=NUGGETS)
    prediction = dspy.Prediction(summary="Wind moves decks.")
    fields = {"question": "query", "answer": "summary", "nuggets": "facts"}
    assert AnswerMetric("V_strict", model="lexical", fields=fields)(example, prediction) == 0.5
    wrong = AnswerMetric("V_strict", model="lexical", fields=fields | {"answer": "sumary"})
    with pytest.raises(InputError, match=r"no field 'sumary' for answer.*did you mean summary"):
        wrong(example, prediction)
    unnamed = AnswerMetric("V_strict", model="lexical")
    with pytest.raises(InputError, match=r"no answer .*the output has the fields summary"):
        unnamed(example, prediction)


def test_what_programs_answered_are_samples(devset):
    metric = AnswerMetric("V_strict", model="lexical")
    evaluated = dspy.Evaluate(devset=devset, metric=metric)(Program())
    result = nj.evaluate(samples(evaluated.results), "nuggets", model="lexical")
    assert [row.value for row in result.rows(["V_strict"])] == values(evaluated)
    failed = [(devset[0], dspy.Prediction(), math.nan)]
    with pytest.raises(InputError, match=r"results\[0\]: no answer"):
        list(samples(failed))
