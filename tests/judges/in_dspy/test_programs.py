"""A judge as a part of a user's program: seen by optimisers, copied, saved and loaded whole."""

import copy
import json
import warnings

import dspy
import pytest
from mock_server import MockServer, input_of

from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.judges import CustomJudge, NuggetAssigner, SupportJudge
from nuggetjudge.judges.fitted import Correction, FittedPrompt, JudgeFile

HINT = "Full means word for word."
EXAMPLES = [
    dspy.Example(sentence=f"fact {i}", passage=text, wanted=label).with_inputs(
        "sentence", "passage"
    )
    for i, (text, label) in enumerate([("says it", "full"), ("is silent", "none")] * 4)
]


class Checked(dspy.Module):
    """A user's program: a judge with a model of its own, and a step that DSPy's LM answers."""

    def __init__(self, judge):
        super().__init__()
        self.title = dspy.Predict("sentence -> title")
        self.judge = judge

    def forward(self, sentence, passage):
        title = self.title(sentence=sentence).title
        return dspy.Prediction(title=title, verdict=self.judge(sentence=sentence, passage=passage))


def is_right(example, prediction, trace=None, name=None, name_trace=None):
    return float(prediction.verdict.verdict == example.wanted)


def skilled(body):
    """A model that labels by the passage, and writes what optimisers ask for."""
    system = body["messages"][0]["content"]
    if "new_instruction" in system:
        return json.dumps({"new_instruction": HINT})
    if '"verdict"' not in system:
        fields = ("title", "proposed_instruction", "discussion", "summary", "observations")
        fields += ("program_description", "module_description")
        content = "".join(f"[[ ## {name} ## ]]\n{HINT}\n\n" for name in fields)
        advice = '[[ ## module_advice ## ]]\n{"judge.judge": "Look again."}\n\n'
        return f"{content}{advice}[[ ## completed ## ]]\n```\n{HINT}\n```"
    return {"verdict": "full" if input_of(body)["passage"] == "says it" else "none"}


@pytest.fixture
def server():
    with MockServer(skilled) as running:
        yield running


@pytest.fixture
def judge(server):
    return SupportJudge(ModelConfig(model="openai/mock", api_base=server.base_url))


@pytest.fixture
def lm(server):
    users_lm = dspy.LM("openai/mock", api_base=server.base_url, api_key="users", cache=False)
    with dspy.context(lm=users_lm):
        yield users_lm


def demos_of(program):
    """Those of the judge that a model gave, as its prompt shows them."""
    return [demo for demo in program.judge.judge.demos if demo.get("augmented")]


def test_trace(case, model, expected):
    judge = case.make(model)
    with dspy.context(trace=[]):
        judge(**case.asked)
        trace = dspy.settings.trace
    assert {id(predict) for predict, _, _ in trace} == {id(judge.question(case.predictor))}
    prompt = judge.prompt(case.predictor)
    for _, shown, outputs in trace:
        assert shown.keys() <= set(prompt.input_names)  # all but those that may be left out
        assert len(shown) > 0
        assert tuple(outputs.keys()) == prompt.output_names


def test_what_a_run_asks_is_not_traced(model):
    from nuggetjudge.backends.loop import run_sync

    with dspy.context(trace=[]):
        run_sync(SupportJudge(model).verdicts([{"sentence": "s", "passage": "p"}]))
        assert dspy.settings.trace == []


def test_bootstrap_few_shot(judge, lm):
    optimiser = dspy.BootstrapFewShot(is_right, max_bootstrapped_demos=2, max_labeled_demos=2)
    program = optimiser.compile(Checked(judge), trainset=EXAMPLES)
    assert len(demos_of(program)) == 2
    assert len(program.judge.prompt("judge").fixed) == 5  # system, and two examples
    assert program(sentence="s", passage="says it").verdict.verdict == "full"


def test_random_search(judge, lm):
    optimiser = dspy.BootstrapFewShotWithRandomSearch(
        is_right, max_bootstrapped_demos=1, max_labeled_demos=0, num_candidate_programs=1
    )
    program = optimiser.compile(Checked(judge), trainset=EXAMPLES, valset=EXAMPLES)
    assert [score["score"] for score in program.candidate_programs] == [100.0] * 4


