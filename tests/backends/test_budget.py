"""Spending stays within its limits, also with many requests at once, and unknown is not free."""

import asyncio
import math
from typing import Any

import pytest
from mock_server import Hang, MockServer, Reply, Status, Supports

from nuggetjudge.backends.budget import (
    FREE,
    Budget,
    Need,
    Seen,
    Usage,
    get_price,
    get_reply_limit,
    notes_on,
)
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


def reasons(outcomes: list[Any]) -> set[Reason]:
    return {error.reason for error in outcomes if isinstance(error, JudgeError)}


@pytest.mark.parametrize("max_calls", [0, 1, 7, 40])
def test_max_calls_holds_to_the_call(max_calls, model_server, open_gateway, support):
    budget = Budget(max_calls=max_calls)
    outcomes = ask_many(open_gateway(budget=budget, concurrency=32), support, 40)
    assert len(model_server.requests) == max_calls == budget.usage.requests
    assert sum(isinstance(error, JudgeError) for error in outcomes) == 40 - max_calls
    assert reasons(outcomes) <= {Reason.BUDGET}
    assert budget.reached == (f"max_calls {max_calls}" if max_calls < 40 else "")


def test_retries_are_calls_too(model_server, open_gateway, support):
    model_server.faults = lambda index, body: Status(500)
    outcomes = ask_many(open_gateway(budget=Budget(max_calls=3), retries=10), support, 1)
    assert reasons(outcomes) == {Reason.BUDGET}
    assert len(model_server.requests) == 3


def test_two_models_share_the_budget_of_a_run(open_gateway, support):
    budget = Budget(max_calls=6)
    with MockServer() as one, MockServer() as other:
        ask_many(open_gateway(one, budget=budget), support, 4)
        outcomes = ask_many(open_gateway(other, budget=budget), support, 4)
        assert (len(one.requests), len(other.requests)) == (4, 2)
    assert reasons(outcomes) == {Reason.BUDGET}


def test_max_tokens_holds_with_many_at_once(model_server, open_gateway, support):
    model_server.brain = lambda body: {"verdict": "full"}
    budget = Budget(max_tokens=3000)
    outcomes = ask_many(open_gateway(budget=budget, max_tokens=50), support, 60)
    assert 1000 < budget.usage.tokens <= 3000
    assert reasons(outcomes) == {Reason.BUDGET}
    assert budget.reached == "max_tokens 3000"


def test_max_cost_holds_with_many_at_once(model_server, open_gateway, support):
    budget = Budget(max_cost=0.01)
    outcomes = ask_many(open_gateway(budget=budget, price=PRICE, max_tokens=50), support, 60)
    assert reasons(outcomes) == {Reason.BUDGET}
    assert 0.001 < budget.usage.cost <= 0.01


def test_one_at_a_time_a_limit_is_almost_used_up(model_server, open_gateway, support):
    budget = Budget(max_tokens=3000)
    ask_many(open_gateway(budget=budget, max_tokens=50, concurrency=1), support, 60)
    assert 2600 < budget.usage.tokens <= 3000


@pytest.mark.slow
@pytest.mark.parametrize("limit", ["max_tokens", "max_cost"])
def test_a_limit_that_the_real_spending_fits_into_refuses_nothing(
    limit, model_server, open_gateway, support
):
    open_budget, settings = Budget(), {"price": PRICE, "concurrency": 40, "max_tokens": 50}
    ask_many(open_gateway(budget=open_budget, **settings), support, 40)
    use = open_budget.usage
    spent = use.tokens if limit == "max_tokens" else use.cost
    one = 2500 if limit == "max_tokens" else 0.006  # a token is a byte at least
    model_server.latency_s = 0.05
    budget = Budget(**{limit: spent + one})
    outcomes = ask_many(open_gateway(budget=budget, **settings), support, 40)
    assert not reasons(outcomes)
    assert budget.count_by_limit()[limit] == pytest.approx(spent)
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
    outcomes = ask_many(open_gateway(budget=budget, **settings), support, 60)
    assert Reason.BUDGET in reasons(outcomes)
    assert 0.75 * most < budget.count_by_limit()[limit] <= most


def test_those_that_wait_for_room_are_served_in_order_and_one_that_gives_up_holds_up_nobody():
    async def go() -> list[str]:
        budget, done = Budget(max_tokens=100), []
        first, second = need(budget, 100), need(budget, 30)
        budget.reserve(first)

        async def wait(name: str) -> None:
            await budget.room(second)
            budget.reserve(second)
            done.append(name)

        tasks = []
        for name in "abcd":
            tasks.append(asyncio.create_task(wait(name)))
            await asyncio.sleep(0)
        tasks[0].cancel()
        budget.settle(first, None)
        await asyncio.gather(*tasks, return_exceptions=True)
        return done

    assert run_sync(asyncio.wait_for(go(), timeout=5)) == ["b", "c", "d"]


