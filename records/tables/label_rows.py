"""Rows of people's labels under our names, from a table of any layout."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ..columns import ColumnMap, TableOptions, guess_columns, map_lines
from ..kinds import ITEM_ID, ROW, file_kind, key_fields
from ..reading.fields import Choice, Line, Where
from ..reading.problems import InputError, Problems
from .files import Table, holds_cells, read_table

# OWASP, "CSV injection"; wide forms too.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_STARTS = re.compile(f"'*[{re.escape(''.join(FORMULA))}]")


def neutral(text: str) -> str:
    """The text with an apostrophe before what would be a formula, or would look so guarded.

    >>> neutral("=1+1"), neutral("it = 2")
    ("'=1+1", 'it = 2')
    """
    return f"'{text}" if _STARTS.match(text) else text


def as_meant(text: str) -> str:
    """What `neutral` was given, so that offsets in a text are the same on both sides of a file.

    >>> as_meant("'=1+1"), as_meant("'tis so")
    ('=1+1', "'tis so")
    """
    return text[1:] if text.startswith("'") and _STARTS.match(text) else text


BESIDE = ("label", "annotator", "judge", "rationale", "condition")  # in label files, besides ids


def label_lines(
    path: Path,
    problems: Problems,
    where: Where | None = None,
    how: TableOptions | None = None,
    *,
    texts: Sequence[str] = (),
    key: Sequence[str] = (),
) -> Iterator[Line]:
    """Yield the rows of people's labels under our names, one for each item and annotator.

    The guessed columns are recorded in `problems`, as equivalent options. Items without an
    id are identified by their row, and by a topic made from their question if they have one.

    Args:
        where: use only rows whose fields, under the file's names, have one of these values.
        texts: the inputs of the judge that a row may have.
        key: the ids of the labels to compare with; only these are guessed.

    Raises: InputError for a file that is not a table, or a missing column.
    """
    how = how or TableOptions()
    table = read_table(path, problems, sheet=how.sheet)
    if not table.rows:
        problems.raise_errors()
        raise InputError(f"{path}:1: a header without rows")
    columns = choose_columns(table, how, (*texts, "question"), key=key)
    note_columns(table, columns, problems)
    has_ids = any(name in columns for name in key_fields())
    for line in map_lines(choose_lines(path, problems, table.rows, where), columns):
        if not has_ids:
            question = line.row.get("question")
            topic = {"topic_id": make_topic_id(question)} if isinstance(question, str) else {}
            line = replace(line, row={**line.row, **topic, ROW: line.number})
        yield line


def make_topic_id(question: str) -> str:
    """Make the id of a topic from its question, the same in every file.

    >>> make_topic_id("Why? ")
    'q-5d8a995a'
    """
    return f"q-{hashlib.sha256(question.strip().encode('utf-8', 'surrogatepass')).hexdigest()[:8]}"


def is_table(path: Path, how: TableOptions | None = None) -> bool:
    """Whether a file is a table of labels: by its content, or by a person's choice of columns."""
    return bool(how is not None and (how.fields or how.sheet)) or file_kind(path) == "labels"


def choose_lines(
    path: Path, problems: Problems, lines: Iterable[Line], where: Where | None
) -> Iterator[Line]:
    """The selected lines, without the guards against formulas in their texts."""
    choice, is_guarded = Choice(where or {}), holds_cells(path)
    ids = {name for names in key_fields().values() for name in names}  # ids have no guard
    for line in lines:
        if choice.takes(line.row):
            row = {
                name: as_meant(value) if isinstance(value, str) and name not in ids else value
                for name, value in line.row.items()
            }
            yield replace(line, row=row) if is_guarded else line
    choice.check(path, problems)


def choose_columns(
    table: Table,
    how: TableOptions,
    texts: Sequence[str] = (),
    *,
    key: Sequence[str] = (),
    beside: Sequence[str] = BESIDE,
) -> ColumnMap:
    """Find the columns of ids, texts and labels, see `guess_columns`.

    Ids are guessed only if columns with our names do not distinguish the rows, so that our own
    files are always read in the same way.

    Args:
        key: the ids that may be guessed; (): any.
    """
    ids = key_fields()
    wanted = (*ids, *dict.fromkeys(name for name in texts if name not in ids), *beside)
    columns = guess_columns(table, wanted, how.fields, names=ids)
    guessed = [name for name in ids if name in columns.guessed]
    if key:
        columns = columns.without([name for name in guessed if name not in key])
    elif len(guessed) < sum(name in columns for name in ids):
        of_names = columns.without([*guessed, *{"annotator"} & columns.guessed])
        columns = of_names if _tells_apart(table, of_names) else columns
    if ITEM_ID in columns.guessed:
        others = columns.without([ITEM_ID])
        columns = others if _tells_apart(table, others) else columns
    return columns


def _tells_apart(table: Table, columns: ColumnMap) -> bool:
    """Whether all rows differ in their ids and annotator."""
    names = [columns[name] for name in (*key_fields(), "annotator") if name in columns]
    keys = {tuple(str(line.row.get(name)) for name in names) for line in table.rows}
    return bool(names) and len(keys) == len(table.rows)


def note_columns(
    table: Table, columns: ColumnMap, problems: Problems, option: str = "--field "
) -> None:
    """Record how a table was read, as equivalent options; nothing if there was no guess."""
    judges = columns.columns.get("judge", ())
    said = columns.without(["judge"]).get_options(option)
    parts = [*table.notes, *([f"read with {said}"] if said else [])]
    if parts:
        problems.note(f"{table.path}: {', '.join(parts)}")
    for name in judges if "judge" in columns.guessed else ():
        problems.note(f"{table.path}: column {name!r} looks like a judge's, so it is ignored")
