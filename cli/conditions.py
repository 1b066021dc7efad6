"""Flags of the form NAME=VALUE."""

from __future__ import annotations

from collections.abc import Sequence


def fields_of(texts: Sequence[str]) -> dict[str, str]:
    """`--field OURS=THEIRS`, repeated, as a map. Raises: InputError for another form."""
    from ..records.reading.problems import InputError

    found: dict[str, str] = {}
    for text in texts:
        ours, _, theirs = text.partition("=")
        if not (ours and theirs):
            raise InputError(f"--field {text}: wanted OURS=THEIRS, such as claim=sentence")
        if ours in found:
            raise InputError(f"--field {text}: {ours} is {found[ours]} before, wanted it once")
        found[ours] = theirs
    return found


def where_of(texts: Sequence[str]) -> dict[str, list[str]]:
    """`--where FIELD=VALUE`, repeated, as the values wanted of each field.

    Raises: InputError for another form.
    """
    from ..records.reading.problems import InputError

    wanted: dict[str, list[str]] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise InputError(f"--where {text}: wanted FIELD=VALUE")
        wanted.setdefault(name, []).append(value)
    return wanted
