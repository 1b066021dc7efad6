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
    found = plain(value)
    return found if isinstance(found, list) else [found]


def fields_of(given: Any) -> Mapping[str, Any] | None:
    """The fields of a mapping, a dataclass or a pydantic object, not those within; else None."""
    if isinstance(given, Mapping):
        return given
    if is_dataclass(given) and not isinstance(given, type):
        return {each.name: getattr(given, each.name) for each in fields(given)}
    if isinstance(names := getattr(type(given), "model_fields", None), Mapping):
        return {name: getattr(given, name) for name in names}
    return None
