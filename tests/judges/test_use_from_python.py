"""A judge alone: in a script, a notebook, threads, and in a program that uses DSPy itself."""

import asyncio
import copy
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest

from nuggetjudge.judges import (
    ClaimExtractor,
    JudgeFile,
    KeyPointExtractor,
    NuggetImportance,
    Nuggetizer,
    SubQuestionGenerator,
    SupportJudge,
)
from nuggetjudge.judges.fitted import Correction, FittedPrompt


@pytest.fixture
def expected(case):
    """What the lexical baseline says, by the route without a model."""
    return case.make("lexical")(**case.asked)[case.field]


def test_a_plain_call(case, model, expected):
    assert case.make(model)(**case.asked)[case.field] == expected


def test_an_awaited_call(case, model, expected):
    assert asyncio.run(case.make(model).acall(**case.asked))[case.field] == expected


def test_a_plain_call_where_an_event_loop_is_running(case, model, expected):
    async def notebook():
        return case.make(model)(**case.asked)

    assert asyncio.run(notebook())[case.field] == expected


def test_many_awaited_calls_at_once_in_one_loop(case, model, expected, baseline_server):
    judge = case.make(model)
    are_under_way = threading.Event()

    def answer(body):
        assert are_under_way.wait(30)
        return brain(body)

    brain, baseline_server.brain = baseline_server.brain, answer

    async def gathered():
        tasks = [asyncio.create_task(judge.acall(**case.asked)) for _ in range(8)]
        while not baseline_server.requests:
            await asyncio.sleep(0.01)
        for _ in range(10):  # the others have asked by then, however slow the machine is
            await asyncio.sleep(0.01)
        are_under_way.set()
        return await asyncio.gather(*tasks)

    assert [prediction[case.field] for prediction in asyncio.run(gathered())] == [expected] * 8
    assert len(baseline_server.requests) == 1  # the same question in flight is asked once


def test_one_judge_serves_successive_event_loops(case, model, expected):
    judge = case.make(model)
    labels = [asyncio.run(judge.acall(**case.asked))[case.field] for _ in range(2)]
    assert labels == [expected] * 2


def test_eight_threads_share_a_judge(case, model, expected):
    judge = case.make(model)
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(judge, **case.asked) for _ in range(8)]
        assert [future.result()[case.field] for future in futures] == [expected] * 8


def test_without_a_model_the_lm_of_the_surrounding_program_answers(case, expected, baseline_server):
    lm = dspy.LM("openai/mock", api_base=baseline_server.base_url, api_key="x", cache=False)
    with dspy.context(lm=lm):
        plain = case.make()(**case.asked)
        awaited = asyncio.run(case.make().acall(**case.asked))
    assert plain[case.field] == awaited[case.field] == expected
    assert len(baseline_server.requests) == 2


def test_dspy_and_the_light_path_send_the_same_messages(case, model, baseline_server):
    case.make(model)(**case.asked)
    lm = dspy.LM("openai/mock", api_base=baseline_server.base_url, api_key="x", cache=False)
    with dspy.context(lm=lm):
        case.make()(**case.asked)
    light, native = (received.body["messages"] for received in baseline_server.requests)
    assert light == native


def test_a_program_that_configured_dspy_keeps_its_settings(case, expected, model):
    before = dict(dspy.settings.config)
    try:
        own = dspy.utils.DummyLM([{"answer": "mine"}] * 2)
        dspy.configure(lm=own, adapter=dspy.ChatAdapter(), temperature=0.7)
        configured = dict(dspy.settings.config)
        assert case.make(model)(**case.asked)[case.field] == expected
        asyncio.run(case.make(model).acall(**case.asked))
        assert dict(dspy.settings.config) == configured
        assert own.history == []  # it was not asked
        assert dspy.Predict("question -> answer")(question="whose?").answer == "mine"
    finally:
        dspy.configure(**before)


