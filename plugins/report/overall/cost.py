"""What did it cost: judgements and requests by stage, tokens by model, dollars where known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ....programs.engine.folders.spending import Spent, cost_in_all, read_spending
from ....programs.scoring.result import Result
from ..source import Source

_SUMS = ("requests", "cache_hits", "prompt_tokens", "cached_tokens", "completion_tokens", "cost")


def data(source: Source) -> Mapping[str, Any]:
    """By folder: `stages` (judgements and calls), `spend` (requests and tokens by stage, over all
    starts), `models` (tokens of all replies in the results), `last` and `agents`."""
    return {"folders": [_folder(result, source.named(result.folder)) for result in source.results]}


def _folder(result: Result, named: Path) -> dict[str, Any]:
    manifest = result.manifest
    calls = manifest.get("calls", {})
    names = dict.fromkeys((*manifest["judged"], *manifest["unjudged"], *calls))
    rows = read_spending(result.folder)
    return {
        "folder": str(named),
        "stages": [
            {
                "stage": name,
                "judged": manifest["judged"].get(name, 0),
                "unjudged": manifest["unjudged"].get(name, 0),
                "calls": calls.get(name),
            }
            for name in names
        ],
        "spend": list(spent_by_stage(rows).values()),
        "n_starts": len({row["start"] for row in rows}),
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


def spent_by_stage(rows: Iterable[Spent]) -> dict[str, dict[str, Any]]:
    """By stage what was spent over all starts; a cost is None as soon as one is unknown."""
    by_stage: dict[str, dict[str, Any]] = {}
    for row in rows:
        of = by_stage.setdefault(row["stage"], {"stage": row["stage"], **dict.fromkeys(_SUMS, 0)})
        for name, value in row.items():
            if name in _SUMS:
                of[name] = None if value is None or of[name] is None else of[name] + value
    return by_stage


def total_cost(source: Source) -> float | None:
    """Dollars that all results cost, over all starts; None: not known."""
    dollars: list[float | None] = []
    for result in source.results:
        if rows := read_spending(result.folder):
            dollars.append(cost_in_all(rows))
        else:  # nothing was asked of a model, or the folder is older than the file
            dollars.append(result.manifest.get("this_time", {}).get("cost"))
    return None if None in dollars else sum(one for one in dollars if one is not None)
