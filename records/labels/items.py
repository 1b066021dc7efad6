"""Rows that carry the texts of one item each: what a judge reads and, where known, its label."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..judgements import Reason
from ..reading.fields import Line, Where, as_int, read_lines, show
from ..reading.lines import is_json
from ..reading.problems import Problems
from ..rows import Row
from .cells import Cell
from .label_rows import KEY_FIELDS, csv_lines

BETWEEN = "\n\n"  # the texts of an input that is a list


class ItemRow(Row):
    """One item: `line` in its file, its ids by name (as label files have them), and its texts.

    `not_made`: a text of it could not be made, by no doing of the system, and why; it has none.
    """

    line: int
    ids: dict[str, str]
    inputs: dict[str, str]
    not_made: Reason | None = None

    @property
    def cell(self) -> Cell:
        """The values of its ids, in the order of a label file's key."""
        return tuple(self.ids.values())


def item_lines(
    path: Path,
    problems: Problems,
    fields: Mapping[str, str] | None = None,
    where: Where | None = None,
) -> Iterator[Line]:
    """The objects of a JSONL file or the rows of a CSV file with a header.

    Args:
        fields: our name of a field -> the name that this file has for it; a field that is not
            there is left to whoever needs it.
        where: take only rows whose fields (as the file names them) have one of these values.
    """
    read = read_lines if is_json(path) else csv_lines
    lines = read(path, problems, where or {})
    return (mapped(line, fields) for line in lines) if fields else lines


def mapped(line: Line, fields: Mapping[str, str]) -> Line:
    """The object with our names for its fields too; see `item_lines`."""
    ours = {name: line.row[theirs] for name, theirs in fields.items() if theirs in line.row}
    return replace(line, row={**line.row, **ours})


def read_items(
    lines: Iterable[Line],
    inputs: Sequence[str],
    *,
    optional: Sequence[str] = (),
    partly: bool = False,
) -> Iterator[ItemRow]:
    """The items of these rows, lazily.

    An item is named by those of `KEY_FIELDS` that its row has; an input is text, a number, or a
    list of texts, which are joined by an empty line.

    Args:
        optional: further inputs, which an item need not have; an empty one it has not.
        partly: nor need it have the others.

    A row with `not_made` needs no inputs.

    Errors reported: a row without an id or an input, an input of another type, no such reason.
    """
    keys: list[tuple[str, tuple[str, ...]]] = []  # those that a row with the `fields` may have
    fields: list[str] | None = None
    for line in lines:
        why = line.not_made()
        if (here := list(line.row)) != fields:
            fields = here
            keys = [(n, names) for n, names in KEY_FIELDS.items() if not {*names}.isdisjoint(here)]
        ids = ((name, line.optional_id(*names)) for name, names in keys)
        named = {name: value for name, value in ids if value is not None}
        wanted = [name for name in inputs if not partly or line.row.get(name) is not None]
        wanted += [name for name in optional if line.row.get(name) not in (None, "")]
        wanted = wanted if why is None else []
        texts = {name: _text(line, name) for name in wanted}
        present = {name: text for name, text in texts.items() if text is not None}
        if not named:
            line.missing(*KEY_FIELDS)
        elif len(present) == len(wanted):
            yield ItemRow(line=line.number, ids=named, inputs=present, not_made=why)


def _text(line: Line, name: str) -> str | None:
    value: Any = line.row.get(name)
    if value is None:
        line.missing(name)
        return None
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return BETWEEN.join(value)
    if isinstance(value, str):
        return value
    if as_int(value) is not None or isinstance(value, float):
        return str(value)
    line.error("bad_field", f"field {line.name(name)!r} is {show(value)}, wanted text")
    return None