def test_a_judge_without_any_model_says_what_to_do():
    with dspy.context(lm=None), pytest.raises(ValueError, match="choose a model"):
        SupportJudge()(sentence="a", passage="b")


def test_a_script_that_used_a_judge_ends_by_itself():
    script = (
        "from nuggetjudge.judges import SupportJudge\n"
        "found = SupportJudge('lexical')(sentence='wind moves decks', passage='wind moves decks')\n"
        "print(found.verdict)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout == "full\n"


# Fitted judges: copies, and instructions that travel as JSON.
NEW = "Judge as the assessors of this task do."
COPIES = {
    "copy.deepcopy": copy.deepcopy,
    "judge.deepcopy": lambda judge: judge.deepcopy(),
    "judge.reset_copy": lambda judge: judge.reset_copy(),
}


def reworded(judge, predictor):
    predict = getattr(judge, predictor)
    predict.signature = predict.signature.with_instructions(NEW)


def system_of(received):
    return received.body["messages"][0]["content"]


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES.keys())
def test_a_copy_has_its_own_instructions_and_the_same_backend(case, model, baseline_server, copied):
    judge = case.make(model)
    judge(**case.asked)
    baseline = copied(judge)
    reworded(baseline, case.predictor)
    baseline(**case.asked)
    judge(**case.asked)
    assert baseline.backend is judge.backend
    assert baseline.prompt(case.predictor) is not judge.prompt(case.predictor)
    first, second, third = map(system_of, baseline_server.requests)
    assert second.startswith(NEW)
    assert first == third
    assert NEW not in first


def test_instructions_changed_after_a_call_are_used_by_the_next(case, model, baseline_server):
    judge = case.make(model)
    judge(**case.asked)
    before = judge.prompt(case.predictor).prompt_hash()
    reworded(judge, case.predictor)
    judge(**case.asked)
    assert system_of(baseline_server.requests[-1]).startswith(NEW)
    assert judge.prompt(case.predictor).prompt_hash() != before


def test_instructions_survive_a_trip_through_json(case, model, baseline_server):
    fitted = case.make(model)
    reworded(fitted, case.predictor)
    state = json.loads(json.dumps(fitted.dump_state()))
    fresh = case.make(model)
    fresh(**case.asked)
    fresh.load_state(state)
    fresh(**case.asked)
    assert [system_of(r).startswith(NEW) for r in baseline_server.requests] == [False, True]
    assert fresh.prompt(case.predictor).prompt_hash() == fitted.prompt(case.predictor).prompt_hash()


