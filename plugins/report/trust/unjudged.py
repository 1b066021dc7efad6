"""What is missing, why, and what it could change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ....records.reading.lines import json_lines
from ....records.reading.problems import Problems
from ..columns import Column, Texts
from ..source import Source

_OWN_COLUMNS = ("stage", "topic_id", "run_id", "n", "reason", "detail", "raw")
_SHORT = ("stage", "reason", "topic", "run", "item", "n", "folder")
_MOST_RUNS = 20


def data(source: Source) -> Mapping[str, Any]:
    """Judgements that did not arrive, bounds of runs, and problems of the files."""
    counts: Counter[tuple[str, str]] = Counter()
    weights: Counter[tuple[str, str]] = Counter()
    columns, texts = {name: Column() for name in _SHORT}, Texts(("detail", "raw"))
    for path in source.paths:
        for row in _unjudged(source, path):
            counts[row["stage"], row["reason"]] += 1
            weights[row["stage"], row["reason"]] += row["n"]
            for name, column in columns.items():
                column.add(row[name])
            texts.add(row)
    packed, n_left = texts.packed()
    problems = _problems(source)
    return {
        "count": counts.total(),
        "n_judged": sum(result.n_judged for result in source.results),
        "reasons": [
            {"stage": stage, "reason": reason, "rows": n, "n": weights[stage, reason]}
            for (stage, reason), n in counts.most_common()
        ],
        "columns": {name: column.packed() for name, column in columns.items()} | packed,
        "n_left": n_left,
        "bounds": _bounds(source),
        "n_problems": len(problems),
        "problems": {
            name: Column(row[name] for row in problems).packed(key=str)
            for name in ("kind", "action", "at", "what", "folder")
        },
    }


def _unjudged(source: Source, path: Path) -> Iterator[dict[str, Any]]:
    for row in _rows(path / "unjudged.jsonl"):
        others = (
            value for key, value in row.items() if key not in _OWN_COLUMNS and value is not None
        )
        yield {
            **{name: row.get(name) for name in ("stage", "reason", "detail", "raw")},
            "n": row.get("n", 1),
            "topic": _text(row.get("topic_id")),
            "run": source.shown_run(path, row["run_id"]) if row.get("run_id") else None,
            "item": " ".join(map(str, others)) or None,
            "folder": path.name,
        }


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


def _problems(source: Source) -> list[dict[str, Any]]:
    names = ("kind", "action", "at", "what")
    return [
        {**{name: str(row.get(name, "")) for name in names}, "folder": path.name}
        for path in source.paths
        for row in _rows(path / "problems.jsonl")
    ]


def _bounds(source: Source) -> dict[str, Any]:
    """What the missing judgements could make of the means: the runs they could move most.

    Of each run its measure, of those a leaderboard shows, with the widest bounds.
    """
    widest: dict[str, dict[str, Any]] = {}
    for measure in source.measures:
        for run, rows in source.scores.rows[measure].items():
            row = rows.get("all")
            if row is None or not row.n_unjudged or row.low is None or row.high is None:
                continue
            width = row.high - row.low
            if run not in widest or width > widest[run]["width"]:
                widest[run] = {
                    "run": run,
                    "measure": measure,
                    **{"value": row.value, "low": row.low, "high": row.high, "width": width},
                    "n_unjudged": row.n_unjudged,
                    "n": row.n,
                }
    widest_first = sorted(widest.values(), key=lambda row: -row["width"])
    return {"n": len(widest_first), "runs": widest_first[:_MOST_RUNS]}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; none where there is none, as in older folders."""
    if path.is_file():
        problems = Problems()
        for _, row in json_lines(path, problems):
            yield row
        problems.raise_errors()
