"""CPU of the client for one support judgement, against a bare aiohttp + orjson loop.

The client renders the prompt, looks the key up, asks, parses, and writes cache and journal. The
bare loop sends bodies of the same size, made by `orjson.dumps` from a dict of messages, and
reads each reply with `orjson.loads`. Both run on asyncio's own loop with equal concurrency, and
count from the first request after a warm-up that opens connections.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from .processes import cpu_s, light_server, measure
from .tables import Bound, Report

CONCURRENCY = 64
WARM_UP = 4 * CONCURRENCY  # judgements before the clock starts
MOST_X_BARE = 1.5
MOST_X_BARE_SMOKE = 2.0  # so few requests are decided by noise


def bench(is_smoke: bool) -> Report:
    """Interleaved rounds of both."""
    n, n_rounds = (2_000, 3) if is_smoke else (20_000, 5)
    bare, judged = [], []
    with light_server() as server:
        for _ in range(n_rounds):
            bare.append(measure("client", kind="bare", url=server.url, n=n))
            judged.append(measure("client", kind="judged", url=server.url, n=n))
        n_sent, n_wanted = server.n_requests(), 2 * n_rounds * (n + WARM_UP)
        assert n_sent == n_wanted, f"{n_sent} requests, wanted {n_wanted}: one for each judgement"
    ratios = [of["cpu_us"] / to["cpu_us"] for of, to in zip(judged, bare, strict=True)]
    limit = MOST_X_BARE_SMOKE if is_smoke else MOST_X_BARE
    return Report(
        f"client: {n:,} support judgements, {CONCURRENCY} at once, median of {n_rounds} rounds",
        [
            ["path", "CPU us each", "lowest - highest", "x bare", "a second", "body bytes"],
            _row("bare aiohttp + orjson", bare, 1.0),
            _row("judged: prompt, key, parse, cache, journal", judged, median(ratios)),
        ],
        [Bound("client CPU per judgement", median(ratios), limit, "x bare")],
    )


def main(kind: str, url: str, n: int) -> dict[str, float]:
    """Measure one path in this process."""
    return asyncio.run({"bare": _bare, "judged": _judged}[kind](url, n))


async def _judged(url: str, n: int) -> dict[str, float]:
    from .judging import Client

    with tempfile.TemporaryDirectory() as folder:
        client = Client(url, Path(folder), CONCURRENCY)
        await client.judge(range(WARM_UP))
        began = _Clock(n)
        tally = await client.judge(range(WARM_UP, WARM_UP + n))
        spent = began.spent()
        assert tally.judged == n, f"{tally.judged} of {n} judged: {tally.unjudged}"
        await client.aclose()
    return spent | {"body_bytes": float(len(_real_body(url)))}


async def _bare(url: str, n: int) -> dict[str, float]:
    import aiohttp
    import orjson

    from .texts import pair

    system = "x" * _system_chars(url)
    sizes: list[int] = []

    async def ask(session: aiohttp.ClientSession, numbers: Any) -> None:
        for number in numbers:
            sentence, passage = pair(number)
            body = orjson.dumps(
                {
                    "model": "light",
                    "messages": [
                        {"role": "system", "content": system},
                        {"role": "user", "content": f"{passage}\n{sentence}"},
                    ],
                    "temperature": 0.0,
                }
            )
            async with session.post(f"{url}/chat/completions", data=body) as response:
                orjson.loads(await response.read())

    async def ask_all(session: aiohttp.ClientSession, numbers: range) -> None:
        shared = iter(numbers)
        await asyncio.gather(*(ask(session, shared) for _ in range(CONCURRENCY)))

    headers = {"Content-Type": "application/json"}
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(headers=headers, connector=connector) as session:
        await ask_all(session, range(WARM_UP))
        began = _Clock(n)
        await ask_all(session, range(WARM_UP, WARM_UP + n))
        spent = began.spent()
    return spent
