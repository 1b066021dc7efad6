"""Samples in memory: peak memory with few and with many, and a kill that loses no judgement.

A generator makes the samples, and the support task judges them through the mock endpoint: answers
whose last sentence cites the first of five contexts of 1,100 characters. Memory grows only by what
a run keeps: ids, cited passages, and the scores by question.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .processes import Server, light_server, measure, peak_mb, started
from .tables import Bound, Report
from .texts import pair

SIZES, SIZES_SMOKE = (1_000, 10_000), (200, 1_000)
CONCURRENCY = 64
MAX_KB = 9.0  # a sample, from the fewest to the most; its texts take 6 to 12
START_S = 300.0


def bench(is_smoke: bool) -> Report:
    """Each number in a process of its own; the last is killed and started again."""
    sizes = SIZES_SMOKE if is_smoke else SIZES
    measured: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as name, light_server() as server:
        for n in sizes:
            measured.append(measure("evaluate", url=server.url, n=n, out=f"{name}/{n}"))
        n = sizes[-1]
        before = server.stats()["requests"]
        n_killed = _killed(server, n, before, f"{name}/killed")
        again = measure("evaluate", url=server.url, n=n, out=f"{name}/killed")
        n_requests = server.stats()["requests"] - before
    if again["n_judged"] != n:
        raise AssertionError(f"{again['n_judged']} judged of {n}")
    growth = (measured[-1]["peak_mb"] - measured[0]["peak_mb"]) * 1000 / (sizes[-1] - sizes[0])
    return Report(
        f"samples from a generator, {CONCURRENCY} judgements at once",
        [
            ("samples", "peak MB", "samples a second"),
            *(
                (f"{n:,}", f"{one['peak_mb']:.0f}", f"{one['a_second']:,.0f}")
                for n, one in zip(sizes, measured, strict=True)
            ),
        ],
        [
            Bound("memory for each sample more", growth, MAX_KB * (2 if is_smoke else 1), "kB"),
            Bound("asked twice after a kill", n_requests - n, 2 * CONCURRENCY, "judgements"),
        ],
        [f"Of {n:,} samples {n_killed:,} were judged when it was killed.", ""],
    )


def _killed(server: Server, n: int, before: int, out: str) -> int:
    """Start n samples and kill -9 the process when a third are judged; returns how many were."""
    process = started("evaluate", url=server.url, n=n, out=out)
    until = time.monotonic() + START_S
    with process:
        while (n_requests := server.stats()["requests"] - before) < n / 3:
            if process.poll() is not None or time.monotonic() > until:
                process.kill()
                raise AssertionError(f"ended before it was killed, at {n_requests} of {n}")
            time.sleep(0.05)
        process.kill()
    return server.stats()["requests"] - before


def main(url: str, n: int, out: str) -> dict[str, float]:
    """Evaluate n samples in this process."""
    from nuggetjudge.evaluation.evaluate import evaluate

    began = time.monotonic()
    result = evaluate(
        _samples(n),
        "support",
        model={"model": "hosted_vllm/light", "api_base": url},
        out=Path(out),
        cache=False,
        concurrency=CONCURRENCY,
    )
    took = time.monotonic() - began
    return {"peak_mb": peak_mb(), "a_second": n / took, "n_judged": result.n_judged}


def _samples(n: int) -> Iterator[dict[str, Any]]:
    for number in range(n):
        sentence, passage = pair(number)
        contexts = [passage, *(pair(number + 10_000_019 * i)[1] for i in range(1, 5))]
        yield {
            "question": f"question {number}",
            "answer": f"{sentence.strip()} [1]",
            "contexts": contexts,
        }
