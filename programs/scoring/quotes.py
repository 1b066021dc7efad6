"""What judges quoted in a results folder: cell by cell, whatever program judged it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ...records.evidence import Evidence, is_evidence, read_evidence
from ...records.reading.lines import json_lines
from ...records.reading.problems import Problems
from ..engine.manifest import read_manifest
from ..protocols.table import chosen

_LABELS = ("label", "assignment", "grade")  # the names that files have for it
_ITEM = (
    *("sentence", "sentence_id", "citation", "passage_id", "question_id"),
    *("nugget_id", "key_point_id", "item_id", "id"),
)


class QuotedCell(NamedTuple):
    """A judged cell whose label has words for it that stand in the judged text.

    `run` and `topic` are "" where items have none; `item` names it within them.
    """

    program: str
    run: str
    topic: str
    item: str
    label: str
    evidence: tuple[Evidence, ...]


def first_quoted(folder: Path) -> list[QuotedCell]:
    """The first such cell of each program of a results folder, of those that have one."""
    names = read_manifest(folder)["config"]["program"]
    found = (next(quoted_cells(folder, name), None) for name in names)
    return [cell for cell in found if cell is not None]


def quoted_cells(folder: Path, program: str) -> Iterator[QuotedCell]:
    """All such cells of a program, in the order of its file. Raises: InputError for no such one."""
    [one] = chosen([program])
    path = folder / (one.quotes or one.judged)
    for _, row in json_lines(path, Problems()) if path.is_file() else ():
        parts = [part for value in row.values() for part in _objects(value)]
        for cell in (row, *parts):
            said = cell.get("evidence")
            found = (is_evidence(said) and read_evidence(said)) or ()
            if evidence := tuple(each for each in found if each.is_quoted):
                run, topic = _first(row, "run_id"), _first(row, "topic_id", "qid")
                item = " ".join(str(cell[n]) for n in _ITEM if cell.get(n) is not None)
                yield QuotedCell(program, run, topic, item, _first(cell, *_LABELS), evidence)


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Those of a list that have evidence of their own, such as the nuggets of an answer."""
    if isinstance(value, list) and not is_evidence(value):
        yield from (part for part in value if isinstance(part, dict))


def _first(row: Mapping[str, Any], *names: str) -> str:
    return str(next((row[name] for name in names if row.get(name) is not None), ""))
