"""How far suggested evidence can be trusted, as tables: the verdict first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ....views.table import Cell, Column, Kind, Row, Style, Table, View
from .words import get_interval, write_share

_Rows = Sequence[Mapping[str, Any]]


def evidence_view(precision: _Rows, search: _Rows, swaps: _Rows) -> View:
    """What `judge evidence` shows; each of the tables may be empty."""
    tables = [_precision(precision)] if precision else []
    tables += [
        _shares(title, rows)
        for title, rows in (("confirmed citations", search), ("planted swaps", swaps))
        if rows
    ]
    return View(_write_verdict(precision, search), tables, ["Intervals are by topic."])


def _write_verdict(precision: _Rows, search: _Rows) -> str:
    """How often suggestions support their sentence, and how often confirmed ones are found."""
    parts = []
    if precision and precision[0]["n"]:
        used = precision[0]
        n = write_share(used["full"], used["n"], "labelled suggestions")
        parts.append(f"{n} that the run uses fully support their sentence")
    if search and search[0]["n"]:
        found = search[0]
        n = write_share(found, found["n"], "confirmed citations")
        parts.append(f"the search finds {n} again")
    if not parts:
        return "None of the labels is of a suggestion that the run uses."
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def _precision(rows: _Rows) -> Table:
    columns = [
        Column("chosen", Kind.TEXT, "suggestions"),
        Column("n", Kind.COUNT),
        Column("full", Kind.SHARE, "full support"),
        Column("full_interval", Kind.INTERVAL, "interval"),
        Column("partly", Kind.SHARE, "full or partial"),
        Column("partly_interval", Kind.INTERVAL, "interval", optional=1),
    ]
    shown = []
    for i, row in enumerate(rows):
        cells: list[Cell] = [row["chosen"], row["n"]]
        for name in ("full", "partly"):
            cells += [row[name]["value"], get_interval(row[name])]
        shown.append(Row(cells, Style.PLAIN if i else Style.LEADING))
    return Table("", columns, shown)


def _shares(title: str, rows: _Rows) -> Table:
    columns = [
        Column("what", Kind.TEXT, title),
        Column("n", Kind.COUNT),
        Column("share", Kind.SHARE),
        Column("interval", Kind.INTERVAL),
        Column("unjudged", Kind.COUNT),
    ]
    return Table("", columns, [
        Row([row["what"], row["n"], row["value"], get_interval(row), row.get("n_unjudged", 0)])
        for row in rows
    ])  # fmt: skip
