"""Peak memory of the client with few and with many judgements waiting: it must not grow with them.

The judgements come from a lazy iterator, as in programs; the same 64 are under way at once.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from statistics import median

from .client import CONCURRENCY
from .processes import light_server, measure, peak_mb
from .tables import Bound, Report

FEW, MANY, MANY_SMOKE = 1_000, 100_000, 5_000
MOST_MB = 10.0  # between few and many


def bench(is_smoke: bool) -> Report:
    """Interleaved rounds of few and many, each in a process of its own."""
    many, n_rounds = (MANY_SMOKE, 1) if is_smoke else (MANY, 3)
    peaks: dict[int, list[float]] = {FEW: [], many: []}
    with light_server() as server:
        for _ in range(n_rounds):
            for n, found in peaks.items():
                found.append(measure("memory", url=server.url, n=n)["peak_mb"])
    rounds = "1 round" if n_rounds == 1 else f"median of {n_rounds} rounds"
    growth = median(peaks[many]) - median(peaks[FEW])
    return Report(
        f"memory: peak with judgements queued, {CONCURRENCY} at once, {rounds}",
        [
            ("queued", "peak MB", "lowest-highest"),
            *(
                (f"{n:,}", f"{median(found):.1f}", f"{min(found):.1f}-{max(found):.1f}")
                for n, found in peaks.items()
            ),
        ],
        [Bound(f"growth from {FEW:,} to {many:,} queued", growth, MOST_MB, "MB")],
    )


def main(url: str, n: int) -> dict[str, float]:
    """Judge n pairs in this process."""
    return asyncio.run(_judge(url, n))


async def _judge(url: str, n: int) -> dict[str, float]:
    from .judging import Client

    with tempfile.TemporaryDirectory() as folder:
        client = Client(url, Path(folder), CONCURRENCY)
        tally = await client.judge(range(n))
        await client.aclose()
    if tally.judged != n:
        raise AssertionError(f"{tally.judged} of {n} judged: {tally.unjudged}")
    return {"peak_mb": peak_mb()}
