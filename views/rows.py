"""Long lists with a short repr: the number of rows, the first rows, and how to get all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ..records.reading.problems import cell

Item = TypeVar("Item")
_FIRST, _WIDTH = 3, 160  # shown rows, and characters of each


class Rows(list[Item]):
    """A list with a short repr.

    >>> Rows(range(5))
    5 rows; a loop or list(...) gives all, the first 3 are:
      0
      1
      2
    """

    def __repr__(self) -> str:
        more = f"; a loop or list(...) gives all, the first {_FIRST} are" if self[_FIRST:] else ""
        head = f"{len(self):,} row{'s' * (len(self) != 1)}{more}"
        return "\n  ".join([f"{head}:" if self else head, *_first_lines(self)])


class RowsByName(dict[str, Rows[Item]]):
    """Rows by name; the repr has the number of rows of each.

    >>> RowsByName(nuggets=Rows(range(5)))
    nuggets: 5 rows; ["nuggets"] gives them
    """

    def __repr__(self) -> str:
        counts = [
            f'{name}: {len(rows):,} row{"s" * (len(rows) != 1)}; ["{name}"] gives them'
            for name, rows in self.items()
        ]
        return "\n".join(counts) or "no rows"


def _first_lines(rows: Sequence[object]) -> list[str]:
    return [cell(repr(row), _WIDTH) for row in rows[:_FIRST]]
