"""False positives of the key point filter by threshold, according to labels of people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...records.kinds import Cell, LabelFile
from ...views.table import Column, Kind, Row, Table

THRESHOLDS = tuple(n / 10 for n in range(10))
_IS_KEY_POINT = ("yes", "agree")


def list_thresholds(scores: Mapping[Cell, float], labels: LabelFile) -> list[dict[str, Any]]:
    """Count, for each threshold, the labelled points that it keeps.

    `kept`: the number of points that score the threshold or more, `share`: their share of all.
    `false_positives`: the share of the kept points that an annotator rejects, averaged over
    annotators; None if nobody labelled one. `key_points`: the share kept of the points that most
    annotators accept.

    Args:
        scores: scores of the filter. labels: labels of the task `key_point`.
    Source: arXiv:2410.23000, appendix A.2: 8.7% at 0.7, by two annotators of 1,051 points.
    """
    known = [cell for cell in labels.cells.keys() | labels.annotations.keys() if cell in scores]
    people = sorted({name for cell in known for name in labels.annotations.get(cell, {})})
    of_people = [
        {c: own[name] for c in known if name in (own := labels.annotations.get(c, {}))}
        for name in people
    ] or [{cell: labels.cells[cell] for cell in known}]
    wanted = {cell for cell in known if labels.cells.get(cell) in _IS_KEY_POINT}
    rows = []
    for threshold in THRESHOLDS:
        kept = {cell for cell in known if scores[cell] >= threshold}
        rates = [
            sum(own[cell] not in _IS_KEY_POINT for cell in here) / len(here)
            for own in of_people
            if (here := own.keys() & kept)
        ]
        rows.append(
            {
                "threshold": threshold,
                "kept": len(kept),
                "share": len(kept) / len(known) if known else None,
                "false_positives": sum(rates) / len(rates) if rates else None,
                "key_points": len(kept & wanted) / len(wanted) if wanted else None,
            }
        )
    return rows


def make_threshold_table(rows: list[dict[str, Any]], lowest: float | None) -> Table:
    """Show the rows of `list_thresholds`; `lowest`: the lowest score, None without scores."""
    columns = [
        Column("threshold", Kind.SHARE),
        Column("kept", Kind.COUNT, "points kept"),
        Column("share", Kind.SHARE, "of all"),
        Column("false_positives", Kind.SHARE, "false positives"),
        Column("key_points", Kind.SHARE, "key points kept"),
    ]
    notes = ["False positives: share of kept points that annotators reject; mean of annotators."]
    if lowest is not None and lowest >= THRESHOLDS[1]:
        notes.append(
            "The build dropped points with lower scores. For the whole curve, build with "
            "--set keypoints.threshold=0."
        )
    cells = [[row[column.key] for column in columns] for row in rows]
    return Table("Thresholds of the key point filter", columns, list(map(Row, cells)), notes=notes)
