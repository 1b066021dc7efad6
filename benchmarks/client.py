"""CPU of the client for one support judgement, against a bare aiohttp + orjson loop.

The client renders the prompt, looks the key up, asks, parses, and writes cache and journal. The
bare loop sends bodies of the same size, made by `orjson.dumps` from a dict of messages, and
reads each reply with `orjson.loads`. Both run on asyncio's own loop with equal concurrency, and
count from the first request after a warm-up that opens the connections.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import Any

from .processes import Clock, Server, light_server, measure
from .tables import Bound, Report
from .texts import pair

CONCURRENCY = 64
WARM_UP = 4 * CONCURRENCY  # judgements before the clock starts
MOST_X_BARE, MOST_X_BARE_SMOKE = 1.5, 2.0  # noise decides among few requests


def bench(is_smoke: bool) -> Report:
    """Interleaved rounds of both, each in a process of its own."""
    n, n_rounds = (2_000, 3) if is_smoke else (20_000, 5)
    bare, judged = [], []
    with light_server() as server:
        body_bytes = _measured(server, "judged", n=100)["body_bytes"]
        for _ in range(n_rounds):
            bare.append(_measured(server, "bare", n=n, body_bytes=body_bytes))
            judged.append(_measured(server, "judged", n=n))
    ratio = median(of["cpu_us"] / to["cpu_us"] for of, to in zip(judged, bare, strict=True))
    return Report(
        f"client: {n:,} support judgements, {CONCURRENCY} at once, median of {n_rounds} rounds",
        [
            ("path", "CPU us each", "lowest-highest", "x bare", "a second", "body bytes"),
            _row("bare aiohttp + orjson", bare, 1.0),
            _row("prompt, key, HTTP, parse, cache, journal", judged, ratio),
        ],
        [Bound("CPU of a judgement", ratio, MOST_X_BARE_SMOKE if is_smoke else MOST_X_BARE, "x")],
    )


def main(kind: str, url: str, n: int, body_bytes: float = 0.0) -> dict[str, float]:
    """Measure one path in this process."""
    return asyncio.run(_judged(url, n) if kind == "judged" else _bare(url, n, body_bytes))


def _measured(server: Server, kind: str, n: int, **arguments: float) -> dict[str, float]:
    before = server.stats()
    found: dict[str, float] = measure("client", kind=kind, url=server.url, n=n, **arguments)
    new = server.stats()
    new.subtract(before)
    wanted = n + WARM_UP
    if new["requests"] != wanted:
        raise AssertionError(f"{kind}: {new['requests']} requests for {wanted} judgements")
    return {**found, "body_bytes": new["body_bytes"] / wanted}


def _row(name: str, rounds: list[dict[str, float]], ratio: float) -> tuple[str, ...]:
    cpu = [found["cpu_us"] for found in rounds]
    rate = median(found["a_second"] for found in rounds)
    size = mean(found["body_bytes"] for found in rounds)
    spread = f"{min(cpu):.0f}-{max(cpu):.0f}"
    return (name, f"{median(cpu):.0f}", spread, f"{ratio:.2f}", f"{rate:,.0f}", f"{size:,.0f}")


async def _judged(url: str, n: int) -> dict[str, float]:
    from .judging import Client

    with tempfile.TemporaryDirectory() as folder:
        client = Client(url, Path(folder), CONCURRENCY)
        await client.judge(range(WARM_UP))
        clock = Clock()
        tally = await client.judge(range(WARM_UP, WARM_UP + n))
        spent = clock.spent(n)
        await client.aclose()
    if tally.judged != n:
        raise AssertionError(f"{tally.judged} of {n} judged: {tally.unjudged}")
    return spent


async def _bare(url: str, n: int, body_bytes: float) -> dict[str, float]:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers, connector=connector) as session:
        system = "x" * round(body_bytes - mean(len(_body("", number)) for number in range(100)))
        await _ask_all(session, url, system, range(WARM_UP))
        clock = Clock()
        await _ask_all(session, url, system, range(WARM_UP, WARM_UP + n))
        return clock.spent(n)


async def _ask_all(session: Any, url: str, system: str, numbers: range) -> None:
    import orjson

    async def work(left: Iterator[int]) -> None:
        for number in left:
            body = _body(system, number)
            async with session.post(f"{url}/chat/completions", data=body) as response:
                orjson.loads(await response.read())

    left = iter(numbers)
    async with asyncio.TaskGroup() as group:
        for _ in range(CONCURRENCY):
            group.create_task(work(left))


def _body(system: str, number: int) -> bytes:
    import orjson

    sentence, passage = pair(number)
    messages = [
        {"role": "system", "content": system},
        {"role": "user", "content": f"{passage}\n{sentence}"},
    ]
    return orjson.dumps({"model": "light", "messages": messages, "temperature": 0.0})
