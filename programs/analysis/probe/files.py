"""The folder of a probe: its rows, and each condition's labels as a label file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from ....judges.verdicts import Verdict
from ....records.reading.problems import InputError
from ...engine.results import MANIFEST
from .probe import Probed

ROWS, UNJUDGED, LABELS = "probe.jsonl", "unjudged.jsonl", "labels"


def check_probe_folder(folder: Path) -> None:
    """Raise InputError unless the folder is new, empty, or of an earlier probe."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, wanted a folder to write the probe to")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if other := sorted(names - {ROWS, UNJUDGED, LABELS, MANIFEST}):
        raise InputError(f"{folder}: holds {other[0]!r}, which no probe wrote; name another --out")


def write_probe(folder: Path, found: Probed, settings: dict[str, Any]) -> None:
    """Write what a probe found; two equal probes differ in the manifest's `this_time` alone.

    probe.jsonl: a row a condition, then those skipped. labels/CONDITION.jsonl: ids, label and
    what else the judge said, null where it did not; unjudged.jsonl: why, and the raw reply.

    Args:
        settings: what was asked for, for the manifest.
    """
    labels = folder / LABELS
    labels.mkdir(parents=True, exist_ok=True)
    for path in labels.glob("*.jsonl"):
        path.unlink()
    missing: list[dict[str, Any]] = []
    for name, outcomes in found.outcomes.items():
        rows = []
        for item, outcome in zip(found.items, outcomes, strict=True):
            if isinstance(outcome, Verdict):
                rows.append(item.ids | outcome.as_row())
                continue
            rows.append(item.ids | {"label": None})
            why = {"reason": outcome.reason, "detail": outcome.detail, "raw": outcome.raw}
            missing.append({"condition": name, **item.ids, **why})
        _write(labels / f"{name}.jsonl", rows)
    _write(folder / UNJUDGED, missing)
    _write(folder / ROWS, probe_lines(found))
    manifest = {
        **settings,
        **found.judge,
        "n_items": len(found.items),
        "n_unjudged": found.n_unjudged,
        "limit_reached": found.limit_reached or None,
        "this_time": {
            name: asdict(usage) | {"cost": usage.known_cost} for name, usage in found.spent.items()
        },
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    (folder / MANIFEST).write_bytes(orjson.dumps(manifest, option=options))


def probe_lines(found: Probed) -> list[dict[str, Any]]:
    """The rows of a probe and, behind them, what was skipped."""
    skipped = [{"condition": each.name, "skipped": each.reason} for each in found.skipped]
    return [*found.rows, *skipped]


def _write(path: Path, rows: Iterable[Any]) -> None:
    text = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    path.write_bytes(text)
