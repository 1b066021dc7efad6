"""Long lists for a page: columns of codes, which sort and filter a million rows at once.

A column is its distinct values in their order, and for each row the number of its value: ordered by
value is ordered by number, and a text is looked for once, however many rows have it. Rows are added
one by one and not held.
"""

from __future__ import annotations

import base64
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...records.topics import natural_order

MOST_BYTES = 5_000_000  # of the texts of a section; see `Texts`
_MANY = 100_000  # distinct texts; more are in the order of their characters, which takes a tenth


def natural(value: Any) -> Any:
    """A key to sort by: numbers as they are, texts with their digits compared as numbers."""
    return natural_order(value) if isinstance(value, str) else value


class Column:
    """The values of a column, one a row: texts, numbers, or None."""

    def __init__(self, values: Iterable[Any] = ()) -> None:
        self._numbers: dict[Any, int] = {}
        self._codes = array("I")
        for value in values:
            self.add(value)

    def add(self, value: Any) -> None:
        """Add a row with this value."""
        self._codes.append(self._numbers.setdefault(value, len(self._numbers)))

    @property
    def codes(self) -> NDArray[np.uint32]:
        """(n_rows,) numbers of values in the order in which they came first."""
        return np.frombuffer(self._codes, dtype=np.uint32)

    def packed(self, key: Callable[[Any], Any] = natural) -> dict[str, Any]:
        """The column as JSON, see web/columns.js.

        Args:
            key: what values are sorted by; `str` for long texts, which it takes less long.

        Returns: `values`, distinct and in order, None last; `codes`, base64 of little-endian whole
            numbers of `bytes` bytes.

        >>> Column(["b", None, "a", "b"]).packed()
        {'values': ['a', 'b', None], 'codes': 'AQIAAQ==', 'bytes': 1}
        """
        is_many = len(self._numbers) > _MANY and isinstance(next(iter(self._numbers)), str)
        key = str if is_many else key
        values = sorted((value for value in self._numbers if value is not None), key=key)
        if None in self._numbers:
            values.append(None)
        size = 1 if len(values) <= 1 << 8 else 2 if len(values) <= 1 << 16 else 4
        new_codes = np.zeros(len(values), dtype=f"<u{size}")
        for i, value in enumerate(values):
            new_codes[self._numbers[value]] = i
        codes = new_codes[self.codes].tobytes()
        return {"values": values, "codes": base64.b64encode(codes).decode(), "bytes": size}


class Texts:
    """Columns of texts, as far as they fit: those of the first names are kept first.

    Args:
        names: of the texts in rows; what is empty is no text.
        most: bytes of all distinct texts together.
    """

    def __init__(self, names: Sequence[str], most: int = MOST_BYTES) -> None:
        self._most = most
        self._columns = {name: Column() for name in names}
        self._sizes: dict[str, dict[str, int]] = {name: {} for name in names}
        self._full = dict.fromkeys(names, 0)
        self._n_left = 0

    def add(self, row: Mapping[str, Any]) -> None:
        """Add the texts of a row."""
        for name, column in self._columns.items():
            text = row.get(name) or None
            sizes = self._sizes[name]
            if text is not None and text not in sizes:
                size = len(text.encode("utf-8", "surrogatepass"))
                if self._full[name] + size > self._most:
                    self._n_left += 1
                    text = None
                else:
                    sizes[text] = size
                    self._full[name] += size
            column.add(text)

    def packed(self) -> tuple[dict[str, dict[str, Any]], int]:
        """The columns that have any text, and how many texts were left out."""
        columns, left, n_left = {}, self._most, self._n_left
        for name, column in self._columns.items():
            packed, sizes = column.packed(key=str), self._sizes[name]
            if self._full[name] > left:
                fitting = _first(sizes, left)
                counts = dict(zip(packed["values"], _counts(packed), strict=True))
                n_left += sum(counts[text] for text in sizes if text not in fitting)
                texts = (packed["values"][i] for i in _codes(packed))
                packed = Column([t if t in fitting else None for t in texts]).packed(key=str)
                sizes = fitting
            left -= sum(sizes.values())
            if sizes:
                columns[name] = packed
        return columns, n_left


def _first(sizes: Mapping[str, int], left: int) -> dict[str, int]:
    """Those that fit, in their order."""
    fitting = {}
    for text, size in sizes.items():
        if size <= left:
            fitting[text] = size
            left -= size
    return fitting


def _codes(packed: Mapping[str, Any]) -> list[int]:
    raw = base64.b64decode(packed["codes"])
    codes: list[int] = np.frombuffer(raw, dtype=f"<u{packed['bytes']}").tolist()
    return codes


def _counts(packed: Mapping[str, Any]) -> list[int]:
    counts: list[int] = np.bincount(_codes(packed), minlength=len(packed["values"])).tolist()
    return counts
