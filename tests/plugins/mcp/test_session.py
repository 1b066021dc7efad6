"""What a session may spend: nothing without a limit, and nothing beyond it."""

import threading

import anyio
import pytest

from nuggetjudge.backends.budget import Budget, Need
from nuggetjudge.backends.config import Price
from nuggetjudge.backends.errors import JudgeError
from nuggetjudge.backends.gateway import Completion
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.plugins.mcp import tools
from nuggetjudge.plugins.mcp.replies import Amount
from nuggetjudge.plugins.mcp.session import OverBudget, Part, Session, SessionBudget, get_amount
from nuggetjudge.programs.config.reading import load_config
from nuggetjudge.records.reading.problems import InputError

VLLM = {"models.default.api_base": "http://127.0.0.1:9/v1"}


@pytest.mark.parametrize(
    ("model", "settings", "what"),
    [
        (
            "openai/gpt-4o",
            {},
            "set a limit: --max-cost, or --set run.max_calls=N",
        ),
        ("hosted_vllm/x", VLLM | {"run.max_cost": 1}, "the price of model"),
        ("lexical", {"run.executor": "ray"}, "run.executor"),
    ],
)
def test_a_server_that_could_spend_without_end_does_not_start(tmp_path, model, settings, what):
    with pytest.raises(InputError, match=what) as error:
        Session(load_config(None, settings, model=model), tmp_path)
    assert "\n" not in str(error.value)


def test_a_server_of_a_limited_or_a_free_judge_starts(tmp_path):
    Session(load_config(None, {"run.max_calls": 5}, model="openai/gpt-4o"), tmp_path)
    Session(load_config(None, {}), tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        Session(load_config(None, {}), tmp_path / "none")


def test_parts_of_a_budget_share_its_limit_and_count_what_is_their_own():
    whole = Budget(max_calls=3)
    one, two = Part(whole), Part(whole)
    need = Need(one.kind("support", Price(input=1, output=2)), 100)
    for part in (one, two, two):
        part.reserve(need)
    with pytest.raises(JudgeError, match="max_calls 3 reached"):
        two.reserve(need)
    assert (one.reached, two.reached) == ("", "max_calls 3")
    one.settle(need, Completion("{}", "stop", "", "m", 1000, 0, 500))
    two.settle(need, None, 0)  # cancelled: it may be paid for all the same
    assert get_amount(one) == Amount(calls=1, tokens=1500, cost=0.002)
    assert get_amount(two).calls == 2
    assert get_amount(whole) == Amount(calls=3, tokens=1500, cost=0.002)
    assert two.counted()["max_tokens"] > 1500


def test_what_calls_under_way_are_expected_to_take_is_not_promised_again():
    budget = SessionBudget(Budget(max_calls=10, max_cost=1.0))
    large = Amount(calls=6, tokens=600, cost=0.6)

    async def left():
        return await budget.get_remaining()

    with budget.part(large, run_sync(left())) as part:
        now = run_sync(left())
        assert (now.calls, now.tokens, now.cost) == (4, None, pytest.approx(0.4))
        refused = r"about 6 calls, 600 tokens, \$0.6000, and 4 calls, 0.4000 dollars are left"
        with pytest.raises(OverBudget, match=refused), budget.part(large, now):
            pass
        part.reserve(Need(part.kind("support", None), 100))
        assert run_sync(left()).calls == 4  # one spent, five expected
    assert run_sync(left()).calls == 9


ANSWER = {"question": "why?", "answer": "Bees dance [1].", "contexts": ["Bees dance to tell."]}


def test_cutting_a_long_answer_does_not_keep_other_calls_waiting(tmp_path, monkeypatch):
    goes_on = threading.Event()
    write = tools.write_samples

    def wait(*given):
        assert goes_on.wait(timeout=20), "the loop waited for the answer to be cut"
        return write(*given)

    monkeypatch.setattr(tools, "write_samples", wait)

    async def calls():
        async with anyio.create_task_group() as group:
            group.start_soon(tools.judge_answer, Session(load_config(None, {}), tmp_path), ANSWER)
            await anyio.sleep(0.05)
            goes_on.set()

    anyio.run(calls)


def test_an_answer_is_not_even_cut_where_nothing_is_left_to_judge_it(tmp_path, monkeypatch):
    session = Session(load_config(None, {"run.max_calls": 1}, model="openai/gpt-4o"), tmp_path)
    part = Part(session.budget.whole)
    part.reserve(Need(part.kind("support", None), 100))
    monkeypatch.setattr(tools, "write_samples", lambda *given: pytest.fail("it was cut"))

    async def judged():
        await tools.judge_answer(session, ANSWER)

    with pytest.raises(OverBudget, match="0 calls are left"):
        anyio.run(judged)
