"""Long lists for a page: columns of codes, which sort and filter a million rows at once.

A column is its distinct values in their order, and for each row the number of its value: ordered by
value is ordered by number, and a text is looked for once, however many rows have it.
"""

from __future__ import annotations

import base64
import sys
from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..records.passages import natural_order

MOST_BYTES = 5_000_000  # of the texts of a section; see `fitting`


def natural(value: Any) -> Any:
    """A key to sort by: numbers as they are, texts with their digits compared as numbers."""
    return natural_order(value) if isinstance(value, str) else value


def column(values: Sequence[Any], key: Callable[[Any], Any] = natural) -> dict[str, Any]:
    """A column as JSON, see web/columns.js.

    Args:
        values: one a row: texts, numbers, or None, which comes last.
        key: what they are sorted by; `str` for long texts, which it takes less long.

    Returns: `values`, distinct and in order; `codes`, base64 of little-endian whole numbers of
        `bytes` bytes.

    >>> column(["b", None, "a", "b"])
    {'values': ['a', 'b', None], 'codes': 'AQIAAQ==', 'bytes': 1}
    """
    distinct = dict.fromkeys(values)
    known = sorted((value for value in distinct if value is not None), key=key)
    if None in distinct:
        known.append(None)
    number = {value: i for i, value in enumerate(known)}
    size = 1 if len(known) <= 1 << 8 else 2 if len(known) <= 1 << 16 else 4
    codes = array({1: "B", 2: "H", 4: "I"}[size], (number[value] for value in values))
    if sys.byteorder == "big":
        codes.byteswap()
    return {"values": known, "codes": base64.b64encode(codes).decode(), "bytes": size}


def fitting(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], most: int = MOST_BYTES
) -> tuple[dict[str, dict[str, Any]], int]:
    """Columns of texts, as far as they fit.

    Args:
        names: of the texts in rows; those that come first are kept first.
        most: bytes of all distinct texts together.

    Returns: the columns that have any text, and how many texts were left out.
    """
    found, left, n_left = {}, most, 0
    for name in names:
        texts: list[str | None] = []
        is_kept: dict[str, bool] = {}
        for row in rows:
            text = row.get(name) or None
            if text is not None and text not in is_kept:
                size = len(text.encode("utf-8", "surrogatepass"))
                is_kept[text] = size <= left
                left -= size * is_kept[text]
            n_left += text is not None and not is_kept[text]
            texts.append(text if text is not None and is_kept[text] else None)
        if any(texts):
            found[name] = column(texts, key=str)
    return found, n_left
