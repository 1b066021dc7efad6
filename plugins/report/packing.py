"""Packs the data of a page: lists as columns of codes, scores by cell, labels in bits, JSON."""

from __future__ import annotations

import base64
import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from ...records.rows import ScoreRow
from ...records.topics import natural_order
from .source import Source


def json_text(data: Any) -> str:
    """JSON text; half a surrogate pair, which UTF-8 cannot encode, becomes an escape.

    >>> json_text({"a": chr(0xD800), 1: None})
    '{"a":"\\\\ud800","1":null}'
    """
    try:
        return orjson.dumps(data, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:
        return json.dumps(data, allow_nan=False, separators=(",", ":"))


MAX_BYTES = 5_000_000  # of the texts of a section; see `Texts`
_MANY = 100_000  # distinct texts; more are sorted by characters, which is ten times faster


def natural(value: Any) -> Any:
    """A sort key: numbers by value, texts with their digits compared as numbers."""
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
        """(n_rows,) indices of values, numbered by first appearance."""
        return np.frombuffer(self._codes, dtype=np.uint32)

    def pack(self, key: Callable[[Any], Any] = natural) -> dict[str, Any]:
        """The column as JSON, see web/data.js.

        Args:
            key: the sort key of values; `str` is faster for long texts.

        Returns: `values`, distinct and in order, None last; `codes`, base64 of little-endian whole
            numbers of `bytes` bytes.

        >>> Column(["b", None, "a", "b"]).pack()
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
    """Columns of texts, as far as they fit; the first names have priority.

    Args:
        names: of the texts in rows; empty values are not texts.
        most: bytes of all distinct texts together.
    """

    def __init__(self, names: Sequence[str], most: int = MAX_BYTES) -> None:
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

    def pack(self) -> tuple[dict[str, dict[str, Any]], int]:
        """The columns with any text, and how many texts were left out."""
        columns, left, n_left = {}, self._most, self._n_left
        for name, column in self._columns.items():
            packed, sizes = column.pack(key=str), self._sizes[name]
            if self._full[name] > left:
                fitting = _first(sizes, left)
                counts = dict(zip(packed["values"], _counts(packed), strict=True))
                n_left += sum(counts[text] for text in sizes if text not in fitting)
                texts = (packed["values"][i] for i in _codes(packed))
                packed = Column([t if t in fitting else None for t in texts]).pack(key=str)
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


# Codes, counted down from the largest number; all numbers below are indices in the table of values.
UNANSWERED, UNJUDGED, UNDEFINED = 1, 2, 3
_DIGITS = 6


def pack_cells(source: Source) -> dict[str, Any]:
    """By measure, the cells of all runs on all topics, in the order of `source`.

    Returns: by measure, the distinct `values`, and `cells`: base64 of (runs x topics) little-endian
        numbers of `bytes` bytes. A number is an index in `values`, or a code counted down from the
        largest number: 1 not answered, 2 not judged, 3 not defined. `is_of_answered`: code 1 does
        not count as 0 in means.
    """
    return {measure: _pack(source, measure) for measure in source.measures}


def _pack(source: Source, measure: str) -> dict[str, Any]:
    wanted = set(source.scores.topics[measure])
    values, rows = source.scores.values[measure], source.scores.rows[measure]
    cells_in_order: list[float | int] = []
    for run in source.runs:
        for topic in source.topics:
            if run not in values or topic not in wanted:
                cells_in_order.append(-UNDEFINED)
            else:
                cells_in_order.append(_cell(rows.get(run, {}), topic))
    distinct = sorted({cell for cell in cells_in_order if isinstance(cell, float)})
    size = 1 if len(distinct) < 250 else 2
    if len(distinct) > 65_000:
        cells_in_order = [
            round(cell, 3) if isinstance(cell, float) else cell for cell in cells_in_order
        ]
        distinct = sorted({cell for cell in cells_in_order if isinstance(cell, float)})
    code_of: dict[float | int, int] = {value: i for i, value in enumerate(distinct)}
    code_of |= {-code: 256**size - code for code in (UNANSWERED, UNJUDGED, UNDEFINED)}
    numbers = array("B" if size == 1 else "H", (code_of[cell] for cell in cells_in_order))
    if size == 2 and array("H", [1]).tobytes() != b"\x01\x00":
        numbers.byteswap()
    cells = base64.b64encode(numbers.tobytes()).decode()
    return {
        "values": distinct,
        "bytes": size,
        "cells": cells,
        "is_of_answered": source.scores.is_of_answered(measure),
    }


def _cell(rows: Mapping[str, ScoreRow], topic: str) -> float | int:
    """A rounded value, or the negative code of the reason it is missing."""
    if topic not in rows:
        return -UNANSWERED
    row = rows[topic]
    if row.value is not None:
        return round(float(row.value), _DIGITS)
    return -UNJUDGED if row.n_unjudged or row.high is not None else -UNDEFINED


MAX_BITS = 8


def bits_for(n_codes: int) -> int:
    """The bits that this many codes need, 1 to 8.

    >>> [bits_for(n) for n in (1, 2, 4, 5, 8, 9)]
    [1, 1, 2, 3, 3, 4]
    """
    return max(1, (n_codes - 1).bit_length())


def pack(codes: bytes | bytearray | Sequence[int], bits: int) -> str:
    """Base64 of the codes in order, lowest bit first.

    Args:
        codes: numbers from 0 to 2**bits - 1. bits: of each code, 1 to 8.

    Raises: ValueError for a code that does not fit.

    >>> pack([1, 2, 3, 0], bits=2)  # 0b00111001
    'OQ=='
    """
    numbers = np.frombuffer(bytes(codes), dtype=np.uint8)
    if not 1 <= bits <= MAX_BITS or (numbers >> bits).any():
        raise ValueError(f"code {max(codes, default=0)} does not fit into {bits} bits (at most 8)")
    spread = np.unpackbits(numbers[:, None], axis=1, bitorder="little")[:, :bits]
    return base64.b64encode(np.packbits(spread, bitorder="little").tobytes()).decode()


def unpack(text: str, bits: int, n: int) -> list[int]:
    """The first n packed codes.

    >>> unpack("OQ==", bits=2, n=4)
    [1, 2, 3, 0]
    """
    spread = np.unpackbits(
        np.frombuffer(base64.b64decode(text), dtype=np.uint8), bitorder="little", count=n * bits
    ).reshape(n, bits)
    return [int(code) for code in np.packbits(spread, axis=1, bitorder="little")[:, 0]]
