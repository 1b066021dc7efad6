"""A table as data: columns with kinds, rows, a sentence above, notes below.

>>> table = Table(
...     "runs",
...     [Column("run", Kind.NAME), Column("V_strict", Kind.SHARE), Column("n", Kind.COUNT)],
...     [Row(["complete", 0.9132, 65])],
... )
>>> table.columns[1].format(table.rows[0].cells[1])
'.913'
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from ..records.reading.problems import cell
from .numbers import (
    MISSING,
    format_bounds,
    format_count,
    format_money,
    format_number,
    format_p,
    format_seconds,
    format_share,
)


class Kind(StrEnum):
    """The kind of a column's values, which decides their format."""

    NAME = "name"  # a run, a topic, a judge: one line, cut in the middle if it is too long
    TEXT = "text"  # words, wrapped over lines
    SHARE = "share"  # a score: .913
    DIFFERENCE = "difference"  # between two scores: +.050
    NUMBER = "number"  # any other number, with the column's digits
    INTERVAL = "interval"  # (low, high), such as [.834, .931]
    BAR = "bar"  # an `Estimate`, drawn on the column's axis if there is room
    P = "p"  # .03, < .01
    COUNT = "count"  # 1,234
    RATIO = "ratio"  # (n, total): 10/12
    MONEY = "money"  # $0.02
    SECONDS = "seconds"  # 3 min 20 s


class Estimate(NamedTuple):
    """A value with its interval."""

    value: float
    low: float
    high: float


class Style(StrEnum):
    """The emphasis of a row or a cell, if the output can show it."""

    PLAIN = "plain"
    LEADING = "leading"  # bold
    TRAILING = "trailing"  # dim
    WARNING = "warning"  # amber, with a ! in front
    UNJUDGED = "unjudged"  # red


Value = str | float | int | tuple[float, float] | tuple[int, int] | Estimate | None


@dataclass(frozen=True)
class Styled:
    """The value of a cell with emphasis."""

    value: Value
    style: Style


Cell = Value | Styled


@dataclass(frozen=True)
class Column:
    """A column.

    Attributes:
        key: the name in CSV and JSON, and the head if there is no `head`.
        kind: the kind of its values.
        head: words above the column; they may be wrapped.
        optional: 0: always shown. If a terminal is too narrow, columns with the highest numbers
            are left out first; columns above 1 are left out before bars shrink.
        digits: number of decimals of a NUMBER.
        is_signed: whether an INTERVAL belongs to a difference: [-.130, +.230].
        axis: (lowest, highest) value of a BAR.
    """

    key: str
    kind: Kind
    head: str | None = None
    optional: int = 0
    digits: int = 0
    is_signed: bool = False
    axis: tuple[float, float] = (0.0, 1.0)

    @property
    def title(self) -> str:
        """The text above the column."""
        return self.key if self.head is None else self.head

    @property
    def is_words(self) -> bool:
        """Whether the column is left-aligned."""
        return self.kind in (Kind.NAME, Kind.TEXT)

    def format(self, value: Value) -> str:
        """Return a value as text, without control characters."""
        if value is None:
            return "unknown" if self.kind is Kind.MONEY else MISSING
        match value:
            case str():
                return cell(value)
            case Estimate():
                return format_bounds(value.low, value.high)
            case tuple():
                if self.kind is Kind.RATIO:
                    return "/".join(format_count(int(n)) for n in value)
                return format_bounds(*value, signed=self.is_signed)
        return _format_number(self, value)


def _format_number(column: Column, value: float) -> str:
    match column.kind:
        case Kind.SHARE:
            return format_share(value)
        case Kind.DIFFERENCE:
            return format_share(value, signed=True)
        case Kind.P:
            return format_p(value)
        case Kind.MONEY:
            return format_money(value)
        case Kind.SECONDS:
            return format_seconds(value)
        case Kind.COUNT:
            return format_count(int(value))
    return format_number(value, column.digits)


@dataclass(frozen=True)
class Row:
    """A row: a value for each column, in order."""

    cells: Sequence[Cell]
    style: Style = Style.PLAIN


class Sides(str):
    """A note of two parts; a wide terminal shows the second part at the end of the line."""

    left: str
    right: str

    def __new__(cls, left: str, right: str) -> Sides:
        """Return both parts as one sentence."""
        self = super().__new__(cls, "; ".join(text for text in (left, right) if text))
        self.left, self.right = left, right
        return self


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        title: what the table shows.
        columns, rows: each row has a cell for each column.
        aside: text at the end of the title's line, such as the number of topics or the judge.
        rule_after: draw a rule after this many rows; None: no rule.
        notes: sentences below the table.
        has_all: whether columns that do not fit in a terminal follow in a table below; otherwise
            they are left out.
        names_excluded: whether a note names the columns that are left out.

    Raises: ValueError if a row does not have a cell for each column.
    """

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    aside: str = ""
    rule_after: int | None = None
    notes: Sequence[str] = ()
    has_all: bool = False
    names_excluded: bool = True

    def __post_init__(self) -> None:
        for i, row in enumerate(self.rows):
            if len(row.cells) != len(self.columns):
                what = f"{len(row.cells)} cells for {len(self.columns)} columns"
                raise ValueError(f"row {i} of {self.title!r}: {what}")


@dataclass(frozen=True)
class View:
    """The output of a command or an object: a sentence, tables, notes.

    Attributes:
        verdict: the answer in one sentence; "": none.
        notes: sentences at the end.
    """

    verdict: str = ""
    tables: Sequence[Table] = ()
    notes: Sequence[str] = field(default=())


def get_value(cell: Cell) -> Value:
    """Return the value of a cell, with or without emphasis."""
    return cell.value if isinstance(cell, Styled) else cell


def get_style(cell: Cell, row: Row) -> Style:
    """Return the emphasis of a cell, or else of its row."""
    return cell.style if isinstance(cell, Styled) else row.style
