"""Nuggets, assignments and metrics as nuggetizer writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import orjson

from ...evaluation.sources import Source, opened
from ...programs.protocols.nuggets.program import ASSIGNMENTS, BANKS
from ...programs.scoring.result import Result
from ...records.nuggets import Assignment, read_assignments, read_nugget_banks
from ...records.reading.problems import InputError, Problems
from ...records.rows import NuggetBank
from ...records.scores import score_row
from ...records.tools import nuggetizer as rows
from ...records.tools.metric_rows import NUGGET_COLUMNS
from ...records.writing import NewFile, own_folder

Values = dict[tuple[str, str], dict[str, float | None]]  # by run and topic: by measure


def write(result: Source, out: str | Path) -> dict[str, int]:
    """Write `nuggets.jsonl`, `assignments.jsonl` and `metrics.jsonl` into a folder.

    A judgement that did not come is `failed` in the assignments. Metrics are ours, over what was
    judged, with nuggetizer's names, a `run_id` and `failed_count`: its own command counts what
    failed as not supported, and so gives lower ones where there is any.

    Args:
        result: a result or a results folder with nuggets.
        out: a folder, made if it is not there; not the results folder itself.

    Returns: rows by file, and `failed`: labels that are not there.
    Raises: InputError where nothing was judged by nuggets.

    Example: nuggetizer.write("results/demo", "for-nuggetizer")
    """
    with ExitStack() as stack:
        return write_folder(opened(stack, result), Path(out))


def write_folder(folder: Path, out: Path) -> dict[str, int]:
    """As `write`, of a finished folder."""
    check_elsewhere(folder, out)
    if not (folder / ASSIGNMENTS).is_file():
        raise InputError(f"{folder}: has no {ASSIGNMENTS}, so nothing that nuggetizer writes")
    own_folder(out)
    assignments = assignments_of(folder)
    counts = {
        "nuggets": write_lines(out / "nuggets.jsonl", map(rows.bank, banks_of(folder))),
        "assignments": write_lines(out / "assignments.jsonl", map(rows.assignment, assignments)),
        "metrics": write_lines(out / "metrics.jsonl", _metrics(folder, assignments)),
    }
    return counts | {"failed": sum(map(n_failed, assignments))}


def check_elsewhere(folder: Path, out: Path) -> None:
    """Raise InputError if an export would be written among the results that it is of."""
    if out.resolve() == folder.resolve():
        raise InputError(f"{out}: is the results folder; name another --out")


def banks_of(folder: Path) -> list[NuggetBank]:
    """The nuggets of each topic."""
    problems = Problems()
    path = folder / BANKS
    banks = read_nugget_banks(path, problems) if path.is_file() else {}
    problems.raise_errors()
    return list(banks.values())


def assignments_of(folder: Path) -> list[Assignment]:
    """What was found of the nuggets in each answer."""
    problems = Problems()
    assignments = list(read_assignments(folder / ASSIGNMENTS, problems))
    problems.raise_errors()
    return assignments


def n_failed(assignment: Assignment) -> int:
    """Labels of an answer that are not there."""
    return sum(each.label is None for each in assignment.nuggets)


def values_of(folder: Path) -> Values:
    """The scores of a folder; topic `all` has the means."""
    values: Values = {}
    for row in Result(folder).scores:
        values.setdefault((row.run_id, row.topic_id), {})[row.measure] = score_row(row)["value"]
    return values


def write_lines(path: Path, objects: Iterable[Any]) -> int:
    """Write a JSON object a line, and say how many there are."""
    n = 0
    with NewFile(path) as file:
        for row in objects:
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            n += 1
    return n


def _metrics(folder: Path, assignments: list[Assignment]) -> Iterator[dict[str, Any]]:
    failed = {(each.run_id, each.topic_id): n_failed(each) for each in assignments}
    of_run: dict[str, int] = {}
    for (run_id, _), n in failed.items():
        of_run[run_id] = of_run.get(run_id, 0) + n
    for (run_id, topic_id), values in values_of(folder).items():
        if values.keys() & NUGGET_COLUMNS.keys():
            n = of_run.get(run_id, 0) if topic_id == "all" else failed.get((run_id, topic_id), 0)
            named = {"run_id": run_id, "failed_count": n}
            yield {**rows.metric_row(topic_id, values), **named}
