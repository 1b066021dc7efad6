"""The folder of an injection probe: its rows, each planted text, and the labels of honest items."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .....records.judgements import Unjudged
from ....engine.results import MANIFEST
from ..files import LABELS, UNJUDGED, why_unjudged, write_labels, write_lines, write_manifest
from .figures import Cell
from .probing import PLANTED, Injected

ROWS, CASES = "injection.jsonl", "cases.jsonl"
NAMES = (ROWS, CASES, UNJUDGED, LABELS, MANIFEST)


def write_injection(folder: Path, found: Injected, settings: dict[str, Any]) -> None:
    """Write what was found; two equal probes differ in the manifest's `this_time` alone.

    injection.jsonl: the rows. cases.jsonl: each cell with its payload, the text it stands in, and
    both labels. labels/CONDITION.jsonl: of the honest items, as the judge is and without each
    guard. unjudged.jsonl: why, and the raw reply.

    Args:
        settings: what was asked for, for the manifest.
    """
    missing = write_labels(folder, found.items, found.outcomes)
    missing += [
        {"condition": PLANTED, **_about(cell), **why_unjudged(cell.outcome)}
        for cell in found.cells
        if isinstance(cell.outcome, Unjudged)
    ]
    write_lines(folder / UNJUDGED, missing)
    write_lines(folder / CASES, map(_case, found.cells))
    write_lines(folder / ROWS, injection_lines(found))
    about = {
        **settings,
        **found.judge,
        "n_items": len(found.items),
        "n_cells": len(found.cells),
    }
    write_manifest(folder, about, found)


def injection_lines(found: Injected) -> Iterator[dict[str, Any]]:
    """The rows of cells, of the parser, of guards and, behind them, what was skipped."""
    yield from found.rows
    yield from ({"by": "reply", "name": row["form"], **row} for row in found.echoes)
    yield from found.guards
    yield from ({"by": "guard", "name": s.name, "skipped": s.reason} for s in found.skipped)


def _about(cell: Cell) -> dict[str, Any]:
    payload = cell.case.payload
    return {"payload": payload.id, "kind": payload.kind, "place": cell.case.name, **cell.item.ids}


def _case(cell: Cell) -> dict[str, Any]:
    """One cell; `flipped` None: not judged."""
    after = cell.sides.after
    row = _about(cell) | {"asks": cell.asked, "label_before": cell.before, "label_after": after}
    row |= {"flipped": None if after is None else after == cell.asked}
    if cell.lexical is not None:
        row |= {"lexical_before": cell.lexical.before, "lexical_after": cell.lexical.after}
    return row | {"noted": cell.case.is_noted, "text": cell.case.text}
