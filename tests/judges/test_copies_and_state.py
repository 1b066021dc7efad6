"""Fitted judges: copies, and instructions that travel as JSON."""

import copy
import json

import dspy
import pytest

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
