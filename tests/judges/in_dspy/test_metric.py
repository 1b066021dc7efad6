"""A judge as the metric of dspy.Evaluate and of optimisers."""

import asyncio
import inspect
import math
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest
from dspy.utils.callback import BaseCallback
from mock_server import MockServer, Refusal

import nuggetjudge
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.judges import (
    AnswerabilityGrader,
    CustomJudge,
    CustomJudgeDefinition,
    EntailmentJudge,
    NuggetAssigner,
    Nuggetizer,
    SupportJudge,
    Verdict,
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
    judge = judge.copy_with_fit(JudgeFile(**fields, model="lexical", correction=cuts))
    judge.labels = judge.answer_type = str  # a run takes no labels but the judge's own
    example = dspy.Example(question="q", nuggets=["wind moves decks", "wind moves bees"])
    assert judge.metric()(example, dspy.Prediction(answer=PASSAGE)) == 0.75


def test_metrics_that_cannot_be():
    with pytest.raises(ValueError, match="no input 'text'; it has sentence, passage"):
        SupportJudge("lexical").metric(text="answer")
    with pytest.raises(ValueError, match="has a field 'passage'; map it"):
        SupportJudge("lexical").metric()(dspy.Example(a=1), dspy.Prediction(sentence="s"))
    with pytest.raises(ValueError, match="has a field 'facts'"):
        SupportJudge("lexical").metric(sentence="facts")(dspy.Example(a=1), dspy.Prediction(b=1))
    empty = dspy.Example(question="q", answer="a", nuggets=[])
    with pytest.raises(ValueError, match="no items for the assigner judge to label"):
        NuggetAssigner("lexical").metric()(empty, dspy.Prediction())
    with pytest.raises(TypeError, match="Nuggetizer gives no labels"):
        Nuggetizer("lexical")(empty, dspy.Prediction())
    names = {"name": "kind", "question": "Which?", "inputs": {"text": "it"}, "ordered": False}
    kinds = CustomJudge(CustomJudgeDefinition(labels=["a", "b"], **names))
    with pytest.raises(ValueError, match="neither gains nor order"):
        kinds.metric()


# What a judge shows of itself, and the ways in which DSPy calls it.
CITED = {"sentence": "Wind moves decks.", "passage": "Wind moves decks."}
OFFLINE = "http://127.0.0.1:9/v1"


def test_dir():
    assert {"judges", "run", "metrics", "records", "retrieval"} <= set(dir(nuggetjudge))
    assert {"SupportJudge", "Nuggetizer", "read_custom_judge"} <= set(dir(nuggetjudge.judges))
    for home in (nuggetjudge, nuggetjudge.judges, nuggetjudge.records, nuggetjudge.retrieval):
        for name in dir(home):
            getattr(home, name)


def test_signature(case):
    judge = case.make("lexical")
    assert case.asked.keys() <= inspect.signature(judge).parameters.keys()
    made = inspect.signature(type(judge)).parameters
    assert next(name for name in made if name != "definition") == "model"
    assert made["backend"].kind is inspect.Parameter.KEYWORD_ONLY
    inspect.signature(judge).bind(**case.asked)


def test_signature_of_options_and_of_own_judges():
    options = inspect.signature(NuggetAssigner).parameters
    assert (options["window"].default, options["grades"].default) == (10, 3)
    tone = {"name": "tone", "question": "Is it?", "inputs": {"text": "a"}, "labels": ["no", "yes"]}
    called = inspect.signature(CustomJudge(CustomJudgeDefinition(**tone)))
    assert str(called).startswith("(*, text: 'str')")
    assert list(inspect.signature(CustomJudge).parameters)[:2] == ["definition", "model"]


def test_repr(monkeypatch):
    monkeypatch.setenv("KEY_OF_MINE", "sk-very-secret-key")
    model = ModelConfig(model="openai/mock", api_base=OFFLINE, api_key_env="KEY_OF_MINE")
    judge = NuggetAssigner(model)
    version = f"version={judge.version!r}, fitted=False)"
    assert repr(judge) == f"NuggetAssigner(model='openai/mock', window=10, {version}"
    fields = {"judge": judge.name, "version": judge.version, "scale": judge.scale}
    state = JudgeFile(**fields, model="openai/mock", correction=Correction(cuts=(0.1, 0.2)))
    assert "fitted=True" in repr(judge.copy_with_fit(state))
    judge.set_lm(dspy.LM("openai/other", api_key="sk-very-secret-key"))
    assert "model='openai/other'" in repr(judge)
    assert "secret" not in repr(judge)
    assert repr(SupportJudge()).startswith("SupportJudge(model=None, ")


def test_repr_of_every_judge(case):
    shown = repr(case.make("lexical"))
    assert shown.startswith(f"{type(case.make('lexical')).__name__}(model='lexical', ")
    assert len(shown) < 120


def test_repr_of_a_verdict():
    assert repr(Verdict("full")) == "Verdict('full')"
    assert repr(Verdict("full", 0.5)) == "Verdict('full', score=0.5)"


def test_fields_of_predictions(case):
    """None takes the name of what a dspy.Prediction can do."""
    prediction = case.make("lexical")(**case.asked)
    assert not [name for name in prediction.keys() if hasattr(dspy.Prediction(), name)]  # noqa: SIM118
    for name, value in prediction.items():
        assert getattr(prediction, name) is value


def test_acall(case, model, users_lm, expected):
    async def both():
        with dspy.context(lm=users_lm):
            calls = (judge.acall(**case.asked) for judge in (case.make(model), case.make()))
            return await asyncio.gather(*calls)

    assert [prediction[case.field] for prediction in asyncio.run(both())] == [expected] * 2


@pytest.mark.slow
@pytest.mark.usefixtures("each_kind")
def test_parallel(case, model, users_lm, expected):
    example = dspy.Example(**case.asked).with_inputs(*case.asked)
    with dspy.context(lm=users_lm):
        pairs = [(case.make(model), example), (case.make(), example)] * 2
        predictions = dspy.Parallel(num_threads=4, disable_progress_bar=True)(pairs)
    assert [each[case.field] for each in predictions] == [expected] * 4
    assert case.make("lexical").batch([example] * 3, disable_progress_bar=True) is not None


@pytest.mark.slow
@pytest.mark.usefixtures("each_kind")
def test_threads(case, expected, users_lm):
    judge = case.make()
    judge.set_lm(users_lm)  # plain threads do not inherit dspy.context
    with ThreadPoolExecutor(4) as pool:
        futures = [pool.submit(judge, **case.asked) for _ in range(4)]
        assert [future.result()[case.field] for future in futures] == [expected] * 4


@pytest.mark.slow
@pytest.mark.usefixtures("each_kind")
def test_asyncify(case, model, expected):
    async def notebook():
        return await dspy.asyncify(case.make(model))(**case.asked)

    assert asyncio.run(notebook())[case.field] == expected


@pytest.mark.slow
@pytest.mark.usefixtures("each_kind")
@pytest.mark.parametrize("own", [True, False])
def test_streamify(case, model, users_lm, expected, own):
    async def notebook():
        with dspy.context(lm=users_lm):
            stream = dspy.streamify(case.make(model) if own else case.make())(**case.asked)
            return [part async for part in stream]

    parts = asyncio.run(notebook())
    assert [p[case.field] for p in parts if isinstance(p, dspy.Prediction)] == [expected]


@pytest.mark.slow
@pytest.mark.usefixtures("each_kind")
@pytest.mark.parametrize("own", [True, False])
def test_track_usage(case, model, users_lm, own, baseline_server):
    judge = case.make(model) if own else case.make()
    with dspy.context(lm=users_lm), dspy.track_usage() as tracker:
        judge(**case.asked)
    [usage] = tracker.get_total_tokens().values()
    assert usage["prompt_tokens"] > 0
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]
    with dspy.context(lm=users_lm, track_usage=True):
        prediction = judge(**case.asked)
    assert list(prediction.get_lm_usage()) == ["openai/mock"]


def test_callbacks(case, model):
    class Seen(BaseCallback):
        def __init__(self):
            self.calls = []

        def on_module_start(self, call_id, instance, inputs):
            self.calls.append((instance, inputs))

        def on_module_end(self, call_id, outputs, exception):
            self.calls.append(outputs[case.field])

    seen, judge = Seen(), case.make(model)
    with dspy.context(callbacks=[seen]):
        prediction = judge(**case.asked)
    assert seen.calls[0][0] is judge
    assert seen.calls[-1] == prediction[case.field]


@pytest.mark.slow
@pytest.mark.usefixtures("each_kind")
@pytest.mark.parametrize("own", [True, False])
def test_history(case, model, users_lm, own, capsys, baseline_server):
    judge = case.make(model) if own else case.make()
    with dspy.context(lm=users_lm):
        judge(**case.asked)
    sent = [received.body["messages"] for received in baseline_server.requests]
    assert [entry["messages"] for entry in judge.history] == sent
    judge.inspect_history()
    assert "Reply with one JSON object only" in capsys.readouterr().out
    with dspy.context(lm=users_lm, disable_history=True):
        judge(**case.asked)
    assert len(judge.history) == len(sent)
