"""Imports labels from files of any layout, to compare and adjudicate them."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from ....programs.scoring.human_labels import CHOSEN_BY
from ....records.columns import TableOptions
from ....records.kinds import ROW, Cell, LabelFile
from ....records.labels import read_items, read_labels
from ....records.reading.fields import Line, as_int, as_share, show, stem
from ....records.reading.problems import InputError, Problems
from ....records.tables.label_rows import is_table, label_lines
from ..store.events import MAX_ACTIVE_MS, MAX_INT, Condition, Label, Span
from ..store.journal import Journal, check_name
from ..store.kinds import Kind
from ..store.people import IMPORTED

_CONDITIONS: tuple[Condition, ...] = get_args(Condition)
_SPELLINGS = {"from-scratch": "from_scratch", "post-edit": "post_edit", "post_edited": "post_edit"}
_SPANS = TypeAdapter(tuple[Span, ...])
_UNFIT = re.compile(r"[^A-Za-z0-9._-]+")
_NAME_CHARS = 32  # of a changed name, before its hash
_MAX_CHARS = 20_000  # of a rationale


@dataclass(frozen=True)
class Imported:
    """The imported labels of one person and kind, and how many are new or changed."""

    name: str
    kind: Kind
    n: int
    n_new: int


def import_labels(
    files: Sequence[Path],
    folder: Path,
    problems: Problems,
    *,
    kind: Kind | None = None,
    condition: Condition | None = None,
    scale: Sequence[str] | None = None,
    how: TableOptions | None = None,
) -> list[Imported]:
    """Store the labels of files next to the journals of a folder, under the annotators' names.

    They go to `imported/NAME.events.jsonl`. A label that is imported again is stored once; a
    changed label replaces the earlier one. Rows without an annotator belong to one person, named
    after the file.

    Args:
        files: label files in any layout. Rows of an export keep condition, `chosen_by`,
            `probability`, time, spans and rationales.
        kind: kind of the labels; None: from their ids.
        condition: condition of all labels; None: from the column, otherwise from_scratch.
        scale: the valid labels, worst to best; None: any.
        how: the columns, labels and missing values of tables.

    Raises: InputError for a file without labels or with invalid labels; then nothing is imported.
    """
    by_person: dict[str, dict[tuple[str, ...], Label]] = {}
    names: dict[str, str] = {}
    for path in files:
        for annotator, label in _labels(path, problems, kind, condition, scale, how):
            name = fit_name(annotator)
            if names.setdefault(name, annotator) != annotator:
                what = f"{names[name]!r} and {annotator!r} would both be {name}"
                raise InputError(f"{path}: annotators {what}; rename one")
            before = by_person.setdefault(name, {}).setdefault(label.key, label)
            if before.label != label.label or before.condition != label.condition:
                what = f"{annotator} labels {label.kind} {' '.join(label.cell)} twice, "
                what += f"as {show(before.label)} ({before.condition}) and as {show(label.label)}"
                raise InputError(f"{path}: {what} ({label.condition}); wanted one label")
    done = []
    for name, labels in sorted(by_person.items()):
        journal = Journal(folder / IMPORTED, name)
        try:
            for one in sorted({label.kind for label in labels.values()}):
                of_kind = [label for label in labels.values() if label.kind == one]
                done.append(Imported(name, one, len(of_kind), journal.add_labels(of_kind)))
        finally:
            journal.close()
    return done


def fit_name(annotator: str) -> str:
    """An annotator's name as a valid name of a journal; a changed name gets a hash.

    >>> fit_name("ann"), fit_name("Ann Lee")
    ('ann', 'Ann-Lee-a36e14')
    """
    with suppress(InputError):
        return check_name(annotator)
    plain = _UNFIT.sub("-", annotator).strip("-._")[:_NAME_CHARS]
    digest = hashlib.sha256(annotator.encode("utf-8", "replace")).hexdigest()[:6]
    return check_name(f"{plain or 'annotator'}-{digest}")


def _labels(
    path: Path,
    problems: Problems,
    kind: Kind | None,
    condition: Condition | None,
    scale: Sequence[str] | None,
    how: TableOptions | None,
) -> Iterator[tuple[str, Label]]:
    """The labels of a file, each with the name of its annotator."""
    rows = list(label_lines(path, problems, how=how)) if is_table(path, how) else []
    problems.raise_errors()
    written = {line.row.get("condition") for line in rows} if condition is None else set()
    if written <= {None}:
        choices: list[Any] = [None]
    else:
        _check_conditions(rows)
        choices = sorted(written)
    n = 0
    for choice in choices:
        where = {} if choice is None else {"condition": [choice]}
        read = Problems()
        file = read_labels(path, read, where, scale, how=how, is_human=True)
        read.raise_errors()
        if ROW in file.key_names:
            what = "no column identifies the items, so they cannot be matched with judged items"
            raise InputError(f"{path}: {what}; --field topic_id=COLUMN names one")
        problems.rows += [row for row in read if row.kind not in ("no_majority", "unknown_scale")]
        problems.notes |= read.notes
        of_kind = kind or _find_kind(file)
        under = condition or (_plain(choice) if choice else "from_scratch")
        more = _rows_by_cell([line for line in rows if choice in (None, line.row.get("condition"))])
        for cell, annotator, label in _read_labels(file, more):
            n += label is not None
            line = more.get((cell, annotator))
            beside = {} if line is None else _beside(line)
            if not beside and cell in file.rationales and cell not in file.annotations:
                beside = {"rationale": file.rationales[cell][:_MAX_CHARS]}
            yield (
                annotator or stem(path),
                Label.model_validate(
                    {
                        "id": uuid4().hex,
                        "kind": of_kind,
                        "cell": cell,
                        "label": label,
                        "condition": under,
                        **beside,
                    }
                ),
            )
    if not n:
        raise InputError(f"{path}: has no labels")


def _read_labels(
    file: LabelFile, rows: Mapping[tuple[Cell, str | None], Line]
) -> Iterator[tuple[Cell, str | None, str | None]]:
    """Cell, annotator and label, with people's "cannot tell"; rows of a sheet may be empty."""
    for cell, label in file.cells.items():
        if cell not in file.annotations:
            yield cell, None, label
    for cell, by in file.annotations.items():
        yield from ((cell, name, label) for name, label in by.items())
    for cell, annotator in rows:
        if annotator is not None and annotator not in file.annotations.get(cell, {}):
            yield cell, annotator, None


