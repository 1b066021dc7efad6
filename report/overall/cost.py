"""What did it cost: judgements and requests by stage, tokens by model, dollars where known."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...programs.scoring.result import Result
from ...records.reading.lines import json_lines
from ...records.reading.problems import Problems
from ..source import Source

SPEND = "spend.jsonl"  # a row a stage and start
_SUMS = ("requests", "cache_hits", "prompt_tokens", "cached_tokens", "completion_tokens", "cost")


def data(source: Source) -> Mapping[str, Any]:
    """By folder: `stages` (judgements and calls), `spend` (requests and tokens by stage, over all
    starts), `models` (tokens of all replies in the results), `last` and `agents`."""
    return {"folders": [_folder(result) for result in source.results]}


def _folder(result: Result) -> dict[str, Any]:
    manifest = result.manifest
    calls = manifest.get("calls", {})
    names = dict.fromkeys((*manifest["judged"], *manifest["unjudged"], *calls))
    spend = spent_by_stage(result.folder)
    return {
        "folder": str(result.folder),
        "stages": [
            {
                "stage": name,
                "judged": manifest["judged"].get(name, 0),
                "unjudged": manifest["unjudged"].get(name, 0),
                "calls": calls.get(name),
            }
            for name in names
        ],
        "spend": list(spend.values()),
        "n_starts": len({row.get("start") for row in _spend_rows(result.folder)}),
        "models": [
            {"model": name, **dict(tokens)}
            for name, tokens in manifest.get("tokens_by", {}).items()
        ],
        "last": manifest.get("this_time", {}),
        "agents": [
            {"stage": stage, "items": of["items"], "calls": of["calls"], "tokens": of["tokens"],
             "most": of["most"]}
            for stage, of in manifest.get("agents", {}).items()
        ],
    }  # fmt: skip


def spent_by_stage(folder: Path) -> dict[str, dict[str, Any]]:
    """By stage what was spent over all starts; a cost is None as soon as one is unknown."""
    found: dict[str, dict[str, Any]] = {}
    for row in _spend_rows(folder):
        stage = str(row.get("stage"))
        of = found.setdefault(stage, {"stage": stage, **dict.fromkeys(_SUMS, 0)})
        for name in _SUMS:
            value = row.get(name, 0)
            of[name] = None if value is None or of[name] is None else of[name] + value
    return found


def _spend_rows(folder: Path) -> list[dict[str, Any]]:
    path = folder / SPEND
    return [row for _, row in json_lines(path, Problems())] if path.is_file() else []


def totals(source: Source) -> dict[str, str]:
    """What all of it cost, in words, and what that leaves out."""
    dollars: list[float | None] = []
    is_whole = True
    for result in source.results:
        spend = spent_by_stage(result.folder)
        if spend:
            costs = [row["cost"] for row in spend.values()]
            dollars.append(None if None in costs else sum(costs))
        else:
            dollars.append(result.manifest.get("this_time", {}).get("cost"))
            is_whole = False
    n = sum(sum(result.manifest.get("calls", {}).values()) for result in source.results)
    known = [one for one in dollars if one is not None]
    text = f"$ {sum(known):,.2f}" if len(known) == len(dollars) else "not known"
    if known and not sum(known):
        text = "nothing"
    note = f"{n:,} questions asked of judges"
    return {"text": text, "note": note if is_whole else f"{note}; money of the last start alone"}
