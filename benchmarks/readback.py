"""Scores from 1,000,000 stored judgements: time and memory of reading them at the end of a run.

Like `judge score`, a run computes scores from the files that it wrote. Here the files are written
without a run: `support.jsonl` with one judged citation per line, and `assignments.jsonl` with one
answer and its ten nuggets per line. Each file, and a tenth of it, is scored in its own process.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

from .processes import Clock, measure, peak_mb
from .tables import Report

JUDGEMENTS, JUDGEMENTS_SMOKE = 1_000_000, 50_000
RUNS, EACH = 50, 10  # judgements of one answer
FILES = ("support.jsonl", "assignments.jsonl")


def bench(is_smoke: bool) -> Report:
    """Each file, a tenth of it and all, in a process of its own."""
    n = JUDGEMENTS_SMOKE if is_smoke else JUDGEMENTS
    rows: list[tuple[str, ...]] = [("file", "judgements", "MB", "CPU s", "seconds", "peak MB")]
    notes = []
    with tempfile.TemporaryDirectory() as folder:
        for name in FILES:
            by_size = {}
            for size in (n // 10, n):
                path = Path(folder) / str(size) / name
                measure("readback", step="write", path=str(path), n=size)
                by_size[size] = measure("readback", step="score", path=str(path), n=size)
                rows.append(_row(path, size, by_size[size]))
                path.unlink()
            growth = (by_size[n]["peak_mb"] - by_size[n // 10]["peak_mb"]) * 1e6 / (n - n // 10)
            notes.append(
                f"{name}: {by_size[n]['cpu_us']:.0f} CPU us and {growth:.0f} bytes of memory each."
            )
    return Report(f"scores of {n:,} stored judgements of {RUNS} runs", rows, [], notes)


def main(step: str, path: str, n: int) -> dict[str, float]:
    """Take one step in this process: write a file of n judgements, or score it."""
    return {"write": _write, "score": _score}[step](Path(path), n)


def _row(path: Path, n: int, figures: dict[str, float]) -> tuple[str, ...]:
    size = path.stat().st_size / 1e6
    cpu, wall = figures["cpu_us"] * n / 1e6, n / figures["a_second"]
    return (path.name, f"{n:,}", f"{size:.0f}", f"{cpu:.1f}", f"{wall:.1f}",
            f"{figures['peak_mb']:.0f}")  # fmt: skip


def _write(path: Path, n: int) -> dict[str, float]:
    path.parent.mkdir(exist_ok=True)
    rows = {"support.jsonl": _citations, "assignments.jsonl": _assignments}[path.name]
    with path.open("w", encoding="utf-8") as stream:
        for topic in range(n // (RUNS * EACH)):
            for run in range(RUNS):
                for row in rows(topic, run):
                    stream.write(json.dumps(row) + "\n")
    return {}


def _citations(topic: int, run: int) -> list[dict[str, Any]]:
    ids = {"run_id": f"run{run:02}", "topic_id": str(topic)}
    labels = (("full", 1.0), ("partial", 0.5), ("none", 0.0))
    return [
        {**ids, "sentence": i, "citation": f"d{topic}-{i}", "rank": 0,
         "label": labels[(i + run) % 3][0], "weight": labels[(i + run) % 3][1]}
        for i in range(EACH)
    ]  # fmt: skip


def _assignments(topic: int, run: int) -> list[dict[str, Any]]:
    labels = ("support", "partial_support", "not_support")
    nuggets = [
        {"text": f"the {i}. fact of topic {topic}", "importance": ("vital", "okay")[i % 2],
         "assignment": labels[(i + run) % 3]}
        for i in range(EACH)
    ]  # fmt: skip
    row = {"query": f"question {topic}", "qid": str(topic), "answer_text": "word " * 300}
    return [{**row, "response_length": 300, "run_id": f"run{run:02}", "nuggets": nuggets}]


def _score(path: Path, n: int) -> dict[str, float]:
    from nuggetjudge.programs.scoring.score import score_path
    from nuggetjudge.records import Problems

    clock = Clock()
    rows = score_path(path, Problems())
    spent = clock.spent(n)
    if len({row.run_id for row in rows}) < RUNS:
        raise AssertionError(f"{path}: scores of too few runs")
    return spent | {"peak_mb": peak_mb()}