def _rows_by_cell(rows: Sequence[Line]) -> dict[tuple[Cell, str | None], Line]:
    return {
        (item.cell, line.optional_id("annotator")): line
        for line in rows
        for item in read_items([line], ())
    }


def _beside(line: Line) -> dict[str, Any]:
    """The other fields of an exported label; invalid values are dropped and listed."""
    row = line.row
    fields: dict[str, Any] = {}
    for name in ("rationale", CHOSEN_BY, "shown"):
        if isinstance(value := row.get(name), str) and value.strip():
            fields[name] = value[:_MAX_CHARS]
    if share := as_share(row.get("probability")):
        fields["probability"] = share
    with suppress(TypeError, ValueError):
        ms = 1000 * float(row.get("seconds") or 0)
        if ms <= MAX_ACTIVE_MS:
            fields["active_ms"] = max(0, round(ms))
        else:
            most = f"wanted at most {MAX_ACTIVE_MS // 1000:,}"
            line.keep("seconds", f"seconds are {show(row['seconds'])}, {most}; not used")
    if repeat := as_int(row.get("repeat")):
        if not 0 < repeat <= MAX_INT:
            what = f"repeat is {show(row['repeat'])}, wanted 0 or more"
            raise InputError(f"{line.path}:{line.number}: {what}")
        fields["repeat"] = repeat
    if str(row.get("is_control", "")).lower() == "true":
        fields["is_control"] = True
    if (written := row.get("spans")) not in (None, "", []):
        try:
            spans = json.loads(written) if isinstance(written, str) else written
            fields["spans"] = _SPANS.validate_python(spans)
        except (ValueError, ValidationError):
            line.keep("spans", f"spans are {show(written)}, wanted a list of places; not used")
    return fields


def _check_conditions(rows: Sequence[Line]) -> None:
    """Raise InputError for an unknown condition, or a row without one if others have it."""
    for line in rows:
        written = line.row.get("condition")
        if not isinstance(written, str) or _plain(written) not in _CONDITIONS:
            what = f"condition is {show(written)}, wanted {' or '.join(_CONDITIONS)}"
            raise InputError(f"{line.path}:{line.number}: {what}; --condition sets it for all rows")


def _plain(condition: str) -> str:
    plain = condition.strip().lower()
    return _SPELLINGS.get(plain, plain)


def _find_kind(file: LabelFile) -> Kind:
    return file.kind if file.kind in get_args(Kind) else "items"
