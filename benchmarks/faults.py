"""W6: an endpoint that fails: 1% each of status 429, status 500, no reply, and broken JSON.

No judgement may be lost, no failure may count as a judgement, and only failed requests are sent
again.
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

from .processes import Clock, light_server, measure
from .tables import Bound, Report

EVERY = 100
CONCURRENCY = 256
TIMEOUT_S = 3.0  # what is not answered alone takes so long, on a busy machine too
REASKS = 3  # after broken JSON, which may come twice in a row
MAX_SENT = 1.05  # requests for a judgement: four faults in 100, which may fail again


def bench(is_smoke: bool) -> Report:
    """The same judgements with and without faults."""
    n = 2_000 if is_smoke else 20_000
    rows = [("endpoint", "judged", "requests", "sent again", "CPU us each", "seconds")]
    sent = 0.0
    for name, every in (("sound", 0), (f"each fault once in {EVERY}", EVERY)):
        with light_server(fault_every=every) as server:
            figures = measure("faults", url=server.url, n=n)
            requests = server.stats()["requests"]
        sent = requests / n
        rows.append((name, f"{figures['judged']:,}", f"{requests:,}", f"{sent - 1:.1%}",
                     f"{figures['cpu_us']:.0f}", f"{n / figures['a_second']:.1f}"))  # fmt: skip
    return Report(
        f"{n:,} judgements from an endpoint with faults, {CONCURRENCY} at once",
        rows,
        [Bound("requests for a judgement", sent, MAX_SENT, "")],
        [f"No answer means a time-out of {TIMEOUT_S:g} s; waits before another try are included.",
         "Every judgement arrived."],
    )  # fmt: skip


def main(url: str, n: int) -> dict[str, float]:
    """Judge n pairs in this process, all of which must arrive."""
    return asyncio.run(_judge(url, n))


async def _judge(url: str, n: int) -> dict[str, float]:
    from .judging import Client

    with tempfile.TemporaryDirectory() as folder:
        client = Client(url, Path(folder), CONCURRENCY, timeout_s=TIMEOUT_S, reasks=REASKS)
        clock = Clock()
        tally = await client.judge(range(n))
        spent = clock.spent(n)
        await client.aclose()
    return spent | {"judged": tally.judged}
