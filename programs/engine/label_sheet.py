"""A label file for people to fill in: JSONL, or CSV that is safe to open in a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from ...records.kinds import key_fields
from ...records.reading.problems import InputError, Problems
from ...records.tables.label_rows import FORMULA, neutral
from ...records.writing import write_file, writing

__all__ = ["write_sheet"]

# Ids that a spreadsheet changes when it saves: numbers with leading zeros, with more than 15 digits
# or with exponents, dates, truth values.
_REWRITTEN = re.compile(
    r"0\d+|\d{16,}|\d+\.\d*|\d+[eE]\d+|\d{1,4}([-/])\d{1,2}(\1\d{1,4})?|true|false", re.IGNORECASE
)
CELL_CHARS = 32_000  # a spreadsheet's cell holds 32,767


def write_sheet(
    path: Path, rows: Sequence[Mapping[str, Any]], problems: Problems, *, replace: bool = False
) -> None:
    """Write items and empty labels to a file for people, CSV or JSONL.

    CSV is UTF-8 with a byte order mark, by which spreadsheets recognise the encoding. Two texts
    change in CSV. A text that a spreadsheet would read as a formula gets a leading apostrophe;
    reading the labels removes it. A text of more than 32,000 characters is cut, with a warning. Ids
    never change: an id that would be a formula is an error, and an id that a spreadsheet would
    rewrite when it saves, such as 007, is a warning.

    Args:
        path: the file, which ends in `.csv` or `.jsonl`.
        rows: the rows, 1 or more, all with the same columns in the same order.
        problems: receives the warnings.
        replace: replace a file that exists. By default that is an error, because it may have
            labels.

    Raises: InputError for another ending, a file that exists or cannot be written, and an id that
        would be a formula.

    >>> from tempfile import TemporaryDirectory
    >>> rows = [{"topic_id": "t1", "run_id": "a", "answer": "Wind.", "label": None}]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "sheet.csv")
    ...     write_sheet(path, rows, Problems())
    ...     path.read_text(encoding="utf-8-sig").splitlines()
    ['topic_id,run_id,answer,label', 't1,a,Wind.,']
    """
    if path.suffix not in (".csv", ".jsonl"):
        raise InputError(f"{path}: wanted a name that ends in .csv or .jsonl")
    with writing(path):
        if path.exists() and not replace:
            raise InputError(f"{path}: is there already, and may hold labels; name another file")
    if path.suffix == ".jsonl":
        text = b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows)
    else:
        text = _csv(path, rows, problems).encode("utf-8-sig")
    write_file(path, text)


def _csv(path: Path, rows: Sequence[Mapping[str, Any]], problems: Problems) -> str:
    stream, ids = io.StringIO(), key_fields()
    writer = csv.writer(stream)  # ends lines as RFC 4180 has it, and so quotes both \r and \n
    writer.writerow([neutral(name) for name in rows[0]])
    for number, row in enumerate(rows, 2):
        cells = []
        for name, value in row.items():
            if name in ids:
                _check_id(path, number, name, str(value), problems)
                cells.append(value)
            elif isinstance(value, str):
                cells.append(neutral(_cut(path, number, name, value, problems)))
            else:
                cells.append("" if value is None else value)
        writer.writerow(cells)
    return stream.getvalue()


def _cut(path: Path, number: int, name: str, text: str, problems: Problems) -> str:
    if len(text) <= CELL_CHARS:
        return text
    what = f"{name} has {len(text):,} characters and is cut to {CELL_CHARS:,}; a .jsonl has all"
    problems.keep(path, number, "cut_text", what)
    return text[:CELL_CHARS]


def _check_id(path: Path, number: int, name: str, value: str, problems: Problems) -> None:
    if value.startswith(FORMULA):
        what = f"{name} {value!r} would be a formula in a spreadsheet"
        raise InputError(f"{path}: {what}; write a .jsonl")
    if _REWRITTEN.fullmatch(value):
        what = f"{name} {value!r} is what spreadsheets rewrite; read the column as text, or .jsonl"
        problems.keep(path, number, "spreadsheet_id", what)
