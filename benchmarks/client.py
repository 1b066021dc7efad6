"""W1 and W2: CPU of the client for one judgement, compared with a bare aiohttp + orjson loop.

The client renders the prompt, looks its key up, sends the request, parses the reply, and writes
cache and journal. The bare loop sends bodies of the same size, made by `orjson.dumps` from a dict
of messages, and reads each reply with `orjson.loads`. Both run on asyncio's own loop with equal
concurrency, and count from the first request after a warm-up that opens the connections.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median
from typing import TYPE_CHECKING, Any

from .processes import Clock, Server, light_server, measure
from .tables import Bound, Report
from .texts import pair, window

if TYPE_CHECKING:
    from .judging import Kind

CONCURRENCY = 64
WARM_UP = 4 * CONCURRENCY  # judgements before the clock starts
MAX_X_BARE: dict[Kind, float] = {"support": 2.0, "assign": 2.3}  # ten labels in one call
SMOKE_SLACK = 1.5  # noise decides among few requests
SAYS: dict[Kind, str] = {
    "support": '{"verdict": "full"}',
    "assign": json.dumps({"verdicts": dict.fromkeys(map(str, range(1, 11)), "support")}),
}
WHAT: dict[Kind, str] = {
    "support": "support judgements (a sentence, a passage)",
    "assign": "nugget assignments (an answer, ten nuggets)",
}


def bench_support(is_smoke: bool) -> Report:
    """W2."""
    return _bench("support", is_smoke)


def bench_assign(is_smoke: bool) -> Report:
    """W1."""
    return _bench("assign", is_smoke)


def _bench(kind: Kind, is_smoke: bool) -> Report:
    """Interleaved rounds of both, each in a process of its own."""
    n, n_rounds = (2_000, 5) if is_smoke else (20_000, 5)
    bare, judged = [], []
    with light_server(SAYS[kind]) as server:
        body_bytes = measured(server, kind, n=100)["body_bytes"]
        for _ in range(n_rounds):
            bare.append(measured(server, kind, n=n, body_bytes=body_bytes))
            judged.append(measured(server, kind, n=n))
    ratio = median(of["cpu_us"] / to["cpu_us"] for of, to in zip(judged, bare, strict=True))
    return Report(
        f"{n:,} {WHAT[kind]}, {CONCURRENCY} at once, median of {n_rounds} rounds",
        [
            ("path", "CPU us each", "lowest-highest", "x bare", "a second", "body bytes"),
            _row("bare aiohttp + orjson", bare, 1.0),
            _row("prompt, key, HTTP, parse, cache, journal", judged, ratio),
        ],
        [Bound("CPU of a call", ratio, MAX_X_BARE[kind] * (SMOKE_SLACK if is_smoke else 1), "x")],
    )


def main(kind: Kind, url: str, n: int, body_bytes: float | None = None) -> dict[str, float]:
    """Measure one path in this process; with `body_bytes` the bare loop."""
    if body_bytes is None:
        return asyncio.run(_judged(kind, url, n))
    return asyncio.run(_bare(kind, url, n, body_bytes))


def measured(server: Server, kind: Kind, n: int, **arguments: Any) -> dict[str, float]:
    """What one path takes in a fresh process; every judgement must be one request."""
    before = server.stats()
    figures: dict[str, float] = measure("client", kind=kind, url=server.url, n=n, **arguments)
    new = server.stats()
    new.subtract(before)
    wanted = n + WARM_UP
    if new["requests"] != wanted:
        raise AssertionError(f"{kind}: {new['requests']} requests for {wanted} judgements")
    return {**figures, "body_bytes": new["body_bytes"] / wanted}


def _row(name: str, rounds: list[dict[str, float]], ratio: float) -> tuple[str, ...]:
    cpu = [figures["cpu_us"] for figures in rounds]
    rate = median(figures["a_second"] for figures in rounds)
    size = mean(figures["body_bytes"] for figures in rounds)
    spread = f"{min(cpu):.0f}-{max(cpu):.0f}"
    return (name, f"{median(cpu):.0f}", spread, f"{ratio:.2f}", f"{rate:,.0f}", f"{size:,.0f}")


async def _judged(kind: Kind, url: str, n: int) -> dict[str, float]:
    from .judging import Client

    with tempfile.TemporaryDirectory() as folder:
        client = Client(url, Path(folder), CONCURRENCY, kind)
        await client.judge(range(WARM_UP))
        clock = Clock()
        await client.judge(range(WARM_UP, WARM_UP + n))
        spent = clock.spent(n)
        await client.aclose()
    return spent


async def _bare(kind: Kind, url: str, n: int, body_bytes: float) -> dict[str, float]:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=0)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(headers=headers, connector=connector) as session:
        system = "x" * round(body_bytes - mean(len(_body(kind, "", i)) for i in range(100)))
        await _ask_all(session, url, kind, system, range(WARM_UP))
        clock = Clock()
        await _ask_all(session, url, kind, system, range(WARM_UP, WARM_UP + n))
        return clock.spent(n)


async def _ask_all(session: Any, url: str, kind: Kind, system: str, numbers: range) -> None:
    import orjson

    async def work(left: Iterator[int]) -> None:
        for number in left:
            body = _body(kind, system, number)
            async with session.post(f"{url}/chat/completions", data=body) as response:
                orjson.loads(await response.read())

    left = iter(numbers)
    async with asyncio.TaskGroup() as group:
        for _ in range(CONCURRENCY):
            group.create_task(work(left))


def _body(kind: Kind, system: str, number: int) -> bytes:
    import orjson

    if kind == "support":
        sentence, passage = pair(number)
        user = f"{passage}\n{sentence}"
    else:
        question, answer, nuggets = window(number)
        user = "\n".join((question, answer, *nuggets))
    messages = [{"role": "system", "content": system}, {"role": "user", "content": user}]
    return orjson.dumps({"model": "light", "messages": messages, "temperature": 0.0})
