"""An endpoint is never driven harder than its config says."""

import asyncio
import random
import threading
import time
from typing import Any

import pytest
from mock_batches import MockBatches
from mock_server import Hang, Reply, Status, Supports

from nuggetjudge.backends import open_backend
from nuggetjudge.backends.batch import api as batch_api
from nuggetjudge.backends.batch.ledger import Batches
from nuggetjudge.backends.budget import Budget
from nuggetjudge.backends.config import BatchConfig, ModelConfig
from nuggetjudge.backends.errors import EndpointLost
from nuggetjudge.backends.limits import PATIENCE, Limiter
from nuggetjudge.backends.loop import run_sync
from nuggetjudge.records.judgements import Reason

BASE = {"model": "openai/m", "api_base": "http://127.0.0.1:1/v1"}


def starts(n: int, tokens: int = 1, **settings: Any) -> list[float]:
    """Seconds after the first at which each of n requests was let through."""
    limiter = Limiter(ModelConfig(**BASE | {"concurrency": 1000} | settings))
    times: list[float] = []

    async def one() -> None:
        await limiter.enter(tokens)
        times.append(time.monotonic())
        limiter.leave()

    async def everyone() -> None:
        await asyncio.gather(*(one() for _ in range(n)))

    run_sync(everyone())
    return [moment - times[0] for moment in times]


@pytest.mark.parametrize("concurrency", [1, 3, 16])
def test_no_more_requests_are_in_flight_than_allowed(
    concurrency, model_server, open_gateway, support
):
    model_server.latency_s = 0.02
    gateway = open_gateway(concurrency=concurrency)

    async def many() -> None:
        asked = ({"passage": "p", "sentence": str(i)} for i in range(48))
        await asyncio.gather(*(gateway.ask(support, each) for each in asked))

    run_sync(many())
    assert len(model_server.requests) == 48
    assert model_server.max_in_flight == concurrency


def test_requests_a_minute_hold_through_a_gateway(model_server, open_gateway, support):
    gateway = open_gateway(rpm=600)

    async def many() -> None:
        opens, *asked = ({"passage": "p", "sentence": str(i)} for i in range(6))
        await gateway.ask(support, opens)  # so that no gap has the time of a connection in it
        await asyncio.gather(*(gateway.ask(support, each) for each in asked))

    run_sync(many())
    _, first, *_, last = [received.started_s for received in model_server.requests]
    assert last - first >= 0.38


@pytest.mark.slow
def test_tokens_a_minute_hold_after_the_first_burst():
    tpm = 60_000  # 1,000 a second, 10,000 at once
    times = starts(24, tokens=500, tpm=tpm)  # 12,000 tokens
    assert times[-1] >= 1.9
    for moment in times:
        sent = 500 * sum(t <= moment for t in times)
        assert sent <= 10_000 + 1000 * (moment + 0.06)


def test_a_pause_lets_nothing_through_and_the_longer_pause_counts():
    limiter = Limiter(ModelConfig(**BASE))

    async def one() -> float:
        began = time.monotonic()
        limiter.pause(0.3)
        limiter.pause(0.1)
        await limiter.enter(1)
        limiter.leave()
        return time.monotonic() - began

    assert 0.3 <= run_sync(one()) < 1


def test_an_endpoint_is_given_up_after_its_patience_and_not_before():
    limiter = Limiter(ModelConfig(**BASE))

    async def enter() -> None:
        await limiter.enter(1)
        limiter.leave()

    for _ in range(PATIENCE - 1):
        limiter.judgement_ended(lost=True)
    run_sync(enter())
    limiter.judgement_ended(lost=True)
    with pytest.raises(EndpointLost, match=f"{PATIENCE} judgements"):
        run_sync(enter())
    limiter.judgement_ended(lost=False)  # one that was on its way came back
    run_sync(enter())


def test_who_stands_in_a_pause_hears_that_the_endpoint_was_given_up():
    limiter = Limiter(ModelConfig(**BASE))

    async def show() -> None:
        limiter.pause(0.1)
        waiting = asyncio.ensure_future(limiter.enter(1))
        await asyncio.sleep(0.01)
        for _ in range(PATIENCE):
            limiter.judgement_ended(lost=True)
        with pytest.raises(EndpointLost):
            await waiting

    run_sync(show())


