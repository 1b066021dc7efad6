"""What a field holds, whoever made it: a frame's cells, arrays, objects and plain values alike."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import orjson

from ...records.reading.fields import shorten
from ...records.reading.problems import InputError

_NOTHING = ("NAType", "NaTType")  # of pandas, which is not imported for it


def is_missing(value: Any) -> bool:
    """Whether it is None, NaN, or what frames have for a cell without a value."""
    if value is None or type(value).__name__ in _NOTHING:
        return True
    return isinstance(value, float) and value != value


def plain(value: Any) -> Any:
    """Tuples and arrays as lists; everything else as it is."""
    if isinstance(value, tuple):
        return list(value)
    if hasattr(value, "tolist") and not isinstance(value, str | bytes):  # numpy, pyarrow
        return value.tolist()
    if hasattr(value, "to_list"):  # a polars Series
        return value.to_list()
    return value


def listed(value: Any) -> list[Any]:
    """A list as it is, one thing as a list of it."""
    cell = plain(value)
    return cell if isinstance(cell, list) else [cell]


def list_in(text: str) -> list[Any] | None:
    """The list that a text is, as a CSV file has it of a frame's column; None if it is none.

    >>> list_in("['a', 'b']"), list_in("['a' 'b']"), list_in("[1] says so")
    (['a', 'b'], ['a', 'b'], None)
    """
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    for read in (orjson.loads, _literals):
        try:
            items = read(text)
        except (ValueError, SyntaxError, tokenize.TokenError, MemoryError, RecursionError):
            continue
        if isinstance(items, list) and all(isinstance(item, str | Mapping) for item in items):
            return items
    return None


def _literals(text: str) -> Any:
    """As Python or, without commas between texts, NumPy prints it. Raises: ValueError, ..."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    marks = (tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER)
    inner = [token for token in tokens if token.type not in marks][1:-1]
    if all(token.type == tokenize.STRING or token.string == "," for token in inner):
        return [ast.literal_eval(token.string) for token in inner if token.string != ","]
    return ast.literal_eval(text)


def fields_of(value: Any) -> Mapping[str, Any] | None:
    """The fields of a mapping, a dataclass or a pydantic object, not those within; else None."""
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(names := getattr(type(value), "model_fields", None), Mapping):
        return {name: getattr(value, name) for name in names}
    return None


def check_writable(value: Any, at: str) -> None:
    """Raise InputError naming the part of a value that no JSON file can hold.

    Args:
        value: text, a number, or a mapping, a list or a dataclass of them.
    """
    try:
        orjson.dumps(value)
    except TypeError as error:
        if is_dataclass(value):
            value = {each.name: getattr(value, each.name) for each in fields(value)}
        if isinstance(value, Mapping):
            for name, part in value.items():
                check_writable(part, f"{at}.{name}")
        elif isinstance(value, list | tuple):
            for index, part in enumerate(value):
                check_writable(part, f"{at}[{index}]")
        elif isinstance(value, str):
            index = next(i for i, char in enumerate(value) if "\ud800" <= char <= "\udfff")
            what = f"character {index} is {value[index]!r}, half of a surrogate pair"
            hint = "use text.encode('utf-8', 'replace').decode()"
            raise InputError(f"{at}: {what}; wanted whole characters: {hint}") from None
        raise InputError(f"{at}: is {shorten(repr(value), 60)}: {error}") from None
