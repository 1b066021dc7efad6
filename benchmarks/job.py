"""A shared task of 301 topics and 146 runs at 1% of its size: estimated, judged, extrapolated.

`judge run nuggets,support` makes nuggets from 20 relevant candidates per topic, assigns them to
every answer and judges every citation, at an endpoint that sometimes fails (as in W6). The estimate
of `--dry-run` is compared with the requests that the endpoint counted.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from .client import SAYS
from .faults import EVERY, REASKS, TIMEOUT_S
from .processes import Clock, light_server, measure, peak_mb
from .tables import Bound, Report
from .texts import write_collection

TOPICS, RUNS = 301, 146
PART, PART_SMOKE = 3, 1  # topics; 3 of 301 are 1 %
RUNS_SMOKE = 20
MAX_OFF = 0.10  # of the forecast, by the requests made
_TEN = [str(number) for number in range(1, 11)]
REPLIES = {  # by the name of the schema that is asked for
    "UpdateNuggets": json.dumps({"updated": [f"the {n}. fact of it" for n in range(30)]}),
    "RateImportance": json.dumps({"importance": dict.fromkeys(_TEN, "vital")}),
    "AssignNuggets": SAYS["assign"],
}


def bench(is_smoke: bool) -> Report:
    """Forecast and run, each in a process of its own."""
    n_topics, n_runs = (PART_SMOKE, RUNS_SMOKE) if is_smoke else (PART, RUNS)
    with (
        tempfile.TemporaryDirectory() as name,
        light_server(SAYS["support"], replies=REPLIES, fault_every=EVERY) as server,
    ):
        write_collection(Path(name), n_topics, n_runs)
        plan = measure("job", step="plan", folder=name, url=server.url)
        if server.stats()["requests"]:
            raise AssertionError("the forecast asked something")
        ran = measure("job", step="run", folder=name, url=server.url)
        made = server.stats()["requests"]
    whole = TOPICS * RUNS / (n_topics * n_runs)
    off = abs(plan["calls"] / made - 1)
    rows = [
        ("figure", f"{n_topics} topics x {n_runs} runs", f"{TOPICS} x {RUNS}, extrapolated"),
        _row("calls, forecast", plan["calls"], whole),
        _row("requests, made", made, whole),
        _row("prompt tokens, forecast", plan["prompt_tokens"], whole),
        _row("of them in a shared prefix", plan["cached_tokens"], whole),
        _row("reply tokens, forecast", plan["completion_tokens"], whole),
        _row("judged", ran["n_judged"], whole),
        _row("client CPU, seconds", ran["cpu_s"], whole),
        ("peak memory, MB", f"{ran['peak_mb']:.0f}", "not extrapolated"),
    ]
    return Report(
        "a shared task from nuggets to scores, in one process",
        rows,
        [Bound("forecast off by", 100 * off, 100 * MAX_OFF, "%")],
    )


def main(step: str, folder: str, url: str) -> dict[str, Any]:
    """Forecast or run in this process."""
    base = Path(folder)
    settings = {
        "program": ["nuggets", "support"],
        "topics": str(base / "topics.tsv"),
        "passages": str(base / "passages.jsonl"),
        "candidates": str(base / "candidates.jsonl"),
        "qrels": str(base / "qrels.txt"),
        "runs": str(base / "runs"),
        "models.default": {
            "model": "hosted_vllm/light",
            "api_base": url,
            "timeout_s": TIMEOUT_S,
            "reasks": REASKS,
            "concurrency": 256,
        },
        "out": str(base / "results"),
        "cache": str(base / "replies"),
        "concurrency": 256,
    }
    return _plan(settings) if step == "plan" else _run(settings)


def _plan(settings: dict[str, Any]) -> dict[str, Any]:
    from nuggetjudge.programs.config.reading import load_config, name_settings
    from nuggetjudge.programs.run import plan

    estimates = plan(load_config(None, name_settings(settings)))
    names = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")
    return {name: sum(getattr(estimate, name) for estimate in estimates) for name in names}


def _run(settings: dict[str, Any]) -> dict[str, Any]:
    from nuggetjudge.evaluation.evaluate import run

    clock = Clock()
    result = run(**settings)
    if result.n_unjudged:
        raise AssertionError(f"{result.n_unjudged} unjudged: {result.unjudged[0]}")
    cpu_s = clock.spent(1)["cpu_us"] / 1e6
    return {"n_judged": result.n_judged, "cpu_s": cpu_s, "peak_mb": peak_mb()}


def _row(name: str, value: float, whole: float) -> tuple[str, str, str]:
    digits = 1 if isinstance(value, float) else 0
    return (name, f"{value:,.{digits}f}", f"{value * whole:,.0f}")
