"""Spending stays within its limits, also with many requests at once, and unknown is not free."""

import asyncio
import math
from typing import Any

import pytest
from mock_server import MockServer, Reply, Status, Supports

from nuggetjudge.backends.budget import FREE, Budget, Usage, price_of
from nuggetjudge.backends.config import ModelConfig, Price
from nuggetjudge.backends.errors import EndpointError, JudgeError
from nuggetjudge.backends.gateway import Completion, Gateway
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.records.judgements import Reason

PRICE = {"input": 2.0, "output": 10.0, "cached_input": 0.5}


def ask_many(gateway: Gateway, prompt: Any, n: int) -> list[Any]:
    async def all_at_once() -> list[Any]:
        asked = ({"passage": "p", "sentence": str(i)} for i in range(n))
        tasks = (gateway.ask(prompt, each) for each in asked)
        return await asyncio.gather(*tasks, return_exceptions=True)

    return run_sync(all_at_once())


def reasons(found: list[Any]) -> set[Reason]:
    return {error.reason for error in found if isinstance(error, JudgeError)}


@pytest.mark.parametrize("max_calls", [0, 1, 7, 40])
def test_max_calls_holds_to_the_call(max_calls, model_server, open_gateway, support):
    budget = Budget(max_calls=max_calls)
    found = ask_many(open_gateway(budget=budget, concurrency=32), support, 40)
    assert len(model_server.requests) == max_calls == budget.usage.requests
    assert sum(isinstance(error, JudgeError) for error in found) == 40 - max_calls
    assert reasons(found) <= {Reason.BUDGET}
    assert budget.reached == (f"max_calls {max_calls}" if max_calls < 40 else "")


def test_retries_are_calls_too(model_server, open_gateway, support):
    model_server.faults = lambda index, body: Status(500)
    found = ask_many(open_gateway(budget=Budget(max_calls=3), retries=10), support, 1)
    assert reasons(found) == {Reason.BUDGET}
    assert len(model_server.requests) == 3


def test_two_models_share_the_budget_of_a_run(open_gateway, support):
    budget = Budget(max_calls=6)
    with MockServer() as one, MockServer() as other:
        ask_many(open_gateway(one, budget=budget), support, 4)
        found = ask_many(open_gateway(other, budget=budget), support, 4)
        assert (len(one.requests), len(other.requests)) == (4, 2)
    assert reasons(found) == {Reason.BUDGET}


def test_max_tokens_holds_with_many_at_once(model_server, open_gateway, support):
    model_server.brain = lambda body: {"verdict": "full"}
    budget = Budget(max_tokens=3000)
    found = ask_many(open_gateway(budget=budget, max_tokens=50), support, 60)
    assert 1000 < budget.usage.tokens <= 3000
    assert reasons(found) == {Reason.BUDGET}
    assert budget.reached == "max_tokens 3000"


def test_max_cost_holds_with_many_at_once(model_server, open_gateway, support):
    budget = Budget(max_cost=0.01)
    found = ask_many(open_gateway(budget=budget, price=PRICE, max_tokens=50), support, 60)
    assert reasons(found) == {Reason.BUDGET}
    assert 0.001 < budget.usage.cost <= 0.01


def test_one_at_a_time_a_limit_is_almost_used_up(model_server, open_gateway, support):
    budget = Budget(max_tokens=3000)
    ask_many(open_gateway(budget=budget, max_tokens=50, concurrency=1), support, 60)
    assert 2600 < budget.usage.tokens <= 3000


@pytest.mark.parametrize("limit", ["max_tokens", "max_cost"])
def test_a_limit_that_the_real_spending_fits_into_refuses_nothing(
    limit, model_server, open_gateway, support
):
    open_budget, settings = Budget(), {"price": PRICE, "concurrency": 40}
    ask_many(open_gateway(budget=open_budget, **settings), support, 40)
    use = open_budget.usage
    spent = use.tokens if limit == "max_tokens" else use.cost
    one = 700 if limit == "max_tokens" else 0.004  # as a request is estimated
    model_server.latency_s = 0.05
    budget = Budget(**{limit: spent + one})
    found = ask_many(open_gateway(budget=budget, **settings), support, 40)
    assert not reasons(found)
    assert budget.counted()[limit] == pytest.approx(spent)
    assert not budget.reached
    assert 1 < model_server.max_in_flight < 40  # not all of them were let out at once


