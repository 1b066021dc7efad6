"""Checked fields of one JSON object: errors give the line, the field, the value and what was
wanted.

`Choice` selects the rows with given values in their fields (`--where FIELD=VALUE`).
"""

from __future__ import annotations

import math
import os
import re
import tempfile
import weakref
from array import array
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import NoneType
from typing import IO, Any, TypeVar

import orjson

from ..judgements import FAILED, OLD_FAILED, Reason, is_evidence, read_evidence, read_failure
from .lines import has_lines, json_records, line_starts, parse_json
from .problems import InputError, Problems

L = TypeVar("L", bound=str)

ENVELOPE = "castorini.cli."  # `schema_version` of the tools that wrap their rows in `artifacts`
HIGHEST_GRADE = 100  # tools create an array as long as the highest grade
A_GRADE = f"a whole number from -{HIGHEST_GRADE} to {HIGHEST_GRADE}"
_LABELS = {str, int, NoneType}  # types of labels by member, or by part
_SHARES = ("score", "outside_probability")
_SURE = (*_SHARES, "probabilities", "votes", "parts", "confidence", "superseded")
_LABEL_SCORES = frozenset((*_SURE, "rationale", "evidence"))
_INTEGER = re.compile(r"[+-]?[0-9]{1,15}(\.0*)?")


