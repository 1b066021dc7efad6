"""A table as data: what its columns mean, its rows, the sentence that comes first, notes below.

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
    """What the values of a column are, and so how they are written."""

    NAME = "name"  # a run, a topic, a judge: one line, cut in its middle where there is no room
    TEXT = "text"  # words: broken over lines
    SHARE = "share"  # a score: .913
    DIFFERENCE = "difference"  # between two scores: +.050
    NUMBER = "number"  # any other number, with the column's digits
    INTERVAL = "interval"  # (low, high): [.834, .931]
    BAR = "bar"  # an `Estimate`, drawn on the column's axis where there is room
    P = "p"  # .03, < .01
    COUNT = "count"  # 1,234
    RATIO = "ratio"  # (n, total): 10/12
    MONEY = "money"  # $0.02
    SECONDS = "seconds"  # 3 min 20 s


class Estimate(NamedTuple):
    """A value and its interval."""

    value: float
    low: float
    high: float


class Style(StrEnum):
    """How a row or a cell is set off, where the output can."""

    PLAIN = "plain"
    LEADING = "leading"  # bold
    TRAILING = "trailing"  # dim
    WARNING = "warning"  # amber, and a ! before it
    UNJUDGED = "unjudged"  # red


Value = str | float | int | tuple[float, float] | tuple[int, int] | Estimate | None


@dataclass(frozen=True)
class Styled:
    """A value of one cell that is set off."""

    value: Value
    style: Style


Cell = Value | Styled


@dataclass(frozen=True)
class Column:
    """One column.

    Attributes:
        key: its name in CSV and JSON, and its head unless `head` is given.
        kind: what its values are.
        head: words above it; may be broken between words.
        optional: 0: always shown; of the others the highest are left out first where a terminal
            has no room for all. Those above 1 are left out before a bar gets narrow.
        digits: after the point, of a NUMBER.
        is_signed: whether an INTERVAL is one of a difference: [-.130, +.230].
        axis: (lowest, highest) of a BAR.
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
        """What stands above it."""
        return self.key if self.head is None else self.head

    @property
    def is_words(self) -> bool:
        """Whether it is set flush left."""
        return self.kind in (Kind.NAME, Kind.TEXT)

    def format(self, value: Value) -> str:
        """A value as text, without what could steer a terminal."""
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
    """One row: a value for each column, in their order."""

    cells: Sequence[Cell]
    style: Style = Style.PLAIN


class Sides(str):
    """A note of two parts: a terminal with room sets the second at the end of the line."""

    left: str
    right: str

    def __new__(cls, left: str, right: str) -> Sides:
        """One sentence of both."""
        self = super().__new__(cls, "; ".join(text for text in (left, right) if text))
        self.left, self.right = left, right
        return self


@dataclass(frozen=True)
class Table:
    """A table.

    Attributes:
        title: what it shows.
        columns, rows: each row has a cell for each column.
        aside: what stands at the end of the title's line: how many topics, which judge.
        rule_after: so many rows stand above a rule; None: no rule.
        notes: sentences below it.
        has_all: whether columns without room in a terminal follow in a table below it; else they
            are left out.
        names_excluded: whether a note names those that are left out.

    Raises: ValueError for a row with another number of cells than columns.
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
    """What a command or an object shows: one sentence, tables, notes.

    Attributes:
        verdict: the answer, in one sentence; "": there is none.
        notes: sentences at the end.
    """

    verdict: str = ""
    tables: Sequence[Table] = ()
    notes: Sequence[str] = field(default=())


def get_value(cell: Cell) -> Value:
    """The value of a cell, set off or not."""
    return cell.value if isinstance(cell, Styled) else cell


def get_style(cell: Cell, row: Row) -> Style:
    """How a cell is set off: by itself, else as its row."""
    return cell.style if isinstance(cell, Styled) else row.style
