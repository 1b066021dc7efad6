"""The results that a folder of labels is about, so that an export finds their texts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson
from pydantic import ValidationError

from ....records.reading.problems import InputError
from ....records.rows import Row
from ....records.writing import rename, write_file
from .kinds import Kind

SOURCES = "results.jsonl"


class Source(Row):
    """The labelled results of a kind: a line of `results.jsonl`.

    `fingerprint` identifies them; `results` are paths on the machine of the labelling.
    """

    kind: Kind
    fingerprint: str
    results: tuple[Path, ...]


def keep_source(folder: Path, kind: Kind, fingerprint: str, results: Sequence[Path]) -> None:
    """Record the labelled results, replacing the earlier record of this kind."""
    new = Source(kind=kind, fingerprint=fingerprint, results=tuple(p.resolve() for p in results))
    updated = {**sources(folder), kind: new}
    if updated == sources(folder):
        return
    path = folder / SOURCES
    part = path.with_name(f"{path.name}.part")
    rows = (updated[name].model_dump(mode="json") for name in sorted(updated))
    write_file(part, b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    rename(part, path)


def sources(folder: Path) -> dict[Kind, Source]:
    """The records by kind. Raises: InputError with the invalid line."""
    path = folder / SOURCES
    recorded: dict[Kind, Source] = {}
    if not path.is_file():
        return recorded
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            one = Source.model_validate_json(line)
        except ValidationError as error:
            why = " ".join(str(error).split("\n")[:3])
            raise InputError(f"{path}:{number}: wanted kind and results: {why}") from None
        recorded[one.kind] = one
    return recorded
