"""An endpoint is never driven harder than its config says."""

import asyncio
import time
from typing import Any

import pytest
from mock_server import Status

from nuggetjudge.backends import limits
from nuggetjudge.backends.config import ModelConfig
from nuggetjudge.backends.errors import EndpointLost
from nuggetjudge.backends.limits import PATIENCE, Limiter
from nuggetjudge.backends.loop import run_sync

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


def test_retries_take_their_turn_as_well(model_server, open_gateway, support):
    model_server.latency_s = 0.01
    model_server.faults = lambda index, body: Status(500) if index % 2 else None
    gateway = open_gateway(concurrency=2, retries=10)

    async def many() -> None:
        asked = ({"passage": "p", "sentence": str(i)} for i in range(20))
        await asyncio.gather(*(gateway.ask(support, each) for each in asked))

    run_sync(many())
    assert model_server.max_in_flight == 2


def test_requests_a_minute_are_spread_evenly():
    times = starts(6, rpm=600)  # one each 0.1 s
    assert times[5] >= 0.48
    assert all(times[i] >= 0.095 * i for i in range(6))
    assert times[5] < 1.5


def test_requests_a_minute_hold_through_a_gateway(model_server, open_gateway, support):
    gateway = open_gateway(rpm=600)

    async def many() -> None:
        opens, *asked = ({"passage": "p", "sentence": str(i)} for i in range(6))
        await gateway.ask(support, opens)  # so that no gap has the time of a connection in it
        await asyncio.gather(*(gateway.ask(support, each) for each in asked))

    run_sync(many())
    _, first, *_, last = [received.started_s for received in model_server.requests]
    assert last - first >= 0.38


def test_tokens_a_minute_hold_after_the_first_burst():
    tpm = 60_000  # 1,000 a second, 10,000 at once
    times = starts(24, tokens=500, tpm=tpm)  # 12,000 tokens
    assert times[-1] >= 1.9
    for moment in times:
        sent = 500 * sum(t <= moment for t in times)
        assert sent <= 10_000 + 1000 * (moment + 0.06)


def test_a_request_larger_than_a_burst_waits_for_all_its_tokens(monkeypatch):
    monkeypatch.setattr(limits, "BURST_S", 0.5)
    times = starts(2, tokens=600, tpm=60_000)  # 1,000 a second, 500 at once
    assert 0.58 <= times[1] < 1.5


def test_no_limits_hold_nothing_up():
    assert starts(500)[-1] < 0.5


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