def test_mipro(judge, lm, server):
    pytest.importorskip("optuna")
    optimiser = dspy.MIPROv2(
        is_right, auto=None, num_candidates=2, max_bootstrapped_demos=1, max_labeled_demos=0
    )
    settings = {"num_trials": 2, "minibatch": False}
    program = optimiser.compile(Checked(judge), trainset=EXAMPLES, valset=EXAMPLES, **settings)
    asked = {r.body["messages"][0]["content"].split("\n")[0] for r in server.requests}
    assert HINT in asked  # an instruction that was proposed for the judge, and tried
    assert program.judge.backend is judge.backend


def test_gepa(judge, lm, server):
    def right_and_why(example, prediction, trace=None, name=None, name_trace=None):
        return dspy.Prediction(score=is_right(example, prediction), feedback="Be strict.")

    server.brain = lambda body: (
        skilled(body) if HINT in body["messages"][0]["content"] else _lazy(skilled(body))
    )
    optimiser = dspy.GEPA(
        right_and_why, max_metric_calls=60, reflection_lm=judge.get_lm(), use_merge=False, seed=1
    )
    program = optimiser.compile(Checked(judge), trainset=EXAMPLES, valset=EXAMPLES)
    assert program.judge.judge.signature.instructions == HINT
    assert program.judge.backend is judge.backend


def _lazy(reply):
    return {"verdict": "full"} if isinstance(reply, dict) else reply


def test_simba(judge, lm, server):
    asked = []

    def unsure(body):
        """Right with an example or advice, else every other time, so that samples differ."""
        reply = skilled(body)
        if isinstance(reply, str):
            return reply
        asked.append(body)
        is_taught = len(body["messages"]) > 2 or "Look again" in body["messages"][0]["content"]
        return reply if is_taught or len(asked) % 2 else {"verdict": "partial"}

    server.brain = unsure
    optimiser = dspy.SIMBA(
        metric=is_right, bsize=4, num_candidates=2, max_steps=2, max_demos=2, num_threads=1
    )
    program = optimiser.compile(Checked(judge), trainset=EXAMPLES, seed=2)
    assert demos_of(program) or "Look again" in program.judge.judge.signature.instructions
    assert program.judge.backend is judge.backend
    assert {body["temperature"] for body in asked} == {0.0, 1.0}


MAPS = {"question": "q", "answer": "a", "nuggets": {"1": "wind", "2": "deck"}}
UNFIT = {
    "a key is missing": ({"verdicts": {"1": "support"}}, "1 of 2 verdicts, '2' is missing"),
    "a key too many": ({"verdicts": dict.fromkeys("123", "support")}, "'3' was not requested"),
    "no such label": ({"verdicts": {"1": "support", "2": "maybe"}}, "verdicts.2: .*got 'maybe'"),
    "a list": ({"verdicts": ["support", "support"]}, "wanted an object|valid dictionary"),
    "no input map": ({"nuggets": None, "verdicts": {"1": "support"}}, "nuggets, which is missing"),
    "inputs in a list": ({"nuggets": ["wind"], "verdicts": {"1": "support"}}, "nuggets: .*valid"),
}


@pytest.mark.parametrize(("outputs", "what"), UNFIT.values(), ids=UNFIT)
def test_demos_that_do_not_fit(outputs, what):
    judge = NuggetAssigner("lexical")
    judge.assign.demos = [
        dspy.Example(**MAPS, verdicts={"1": "support", "2": "not_support"}),
        dspy.Example(**(MAPS | outputs)),
    ]
    with pytest.raises(ValueError, match=rf"assign\.demos\[1\]: .*{what}"):
        judge(question="q", answer="a", nuggets=["wind"])
    demos = tuple(dict(demo) for demo in judge.assign.demos)
    prompt = FittedPrompt(instructions="Judge.", demos=demos)
    with pytest.raises(ValueError, match=rf"assign\.demos\[1\]: .*{what}"):
        NuggetAssigner("lexical").copy_with_fit(fitted_file(judge, prompts={"assign": prompt}))


