"""Rows chosen by what stands in their fields: `--where FIELD=VALUE`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .problems import InputError, Problems

Where = Mapping[str, Sequence[str]]  # field -> the values of which a row must have one
_SHOWN = 20  # fields or values that a message names
_LONGEST = 40  # characters of a value there


class Choice:
    """Takes the rows that are wanted, and knows what it saw for a choice that fits none."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._fields: dict[str, None] = {}
        self._values: dict[str, dict[str, None]] = {name: {} for name in where}
        self._missing = {(name, value) for name, values in where.items() for value in values}

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has one of the values wanted of each field.

        Lists and objects are no values to choose by.
        """
        if not self._where:
            return True
        takes = True
        if len(self._fields) <= _SHOWN:
            self._fields |= {str(name): None for name in row if not _is_many(row[name])}
        for name, wanted in self._where.items():
            if name not in row or _is_many(row[name]):
                takes = False
                continue
            value = str(row[name])
            self._missing.discard((name, value))
            if len(self._values[name]) <= _SHOWN:
                self._values[name].setdefault(value)
            takes = takes and value in wanted
        return takes

    def check(self, path: Path, problems: Problems) -> None:
        """Call it at the end. Raises: InputError for a field or a value that no row has.

        Of a file with errors, whose rows were not all read, there is no telling.
        """
        if any(row.action == "error" for row in problems):
            return
        for name, values in self._where.items():
            if not (seen := self._values[name]) and self._fields:
                what = f"no row has a field {name!r} to choose by"
                raise InputError(f"{path}: {what}, wanted one of {_listed(self._fields)}")
            for value in values:
                if (name, value) in self._missing and seen:
                    what = f"no row with {name}={value}"
                    raise InputError(f"{path}: {what}, wanted one of {_listed(seen)}")


def _is_many(value: Any) -> bool:
    return isinstance(value, list | dict)


def _listed(names: Mapping[str, None]) -> str:
    short = [name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..." for name in names]
    return ", ".join(short[:_SHOWN]) + ", ..." * (len(short) > _SHOWN)
