"""What must hold of a finished run that faults have met, beside the same run without faults."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from nuggetjudge.records.judgements import Reason

from .runs import Ended, Home, judgements_of, manifest_of, rows_of
from .table import Row

REASONS = {reason.value for reason in Reason}
NEAR = 1e-9
Cell = tuple[str, str, str]


def check_run(row: Row, folder: Path, whole: Path, ended: Ended, *, is_fixed: bool) -> bool:
    """Note what is broken; whether there are results at all.

    Args:
        whole: the folder of the run without faults.
        is_fixed: both must judge the same things.
    """
    manifest = manifest_of(folder)
    if manifest is None:
        row.other.append(f"{folder.name}: exit {ended.code} without results: {ended.err[-400:]}")
        return False
    judged, unjudged = sum(manifest["judged"].values()), sum(manifest["unjudged"].values())
    is_missing = manifest["share_missing"] > manifest["config"]["run"]["allow_missing"]
    if ended.code != (3 if is_missing else 0):
        row.other.append(f"{folder.name}: exit {ended.code} with {unjudged} unjudged")
    listed = rows_of(folder / "unjudged.jsonl")
    if sum(lost["n"] for lost in listed) != unjudged:
        row.other.append(f"{folder.name}: unjudged.jsonl does not list {unjudged} judgements")
    for lost in listed:
        if lost["reason"] not in REASONS or not lost["detail"]:
            row.other.append(f"{folder.name}: unjudged without a reason: {lost}")
    if is_fixed:
        before = manifest_of(whole)
        wanted = sum(before["judged"].values()) + sum(before["unjudged"].values())
        if judged + unjudged != wanted:
            row.silent.append(f"{folder.name}: {judged} + {unjudged} of {wanted} judgements")
    row.silent += other_judgements(folder, whole)
    row.silent += outside_bounds(folder / "scores.jsonl", whole / "scores.jsonl")
    return True


def count(row: Row, folder: Path) -> None:
    """Count what was judged and what was not."""
    manifest = manifest_of(folder)
    row.judged += sum(manifest["judged"].values())
    row.unjudged.update(manifest["unjudged_by_reason"])


def other_judgements(folder: Path, whole: Path) -> list[str]:
    """Judgements that are not those of the run without faults, though the same was asked."""
    known = {name: row["v"] for name, row in judgements_of(whole) if "v" in row}
    return [
        f"{folder.name}: {name}: {row['v']}, without faults {known[name]}"
        for name, row in judgements_of(folder)
        if "v" in row and name in known and row["v"] != known[name]
    ]


def outside_bounds(scores: Path, whole: Path) -> list[str]:
    """Scores whose bounds do not hold the value that they have without faults.

    A score without bounds must say that something is missing, and so must one that is not there.
    """
    scored, wanted = _by_cell(scores), _by_cell(whole)
    lost = []
    for cell, true in wanted.items():
        row = scored.get(cell)
        if row is None:
            lost.append(f"{scores.parent.name}: {'/'.join(cell)}: no row, {_as_text(true)}")
        elif not _holds(row, true["value"]):
            lost.append(
                f"{scores.parent.name}: {'/'.join(cell)}: {_as_text(row)}; {_as_text(true)}"
            )
    return lost


def _holds(row: dict[str, Any], true: float | None) -> bool:
    low, high, is_whole = row["low"], row["high"], not row["n_unjudged"]
    if true is None or low is None or high is None:
        return row["value"] == true if is_whole else True
    if is_whole and not math.isclose(low, high, abs_tol=NEAR):
        return False
    return bool(low - NEAR <= true <= high + NEAR)


def _as_text(row: dict[str, Any]) -> str:
    return json.dumps({name: row[name] for name in ("value", "low", "high", "n", "n_unjudged")})


def _by_cell(path: Path) -> dict[Cell, dict[str, Any]]:
    return {(row["run_id"], row["topic_id"], row["measure"]): row for row in rows_of(path)}


def check_scored_again(row: Row, home: Home, out: str, within_s: float) -> None:
    """`judge score` gives the scores that the run gave."""
    folder = home.folder / out
    ended = home.judge(row, "score", out, "--json", within_s=within_s)
    if ended.code not in (0, 3) or ended.out.encode() != (folder / "scores.jsonl").read_bytes():
        row.other.append(f"judge score {out}: exit {ended.code}, not the scores of the run")