def test_demos_of_a_window(baseline_server, model):
    judge = NuggetAssigner(model)
    judge.assign.demos = [dspy.Example(**MAPS, verdicts={"1": "support", "2": "not_support"})]
    prediction = judge(question="q", answer="a", nuggets=["n"])
    assert (
        prediction.verdicts
        == NuggetAssigner("lexical")(question="q", answer="a", nuggets=["n"]).verdicts
    )
    shown = json.loads(baseline_server.requests[0].body["messages"][2]["content"])
    assert shown == {"verdicts": {"1": "support", "2": "not_support"}}


def test_demos_that_were_saved(case, steps):
    """As optimisers leave them, with labels and maps as a trace has them."""
    judge, loaded = case.make("lexical"), case.make("lexical")
    demos = [dspy.Example(augmented=True, **shown, **outputs) for _, shown, outputs in steps]
    judge.question(case.predictor).demos = demos
    loaded.load_state(json.loads(json.dumps(judge.dump_state())))
    assert len(judge.prompt(case.predictor).fixed) == 1 + 2 * len(demos)
    assert loaded.prompt(case.predictor).fixed == judge.prompt(case.predictor).fixed


def test_labelled_examples_of_a_program(judge, lm):
    """LabeledFewShot gives each step the program's examples; those of others are not shown."""
    examples = [dspy.Example(sentence="s", title="t").with_inputs("sentence")] * 3
    program = dspy.LabeledFewShot(k=2).compile(Checked(judge), trainset=examples)
    assert len(program.judge.judge.demos) == 2
    assert len(program.judge.prompt("judge").fixed) == 1
    assert program(sentence="s", passage="says it").verdict.verdict == "full"


def fitted_file(judge, **more):
    fields = {"judge": judge.name, "version": judge.version, "scale": judge.scale}
    return JudgeFile(**fields, model=judge.model_name, **more)


def fitted(judge):
    """A judge that gives its best label to all, and says where that is from."""
    n_cuts = len(judge.scale) - 1
    demos = ({"sentence": "a", "passage": "b", "verdict": "full"},)
    prompts = {"judge": FittedPrompt(instructions="Judge kindly.", demos=demos)}
    state = {"prompts": prompts if judge.name == "support" else {}, "fitted_on": ("t1",)}
    correction = Correction(cuts=(-1.0,) * n_cuts)
    return judge.copy_with_fit(fitted_file(judge, correction=correction, **state))


ASKED = {"sentence": "bees sing", "passage": "wind moves decks"}


def test_names_of_predictors(case):
    class Program(dspy.Module):
        def __init__(self):
            super().__init__()
            self.judges = [case.make("lexical")]

    judge, program = case.make("lexical"), Program()
    names = [name for name, _ in judge.named_predictors()]
    assert case.predictor in names
    assert [name for name, _ in program.named_predictors()] == [f"judges[0].{n}" for n in names]
    assert list(judge.questions()) == names


@pytest.mark.parametrize("copied", ["deepcopy", "copy.deepcopy", "copy.copy"])
def test_copies(copied):
    program = Checked(fitted(SupportJudge("lexical")))
    ways = {
        "deepcopy": dspy.Module.deepcopy, "copy.deepcopy": copy.deepcopy, "copy.copy": copy.copy,
    }  # fmt: skip
    baseline = ways[copied](program)
    assert baseline.judge(**ASKED).verdict == "full"
    assert baseline.judge.backend is program.judge.backend
    if copied != "copy.copy":
        baseline.judge.judge.demos = []
        assert len(program.judge.judge.demos) == 1


def test_reset_copy():
    program = Checked(fitted(SupportJudge("lexical"))).reset_copy()
    assert program.judge.judge.demos == []
    assert program.judge(**ASKED).verdict == "none"  # the cut-offs were for the whole prompt
    assert program.judge.fitted_on == frozenset()


@pytest.mark.parametrize("suffix", ["json", "pkl"])
@pytest.mark.filterwarnings("ignore")
def test_save_and_load(tmp_path, suffix):
    path = tmp_path / f"program.{suffix}"
    Checked(fitted(SupportJudge("lexical"))).save(path)
    program = Checked(SupportJudge("lexical"))
    program.load(path, allow_pickle=suffix == "pkl")
    assert program.judge(**ASKED).verdict == "full"
    assert program.judge.fitted_on == {"t1"}
    assert program.judge.judge.signature.instructions == "Judge kindly."
    assert len(program.judge.prompt("judge").fixed) == 3
    same = fitted(SupportJudge("lexical"))
    assert program.judge.prompt("judge").fixed == same.prompt("judge").fixed
    assert program.judge.fit() == same.fit()


