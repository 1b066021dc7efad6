"""What is missing, why, and what it could change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ...programs.scoring.result import Result
from ...records.reading.lines import json_lines
from ...records.reading.problems import Problems
from ..columns import column, fitting
from ..source import Source

_KNOWN = ("stage", "topic_id", "run_id", "n", "reason", "detail", "raw")
_MOST_RUNS = 20


def data(source: Source) -> Mapping[str, Any]:
    """Judgements that did not arrive, bounds of runs, and problems of the files."""
    rows = [row for path in source.paths for row in _unjudged(source, path)]
    counts = Counter((row["stage"], row["reason"]) for row in rows)
    weights: Counter[tuple[str, str]] = Counter()
    for row in rows:
        weights[row["stage"], row["reason"]] += row["n"]
    short = ("stage", "reason", "topic", "run", "item", "n", "folder")
    texts, n_left = fitting(rows, ("detail", "raw"))
    return {
        "count": len(rows),
        "n_judged": sum(result.n_judged for result in source.results),
        "reasons": [
            {"stage": stage, "reason": reason, "rows": n, "n": weights[stage, reason]}
            for (stage, reason), n in counts.most_common()
        ],
        "columns": {name: column([row[name] for row in rows]) for name in short} | texts,
        "n_left": n_left,
        "bounds": _bounds(source),
        "n_problems": len(problems := _problems(source)),
        "problems": {
            name: column([row[name] for row in problems], key=str)
            for name in ("kind", "action", "at", "what", "folder")
        },
    }


def _unjudged(source: Source, path: Path) -> Iterator[dict[str, Any]]:
    for row in _rows(path / "unjudged.jsonl"):
        others = (value for key, value in row.items() if key not in _KNOWN and value is not None)
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
    """What the missing judgements could make of the means: the runs they could move most."""
    found = [row for result in source.results for row in _of_result(source, result)]
    found.sort(key=lambda row: -row["width"])
    return {"n": len(found), "runs": found[:_MOST_RUNS]}


def _of_result(source: Source, result: Result) -> Iterator[dict[str, Any]]:
    """Of each run its measure, of those a leaderboard shows, with the widest bounds."""
    widest: dict[str, dict[str, Any]] = {}
    for row in result.scores:
        if row.topic_id != "all" or not row.n_unjudged or row.measure not in source.measures:
            continue
        low, high = row.low, row.high
        if low is None or high is None:
            continue
        if row.run_id not in widest or high - low > widest[row.run_id]["width"]:
            widest[row.run_id] = {
                "run": source.shown_run(result.folder, row.run_id),
                "measure": row.measure,
                **{"value": row.value, "low": low, "high": high, "width": high - low},
                "n_unjudged": row.n_unjudged,
                "n": row.n,
            }
    yield from widest.values()


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file; none where there is none, as in older folders."""
    if path.is_file():
        problems = Problems()
        for _, row in json_lines(path, problems):
            yield row
        problems.raise_errors()
