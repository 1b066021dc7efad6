"""W4: peak memory of the client with few and with many queued judgements; it must not grow.

A lazy iterator yields the judgements, as in tasks; 64 of them are in flight at the same time.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from .client import CONCURRENCY
from .processes import light_server, measure, peak_mb
from .tables import Bound, Report

QUEUED, QUEUED_SMOKE = (10_000, 100_000, 1_000_000), (1_000, 5_000)
MAX_MB = 5.0  # between the fewest and the most


def bench(is_smoke: bool) -> Report:
    """Each number of judgements in a process of its own."""
    queued = QUEUED_SMOKE if is_smoke else QUEUED
    with light_server() as server:
        peaks = [measure("memory", url=server.url, n=n)["peak_mb"] for n in queued]
    return Report(
        f"peak memory with judgements queued, {CONCURRENCY} at once",
        [
            ("queued", "peak MB"),
            *((f"{n:,}", f"{peak:.1f}") for n, peak in zip(queued, peaks, strict=True)),
        ],
        [Bound(f"growth from {queued[0]:,} to {queued[-1]:,}", peaks[-1] - peaks[0], MAX_MB, "MB")],
    )


def main(url: str, n: int) -> dict[str, float]:
    """Judge n pairs in this process."""
    return asyncio.run(_judge(url, n))


async def _judge(url: str, n: int) -> dict[str, float]:
    from .judging import Client

    with tempfile.TemporaryDirectory() as folder:
        client = Client(url, Path(folder), CONCURRENCY)
        await client.judge(range(n))
        await client.aclose()
    return {"peak_mb": peak_mb()}