@dataclass(frozen=True)
class Line:
    """A JSON object of a file, or one inside it; `prefix` is its path, such as `metadata.`.

    `theirs`: the file's names of fields that have other names here.
    """

    path: Path
    number: int
    row: Mapping[str, Any]
    problems: Problems
    prefix: str = ""
    theirs: Mapping[str, str] | None = None

    def error(self, kind: str, what: str) -> None:
        """Record a fault that makes the file unusable."""
        self.problems.error(self.path, self.number, kind, what)

    def skip(self, kind: str, what: str) -> None:
        """Record something that is left out."""
        self.problems.skip(self.path, self.number, kind, what)

    def keep(self, kind: str, what: str) -> None:
        """Record something unusual that is used unchanged."""
        self.problems.keep(self.path, self.number, kind, what)

    def name(self, field: str) -> str:
        """The path of the field in the file: `answer[3].text`."""
        return self.prefix + (self.theirs or {}).get(field, field)

    def first(self, *fields: str) -> tuple[str, Any] | None:
        """The first of these fields that is present and not null, with its value."""
        for field in fields:
            if (value := self.row.get(field)) is not None:
                return field, value
        return None

    def id(self, *fields: str) -> str | None:
        """The id under the first of these fields; missing or not an id: an error, and None."""
        name = self.optional_id(*fields)
        if name is None and self.first(*fields) is None:
            self.missing(*fields)
        return name

    def optional_id(self, *fields: str) -> str | None:
        """The id under the first of these fields, or None; not an id: an error."""
        for field in fields:
            if (value := self.row.get(field)) is not None:
                if (name := as_id(value)) is None:
                    self.bad(field, value, "an id (text or whole number)")
                return name
        return None

    def text(self, *fields: str) -> str | None:
        """The text under the first of these fields; missing or not text: an error, and None."""
        if (first := self.first(*fields)) is None:
            self.missing(*fields)
            return None
        if not isinstance(first[1], str):
            self.bad(first[0], first[1], "text")
            return None
        return first[1]

    def optional_text(self, *fields: str) -> str:
        """The text under the first of these fields, or ""; not text: an error."""
        return (self.text(*fields) or "") if self.first(*fields) else ""

    def array(self, *fields: str) -> list[Any] | None:
        """The list under the first of these fields; missing or not a list: an error, and None."""
        if (first := self.first(*fields)) is None:
            self.missing(*fields)
            return None
        if not isinstance(first[1], list):
            self.bad(first[0], first[1], "a list")
            return None
        return first[1]

    def objects(self, *fields: str, text_as: str | None = None) -> list[Line] | None:
        """The objects of the list under these fields; any other item is an error.

        Args:
            text_as: if given, a text counts as an object with the text in this field.
        """
        if (items := self.array(*fields)) is None:
            return None
        field = next(f for f in fields if self.row.get(f) is not None)
        lines = []
        for index, item in enumerate(items):
            row = {text_as: item} if text_as is not None and isinstance(item, str) else item
            if isinstance(row, dict):
                lines.append(replace(self, row=row, prefix=f"{self.name(field)}[{index}]."))
            else:
                wanted = "an object" if text_as is None else "text or an object"
                self.bad(f"{field}[{index}]", item, wanted)
        return lines

    def child(self, field: str) -> Line | None:
        """The object under this field; None if it is missing; anything else is an error."""
        if (value := self.row.get(field)) is None:
            return None
        if not isinstance(value, dict):
            self.bad(field, value, "an object")
            return None
        return replace(self, row=value, prefix=f"{self.name(field)}.")

    def label(self, field: str, labels: tuple[L, ...]) -> L | None:
        """The label in this field, one of these in any case; others are reported as not judged."""
        written = self.row.get(field)
        normal = written.strip().lower() if isinstance(written, str) else None
        label = next((label for label in labels if label == normal), None)
        if label is None and written is not None:
            what = f"{self.name(field)} is {show(written)}, wanted {', '.join(labels)}"
            self.keep("label", f"{what}; not judged")
        return label

    def read_label_scores(self) -> dict[str, Any]:
        """A judge's values beside a label, if any; invalid values are ignored.

        `score`, `probabilities`, `outside_probability`, `votes`, `method`, `confidence`,
        `superseded`, `parts`, and the result of `read_explanation`.
        """
        details: dict[str, Any] = {}
        if _LABEL_SCORES.isdisjoint(self.row):
            return details
        chances = self.row.get("probabilities")
        for field in _SHARES:
            if (share := self.row.get(field)) is None:
                continue
            if (number := as_share(share)) is not None:
                details[field] = number
            else:
                what = f"field {self.name(field)!r} is {show(share)}, wanted 0 to 1; ignored"
                self.keep(field, what)
        if isinstance(chances, dict) and None not in map(as_share, chances.values()):
            details["probabilities"] = {label: as_share(p) for label, p in chances.items()}
        elif chances is not None:
            wanted = "wanted label -> 0 to 1; ignored"
            what = f"field {self.name('probabilities')!r} is {show(chances)}, {wanted}"
            self.keep("probabilities", what)
        for field, of in (("votes", "member"), ("parts", "part")):
            if (written := self.row.get(field)) is None:
                continue
            if isinstance(written, dict) and {type(v) for v in written.values()} <= _LABELS:
                details[field] = {
                    m: None if v is None else str(v).strip().lower() for m, v in written.items()
                }
            else:
                what = f"field {self.name(field)!r} is {show(written)}, wanted {of} -> label"
                self.keep(field, f"{what} or null; ignored")
        sure, before = self.row.get("confidence"), self.row.get("superseded")
        if isinstance(sure, int | float) and not isinstance(sure, bool) and math.isfinite(sure):
            details["confidence"] = float(sure)
        if isinstance(before, str):
            details["superseded"] = before
        is_staged = "votes" in details or "confidence" in details or "superseded" in details
        if is_staged and isinstance(method := self.row.get("method"), str):
            details["method"] = method
        return details | self.read_explanation()

    def read_explanation(self) -> dict[str, Any]:
        """A judge's `evidence` and `rationale`, if present.

        Texts and other lists under `evidence` may be the judged texts, so they are left alone.
        """
        fields: dict[str, Any] = {}
        if isinstance(reason := self.row.get("rationale"), str):
            fields["rationale"] = reason
        written = self.row.get("evidence")
        if is_evidence(written) and (evidence := read_evidence(written)) is not None:
            fields["evidence"] = evidence
        elif written and is_evidence(written):
            wanted = "wanted objects with of, quote, start, end and sha256, or is_quoted; ignored"
            self.keep("evidence", f"field {self.name('evidence')!r} is {show(written)}, {wanted}")
        return fields

    def read_failure(self) -> Reason | None:
        """Why this could not be made; None: it was made. An unknown reason is an error."""
        if (written := self.first(FAILED, OLD_FAILED)) is None:
            return None
        try:
            return read_failure(written[1])
        except ValueError:
            self.bad(written[0], written[1], f"a reason: {', '.join(Reason)}")
            return Reason.ERROR

    def missing(self, *fields: str) -> None:
        """Record, as an error, that all of these fields are missing."""
        has = ", ".join(map(str, self.row)) or "nothing"
        wanted = " or ".join(repr(self.name(f)) for f in fields)
        self.error("missing_field", f"field {wanted} is missing; the object has {shorten(has)}")

    def bad(self, field: str, value: Any, wanted: str) -> None:
        """Record, as an error, a value of the wrong type."""
        what = f"field {self.name(field)!r} is {show(value)}, wanted {wanted}"
        self.error("bad_field", what)


