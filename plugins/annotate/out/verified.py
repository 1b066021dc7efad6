"""Writes answers about key points as the sheet that `judge build long2rag --verified` reads."""

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
    """Write the columns of `verification.csv`. Returns: the number of rows.

    Args:
        by_cell: one row a key point, without an annotator; otherwise one a person and key point.

    Raises: InputError if the key points are missing, or the file exists.
    """
    if task is None:
        raise InputError(f"{folder}: an export needs the verified key points; give --results")
    if by_cell:
        rows = _list_decided(collected, task.points)
    else:
        by_person = {
            name: [by[name] for by in collected.labels.values() if name in by]
            for name in collected.people
        }
        rows = list(verification_rows(task.points, by_person))
    if not rows:
        raise InputError(f"{folder}: no key point of the results has an answer yet")
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
