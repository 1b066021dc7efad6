"""The folder of a probe: its rows, what was planted, and label files by condition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson

from ....judges.verdicts import Verdict
from ....records.reading.problems import InputError
from ....records.writing import own_folder, remove, write_file
from ...engine.results import MANIFEST
from .result import CASES, LABELS, UNJUDGED, ProbeResult, Row, why_unjudged


def check_probe_folder(folder: Path, kind: type[ProbeResult]) -> None:
    """Raise InputError unless the folder is new, empty, or of an earlier probe of this kind."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, wanted a folder to write the probe to")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if other := sorted(names - {*kind.names}):
        raise InputError(f"{folder}: holds {other[0]!r}, which no probe wrote; name another --out")


def write_probe(folder: Path, result: ProbeResult, settings: dict[str, Any]) -> None:
    """Write the result of a probe; two equal probes differ in the manifest's `this_time` alone.

    labels/CONDITION.jsonl: ids, label and what else the judge gave, null where it did not, no row
    where it was not asked; cases.jsonl: each planted text and what became of it; unjudged.jsonl:
    why, and the raw reply. The manifest, the last of the files, says what is there, what is missing
    and what it took.

    Args:
        settings: what was asked for, for the manifest.
    """
    remove(folder / MANIFEST)  # it is of the rows before
    missing = _write_labels(own_folder(folder / LABELS), result) if LABELS in result.names else []
    _write_lines(folder / UNJUDGED, [*missing, *result.missing()])
    if CASES in result.names:
        _write_lines(folder / CASES, result.cases())
    _write_lines(folder / result.names[0], result.lines())
    manifest = {
        **settings,
        **result.about(),
        "n_unjudged": result.n_unjudged,
        "limit_reached": result.limit_reached or None,
        "this_time": {
            name: asdict(usage) | {"cost": usage.known_cost} for name, usage in result.spent.items()
        },
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    write_file(folder / MANIFEST, orjson.dumps(manifest, option=options))


def _write_labels(labels: Path, result: ProbeResult) -> list[Row]:
    """Write a label file for each condition, and return the rows of what is missing."""
    for path in labels.glob("*.jsonl"):
        remove(path)
    missing: list[Row] = []
    for name, of_items in result.outcomes.items():
        rows: list[Row] = []
        for item, outcome in zip(result.items, of_items, strict=True):
            if isinstance(outcome, Verdict):
                rows.append(item.ids | outcome.as_row())
            elif outcome is not None:
                rows.append(item.ids | {"label": None})
                missing.append({"condition": name, **item.ids, **why_unjudged(outcome)})
        _write_lines(labels / f"{name}.jsonl", rows)
    return missing


def _write_lines(path: Path, rows: Iterable[Any]) -> None:
    text = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    write_file(path, text)