@pytest.mark.parametrize("limit", ["max_tokens", "max_cost"])
def test_while_requests_wait_for_room_a_limit_is_not_passed(
    limit, model_server, open_gateway, support
):
    most = {"max_tokens": 6000, "max_cost": 0.006}[limit]
    model_server.latency_s = lambda index, body: 0.01 * (index % 3)
    model_server.faults = lambda index, body: Status(500) if index % 4 == 0 else None
    budget = Budget(**{limit: most})
    settings = {"price": PRICE, "max_tokens": 50, "concurrency": 20, "retries": 0}
    found = ask_many(open_gateway(budget=budget, **settings), support, 60)
    assert Reason.BUDGET in reasons(found)
    assert 0.75 * most < budget.counted()[limit] <= most


def test_those_that_wait_for_room_are_served_in_order_and_one_that_gives_up_holds_up_nobody():
    async def go() -> list[str]:
        budget, done = Budget(max_tokens=100), []
        budget.reserve(50, 50, None)

        async def wait(name: str) -> None:
            await budget.room(30, 0, None)
            budget.reserve(30, 0, None)
            done.append(name)

        tasks = []
        for name in "abcd":
            tasks.append(asyncio.create_task(wait(name)))
            await asyncio.sleep(0)
        tasks[0].cancel()
        budget.settle(50, 50, None, None)
        await asyncio.gather(*tasks, return_exceptions=True)
        return done

    assert run_sync(asyncio.wait_for(go(), timeout=5)) == ["b", "c", "d"]


def test_one_that_no_reply_can_make_room_for_does_not_wait():
    budget = Budget(max_tokens=100)
    budget.reserve(50, 0, None)
    run_sync(asyncio.wait_for(budget.room(101, 0, None), timeout=5))
    with pytest.raises(JudgeError):
        budget.reserve(101, 0, None)


