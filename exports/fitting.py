"""Values of results files as their columns hold them; what does not fit is an error, never a null.

What is null stays null: a label that is missing, a score that nobody judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from ..records.reading.fields import shorten
from .columns import Kind, Named, Pairs

_SCALARS: dict[str, tuple[type, ...]] = {
    "text": (str, int), "int": (int,), "float": (float, int), "bool": (bool,), "rating": (int,)
}  # fmt: skip
_PLAIN: dict[type, Kind] = {str: "text", bool: "bool", int: "int", float: "float"}


class MisfitError(Exception):
    """A value of another type than its column; says where in the row, what, and what was wanted."""


def fitted(value: Any, kind: Kind, at: str) -> Any:
    """A value as Arrow takes it for a column.

    Args:
        at: where in its row it stands, for messages.

    Raises: MisfitError for a value of another type, and for an unknown field of an object.
    """
    if value is None:
        return None
    if isinstance(kind, str):
        return _scalar(value, kind, at)
    if isinstance(kind, list):  # one id may stand for a list of one
        items = value if isinstance(value, list) else [value]
        return [fitted(each, kind[0], f"{at}[{i}]") for i, each in enumerate(items)]
    if isinstance(kind, Named):
        if isinstance(value, str):
            return {next(iter(kind.fields)): value}
        kind = kind.fields
    if not isinstance(value, Mapping):
        raise MisfitError(f"{at} is {_show(value)}, wanted an object")
    if isinstance(kind, Pairs):
        pairs = value.items()
        return [{"key": k, "value": fitted(v, kind.value, f"{at}.{k}")} for k, v in pairs]
    if unknown := value.keys() - kind.keys():
        raise MisfitError(f"{at}.{min(unknown)} is no field known there: {', '.join(kind)}")
    return {name: fitted(each, kind[name], f"{at}.{name}") for name, each in value.items()}


def kind_of_value(value: Any, before: Kind | None) -> Kind | None:
    """The type of a column that nobody described, from one more of its values.

    Numbers of both kinds are numbers; any other mixture, and what is not flat, is JSON text.
    """
    if value is None:
        return before
    kind = _PLAIN.get(type(value), "json")
    if before is None or before == kind:
        return kind
    return "float" if {before, kind} == {"int", "float"} else "json"


def _scalar(value: Any, kind: str, at: str) -> Any:
    if kind == "json":
        return orjson.dumps(value).decode()
    is_fit = isinstance(value, _SCALARS[kind]) and (kind == "bool") == isinstance(value, bool)
    if not is_fit:
        raise MisfitError(f"{at} is {_show(value)}, wanted {kind}")
    if kind == "text":
        return str(value)
    if kind == "rating":
        return value if value >= 0 else None
    return float(value) if kind == "float" else value


def _show(value: Any) -> str:
    return shorten(orjson.dumps(value).decode())
