"""W7: the speed of two client processes, each with half of the judgements, compared with one.

The server shares the CPUs with the clients, so two cores cannot reach a factor of 2.
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

MIN_SPEEDUP, MIN_SPEEDUP_SMOKE = 1.6, 0.5  # of an idle machine with two cores or more
STARTS_S = (4.0, 12.0, 36.0)  # until when processes are warm; the next where one was not


def bench(is_smoke: bool) -> Report:
    """Interleaved rounds of one process and of two."""
    n, n_rounds = (4_000, 1) if is_smoke else (40_000, 5)
    rates: dict[int, list[float]] = {1: [], 2: []}
    with light_server() as server:
        for _ in range(n_rounds):
            for n_processes, of_count in rates.items():
                of_count.append(_rate(server.url, n, n_processes))
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
        [
            Bound(
                "two by one",
                gain,
                MIN_SPEEDUP_SMOKE if is_smoke else MIN_SPEEDUP,
                "x",
                is_least=True,
            )
        ],
        [f"Load {load}: the bound is for an idle machine."],
    )


def main(url: str, first: int, n: int, at: float) -> dict[str, float]:
    """Judge n pairs in this process from the time `at` on; when it was done, nothing if late."""
    return asyncio.run(_judge(url, first, n, at))


def _rate(url: str, n: int, n_processes: int) -> float:
    part = n // n_processes
    for start_s in STARTS_S:
        at = time.time() + start_s
        running = [
            started("parallel", url=url, first=i * part, n=part, at=at) for i in range(n_processes)
        ]
        parts = [result_of(process) for process in running]
        if all(parts):
            ended: float = max(of["ended"] for of in parts)
            return n / (ended - at)
    raise AssertionError(f"the machine is too busy: not ready after {start_s:g} s")


async def _judge(url: str, first: int, n: int, at: float) -> dict[str, float]:
    from .judging import Client

    with tempfile.TemporaryDirectory() as folder:
        client = Client(url, Path(folder), CONCURRENCY)
        await client.judge(range(10**8, 10**8 + WARM_UP))
        is_late = time.time() > at
        if not is_late:
            await asyncio.sleep(at - time.time())
            await client.judge(range(first, first + n))
        ended = time.time()
        await client.aclose()
    return {} if is_late else {"ended": ended}
