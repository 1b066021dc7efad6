"""W3: CPU of resuming a run in which every judgement is finished.

A first run of the support task asks the mock endpoint. Then new processes call `nuggetjudge.run`
with the same settings. They find every judgement in the journal or, if the results folder was
removed, every reply in the cache. Neither may send a request, and both must write the same bytes.

The bound applies to `judging again`: read the items from the run files and recognise each; with the
cache, also render its key, read the reply and write the judgement to the journal. Every run also
checks all inputs before, and writes results and scores after it; these are not included.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from .processes import cpu_s, light_server, measure, peak_mb
from .tables import Bound, Report
from .texts import SENTENCES, write_collection

RUNS = 50
MAX_CPU_S = {"journal": 1.0, "cache": 3.0}  # for 100,000 judgements
# The smoke size is compared with what asking took in it, on any machine: .06 and .23 when idle.
SMOKE_MOST_OF_ASKING = {"journal": 0.12, "cache": 0.36}
RESULTS = ("support.jsonl", "scores.jsonl", "unjudged.jsonl", "problems.jsonl")
PARTS = ("judging_s", "run_s", "process_s")


def bench(is_smoke: bool) -> Report:
    """One first run, then rounds of both kinds, each in a process of its own."""
    n_topics, n_rounds = (10, 3) if is_smoke else (200, 5)
    n = n_topics * RUNS * SENTENCES
    by_source: dict[str, list[dict[str, float]]] = {"journal": [], "cache": []}
    with tempfile.TemporaryDirectory() as name, light_server() as server:
        folder = Path(name)
        write_collection(folder, n_topics, RUNS)
        first = measure("resume", folder=name, url=server.url)
        results = _digests(folder)
        for _ in range(n_rounds):
            for source, rounds in by_source.items():
                if source == "cache":
                    shutil.rmtree(folder / "results")
                rounds.append(measure("resume", folder=name, url=server.url))
                if _digests(folder) != results:
                    raise AssertionError(f"other results from the {source}")
        n_requests = server.stats()["requests"]
    if n_requests != n or first["n_judged"] != n:
        raise AssertionError(f"{n_requests} requests for {n} judgements")
    again = {
        source: median(of["judging_s"] for of in rounds) for source, rounds in by_source.items()
    }
    if is_smoke:
        what, per, unit, most = "of what asking took", first["judging_s"], "x", SMOKE_MOST_OF_ASKING
    else:
        what, per, unit, most = "of 100,000", n / 100_000, "CPU s", MAX_CPU_S
    bounds = [
        Bound(f"judging again from the {source}, {what}", again[source] / per, most[source], unit)
        for source in by_source
    ]
    return Report(
        f"{n:,} finished judgements, median of {n_rounds} rounds",
        [
            ("CPU s", "judging again", "lowest-highest", "whole run", "with imports", "peak MB"),
            _row("first run, asking", [first]),
            *(_row(f"from the {source}", rounds) for source, rounds in by_source.items()),
        ],
        bounds,
        ["Nothing was asked again, and the same bytes were written.", ""],
    )


def main(folder: str, url: str) -> dict[str, float]:
    """Run the support program on the collection in this process."""
    from nuggetjudge.evaluation.evaluate import run
    from nuggetjudge.programs.engine import journal, session, stage

    judging_s = 0.0
    run_here = stage.run_here

    async def clocked(*arguments: Any) -> None:
        nonlocal judging_s
        began = cpu_s()
        await run_here(*arguments)
        judging_s += cpu_s() - began

    class Journal(journal.Journal):
        def __init__(self, *arguments: Any, **options: Any) -> None:
            nonlocal judging_s
            began = cpu_s()
            super().__init__(*arguments, **options)
            judging_s += cpu_s() - began

    vars(session).update(run_here=clocked, Journal=Journal)
    imported = cpu_s()
    base = Path(folder)
    result = run(
        program="support",
        topics=str(base / "topics.tsv"),
        runs=str(base / "runs"),
        passages=str(base / "passages.jsonl"),
        model={"model": "hosted_vllm/light", "api_base": url},
        out=str(base / "results"),
        cache=str(base / "replies"),
        concurrency=64,
    )
    ended = cpu_s()
    return {
        "judging_s": judging_s,
        "run_s": ended - imported,
        "process_s": ended,
        "peak_mb": peak_mb(),
        "n_judged": result.n_judged,
    }


def _row(name: str, rounds: list[dict[str, float]]) -> tuple[str, ...]:
    judging, whole, process = ([figures[part] for figures in rounds] for part in PARTS)
    peak = median(figures["peak_mb"] for figures in rounds)
    spread = f"{min(judging):.2f}-{max(judging):.2f}"
    times = (f"{median(judging):.2f}", spread, f"{median(whole):.2f}", f"{median(process):.2f}")
    return (name, *times, f"{peak:.0f}")


def _digests(folder: Path) -> list[str]:
    files = [folder / "results" / name for name in RESULTS]
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in files]