def test_a_state_of_another_judge_is_refused(tmp_path):
    state = fitted(SupportJudge("lexical")).dump_state()
    other = ModelConfig(model="openai/mock", api_base="http://127.0.0.1:9/v1")
    with pytest.raises(ValueError, match="fitted to scores of lexical"):
        SupportJudge(other).load_state(state)
    state["fit"]["version"] = "0"
    with pytest.raises(ValueError, match="fitted to version 0"):
        SupportJudge("lexical").load_state(state)


def test_loading_a_state_without_a_fit_takes_it_away():
    judge = fitted(SupportJudge("lexical"))
    judge.load_state(SupportJudge("lexical").dump_state())
    assert judge(**ASKED).verdict == "none"


def test_words_are_saved_too(tmp_path):
    judge = SupportJudge("lexical")
    weighted = judge.copy_with_fit(fitted_file(judge, words={"wind": 5.0, "deck": 1.0}))
    fresh = SupportJudge("lexical")
    fresh.load_state(json.loads(json.dumps(weighted.dump_state())))
    asked = {"sentence": "wind deck", "passage": "wind"}
    assert fresh(**asked).score == weighted(**asked).score != judge(**asked).score
    fresh.take_fit(None)
    assert fresh(**asked).score == judge(**asked).score


OWN = """
name: tone
question: Is the text polite?
inputs: {text: the text, other: another}
labels: [rude, polite]
lexical: {look_for: text, in: other, cuts: [0.5]}
"""


def test_save_program(tmp_path, monkeypatch, case, expected):
    monkeypatch.setenv("KEY_OF_MINE", "sk-very-secret-key")
    with MockServer(api_key="sk-very-secret-key") as server:
        model = ModelConfig(
            model="openai/mock", api_base=server.base_url, api_key_env="KEY_OF_MINE"
        )
        for judge in (case.make("lexical"), case.make(model)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                Checked(judge).save(tmp_path / "all", save_program=True)
                loaded = dspy.load(str(tmp_path / "all"), allow_pickle=True).judge
            saved = (tmp_path / "all" / "program.pkl").read_bytes()
            assert b"very-secret" not in saved
            assert loaded.backend.config == judge.backend.config
            if judge.backend.config.model == "lexical":
                assert loaded(**case.asked)[case.field] == expected


def test_save_a_program_after_set_lm(tmp_path):
    judge = SupportJudge("lexical")
    judge.set_lm(dspy.LM("openai/mock", api_key="sk-very-secret-key", temperature=0.5))
    Checked(judge).save(tmp_path / "all", save_program=True)
    saved = (tmp_path / "all" / "program.pkl").read_bytes()
    loaded = dspy.load(str(tmp_path / "all"), allow_pickle=True).judge
    assert b"very-secret" not in saved
    assert (loaded.backend, loaded.get_lm().kwargs["temperature"]) == (None, 0.5)
    assert judge.get_lm().kwargs["api_key"] == "sk-very-secret-key"


def test_save_a_fitted_program(tmp_path):
    path = tmp_path / "tone.yaml"
    path.write_text(OWN, encoding="utf-8")
    for name, judge in {"s": SupportJudge("lexical"), "o": CustomJudge(path, "lexical")}.items():
        Checked(fitted(judge)).save(tmp_path / name, save_program=True)
        loaded = dspy.load(str(tmp_path / name), allow_pickle=True).judge
        asked = ASKED if name == "s" else {"text": "bees", "other": "wind"}
        assert next(iter(loaded(**asked).values())) == judge.scale[-1]
        assert loaded.fitted_on == {"t1"}


def test_a_frozen_judge_is_left_alone(judge, lm):
    kept = fitted(SupportJudge("lexical"))
    kept._compiled = True
    optimiser = dspy.BootstrapFewShot(is_right, max_bootstrapped_demos=1, max_labeled_demos=1)
    program = optimiser.compile(Checked(kept), trainset=EXAMPLES)
    assert program.judge.fit() == kept.fit()
    assert [dict(demo) for demo in program.judge.judge.demos] == kept.judge.demos
