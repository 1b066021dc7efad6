"""W7: what two client processes do beside one, each with half of the judgements.

The server shares the CPUs with them, so that on two cores a factor of 2 is out of reach.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from pathlib import Path
from statistics import median

from .client import CONCURRENCY, WARM_UP
from .processes import light_server, result_of, started
from .tables import Bound, Report

LEAST, LEAST_SMOKE = 1.6, 0.5  # of an idle machine with two cores or more
START_S = 4.0  # until when processes have been started and are warm


def bench(is_smoke: bool) -> Report:
    """Interleaved rounds of one process and of two."""
    n, n_rounds = (4_000, 1) if is_smoke else (40_000, 5)
    rates: dict[int, list[float]] = {1: [], 2: []}
    with light_server() as server:
        for _ in range(n_rounds):
            for n_processes, found in rates.items():
                found.append(_rate(server.url, n, n_processes))
    gain = median(two / one for one, two in zip(rates[1], rates[2], strict=True))
    load = " ".join(f"{load:.2f}" for load in os.getloadavg())
    return Report(
        f"{n:,} judgements by one process and by two, median of {n_rounds} rounds",
        [
            ("processes", "a second", "lowest-highest"),
            *(
                (str(k), f"{median(v):,.0f}", f"{min(v):,.0f}-{max(v):,.0f}")
                for k, v in rates.items()
            ),
        ],
        [Bound("two by one", gain, LEAST_SMOKE if is_smoke else LEAST, "x", is_least=True)],
        [f"Load {load}: the bound is for an idle machine."],
    )


def main(url: str, first: int, n: int, at: float) -> dict[str, float]:
    """Judge n pairs in this process from the time `at` on; when it was done."""
    return asyncio.run(_judge(url, first, n, at))


def _rate(url: str, n: int, n_processes: int) -> float:
    at, part = time.time() + START_S, n // n_processes
    running = [
        started("parallel", url=url, first=i * part, n=part, at=at) for i in range(n_processes)
    ]
    return n / (max(result_of(process)["ended"] for process in running) - at)


async def _judge(url: str, first: int, n: int, at: float) -> dict[str, float]:
    from .judging import Client

    with tempfile.TemporaryDirectory() as folder:
        client = Client(url, Path(folder), CONCURRENCY)
        await client.judge(range(10**8, 10**8 + WARM_UP))
        if time.time() > at:
            raise AssertionError(f"the machine is too busy: not ready after {START_S:g} s")
        await asyncio.sleep(at - time.time())
        await client.judge(range(first, first + n))
        ended = time.time()
        await client.aclose()
    return {"ended": ended}
