"""The columns of the lab's tables: fields of the rows that an analysis found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...programs.analysis.tables.words import get_interval
from ...views.table import Column, Kind, Row, Style, Table

Fields = Mapping[str, Any]
Shown = tuple[Column, Callable[[Fields], Any]]


def get_field(row: Any, path: str) -> Any:
    """What is at the end of a path of fields; None where one of them is not there."""
    for name in path.split("."):
        row = None if row is None else row.get(name)
    return row


def show(name: str, kind: Kind, head: str = "", path: str = "", **more: Any) -> Shown:
    """A column of a field of the rows; path: where its name is not the field's."""
    return Column(name, kind, head or None, **more), lambda row: get_field(row, path or name)


def estimate(
    name: str, head: str = "", path: str = "", kind: Kind = Kind.SHARE, optional: Any = (0, 0),
    interval: str = "interval", key: str = "",
) -> list[Shown]:  # fmt: skip
    """The column of a value, and that of its interval with a head and key; `optional` of both."""
    path, is_signed = path or name, kind is Kind.DIFFERENCE
    about = {"optional": optional[1], "is_signed": is_signed}
    bounds = Column(key or f"{name}_interval", Kind.INTERVAL, interval, **about)
    value = show(name, kind, head, f"{path}.value", optional=optional[0])
    return [value, (bounds, lambda row: get_interval(get_field(row, path)))]


def make_table(
    title: str, shown: Sequence[Shown], rows: Iterable[Fields], aside: str = "", **more: Any
) -> Table:
    """A table of these columns; a row of all together leads."""
    lines = [
        Row([get(row) for _, get in shown], Style.LEADING if row.get("leads") else Style.PLAIN)
        for row in rows
    ]
    return Table(title, [column for column, _ in shown], lines, aside, **more)