def read_lines(path: Path, problems: Problems, where: Where | None = None) -> Iterator[Line]:
    """The objects of a JSONL file (or of one JSON document); `castorini.cli` envelopes are opened.

    Args:
        where: use only objects whose top-level fields have one of these values, as text.

    Raises: InputError, at the end, for a field or value of `where` that no object has.
    """
    choice = Choice(where or {})
    for number, row in json_records(path, problems):
        for line in _open_artifacts(Line(path, number, row, problems)):
            if choice.takes(line.row):
                yield line
    choice.check(path, problems)


def is_envelope(row: Mapping[str, Any]) -> bool:
    """Whether a castorini command wrapped its result in this object."""
    return str(row.get("schema_version", "")).startswith(ENVELOPE)


def _open_artifacts(line: Line) -> Iterator[Line]:
    """The line itself, or the content of its artifacts; an artifact in another file is skipped."""
    if not is_envelope(line.row):
        yield line
        return
    if line.row.get("status") not in (None, "success", "ok", "completed"):
        line.keep("envelope_status", f"the command ended with {show(line.row['status'])}")
    for artifact in line.objects("artifacts") or []:
        value = next((artifact.row[f] for f in ("data", "value") if f in artifact.row), None)
        if value is None:
            what = f"{artifact.prefix}data is missing (path: {show(artifact.row.get('path'))})"
            line.skip("envelope_file", f"{what}; to read it, give the file itself")
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                yield replace(artifact, row=item, prefix=f"{artifact.prefix}data.")
            else:
                artifact.bad("data", item, "an object or a list of objects")


def as_id(value: object) -> str | None:
    """An id as text without surrounding white space: `12` equals `"12"`; None if not an id."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return None


def as_int(value: object) -> int | None:
    """A whole number from 3, 3.0, "3" or "3.0"; None for anything else, also for truth values."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    if isinstance(value, str) and not value.isalpha() and _INTEGER.fullmatch(value.strip()):
        return int(float(value))
    return None


def as_grade(value: object) -> int | None:
    """A relevance grade, like `as_int`; None also if beyond HIGHEST_GRADE on either side."""
    grade = as_int(value)
    return grade if grade is not None and abs(grade) <= HIGHEST_GRADE else None


def as_share(value: object) -> float | None:
    """A number from 0 to 1, also as text (of a CSV file); None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    with suppress(ValueError):
        number = float(value)
        return number if 0 <= number <= 1 else None
    return None


def show(value: object) -> str:
    """A value for a message: short, and null for None."""
    return "null" if value is None else shorten(repr(value))


def shorten(text: str, limit: int = 60) -> str:
    """The start of a text that would be too long for a message."""
    return text if len(text) <= limit else text[: limit - 3] + "..."


_TABLES = (".xlsx", ".xls", ".ods", ".parquet")


def stem(path: Path) -> str:
    """The file's name without folder, `.gz` and format suffix; the default name of a run."""
    name = path.name.removesuffix(".gz")
    for suffix in (*(".jsonl", ".json", ".tsv", ".txt", ".csv", ".run"), *_TABLES):
        name = name.removesuffix(suffix)
    return name


Where = Mapping[str, Sequence[str]]  # field -> values, one of which a row must have
_SHOWN = 20  # fields or values in a message
_LONGEST = 40  # characters of each value in a message


