"""A judge alone: in a script, a notebook, threads, and in a program that uses DSPy itself."""

import asyncio
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest

from nuggetjudge.judges import SupportJudge


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
    with dspy.context(lm=None), pytest.raises(ValueError, match="name a model"):
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
