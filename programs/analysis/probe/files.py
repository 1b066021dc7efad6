"""The folder of a probe: its rows, and each condition's labels as a label file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import orjson

from ....backends.budget import Usage
from ....judges.verdicts import Verdict
from ....records.judgements import Unjudged
from ....records.labels.items import ItemRow
from ....records.reading.problems import InputError
from ....records.writing.files import own_folder, remove, write_file
from ...engine.results import MANIFEST
from .figures import Outcome
from .probe import Probed

ROWS, UNJUDGED, LABELS = "probe.jsonl", "unjudged.jsonl", "labels"
NAMES = (ROWS, UNJUDGED, LABELS, MANIFEST)


def check_probe_folder(folder: Path, known: Collection[str] = NAMES) -> None:
    """Raise InputError unless the folder is new, empty, or of an earlier probe.

    Args:
        known: what such a probe writes.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, wanted a folder to write the probe to")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if other := sorted(names - {*known}):
        raise InputError(f"{folder}: holds {other[0]!r}, which no probe wrote; name another --out")


def write_probe(folder: Path, found: Probed, settings: dict[str, Any]) -> None:
    """Write what a probe found; two equal probes differ in the manifest's `this_time` alone.

    probe.jsonl: a row a condition, then effects and those skipped. labels/CONDITION.jsonl: ids,
    label and what else the judge said, null where it did not, no row where it was not asked;
    unjudged.jsonl: why, and the raw reply.

    Args:
        settings: what was asked for, for the manifest.
    """
    missing = write_labels(folder, found.items, found.outcomes)
    write_lines(folder / UNJUDGED, missing)
    write_lines(folder / ROWS, probe_lines(found))
    write_manifest(folder, {**settings, **found.judge, "n_items": len(found.items)}, found)


def write_labels(
    folder: Path, items: Sequence[ItemRow], outcomes: Mapping[str, Sequence[Outcome]]
) -> list[dict[str, Any]]:
    """Write labels/CONDITION.jsonl for each condition, and return the rows of what is missing.

    The manifest goes, as it is of the labels before.

    Args:
        outcomes: by condition, of each item.
    """
    remove(folder / MANIFEST)
    labels = own_folder(folder / LABELS)
    for path in labels.glob("*.jsonl"):
        remove(path)
    missing: list[dict[str, Any]] = []
    for name, of_items in outcomes.items():
        rows = []
        for item, outcome in zip(items, of_items, strict=True):
            if outcome is None:
                continue
            if isinstance(outcome, Verdict):
                rows.append(item.ids | outcome.as_row())
                continue
            rows.append(item.ids | {"label": None})
            missing.append({"condition": name, **item.ids, **why_unjudged(outcome)})
        write_lines(labels / f"{name}.jsonl", rows)
    return missing


class Found(Protocol):
    """What any kind of probe ends with."""

    @property
    def n_unjudged(self) -> int: ...
    @property
    def limit_reached(self) -> str: ...
    @property
    def spent(self) -> Mapping[str, Usage]: ...


def write_manifest(folder: Path, about: Mapping[str, Any], found: Found) -> None:
    """Write the manifest, the last of the files: what is there, what is missing, what it took."""
    manifest = {
        **about,
        "n_unjudged": found.n_unjudged,
        "limit_reached": found.limit_reached or None,
        "this_time": {
            name: asdict(usage) | {"cost": usage.known_cost} for name, usage in found.spent.items()
        },
    }
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    write_file(folder / MANIFEST, orjson.dumps(manifest, option=options))


def why_unjudged(outcome: Unjudged) -> dict[str, Any]:
    """The reason, what is wrong, and the raw reply."""
    return {"reason": outcome.reason, "detail": outcome.detail, "raw": outcome.raw}


def probe_lines(found: Probed) -> list[dict[str, Any]]:
    """The rows of a probe and, behind them, effects and what was skipped."""
    skipped = [{"condition": each.name, "skipped": each.reason} for each in found.skipped]
    return [*found.rows, *found.effects, *skipped]


def write_lines(path: Path, rows: Iterable[Any]) -> None:
    """Write JSON lines."""
    text = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    write_file(path, text)