class Choice:
    """Selects rows, and remembers what it saw, to explain a choice that fits none."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._fields: dict[str, None] = {}
        self._values: dict[str, dict[str, None]] = {name: {} for name in where}
        self._missing = {(name, value) for name, values in where.items() for value in values}

    def takes(self, row: Mapping[str, Any]) -> bool:
        """Whether the row has one of the wanted values for each field.

        Lists and objects cannot be chosen by.
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

        It cannot decide this for a file with errors, whose rows were not all read.
        """
        if any(row.action == "error" for row in problems):
            return
        for name, values in self._where.items():
            if not (seen := self._values[name]) and self._fields:
                what = f"no row has a field {name!r}"
                raise InputError(f"{path}: {what}, wanted one of {_list_names(self._fields)}")
            for value in values:
                if (name, value) in self._missing and seen:
                    what = f"no row with {name}={value}"
                    raise InputError(f"{path}: {what}, wanted one of {_list_names(seen)}")


def _is_many(value: Any) -> bool:
    return isinstance(value, list | dict)


def _list_names(names: Mapping[str, None]) -> str:
    short = [name if len(name) <= _LONGEST else name[: _LONGEST - 3] + "..." for name in names]
    return ", ".join(short[:_SHOWN]) + ", ..." * (len(short) > _SHOWN)


MAX_OPEN = 128  # files; further files are opened for each line


class LineIndex:
    """Records lines under keys, file by file, and reads the lines of a key again in that order.

    Holds four integers per line, and keeps its files open. An object without its own offset in its
    file (compressed, one JSON document or an envelope) is copied into a temporary file, which is
    deleted with the index.
    """

    def __init__(self) -> None:
        self._stored: dict[str, array[int]] = {}  # by key: file, start, size, number
        self._paths: list[Path] = []
        self._starts: array[int] | None = None  # of the last file; None: its lines are copied
        self._copies: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed by the line below
        self._open: dict[Path, IO[bytes]] = {}
        weakref.finalize(self, _close, self._copies, self._open)
        self._end = 0

    def note(self, line: Line, key: str) -> None:
        """Record the place of a line; the lines of one file come together."""
        if not self._paths or self._paths[-1] != line.path:
            self._paths.append(line.path)
            self._starts = line_starts(line.path) if has_lines(line.path) else None
        file = len(self._paths) - 1
        if self._starts is not None and not line.prefix:
            start, end = self._starts[line.number - 1 : line.number + 1]
        else:
            try:
                copy = orjson.dumps(line.row)
            except TypeError:  # more levels than orjson writes
                line.error("bad_json", "is nested too deeply, wanted 254 levels at most")
                return
            try:
                self._copies.seek(self._end)
                self._copies.write(copy)
                self._copies.flush()
            except OSError as error:
                where = tempfile.gettempdir()
                what = f"cannot be written ({error.strerror or error})"
                raise InputError(f"{where}: {what}") from None
            file, start, end = ~file, self._end, self._end + len(copy)  # below 0: a copy
            self._end = end
        entries = self._stored.setdefault(key, array("q"))
        entries.extend((file, start, end - start, line.number))

    def lines(self, key: str) -> Iterator[Line]:
        """The lines of a key, in the order in which they were recorded.

        Raises: InputError if a line is no longer there.
        """
        problems = Problems()
        entries = iter(self._stored.get(key, ()))
        for file, start, size, number in zip(entries, entries, entries, entries, strict=True):
            path = self._paths[max(file, ~file)]
            try:
                row = parse_json(self._read(start, size, None if file < 0 else path))
            except (OSError, ValueError) as error:
                what = f"changed while the run went on; line {number} is gone ({error})"
                raise InputError(f"{path}: {what}; start it again") from None
            yield Line(path, number, row, problems)

    def _read(self, start: int, size: int, path: Path | None) -> bytes:
        if path is None:
            self._copies.seek(start)
            return self._copies.read(size)
        if (stream := self._open.get(path)) is None:
            stream = path.open("rb", buffering=0)
            if len(self._open) == MAX_OPEN:
                with stream:
                    return os.pread(stream.fileno(), size, start)
            self._open[path] = stream
        return os.pread(stream.fileno(), size, start)


def _close(copies: IO[bytes], others: Mapping[Path, IO[bytes]]) -> None:
    for stream in others.values():
        stream.close()
    with suppress(OSError):  # unwritten data is no longer needed
        copies.close()