def test_demos_come_before_the_question_and_change_the_prompt_hash(case, model, baseline_server):
    judge = case.make(model)
    predict = getattr(judge, case.predictor)
    predict.demos = []
    before = judge.prompt(case.predictor).prompt_hash()
    with dspy.context(trace=[]):
        judge(**case.asked)
        _, shown, outputs = dspy.settings.trace[-1]
    predict.demos = [dspy.Example(**shown, **outputs)]
    judge(**case.asked)
    messages = baseline_server.requests[-1].body["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[1] == messages[3]
    assert json.loads(messages[2]["content"]) == json.loads(json.dumps(dict(outputs)))
    assert judge.prompt(case.predictor).prompt_hash() != before


# Judge files of judges that make lists: the prompt of the file is the one that is sent.
MADE_FROM = {
    Nuggetizer: {"question": "Why?", "passages": ["Rain fell.", "A dam broke."]},
    SubQuestionGenerator: {"report": "Rain fell. A dam broke.", "n": 2},
    KeyPointExtractor: {"question": "Why?", "documents": ["Rain fell.", "A dam broke. It hurt."]},
    ClaimExtractor: {"answer": "Rain fell and a dam broke."},
}


def file_of(maker, **changes):
    prompt = FittedPrompt(instructions="List it all.")
    fields = {
        "judge": maker.name, "version": maker.version, "model": "any",
        "prompts": {maker.predictor: prompt},
    }  # fmt: skip
    return JudgeFile(**(fields | changes))


@pytest.mark.parametrize("kind", MADE_FROM)
def test_a_list_of_people_is_a_worked_example_that_the_judge_can_be_shown(kind):
    judge = kind("lexical")
    before = list(getattr(judge, judge.predictor).demos)
    example = judge.example(MADE_FROM[kind], ["A dam broke."], {})
    fields = getattr(judge, judge.predictor).signature.fields
    assert example.keys() == fields.keys()
    prompt = FittedPrompt(instructions="List it all.", demos=(example,))
    fitted = judge.copy_with_fit(file_of(judge, prompts={judge.predictor: prompt}))
    messages = fitted.prompt(judge.predictor).fixed
    assert "List it all." in messages[0]["content"]
    assert [message["role"] for message in messages[1:]] == ["user", "assistant"]
    assert "A dam broke." in messages[-1]["content"]
    assert getattr(judge, judge.predictor).demos == before  # the judge itself is as it was


def test_a_worked_example_of_key_points_is_the_document_that_states_most_with_words_that_do():
    judge = KeyPointExtractor("lexical")
    texts = ["A dam broke.", "It hurt many.", "Nobody knows why."]
    example = judge.example(MADE_FROM[KeyPointExtractor], texts, {"It hurt many.": ["It hurt."]})
    assert example["document"] == "A dam broke. It hurt."
    assert example["points"] == [
        {"text": "A dam broke.", "spans": ["A dam broke."]},
        {"text": "It hurt many.", "spans": ["It hurt."]},
    ]


@pytest.mark.parametrize("kind", MADE_FROM)
def test_what_it_makes_is_what_a_run_keeps(kind):
    from nuggetjudge.backends.loop import run_sync

    text = "Heavy rain filled the lake in March. The old dam broke on Monday in Sennick."
    inputs = {"question": "Why did the dam of Sennick break?", "report": text, "answer": text}
    inputs |= {"passages": [text], "documents": [text], "n": 2}
    judge = kind("lexical")
    made = run_sync(judge.make_texts(**{name: inputs[name] for name in judge.made_from}))
    assert made
    assert all(isinstance(each, str) and each for each in made)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"judge": "subquestions"}, "it belongs to the subquestions judge, wanted nuggetizer"),
        ({"version": "0"}, "fitted to version 0 of the nuggetizer judge; this is"),
        ({"prompts": {"make": FittedPrompt(instructions="x")}}, "the judge asks update"),
        (
            {"prompts": {"update": FittedPrompt(instructions="x", demos=({"topic": "y"},))}},
            "an example has 'topic', wanted question, passages",
        ),
        (
            {"correction": Correction(), "model": "lexical"},
            "it corrects labels, and the nuggetizer",
        ),
        ({"words": {"rain": 1.0}, "model": "lexical"}, "it corrects labels"),
        ({"scale": ("no", "yes")}, "its labels are no, yes"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(changes, message):
    judge = Nuggetizer("lexical")
    with pytest.raises(ValueError, match=message):
        judge.copy_with_fit(file_of(judge, **changes))


def test_importance_is_corrected_as_any_judge_of_items_but_not_by_topic():
    judge = NuggetImportance("lexical")
    strict = JudgeFile(
        judge="importance", version=judge.version, scale=judge.scale, model="lexical",
        window=judge.window, correction=Correction(cuts=(2.0,)),
    )  # fmt: skip
    asked = {"question": "Why did the dam break?", "nuggets": ["The dam broke.", "It rained."]}
    assert judge(**asked).importance == ["vital", "okay"]
    assert judge.copy_with_fit(strict)(**asked).importance == ["okay", "okay"]
    by_topic = strict.model_copy(update={"correction": Correction(cuts=(0.5,), topics={"t": 1.0})})
    with pytest.raises(ValueError, match="without topic ids"):
        judge.copy_with_fit(by_topic)
