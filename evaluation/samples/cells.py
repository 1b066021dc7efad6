"""What a field holds, whoever made it: a frame's cells, arrays, objects and plain values alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

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


def fields_of(value: Any) -> Mapping[str, Any] | None:
    """The fields of a mapping, a dataclass or a pydantic object, not those within; else None."""
    if isinstance(value, Mapping):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(names := getattr(type(value), "model_fields", None), Mapping):
        return {name: getattr(value, name) for name in names}
    return None
