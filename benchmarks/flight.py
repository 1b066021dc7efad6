"""W5: the number of requests in flight, and how close the request rate comes to its maximum.

With n requests in flight, a server that takes 200 ms allows n / 0.2 s requests per second (Little's
law).
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from .processes import Clock, light_server, measure
from .tables import Bound, Report

LATENCY_MS = 200
LATENCY_SMOKE_MS = 1_000  # all are under way before the first returns, on a busy machine too
ASKED, ASKED_SMOKE = (256, 1024), (256,)


def bench(is_smoke: bool) -> Report:
    """Each number of requests in a process and with a server of its own."""
    # rounds of all that are in flight
    rounds, latency_ms = (3, LATENCY_SMOKE_MS) if is_smoke else (10, LATENCY_MS)
    rows = [("asked", "in flight", "a second", "of what they allow", "CPU us each")]
    bounds = []
    for concurrency in ASKED_SMOKE if is_smoke else ASKED:
        with light_server(latency_ms=latency_ms) as server:
            figures = measure(
                "flight", url=server.url, concurrency=concurrency, n=concurrency * rounds
            )
            reached = server.stats()["max_in_flight"]
        share = figures["a_second"] * latency_ms / 1000 / concurrency
        rows.append((f"{concurrency:,}", f"{reached:,}", f"{figures['a_second']:,.0f}",
                     f"{share:.0%}", f"{figures['cpu_us']:.0f}"))  # fmt: skip
        bounds.append(
            Bound(f"in flight of {concurrency:,}", reached, concurrency, "requests", is_least=True)
        )
    return Report(f"requests in flight at {latency_ms} ms, {rounds} times as many asked", rows,
                  bounds)  # fmt: skip


def main(url: str, concurrency: int, n: int) -> dict[str, float]:
    """Judge n pairs in this process."""
    return asyncio.run(_judge(url, concurrency, n))


async def _judge(url: str, concurrency: int, n: int) -> dict[str, float]:
    from .judging import Client

    with tempfile.TemporaryDirectory() as folder:
        client = Client(url, Path(folder), concurrency)
        await client.judge(range(concurrency))  # opens the connections
        clock = Clock()
        await client.judge(range(concurrency, concurrency + n))
        spent = clock.spent(n)
        await client.aclose()
    return spent
