"""A judge as the metric of dspy.Evaluate and of optimisers."""

import math

import dspy
import pytest
from mock_server import MockServer, Refusal

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import (
    AnswerabilityGrader,
    EntailmentJudge,
    NuggetAssigner,
    Nuggetizer,
    OwnJudge,
    OwnJudgeDefinition,
    SupportJudge,
)
from nuggetjudge.judges.fitted import Correction, JudgeFile

PASSAGE = "Wind moves decks."


class Echo(dspy.Module):
    """A user's program, which answers with its question."""

    def forward(self, question):
        return dspy.Prediction(answer=question, sentence=question)


def devset(*questions, **more):
    rows = [dspy.Example(question=question, passage=PASSAGE, **more) for question in questions]
    return [row.with_inputs("question") for row in rows]


def evaluated(metric, rows, **options):
    return dspy.Evaluate(devset=rows, metric=metric, num_threads=2, **options)(Echo())


def test_evaluate():
    evaluation = evaluated(SupportJudge("lexical"), devset(PASSAGE, "Bees sing."))
    assert evaluation.score == 50.0
    assert [score for _, _, score in evaluation.results] == [1.0, 0.0]


def test_evaluate_with_fields_of_other_names():
    rows = devset(PASSAGE, "Bees sing.", facts=["wind moves decks", "bees sing"])
    metric = NuggetAssigner("lexical").metric(nuggets="facts")
    evaluation = evaluated(metric, rows)
    assert [score for _, _, score in evaluation.results] == [0.5, 0.5]  # the mean over the nuggets
    context = SupportJudge("lexical").metric(
        passage=lambda example, evaluation: example.passage.upper()
    )
    assert evaluated(context, rows).score == 50.0


def test_the_prediction_comes_before_the_example():
    judge = SupportJudge("lexical")
    example = dspy.Example(sentence="Bees sing.", passage=PASSAGE)
    assert judge.metric()(example, dspy.Prediction(sentence=PASSAGE)) == 1.0
    assert judge(example, dspy.Prediction(sentence=PASSAGE)) == 1.0


@pytest.mark.parametrize("window", [1, 5])
def test_an_item_or_a_list_of_them(window):
    grader = AnswerabilityGrader("lexical", window=window)
    example = dspy.Example(questions=["does wind move decks", "who sings"], context=PASSAGE)
    grades = grader(**example).grades
    one = dspy.Prediction(question="does wind move decks")
    assert grader.metric(question=None)(example, one) == sum(grades) / 10
    assert grader.metric(questions=None)(example, one) == grades[0] / 5
    with pytest.raises(ValueError, match="either question or questions"):
        grader.metric()(example, one)
    point = EntailmentJudge("lexical", window=window).metric(response="context", key_points=None)
    assert point(example, dspy.Prediction(key_point="wind moves decks")) == 1.0


def failing_evaluation(**options):
    with MockServer(lambda body: {"verdict": "full"}) as server:
        server.faults = [None, Refusal()]
        judge = SupportJudge(ModelConfig(model="openai/mock", api_base=server.base_url))
        metric = judge.metric()
        with pytest.warns(RuntimeWarning, match="no judgement.*failure_score: refused"):
            evaluation = evaluated(metric, devset("a", "b"), **options)
        assert [error.reason for error in metric.unjudged] == ["refused"]
    return evaluation


def test_evaluate_an_item_that_is_not_judged():
    evaluation = failing_evaluation(failure_score=float("nan"))
    assert math.isnan(evaluation.score)
    assert sorted(str(score) for _, _, score in evaluation.results) == ["1.0", "nan"]
    assert failing_evaluation().score == 50.0  # what DSPy makes of it: hence the warning


def test_optimisers_take_no_example_that_is_not_judged():
    metric = SupportJudge("lexical").metric()
    metric.judge.backend = None  # nothing answers
    lm = dspy.utils.DummyLM([{"verdict": "perhaps"}] * 2)
    with dspy.context(lm=lm), pytest.warns(RuntimeWarning), pytest.raises(JudgeError):
        metric(dspy.Example(passage=PASSAGE), dspy.Prediction(sentence="s"), trace=[])


def test_a_metric_of_gepa():
    dspy.GEPA(
        SupportJudge("lexical").metric(), max_metric_calls=1, reflection_lm=dspy.utils.DummyLM([])
    )


def test_a_metric_of_bootstrap():
    rows = devset(PASSAGE, "Bees sing.")
    optimiser = dspy.BootstrapFewShot(
        SupportJudge("lexical").metric(sentence="answer"),
        metric_threshold=0.9,
        max_bootstrapped_demos=2,
        max_labeled_demos=0,
    )

    class Answerer(dspy.Module):
        def __init__(self):
            super().__init__()
            self.say = dspy.Predict("question -> answer")

        def forward(self, question):
            return self.say(question=question)

    lm = dspy.utils.DummyLM({PASSAGE: {"answer": PASSAGE}, "Bees": {"answer": "Bees sing."}})
    with dspy.context(lm=lm):
        program = optimiser.compile(Answerer(), trainset=rows)
    assert [demo.answer for demo in program.say.demos] == [PASSAGE]


def test_gains_of_a_fitted_judge():
    judge = NuggetAssigner("lexical")
    fields = {"judge": judge.name, "version": judge.version, "scale": judge.scale}
    cuts = Correction(cuts=(0.2, 0.9), labels=("no", "some", "all"))
    judge = judge.fitted(JudgeFile(**fields, model="lexical", correction=cuts))
    judge.labels = judge.answer_type = str  # a run takes no labels but the judge's own
    example = dspy.Example(question="q", nuggets=["wind moves decks", "wind moves bees"])
    assert judge.metric()(example, dspy.Prediction(answer=PASSAGE)) == 0.75


def test_metrics_that_cannot_be():
    with pytest.raises(ValueError, match="no input 'text', it has sentence, passage"):
        SupportJudge("lexical").metric(text="answer")
    with pytest.raises(ValueError, match="has a field 'passage'; name it"):
        SupportJudge("lexical").metric()(dspy.Example(a=1), dspy.Prediction(sentence="s"))
    with pytest.raises(ValueError, match="has a field 'facts'"):
        SupportJudge("lexical").metric(sentence="facts")(dspy.Example(a=1), dspy.Prediction(b=1))
    empty = dspy.Example(question="q", answer="a", nuggets=[])
    with pytest.raises(ValueError, match="nothing for the assigner judge to label"):
        NuggetAssigner("lexical").metric()(empty, dspy.Prediction())
    with pytest.raises(TypeError, match="Nuggetizer gives no labels"):
        Nuggetizer("lexical")(empty, dspy.Prediction())
    names = {"name": "kind", "question": "Which?", "inputs": {"text": "it"}, "ordered": False}
    kinds = OwnJudge(OwnJudgeDefinition(labels=["a", "b"], **names))
    with pytest.raises(ValueError, match="neither gains nor order"):
        kinds.metric()
