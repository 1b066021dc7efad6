"""What a judge shows of itself, and the ways in which DSPy calls it."""

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest
from dspy.utils.callback import BaseCallback

import nuggetjudge
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import NuggetAssigner, OwnJudge, OwnJudgeDefinition, SupportJudge, Verdict
from nuggetjudge.judges.fitted import Correction, JudgeFile

CITED = {"sentence": "Wind moves decks.", "passage": "Wind moves decks."}
OFFLINE = "http://127.0.0.1:9/v1"


def test_dir():
    assert {"judges", "run", "metrics", "records", "retrieval"} <= set(dir(nuggetjudge))
    assert {"SupportJudge", "Nuggetizer", "read_own_judge"} <= set(dir(nuggetjudge.judges))
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
    called = inspect.signature(OwnJudge(OwnJudgeDefinition(**tone)))
    assert str(called).startswith("(*, text: 'str')")
    assert list(inspect.signature(OwnJudge).parameters)[:2] == ["definition", "model"]


def test_repr(monkeypatch):
    monkeypatch.setenv("KEY_OF_MINE", "sk-very-secret-key")
    model = ModelConfig(model="openai/mock", api_base=OFFLINE, api_key_env="KEY_OF_MINE")
    judge = NuggetAssigner(model)
    version = f"version={judge.version!r}, fitted=False)"
    assert repr(judge) == f"NuggetAssigner(model='openai/mock', window=10, {version}"
    fields = {"judge": judge.name, "version": judge.version, "scale": judge.scale}
    state = JudgeFile(**fields, model="openai/mock", correction=Correction(cuts=(0.1, 0.2)))
    assert "fitted=True" in repr(judge.fitted(state))
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