@pytest.mark.parametrize("settings", [{"rpm": 1}, {"tpm": 6}, {}])
def test_a_slot_is_given_back_when_its_taker_is_cancelled_or_refused(settings):
    limiter = Limiter(ModelConfig(**BASE, concurrency=1, **settings))

    async def show() -> None:
        await limiter.enter(1)
        limiter.leave()
        limiter.pause(60)
        waiting = asyncio.ensure_future(limiter.enter(1))
        await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.wait([waiting])
        for _ in range(PATIENCE):
            limiter.judgement_ended(lost=True)
        for _ in range(2):
            with pytest.raises(EndpointLost):
                await asyncio.wait_for(limiter.enter(1), timeout=1)

    run_sync(show())


PRICE = {"input": 2.0, "output": 10.0}
SIZES, AT_ONCE = (10, 200, 3_000, 50_000), (1, 8, 64, 256)
PROMPT_BYTES = 1000  # of the messages, about
MIXED = random.Random(5).choices(range(10, 50_001), k=2000)
MODES = ("max_tokens", "bad replies", "faults", "dense prompts")
SETTINGS = [(size, at_once, "plain") for size in SIZES for at_once in AT_ONCE]
SETTINGS += [(size, 64, mode) for size in SIZES for mode in MODES]


class Bill:
    """A brain whose replies take as many tokens as they are told to, and what they cost so far.

    Args:
        tokens: of the n-th reply.
        density: prompt tokens for a byte of the messages.
        bad: every so many replies are no judgement.
    """

    def __init__(self, tokens, density=0.25, bad=0):
        self._of, self.density, self._bad = tokens, density, bad
        self._lock = threading.Lock()
        self.replies: list[int] = []
        self.prompts: list[int] = []

    def __call__(self, body):
        with self._lock:
            number = len(self.replies)
            self.replies.append(min(self._of(number), body.get("max_tokens", 10**9)))
            n_bytes = sum(len(message["content"].encode()) for message in body["messages"])
            self.prompts.append(int(n_bytes * self.density))
            is_bad = self._bad and number % self._bad == self._bad - 1
            text = "Full, I would say." if is_bad else '{"verdict": "full"}'
            return Reply(text, n_tokens=self.replies[-1], n_prompt=self.prompts[-1])

    def spent(self, limit):
        prompt, reply = sum(self.prompts), sum(self.replies)
        return prompt + reply if limit == "max_tokens" else (prompt * 2 + reply * 10) / 1e6

    def one(self, limit):
        """What the longest reply alone took."""
        return max(self.replies) * (1 if limit == "max_tokens" else 10 / 1e6)


def room_for(n, size, bill, limit):
    """A limit that so many requests fit into."""
    prompt = PROMPT_BYTES * bill.density
    return n * int(prompt + size) if limit == "max_tokens" else n * (prompt * 2 + size * 10) / 1e6


def ask_many(backend, prompt, n, text="It rained."):
    async def go():
        asked = ({"passage": text, "sentence": str(i)} for i in range(n))
        async with asyncio.timeout(30):  # nobody waits for room that never comes
            tasks = (backend.ask(prompt, each) for each in asked)
            outcomes = await asyncio.gather(*tasks, return_exceptions=True)
        await backend.aclose()
        return outcomes

    return run_sync(go())


def reason_of(outcomes):
    return {getattr(each, "reason", None) for each in outcomes}