class Fails:
    """A transport whose requests fail, after which another one takes the budget for 0.6 s."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.n_sent = 0

    async def send(self, body: bytes) -> Completion:
        self.n_sent += 1
        loop = asyncio.get_running_loop()
        loop.call_soon(self.budget.reserve, 500, 499, None)
        loop.call_later(0.6, self.budget.settle, 500, 499, None, None)
        raise EndpointError("HTTP 500", retryable=True)

    async def aclose(self) -> None: ...


def test_a_request_that_waited_past_its_deadline_is_not_sent_again(support):
    budget = Budget(max_tokens=1000)
    transport = Fails(budget)
    config = ModelConfig(model="openai/mock", deadline_s=0.55, retries=3)
    gateway = Gateway(config, transport, budget=budget)
    assert run_sync(asyncio.wait_for(_ask(gateway, support), timeout=10)) is Reason.ERROR
    assert transport.n_sent == 1
    assert budget.usage.requests == 2  # with the other one


def test_once_a_limit_is_reached_nobody_waits_in_line_to_hear_it(open_gateway, support):
    budget = Budget(max_calls=1)
    gateway = open_gateway(budget=budget, rpm=6000)
    ask_many(gateway, support, 1)
    slow = open_gateway(budget=budget, rpm=0.1)  # one request in ten minutes
    assert reasons(ask_many(slow, support, 1)) == {Reason.BUDGET}
    found = run_sync(asyncio.wait_for(_ask(slow, support), timeout=5))
    assert found is Reason.BUDGET


async def _ask(gateway: Gateway, prompt: Any) -> Reason | None:
    try:
        await gateway.ask(prompt, {"passage": "p", "sentence": "s"})
    except JudgeError as error:
        return error.reason
    return None


def test_kept_replies_cost_nothing_and_pass_a_spent_budget(open_gateway, ask, cache):
    ask(open_gateway(cache=cache))
    budget = Budget(max_calls=0)
    assert ask(open_gateway(cache=cache, budget=budget)).values
    assert (budget.usage.requests, budget.usage.cache_hits) == (0, 1)


# --- what it cost


def test_cost_counts_fresh_cached_and_reply_tokens_at_their_prices(model_server, open_gateway, ask):
    budget = Budget()
    where = ask(open_gateway(budget=budget, price=PRICE)).provenance
    assert where.cached_tokens > 0
    by_hand = (
        (where.prompt_tokens - where.cached_tokens) * 2.0
        + where.cached_tokens * 0.5
        + where.completion_tokens * 10.0
    ) / 1e6
    assert budget.usage.cost == pytest.approx(by_hand)
    assert budget.usage.known_cost == pytest.approx(by_hand)


def test_without_a_price_for_cached_tokens_they_cost_as_the_others(open_gateway, ask):
    budget = Budget()
    where = ask(open_gateway(budget=budget, price={"input": 2, "output": 10})).provenance
    by_hand = (where.prompt_tokens * 2 + where.completion_tokens * 10) / 1e6
    assert budget.usage.cost == pytest.approx(by_hand)


def test_an_unknown_price_stays_unknown(open_gateway, ask):
    budget = Budget(max_cost=1.0)
    ask(open_gateway(budget=budget))
    assert budget.usage.known_cost is None
    assert budget.usage.n_unpriced == 1


def test_one_unpriced_reply_makes_the_sum_unknown():
    usage = Usage(cost=3.0, n_unpriced=1)
    assert usage.known_cost is None
    assert Usage(cost=3.0).known_cost == 3.0


def test_bad_replies_are_paid_for(model_server, open_gateway, support):
    model_server.brain = lambda body: Reply("no JSON")
    budget = Budget()
    ask_many(open_gateway(budget=budget, price=PRICE, reasks=1), support, 1)
    assert budget.usage.replies == 2
    assert budget.usage.cost > 0


def test_an_endpoint_that_reports_no_tokens_is_bounded_by_the_estimate(
    model_server, open_gateway, support
):
    model_server.supports = Supports(usage=False)
    budget = Budget(max_tokens=3000)
    found = ask_many(open_gateway(budget=budget, max_tokens=50, concurrency=1), support, 60)
    assert reasons(found) == {Reason.BUDGET}
    assert 3 <= len(model_server.requests) <= 12
    assert budget.usage.tokens == 0


def test_a_priced_endpoint_that_reports_no_tokens_has_no_known_cost_but_a_bound(
    model_server, open_gateway, support
):
    model_server.supports = Supports(usage=False)
    budget = Budget(max_cost=0.01)
    found = ask_many(open_gateway(budget=budget, price=PRICE, max_tokens=50), support, 60)
    assert reasons(found) == {Reason.BUDGET}
    assert budget.usage.known_cost is None


def test_a_failed_request_gives_its_estimate_back(model_server, open_gateway, support):
    model_server.faults = lambda index, body: Status(400)
    budget = Budget(max_tokens=2000)
    found = ask_many(open_gateway(budget=budget), support, 30)
    assert Reason.ERROR in reasons(found)
    assert budget._tokens_claimed == 0
    assert budget._cost_claimed == 0


def completion(prompt: int, cached: int, reply: int) -> Completion:
    return Completion("", "stop", "", "m", prompt, cached, reply)


def test_claims_are_replaced_by_what_was_really_used():
    budget = Budget(max_tokens=1000)
    budget.reserve(300, 200, None)
    budget.reserve(300, 200, None)
    with pytest.raises(JudgeError, match="max_tokens 1000 reached"):
        budget.reserve(1, 0, None)
    budget.settle(300, 200, None, completion(100, 0, 10))
    budget.reserve(300, 90, None)  # 110 + 500 + 390 = 1000
    with pytest.raises(JudgeError):
        budget.reserve(1, 0, None)
    budget.check(500, 390, None)  # with nothing in flight it would do
    with pytest.raises(JudgeError):
        budget.check(500, 391, None)


def test_a_reply_is_claimed_at_the_price_of_replies():
    budget = Budget(max_cost=1.0)
    price = Price(input=1.0, output=100.0)
    with pytest.raises(JudgeError, match="max_cost 1 reached"):
        budget.reserve(1000, 10_000, price)  # 0.001 + 1.0 dollars
    budget.reserve(1000, 9_000, price)


def test_more_cached_tokens_than_tokens_do_not_make_money():
    budget = Budget()
    budget.reserve(1, 1, Price(input=1, output=1, cached_input=0.5))
    price = Price(input=1, output=1, cached_input=0.5)
    budget.settle(1, 1, price, completion(100, 10_000, 0))
    assert budget.usage.cost == pytest.approx(100 * 0.5 / 1e6)


# --- which price


def test_a_price_in_the_config_is_the_price():
    price = Price(input=1, output=2)
    assert price_of(ModelConfig(model="openai/gpt-4o", price=price)) == price


def test_a_known_model_at_its_providers_own_endpoint_has_the_listed_price():
    price = price_of(ModelConfig(model="openai/gpt-4o"))
    assert price is not None
    assert price.output > price.input > 0
    assert price.cached_input is not None
    assert math.isclose(price.cached_input, price.input / 2)  # OpenAI's price list for gpt-4o


@pytest.mark.parametrize(
    "settings",
    [
        {"model": "openai/gpt-4o", "api_base": "http://127.0.0.1:8000/v1"},
        {"model": "openai/no-such-model-anywhere"},
        {"model": "some_provider/unheard-of"},
    ],
)
def test_the_price_of_anything_else_is_unknown(settings):
    assert price_of(ModelConfig(**settings)) is None


def test_what_asks_no_model_is_free(tmp_path):
    assert price_of(ModelConfig(model="lexical")) == FREE
    recorded = ModelConfig(model="m", engine="recorded", recording=tmp_path / "r.jsonl")
    assert price_of(recorded) == FREE


# --- to the last token and the last cent

MILLION = 1_000_000  # tokens, of which one price is a dollar's amount


@pytest.mark.parametrize(
    ("limit", "most"), [("max_calls", 2), ("max_tokens", 2 * MILLION), ("max_cost", 0.5)]
)
def test_what_reaches_a_limit_exactly_is_asked_and_what_passes_it_is_not(limit, most):
    price = Price(input=0.25, output=1.0)
    budget = Budget(**{limit: most})
    for _ in range(2):
        budget.check(MILLION, 0, price)
        run_sync(asyncio.wait_for(budget.room(MILLION, 0, price), timeout=5))
        budget.reserve(MILLION, 0, price)
    for _ in range(2):
        budget.settle(MILLION, 0, price, completion(MILLION, 0, 0))
    assert budget.counted()[limit] == most
    with pytest.raises(JudgeError, match=f"{limit} {most} reached"):
        budget.reserve(1, 0, price)


def test_what_floats_leave_over_of_claims_keeps_nobody_waiting():
    assert 0.1 + 0.2 + 0.3 - 0.1 - 0.2 - 0.3 > 0
    budget = Budget(max_cost=0.61)
    prices = [Price(input=each, output=0) for each in (0.1, 0.2, 0.3)]
    for price in prices:
        budget.reserve(MILLION, 0, price)
    for price in prices:
        budget.settle(MILLION, 0, price, None)
    assert budget.counted()["max_cost"] == 0
    all_of_it = Price(input=0.61, output=0)
    run_sync(asyncio.wait_for(budget.room(MILLION, 0, all_of_it), timeout=5))
    budget.reserve(MILLION, 0, all_of_it)
