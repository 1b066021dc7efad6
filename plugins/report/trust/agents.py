"""What agents did: how items ended, each step of an item, and whether hunts were saturated."""

from __future__ import annotations

import base64
import gzip
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from ....programs.analysis.traces.reading import traces_of
from ....programs.protocols.evidence.program import FILE as EVIDENCE
from ....programs.protocols.nuggets.hunting import HUNT
from ....records.reading.lines import json_lines
from ....records.reading.problems import Problems
from ....records.support import NOT_SOUGHT, OUTCOMES, read_sentence_evidence
from ....records.traces import TRACE, ItemTrace
from ..columns import MOST_BYTES, Column
from ..source import Source

_SHOWN = ("path", "kind", "name", "args", "in", "out", "tokens", "because", "reason")
_SHORT = ("stage", "outcome", "reason", "topic", "run", "item", "steps", "replies", "tokens")


def data(source: Source) -> Mapping[str, Any] | None:
    """None where no agent was at work."""
    rows, packed = [], []
    for path in source.paths:
        if (path / TRACE).is_file():
            for trace in traces_of(path):
                rows.append(_row(source, path, trace))
                packed.append(_packed(trace))
    hunts = [hunt for path in source.paths for hunt in _hunts(path)]
    evidence = [row for path in source.paths for row in _evidence(source, path)]
    if not (rows or hunts or evidence):
        return None
    ends = Counter((row["stage"], row["outcome"], row["reason"]) for row in rows)
    is_shown = _shown(rows, packed)
    return {
        "count": len(rows),
        "ends": [
            {"stage": stage, "outcome": outcome, "reason": reason, "n": n}
            for (stage, outcome, reason), n in ends.most_common()
        ],
        "columns": {name: Column(r[name] for r in rows).packed() for name in (*_SHORT, "results")},
        "steps": [text if is_in else None for text, is_in in zip(packed, is_shown, strict=True)],
        "n_left": len(is_shown) - sum(is_shown),
        "hunts": hunts,
        "evidence": {"outcomes": [*OUTCOMES, NOT_SOUGHT, "unjudged"], "runs": evidence},
    }


def _row(source: Source, path: Path, trace: ItemTrace) -> dict[str, Any]:
    run = trace.ids.get("run_id")
    topic = trace.ids.get("topic_id")
    return {
        "stage": trace.stage,
        "outcome": trace.outcome,
        "reason": trace.reason,
        "topic": None if topic is None else str(topic),
        "run": None if run is None else source.shown_run(path, str(run)),
        "item": trace.name,
        "steps": len(trace.steps) - 1,
        "replies": sum(len(step.get("replies", ())) for step in trace.steps),
        "tokens": sum(sum(step.get("tokens", ())) for step in trace.steps),
        "results": str(path),
    }


def _packed(trace: ItemTrace) -> str:
    """Its steps, without the agent itself, as base64 of gzip of JSON."""
    steps = [{name: step[name] for name in _SHOWN if name in step} for step in trace.steps[1:]]
    return base64.b64encode(gzip.compress(orjson.dumps(steps), 6, mtime=0)).decode()


def _shown(
    rows: Sequence[Mapping[str, Any]], packed: Sequence[str], most: int = MOST_BYTES
) -> list[bool]:
    """Which items' steps the page holds: those without an outcome first, as far as they fit."""
    fits, left = [False] * len(rows), most
    for i in sorted(range(len(rows)), key=lambda i: rows[i]["reason"] is None):
        if len(packed[i]) <= left:
            fits[i] = True
            left -= len(packed[i])
    return fits


def _hunts(path: Path) -> Iterator[dict[str, Any]]:
    if not (path / HUNT).is_file():
        return
    problems = Problems()
    for _, row in json_lines(path / HUNT, problems):
        names = ("topic_id", "stop", "new", "nuggets", "calls")
        yield {**{name: row.get(name) for name in names}, "folder": path.name}
    problems.raise_errors()


def _evidence(source: Source, path: Path) -> Iterator[dict[str, Any]]:
    """Sentences by run and outcome."""
    if not (path / EVIDENCE).is_file():
        return
    problems, counts = Problems(), dict[str, Counter[str]]()
    for row in read_sentence_evidence(path / EVIDENCE, problems):
        counts.setdefault(row.run_id, Counter())[row.outcome or "unjudged"] += 1
    problems.raise_errors()
    for run_id, counted in counts.items():
        yield {"run": source.shown_run(path, run_id), "n": counted.total(), "counts": counted}
