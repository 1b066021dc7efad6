"""The result of a benchmark: a table, and its bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Bound:
    """A value that must not be larger than `limit`, both in `unit`; `is_least`: not smaller."""

    what: str
    value: float
    limit: float
    unit: str
    is_least: bool = False

    @property
    def is_within(self) -> bool:
        """Whether the value is within the limit."""
        return self.value >= self.limit if self.is_least else self.value <= self.limit

    def __str__(self) -> str:
        side, end = "at least" if self.is_least else "at most", "ok" if self.is_within else "MISSED"
        return f"{self.what}: {self.value:,.2f} {self.unit}, {side} {self.limit:,g}: {end}"


@dataclass(frozen=True)
class Report:
    """One benchmark's result; the first row of the table names its columns."""

    title: str
    table: Sequence[Sequence[str]]
    bounds: Sequence[Bound]
    notes: Sequence[str] = ()

    @property
    def is_within(self) -> bool:
        """Whether every bound is kept."""
        return all(bound.is_within for bound in self.bounds)

    def text(self, name: str = "") -> str:
        """The report as Markdown, under a heading that begins with `name`."""
        widths = [max(map(len, column)) for column in zip(*self.table, strict=True)]
        head, *rows = ["| " + " | ".join(map(str.ljust, row, widths)) + " |" for row in self.table]
        rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
        heading = f"### {name}: {self.title}" if name else f"### {self.title}"
        lines = [heading, "", head, rule, *rows, "", *self.notes]
        return "\n".join([*lines, *(f"- {bound}" for bound in self.bounds), ""])
