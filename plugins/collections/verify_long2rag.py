"""`judge build long2rag DIR --verified SHEET`: people's verdicts on key points are applied."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from ...programs.engine.making import DATASHEET, STATISTICS
from ...programs.engine.manifest import read_manifest
from ...programs.engine.results import MANIFEST, pretty
from ...records.key_points import read_key_point_sets
from ...records.kinds import Cell, LabelFile
from ...records.reading.lines import hash_file
from ...records.reading.problems import InputError, Problems
from ...records.topics import read_topics
from ...records.writing import rename, write_file
from .long2rag_datasheet import long2rag_datasheet
from .thresholds import list_thresholds
from .verification import (
    KEY_POINT,
    KEY_POINTS,
    PROGRAM,
    REJECTED,
    UNVERIFIED,
    fate,
    read_verification,
    retention,
)

BY_PEOPLE = "people"  # the reason for a rejected point


def verify_long2rag(folder: Path, sheets: Sequence[Path]) -> dict[str, Any]:
    """Drop the key points that people rejected; the manifest, with how many are left.

    Key points without a verdict on both tasks stay, and count as open. Called again, it starts
    from the key points as they were before people.

    Args:
        folder: of a finished build. sheets: see `read_verification`.

    Raises: InputError for a folder without key points, with file:line for each bad row.
    """
    manifest = read_manifest(folder, PROGRAM)
    is_first = not (folder / UNVERIFIED).is_file()
    before = folder / (KEY_POINTS if is_first else UNVERIFIED)
    if not before.is_file():
        raise InputError(f"{folder}: has no key points yet; build them first (--documents)")
    problems = Problems()
    sets = read_key_point_sets(before, problems)
    topics = read_topics(folder / "topics.jsonl", problems)
    known = {(name, point.id) for name, of in sets.items() for point in of.key_points}
    labels = read_verification(sheets, known, problems)
    problems.raise_errors()
    manifest["statistics"]["verification"] = retention(labels, known, topics)
    scores: dict[Cell, float] = {
        (row["qid"], point["id"]): point["score"]
        for row in _rows(before)
        for point in row["key_points"]
        if point.get("score") is not None
    }
    thresholds = list_thresholds(scores, labels[KEY_POINT])
    lowest = {"lowest_score": min(scores.values(), default=None)}
    manifest["statistics"]["verification"] |= {"thresholds": thresholds, **lowest}
    manifest["verified_with"] = {str(sheet): hash_file(sheet) for sheet in sheets}
    kept, rejected = _divide(before, labels)
    others = [row for row in _rows(folder / REJECTED) if row["why"] != BY_PEOPLE]
    files = {UNVERIFIED: before.read_bytes(), KEY_POINTS: _lines(kept)}
    files |= {REJECTED: _lines([*others, *rejected]), STATISTICS: pretty(manifest["statistics"])}
    files |= {DATASHEET: long2rag_datasheet(manifest).encode(), MANIFEST: pretty(manifest)}
    for name, content in files.items():
        write_file(folder / f"{name}.part", content)
    for name in files:  # the key points before people first: a kill loses none
        rename(folder / f"{name}.part", folder / name)
    return manifest


def _divide(
    before: Path, labels: Mapping[str, LabelFile]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The rows of the key points that stay, and a row for each that people rejected."""
    kept, rejected = [], []
    for row in _rows(before):
        query = {"qid": row["qid"], "query": row["query"]}
        stay = []
        for point in row["key_points"]:
            cell = (row["qid"], point["id"])
            if fate(labels, cell) != "rejected":
                stay.append(point)
                continue
            verdicts = {task: of.cells.get(cell) for task, of in labels.items()}
            rejected.append({**query, **point, "why": BY_PEOPLE, **verdicts})
        kept.append({**row, "key_points": stay})
    return kept, rejected


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    return map(orjson.loads, filter(bytes.strip, path.read_bytes().splitlines()))


def _lines(rows: Sequence[Mapping[str, Any]]) -> bytes:
    return b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