def test_one_that_no_reply_can_make_room_for_does_not_wait():
    budget = Budget(max_tokens=100)
    budget.reserve(need(budget, 50))
    run_sync(asyncio.wait_for(budget.room(need(budget, 404)), timeout=5))
    with pytest.raises(JudgeError):
        budget.reserve(need(budget, 404))  # 101 tokens, as English has them


class Fails:
    """A transport whose requests fail, after which another one takes the budget for 0.6 s."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.n_sent = 0

    async def send(self, body: bytes) -> Completion:
        self.n_sent += 1
        loop = asyncio.get_running_loop()
        loop.call_soon(self.budget.reserve, need(self.budget, 100))
        loop.call_later(0.6, self.budget.settle, need(self.budget, 100), None)
        raise EndpointError("HTTP 500", retryable=True)

    async def aclose(self) -> None: ...


def test_a_request_that_waited_past_its_deadline_is_not_sent_again(support):
    budget = Budget(max_tokens=4000)
    transport = Fails(budget)
    config = ModelConfig(model="openai/mock", deadline_s=0.55, retries=3, max_tokens=3000)
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
    outcome = run_sync(asyncio.wait_for(_ask(slow, support), timeout=5))
    assert outcome is Reason.BUDGET


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
    budget = Budget(max_tokens=4000)
    outcomes = ask_many(open_gateway(budget=budget, max_tokens=50, concurrency=1), support, 60)
    assert reasons(outcomes) == {Reason.BUDGET}
    assert 3 <= len(model_server.requests) <= 12
    assert budget.usage.tokens == 0


def test_a_priced_endpoint_that_reports_no_tokens_has_no_known_cost_but_a_bound(
    model_server, open_gateway, support
):
    model_server.supports = Supports(usage=False)
    budget = Budget(max_cost=0.01)
    outcomes = ask_many(open_gateway(budget=budget, price=PRICE, max_tokens=50), support, 60)
    assert reasons(outcomes) == {Reason.BUDGET}
    assert budget.usage.known_cost is None


def test_a_failed_request_gives_its_estimate_back(model_server, open_gateway, support):
    model_server.faults = lambda index, body: Status(400)
    budget = Budget(max_tokens=2000)
    outcomes = ask_many(open_gateway(budget=budget), support, 30)
    assert Reason.ERROR in reasons(outcomes)
    assert budget.count_by_limit() == {"max_calls": 30, "max_tokens": 0, "max_cost": 0}


def completion(prompt: int, cached: int, reply: int, text: str = "") -> Completion:
    return Completion(text, "stop", "", "m", prompt, cached, reply)


def need(budget: Budget, n_bytes: int, price: Price | None = None, most: int | None = 0) -> Need:
    """A request of so many bytes, whose reply has `most` tokens; None: nobody knows."""
    return Need(budget.kind("judge", price, most), n_bytes)


def test_claims_are_replaced_by_what_was_really_used():
    budget = Budget(max_tokens=1000)
    one = need(budget, 300, most=200)
    budget.reserve(one)
    budget.reserve(one)
    with pytest.raises(JudgeError, match="max_tokens 1000 reached"):
        budget.reserve(need(budget, 1, most=0))
    budget.settle(one, completion(100, 0, 10))
    budget.reserve(need(budget, 190, most=200))  # 110 + 500 + 390 = 1000
    with pytest.raises(JudgeError):
        budget.reserve(need(budget, 1, most=0))


def test_by_itself_a_prompt_is_what_its_kind_was_and_beside_others_a_token_is_a_byte():
    budget = Budget(max_tokens=1000)
    one = need(budget, 2000, most=0)
    budget.check(one)  # 500 tokens, as English has them
    budget.reserve(one)
    budget.settle(one, completion(100, 0, 0))
    budget.check(need(budget, 3600, most=0))
    with pytest.raises(JudgeError):
        budget.check(need(budget, 3601, most=0))
    budget.reserve(need(budget, 1000, most=0))
    budget.settle(need(budget, 1000, most=0), completion(400, 0, 0))
    budget.check(need(budget, 1250, most=0))  # now one was denser: two fifths of it are left
    with pytest.raises(JudgeError):
        budget.check(need(budget, 1251, most=0))
    budget.reserve(need(budget, 1, most=0))
    budget.reserve(need(budget, 498, most=0))
    with pytest.raises(JudgeError):
        budget.reserve(need(budget, 2, most=0))


def test_a_reply_is_claimed_at_the_price_of_replies():
    budget = Budget(max_cost=1.0)
    price = Price(input=1.0, output=100.0)
    with pytest.raises(JudgeError, match="max_cost 1 reached"):
        budget.reserve(need(budget, 4000, price, 10_000))  # 0.001 + 1.0 dollars
    budget.reserve(need(budget, 4000, price, 9_000))


def test_more_cached_tokens_than_tokens_do_not_make_money():
    budget = Budget()
    one = need(budget, 1, Price(input=1, output=1, cached_input=0.5))
    budget.reserve(one)
    budget.settle(one, completion(100, 10_000, 0))
    assert budget.usage.cost == pytest.approx(100 * 0.5 / 1e6)


# --- how long replies are is found out


def test_the_first_few_go_one_at_a_time_and_then_others_beside_them():
    budget = Budget(max_tokens=10**6)
    one = need(budget, 100, most=None)
    for _ in range(4):
        budget.reserve(one)
        with pytest.raises(JudgeError):
            budget.reserve(one)
        with pytest.raises(JudgeError):  # of another kind neither: it may need what is left
            budget.reserve(need(budget, 1, most=1))
        budget.settle(one, completion(25, 0, 3000))
    beside = (10**6 - 4 * 3025) // (100 + 3000 + 2**17)  # nobody knows what comes after four
    for _ in range(beside):
        budget.reserve(one)
    with pytest.raises(JudgeError):
        budget.reserve(one)


def test_what_is_under_way_is_claimed_anew_when_a_longer_reply_comes():
    budget = Budget(max_tokens=10**6)
    one = need(budget, 100, most=None)
    budget.learn({"judge": Seen(n=2**19, longest=10, densest=0.25)})  # a long one: one token each
    for _ in range(100):
        budget.reserve(one)
    assert budget.count_by_limit()["max_tokens"] == 100 * (100 + 10 + 1)
    budget.settle(one, completion(25, 0, 5000))
    assert budget.count_by_limit()["max_tokens"] == 5025 + 99 * (100 + 5000 + 1)


def test_a_reply_that_is_longer_than_was_asked_for_counts_for_the_next():
    budget = Budget(max_tokens=10_000)
    one = need(budget, 100, most=10)
    budget.reserve(one)
    budget.settle(one, completion(25, 0, 4000))
    budget.reserve(one)
    with pytest.raises(JudgeError):
        budget.reserve(one)


def test_of_two_limits_of_a_reply_the_longer_is_what_it_may_take():
    both = {"max_tokens": 5, "extra_body": {"max_completion_tokens": 900}}
    assert get_reply_limit(ModelConfig(model="openai/x", **both)) == 900
    assert get_reply_limit(ModelConfig(model="openai/x", max_tokens=5)) == 5
    assert get_reply_limit(ModelConfig(model="openai/x")) is None


@pytest.mark.parametrize(
    ("reply", "counted"),
    [
        (completion(0, 0, 0, "x" * 100), 150 + 50),  # two bytes a token where nothing is told
        (completion(80, 0, 0, "x" * 100), 80 + 50),
        (completion(0, 0, 20, "x" * 100), 150 + 20),
        (completion(80, 0, 0, ""), 80),
        (completion(0, 0, 0, "\u4e2d" * 100), 150 + 150),
    ],
)
def test_what_an_endpoint_does_not_tell_counts_by_an_estimate_and_has_no_price(reply, counted):
    budget = Budget(max_tokens=1000)
    one = need(budget, 300, Price(input=1, output=1), most=100)
    budget.reserve(one)
    budget.settle(one, reply)
    assert budget.count_by_limit()["max_tokens"] == counted
    assert budget.count_by_limit()["max_cost"] == pytest.approx(counted / 1e6)
    assert budget.usage.tokens == reply.prompt_tokens + reply.completion_tokens
    assert (budget.usage.known_cost is None) == (counted != 80)


@pytest.mark.parametrize(("billed", "counted"), [(None, 0), (0, 75 + 100), (4000, 75 + 2000)])
def test_a_request_without_a_reply_counts_where_it_may_be_billed(billed, counted):
    budget = Budget(max_tokens=10_000)
    one = need(budget, 300, most=100)
    budget.reserve(one)
    budget.settle(one, None, billed)
    assert budget.count_by_limit()["max_tokens"] == counted


def test_a_request_that_timed_out_is_counted_and_one_that_never_left_is_not(
    model_server, open_gateway, support
):
    settings = {"max_tokens": 50, "retries": 0}
    model_server.faults = lambda index, body: Hang(5)
    late = Budget(max_tokens=10_000)
    ask_many(open_gateway(budget=late, timeout_s=0.1, **settings), support, 2)
    assert late.count_by_limit()["max_tokens"] > 2 * (200 + 50)
    never = Budget(max_tokens=10_000)
    nowhere = open_gateway(budget=never, api_base="http://127.0.0.1:9/v1", **settings)
    ask_many(nowhere, support, 2)
    assert never.count_by_limit()["max_tokens"] == 0


# --- which price


def test_a_price_in_the_config_is_the_price():
    price = Price(input=1, output=2)
    assert get_price(ModelConfig(model="openai/gpt-4o", price=price)) == price


def test_a_known_model_at_its_providers_own_endpoint_has_the_listed_price():
    price = get_price(ModelConfig(model="openai/gpt-4o"))
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
    assert get_price(ModelConfig(**settings)) is None


def test_what_asks_no_model_is_free(tmp_path):
    assert get_price(ModelConfig(model="lexical")) == FREE
    recorded = ModelConfig(model="m", engine="recorded", recording=tmp_path / "r.jsonl")
    assert get_price(recorded) == FREE


# --- to the last token and the last cent

MILLION = 1_000_000  # tokens, of which one price is a dollar's amount


@pytest.mark.parametrize(
    ("limit", "most"), [("max_calls", 2), ("max_tokens", 2 * MILLION), ("max_cost", 0.5)]
)
def test_what_reaches_a_limit_exactly_is_asked_and_what_passes_it_is_not(limit, most):
    price = Price(input=0.25, output=1.0)
    budget = Budget(**{limit: most})
    one = need(budget, MILLION, price)
    for _ in range(2):
        run_sync(asyncio.wait_for(budget.room(one), timeout=5))
        budget.reserve(one)
    for _ in range(2):
        budget.settle(one, completion(MILLION, 0, 0))
    assert budget.count_by_limit()[limit] == most
    with pytest.raises(JudgeError, match=f"{limit} {most} reached"):
        budget.reserve(need(budget, 1, price))


def test_what_floats_leave_over_of_claims_keeps_nobody_waiting():
    assert 0.1 + 0.2 + 0.3 - 0.1 - 0.2 - 0.3 > 0
    budget = Budget(max_cost=0.61)
    needs = [need(budget, MILLION, Price(input=each, output=0)) for each in (0.1, 0.2, 0.3)]
    for each in needs:
        budget.reserve(each)
    for each in needs:
        budget.settle(each, None)
    assert budget.count_by_limit()["max_cost"] == 0
    all_of_it = need(budget, 4 * MILLION, Price(input=0.61, output=0))
    run_sync(asyncio.wait_for(budget.room(all_of_it), timeout=5))
    budget.reserve(all_of_it)


OWN = {"api_base": "http://127.0.0.1:8000/v1"}


@pytest.fixture(autouse=True)
def _without_ambient_endpoints(monkeypatch):
    for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)


def notes(model, **settings):
    return notes_on([("default", ModelConfig(model=model, **settings))] * 2)


def test_an_endpoint_of_the_environment_that_is_not_used_is_said_once(monkeypatch):
    assert notes("openai/gpt-4o") == []
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    [line] = notes("openai/gpt-4o")
    assert line.startswith("OPENAI_BASE_URL is set but not used: requests for openai/gpt-4o go to ")
    assert "--api-base" in line
    assert notes("openai/gpt-4o", **OWN) == []
    assert notes("lexical") == []


def test_a_paid_model_of_unknown_price_is_said_before_it_is_asked():
    [line] = notes("openai/no-such-model")
    assert "No price is known for openai/no-such-model" in line
    assert "models.default.price" in line
    assert notes("openai/no-such-model", price={"input": 1, "output": 2}) == []
    assert notes("hosted_vllm/mine", **OWN) == []


def test_a_model_that_litellm_lists_without_its_provider_has_its_price():
    price = get_price(ModelConfig(model="anthropic/claude-sonnet-4-5"))
    assert (price.input, price.output) == pytest.approx((3, 15)), "dollars, as Anthropic says"
    assert notes("anthropic/claude-sonnet-4-5") == []
    assert get_price(ModelConfig(model="mistral/claude-sonnet-4-5")) is None, "not its model"
