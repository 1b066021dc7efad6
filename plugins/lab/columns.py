"""Columns of the lab's tables, which show fields of an analysis's rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...programs.analysis.tables.words import get_interval
from ...views.table import Column, Kind, Row, Style, Table

Fields = Mapping[str, Any]
Shown = tuple[Column, Callable[[Fields], Any]]


def get_field(row: Any, path: str) -> Any:
    """The value at the end of a path of fields; None if a field is missing."""
    for name in path.split("."):
        row = None if row is None else row.get(name)
    return row


def show(name: str, kind: Kind, head: str = "", path: str = "", **more: Any) -> Shown:
    """A column for a field of the rows; `path` if its name differs from the field."""
    return Column(name, kind, head or None, **more), lambda row: get_field(row, path or name)


def estimate(
    name: str, head: str = "", path: str = "", kind: Kind = Kind.SHARE, optional: Any = (0, 0),
    interval: str = "interval", key: str = "",
) -> list[Shown]:  # fmt: skip
    """The columns of a value and its interval; `optional` has a number for each."""
    path, is_signed = path or name, kind is Kind.DIFFERENCE
    about = {"optional": optional[1], "is_signed": is_signed}
    bounds = Column(key or f"{name}_interval", Kind.INTERVAL, interval, **about)
    value = show(name, kind, head, f"{path}.value", optional=optional[0])
    return [value, (bounds, lambda row: get_interval(get_field(row, path)))]


def make_table(
    title: str, shown: Sequence[Shown], rows: Iterable[Fields], aside: str = "", **more: Any
) -> Table:
    """Make a table of these columns; the row of the total comes first."""
    lines = [
        Row([get(row) for _, get in shown], Style.LEADING if row.get("leads") else Style.PLAIN)
        for row in rows
    ]
    return Table(title, [column for column, _ in shown], lines, aside, **more)
