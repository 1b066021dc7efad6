"""Flags of the form NAME=VALUE."""

from __future__ import annotations

from collections.abc import Sequence


def pairs_of(flag: str, texts: Sequence[str]) -> dict[str, str]:
    """`["a=b"]` as a map. Raises: InputError for another form, or a name twice."""
    from ..records.problems import InputError

    found: dict[str, str] = {}
    for name, values in values_of(flag, texts).items():
        if len(values) > 1:
            raise InputError(f"{flag} {name}=...: given {len(values)} times, wanted once")
        found[name] = values[0]
    return found


def values_of(flag: str, texts: Sequence[str]) -> dict[str, list[str]]:
    """`["a=b", "a=c"]` as a map to all values. Raises: InputError for another form."""
    from ..records.problems import InputError

    found: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise InputError(f"{flag} {text}: wanted NAME=VALUE")
        found.setdefault(name, []).append(value)
    return found
