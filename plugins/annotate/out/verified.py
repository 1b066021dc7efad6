"""Answers about key points as the sheet that `judge build long2rag --verified` reads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ....programs.engine.label_sheet import write_sheet
from ....records.kinds import Cell
from ....records.reading.problems import InputError, Problems
from ...collections.verification import TASKS
from ..work.task import Task
from ..work.verify import Point, verification_rows
from .collected import Collected
from .rows import decision


def export_verified(
    folder: Path,
    out: Path,
    collected: Collected,
    task: Task | None,
    problems: Problems,
    *,
    by_cell: bool,
) -> int:
    """Write the columns of `verification.csv`. Returns: how many rows.

    Args:
        by_cell: one row a key point, of no annotator; else one for each person and key point.

    Raises: InputError where the key points are not to be had, or the file is there already.
    """
    if task is None:
        raise InputError(f"{folder}: the key points that were verified are needed, give --results")
    if by_cell:
        rows = _list_decided(collected, task.points)
    else:
        by_person = {
            name: [by[name] for by in collected.labels.values() if name in by]
            for name in collected.people
        }
        rows = list(verification_rows(task.points, by_person))
    if not rows:
        raise InputError(f"{folder}: no answer yet to a question about a key point of the results")
    write_sheet(out, rows, problems)
    return len(rows)


def _list_decided(collected: Collected, points: dict[Cell, Point]) -> list[dict[str, Any]]:
    rows = []
    for point in dict.fromkeys(cell[:2] for cell in collected.labels):
        answers = {
            task: decision(collected, (*point, task))[0]
            if (*point, task) in collected.labels
            else None
            for task in TASKS
        }
        if point in points and any(answers.values()):
            rows.append({**points[point].row(), **answers, "annotator": None, "rationale": None})
    return rows
