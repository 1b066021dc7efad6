"""The report page: what making it costs, and how fast a browser shows it."""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path
from typing import Any

from ..processes import measure
from ..tables import Bound, Report

SIZES = {"small": (9, 30, 20), "whole": (45, 300, 20)}  # runs, topics, nuggets of each
UNJUDGED, UNJUDGED_SMOKE = 1_000_000, 20_000  # rows of a list
TIMES = 5  # a time is the median of so many
# ms in a browser; what making a page takes; megabytes beside texts.
LIMITS = {"ready": 1000, "sort": 100, "topic": 200, "answer": 200, "filter": 100}
MAKE_S, BESIDE_TEXTS_MB = 60, 1
LOADED = 3  # what times may take when the machine has other work too


def bench(is_smoke: bool) -> Report:
    """Pages of made-up results, each made in a process of its own; opened in Chromium if any."""
    names = ["small"] if is_smoke else list(SIZES)
    n_list = UNJUDGED_SMOKE if is_smoke else UNJUDGED
    rows = [("page", "made in CPU s", "peak MB", "MB beside texts", "MB of texts", *LIMITS)]
    bounds, notes, made = [], [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name in [*names, "list"]:
            home = Path(folder) / name
            sizes = (3, 4, 5) if name == "list" else SIZES[name]
            n_rows = n_list if name == "list" else 0
            measure("report.make", step="results", home=str(home), sizes=sizes, n_unjudged=n_rows)
            made[name] = measure("report.make", step="page", home=str(home))
            seen = measure("report.view", path=str(home / "report.html"), times=TIMES)
            rows.append(_row(_label(name, n_list), made[name], seen))
            bounds += _bounds(_label(name, n_list), made[name], seen, is_smoke)
            if not seen:
                notes.append("Times in a browser: `make test-browser` makes its environment.")
    return Report(f"the report page, times as medians of {TIMES}", rows, bounds, notes[:1])


def _label(name: str, n_list: int) -> str:
    if name == "list":
        return f"{n_list:,} unjudged"
    n_runs, n_topics, n_nuggets = SIZES[name]
    return f"{n_runs * n_topics * n_nuggets:,} cells"


def _row(name: str, made: dict[str, float], seen: dict[str, Any]) -> tuple[str, ...]:
    times = (f"{statistics.median(seen[what]):.0f} ms" if seen.get(what) else "" for what in LIMITS)
    sizes = (made["cpu_s"], made["peak_mb"], made["beside_mb"], made["texts_mb"])
    return (name, *(f"{value:,.1f}" for value in sizes), *times)


def _bounds(name: str, made: dict[str, float], seen: dict[str, Any], is_smoke: bool) -> list[Bound]:
    bounds = [Bound(f"{name}: made in", made["cpu_s"], MAKE_S, "CPU s")]
    if "cells" in name:
        bounds.append(Bound(f"{name}: beside texts", made["beside_mb"], BESIDE_TEXTS_MB, "MB"))
    for what, limit in LIMITS.items():
        if seen.get(what):
            at_most = limit * (LOADED if is_smoke else 1)
            bounds.append(Bound(f"{name}: {what}", statistics.median(seen[what]), at_most, "ms"))
    return bounds