@pytest.mark.slow
@pytest.mark.parametrize(("size", "at_once", "mode"), SETTINGS)
def test_limits_are_kept(size, at_once, mode, open_gateway, support, model_server):
    limit = "max_tokens" if at_once in (1, 64) else "max_cost"
    bill = Bill(
        lambda number: size,
        density=1.0 if mode == "dense prompts" else 0.25,
        bad=3 if mode == "bad replies" else 0,
    )
    model_server.brain = bill
    if mode == "faults":
        broken = {1: Status(500), 3: Hang(9), 4: Status(429, retry_after="0"), 7: Hang(9)}
        model_server.faults = lambda index, body: broken.get(index)
    budget = Budget(**{limit: room_for(30, size, bill, limit)})
    settings = {"concurrency": at_once, "price": PRICE, "retries": 2}
    # Else a busy machine ends requests, and what they might have taken counts.
    settings["timeout_s"] = 1.5 if mode == "faults" else 20
    settings["max_tokens"] = size if mode == "max_tokens" else None
    outcomes = ask_many(open_gateway(budget=budget, **settings), support, at_once + 60)
    assert Reason.BUDGET in reason_of(outcomes)
    spent, allowed = bill.spent(limit), getattr(budget, limit)
    assert len(bill.replies) > 8
    assert spent <= allowed
    if mode in ("plain", "bad replies"):  # of what is left one more would have been too much
        assert allowed - spent < 3 * bill.one(limit) + allowed / 10
    assert budget.count_by_limit()[limit] >= spent * 0.999
    assert budget.reached.startswith(limit)


@pytest.mark.parametrize("at_once", AT_ONCE)
@pytest.mark.parametrize("most", [0.3, 3, 30, 300])
def test_replies_of_any_size_pass_a_limit_by_less_than_one_that_is_longer_than_all_before(
    most, at_once, open_gateway, support, model_server
):
    bill = model_server.brain = Bill(MIXED.__getitem__)
    allowed = int(most * 10_000)
    budget = Budget(max_tokens=allowed)
    ask_many(open_gateway(budget=budget, concurrency=at_once), support, 256)
    over = bill.spent("max_tokens") - allowed
    longer = [n for i, n in enumerate(bill.replies) if n > max(bill.replies[:i], default=0)]
    assert over <= max(longer)
    assert over > -60_000
    assert bill.replies


@pytest.mark.parametrize("at_once", AT_ONCE)
def test_a_server_that_tells_no_usage_is_bounded_too(at_once, open_gateway, support, model_server):
    model_server.supports = Supports(usage=False)
    budget = Budget(max_tokens=20_000)
    ask_many(open_gateway(budget=budget, concurrency=at_once), support, 256)
    characters = sum(len(str(request.body)) for request in model_server.requests)
    assert 10 < len(model_server.requests) < 40
    assert characters / 4 < budget.count_by_limit()["max_tokens"] <= 20_000


@pytest.fixture
def batches(tmp_path, cache, monkeypatch):
    """`batches(server, budget)` opens a gateway that asks in batches."""
    monkeypatch.setattr(batch_api, "FIRST_WAIT_S", 0.005)

    def make(server, budget, **settings):
        given = {"model": "openai/mock", "api_base": server.base_url, "price": PRICE} | settings
        gathered = BatchConfig(quiet_s=0.02, poll_s=0.01)
        ledger = Batches(gathered, tmp_path / "journal" / "batches-x.jsonl")
        return open_backend(ModelConfig(**given), cache=cache, budget=budget, batches=ledger)

    return make


BATCHED = [("max_tokens", 10, False), ("max_cost", 50_000, False)]
BATCHED += [(limit, size, True) for limit in ("max_tokens", "max_cost") for size in SIZES[::3]]


@pytest.mark.parametrize(("limit", "size", "declared"), BATCHED)
def test_a_batch_is_sent_when_there_is_room_for_all_of_it(limit, size, declared, batches, support):
    bill = Bill(lambda number: size)
    budget = Budget(**{limit: room_for(8, size, bill, limit)})
    with MockBatches(brain=bill, step_s=0.002) as server:
        settings = {"max_tokens": size} if declared else {}
        outcomes = ask_many(batches(server, budget, **settings), support, 14)
    assert Reason.BUDGET in reason_of(outcomes)
    assert len(bill.replies) > 4
    assert bill.spent(limit) <= getattr(budget, limit)
    if not declared:
        assert len(server.batches["batch_0"].lines) == 1


def test_a_batch_whose_replies_are_bounded_goes_out_whole(batches, support):
    bill = Bill(lambda number: 10)
    budget = Budget(max_tokens=10**6)
    with MockBatches(brain=bill, step_s=0.005) as server:
        ask_many(batches(server, budget, max_tokens=100), support, 40)
    assert [len(batch.lines) for batch in server.batches.values()] == [40]
