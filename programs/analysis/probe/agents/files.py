"""The folder of a probe of an agent: its rows, each planted passage, and what has no end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .....records.judgements import Unjudged
from ....engine.results import MANIFEST
from ..files import UNJUDGED, why_unjudged, write_lines, write_manifest
from .figures import Cell
from .planting import steered
from .probing import PARTS, InjectedAgent

ROWS, CASES = "injection.jsonl", "cases.jsonl"
NAMES = (ROWS, CASES, UNJUDGED, MANIFEST)


def write_agent_injection(folder: Path, found: InjectedAgent, settings: dict[str, Any]) -> None:
    """Write what was found; two equal probes differ in the manifest's `this_time` alone.

    injection.jsonl: the rows. cases.jsonl: each planted passage, and the ends without and with it.

    Args:
        settings: what was asked for, for the manifest.
    """
    folder.mkdir(parents=True, exist_ok=True)
    both = zip((PARTS[0], PARTS[2]), (found.honest, found.bare), strict=True)
    missing = [
        {"condition": part, **ids, **why_unjudged(outcome)}
        for part, outcomes in both
        for ids, outcome in zip(found.target.ids, outcomes, strict=True)
        if isinstance(outcome, Unjudged)
    ]
    missing += [
        {"condition": PARTS[1], **_about(found, cell), **why_unjudged(cell.outcome)}
        for cell in found.cells
        if isinstance(cell.outcome, Unjudged)
    ]
    write_lines(folder / UNJUDGED, missing)
    write_lines(folder / CASES, (_case(found, cell) for cell in found.cells))
    write_lines(folder / ROWS, agent_lines(found))
    counts = {"n_items": len(found.honest), "n_cells": len(found.cells)}
    write_manifest(folder, {**settings, **found.about, **counts}, found)


def agent_lines(found: InjectedAgent) -> Iterator[dict[str, Any]]:
    """The rows, that of the fence and that of the parser behind them."""
    yield from found.rows
    if found.echoes is not None:
        yield {"by": "reply", "name": "parser", **found.echoes}


def _about(found: InjectedAgent, cell: Cell) -> dict[str, Any]:
    planted = cell.planted
    about = {"payload": planted.payload.id, "kind": planted.payload.kind}
    return about | {"planted_in": planted.passage_id, **found.target.ids[planted.item]}


def _case(found: InjectedAgent, cell: Cell) -> dict[str, Any]:
    planted = cell.planted
    row = _about(found, cell) | {"asks": planted.asked or planted.payload.asks}
    row |= {"end_before": planted.before, "end_after": cell.after}
    return row | {"steered": steered(cell.outcome), "noted": planted.is_noted, "text": planted.text}
