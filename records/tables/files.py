"""People's tables, as rows with the numbers that their program shows.

CSV with commas, semicolons, tabs or `|`; UTF-8, UTF-16 or cp1252; workbooks (xlsx, xls, ods); JSON
and JSONL; Parquet; and in memory lists of dicts, pandas and polars frames.
"""

from __future__ import annotations

import codecs
import csv
import datetime
import io
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, TextIO, cast

from ..reading.fields import Line, read_lines, shorten
from ..reading.lines import open_bytes, parse_json
from ..reading.problems import InputError, Problems, did_you_mean, need

EXTRA = "tables"  # the extra that reads workbooks and Parquet
MAX_COLUMNS = 1000
DEFAULT_MISSING = frozenset(
    ("", "n/a", "#n/a", "n.a.", "na", "nan", "none", "null", "nil", "?", "??", "-", "--", "–", "—")
)
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "'|'"}
_PARQUET = b"PAR1"
_WORKBOOKS = (b"PK\x03\x04", b"\xd0\xcf\x11\xe0")  # xlsx and ods are zip files, xls is OLE
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
_ABSENT = ("nan", "NaT", "<NA>")  # missing values of a frame, as text
_CHUNK = 2**17  # bytes
_SAMPLE = 2**16  # characters for finding the delimiter
_TOP = 20  # rows, one of which is the header


@dataclass(frozen=True)
class Table:
    """A table whose rows are objects by column; `notes`: what was recognised.

    `Line.number` is the row as a spreadsheet numbers it, the line of a text file, or the row of a
    Parquet file or frame, from 1. An empty cell is None.
    """

    path: Path
    columns: tuple[str, ...]
    rows: list[Line]
    notes: tuple[str, ...] = ()


def is_missing(value: object, missing: Iterable[str] = DEFAULT_MISSING) -> bool:
    """Whether a cell has no value: empty, NaN, or one of these words in any case.

    >>> is_missing(" N/A "), is_missing(None), is_missing("no"), is_missing(0)
    (True, True, False, False)
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    return isinstance(value, str) and value.strip().lower() in missing


def as_number(value: object) -> float | None:
    """A finite number, also as text, with a decimal point or comma; None for anything else.

    >>> as_number("0,75"), as_number(" 2 "), as_number("1,000.5"), as_number(True)
    (0.75, 2.0, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    text = value.strip() if isinstance(value, str) else value
    if isinstance(text, str) and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    try:
        number = float(text)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) and "_" not in str(value) else None


def read_table(path: Path, problems: Problems, *, sheet: str | None = None) -> Table:
    """Read a table of any layout, recognised by content.

    Args:
        sheet: of a workbook; None: the first visible one with rows.

    Raises: InputError for a file that is not a table, such as an empty one, or whose header cannot
        be used: a column twice, more than `MAX_COLUMNS`.
    Errors reported: a row with more or fewer cells than the header, a line that is not a JSON
    object.
    """
    notes: list[str] = []
    rows = list(table_lines(path, problems, sheet=sheet, notes=notes))
    return Table(path, list_columns(rows), rows, tuple(notes))


def make_table(rows: Any, name: str = "rows") -> Table:
    """Make a table from memory: a list of dicts, or a frame of pandas or polars.

    Raises: InputError for something else, or a row that is not a mapping.

    >>> make_table([{"id": 1, "label": "yes"}]).columns
    ('id', 'label')
    """
    path, problems = Path(name), Problems()
    lines = []
    for number, row in enumerate(_frame_rows(rows, name), 1):
        if not isinstance(row, Mapping):
            what = f"row {number} is {shorten(repr(row))}, wanted a mapping of columns to values"
            raise InputError(f"{name}: {what}")
        cells = {str(column): _plain_cell(value) for column, value in row.items()}
        lines.append(Line(path, number, cells, problems))
    return Table(path, list_columns(lines), lines)


def _frame_rows(rows: Any, name: str) -> Iterable[Any]:
    if hasattr(rows, "iter_rows"):  # polars
        named: Iterable[Any] = rows.iter_rows(named=True)
        return named
    if hasattr(rows, "itertuples"):  # pandas
        columns = [str(column) for column in rows.columns]
        tuples = rows.itertuples(index=False, name=None)
        return (dict(zip(columns, row, strict=True)) for row in tuples)
    if isinstance(rows, str | bytes | Mapping) or not isinstance(rows, Iterable):
        what = "wanted a list of mappings, or a frame of pandas or polars"
        raise InputError(f"{name}: is {shorten(repr(rows))}, {what}")
    return rows


def list_columns(rows: Sequence[Line]) -> tuple[str, ...]:
    """The columns of any of these rows."""
    return tuple(dict.fromkeys(str(name) for line in rows for name in line.row))


def table_lines(
    path: Path, problems: Problems, *, sheet: str | None = None, notes: list[str] | None = None
) -> Iterator[Line]:
    """Yield the rows of a table one by one, see `read_table`; text files are never read whole.

    Args:
        notes: receives what was recognised.
    """
    notes = [] if notes is None else notes
    if (kind := find_binary_kind(path)) is not None:
        return _READERS[kind](path, problems, sheet, notes)
    if sheet is not None:
        raise InputError(f"--sheet {sheet}: {path} is not a workbook, so it has no sheets")
    encoding = find_encoding(path)
    is_utf8 = encoding in ("utf-8", "utf-8-sig")
    if not is_utf8:
        notes.append(encoding)
    if not is_json_text(path, encoding):
        return _csv_lines(path, encoding, problems, notes)
    return read_lines(path, problems) if is_utf8 else _read_json(path, encoding, problems)


def holds_cells(path: Path) -> bool:
    """Whether a table is CSV or a workbook, where a text may have a guard against formulas."""
    if (kind := find_binary_kind(path)) is not None:
        return kind == "workbook"
    return not is_json_text(path, find_encoding(path, _SAMPLE))


def is_json_text(path: Path, encoding: str) -> bool:
    """Whether a text file starts like JSON. Raises: InputError for an empty one."""
    if not (first := _first_line(path, encoding)):
        raise InputError(f"{path}:1: the file is empty, wanted a table")
    return first.startswith(("{", "["))


def find_binary_kind(path: Path) -> str | None:
    """`workbook` or `parquet`, from the first bytes of a file; None: text. Raises: InputError."""
    with open_bytes(path) as stream:
        start = _read(path, stream, 4)
    if start == _PARQUET:
        return "parquet"
    return "workbook" if start in _WORKBOOKS else None


def find_encoding(path: Path, most: int | None = None) -> str:
    """`utf-8-sig`, `utf-16` or `utf-8` or, for other text, `cp1252`.

    Args:
        most: bytes of the file to read; None: all.
    """
    with open_bytes(path) as stream:
        chunk = _read(path, stream, _CHUNK)
        for mark, name in _BOMS.items():
            if chunk.startswith(mark):
                return name
        if b"\0" in chunk[:_SAMPLE]:
            at = chunk[:_SAMPLE].index(b"\0")
            return "utf-16-le" if at % 2 else "utf-16-be"
        decoder = codecs.getincrementaldecoder("utf-8")()
        n = len(chunk)
        try:
            while chunk and (most is None or n <= most):
                decoder.decode(chunk)
                chunk = _read(path, stream, _CHUNK)
                n += len(chunk)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _read(path: Path, stream: Any, size: int) -> bytes:
    try:
        return bytes(stream.read(size))
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None


def _open(path: Path, encoding: str) -> TextIO:
    return io.TextIOWrapper(cast(Any, open_bytes(path)), encoding=encoding, newline="")


def _first_line(path: Path, encoding: str) -> str:
    """The first non-blank line. Raises: InputError for anything but text."""
    with _open(path, encoding) as stream:
        try:
            line = next((text for text in stream if text.strip()), "").strip()
        except (OSError, EOFError, zlib.error, UnicodeError):
            raise _no_text(path, 1) from None
    if any(ord(c) < 32 and c not in "\t\f" for c in line):
        raise _no_text(path, 1)
    return line


def _no_text(path: Path, number: int) -> InputError:
    what = "not a table in UTF-8, UTF-16 or cp1252"
    return InputError(f"{path}:{number}: {what}; save it as CSV in UTF-8, or as xlsx")


def _read_json(path: Path, encoding: str, problems: Problems) -> Iterator[Line]:
    """JSONL, or one array, in an encoding other than UTF-8."""
    with open_bytes(path) as stream:
        raw = _read(path, stream, -1)
    try:
        text = raw.decode(encoding)
    except UnicodeDecodeError as error:
        number = raw[: error.start].decode(encoding).count("\n") + 1
        raise _no_text(path, number) from None
    if text.lstrip().startswith("["):
        numbered = [(1, text)]
    else:
        numbered = [(n, t) for n, t in enumerate(text.splitlines(), 1) if t.strip()]
    for number, part in numbered:
        try:
            value = parse_json(part)
        except ValueError as error:
            problems.error(path, number, "bad_json", f"not JSON ({error}), wanted an object")
            continue
        for row in value if isinstance(value, list) else [value]:
            if isinstance(row, dict):
                yield Line(path, number, row, problems)
            else:
                what = f"JSON {type(row).__name__}, wanted an object"
                problems.error(path, number, "bad_json", what)


# CSV


def _csv_lines(path: Path, encoding: str, problems: Problems, notes: list[str]) -> Iterator[Line]:
    with _open(path, encoding) as stream:
        reader = None
        try:
            skipped, delimiter = _find_delimiter(stream)
            if delimiter != ",":
                notes.append(_DELIMITERS[delimiter])
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            records = _number_records(reader, skipped)
            yield from _make_lines(path, records, problems, notes)
        except csv.Error as error:
            number = max(reader.line_num, 1) if reader is not None else 1
            raise InputError(f"{path}:{number}: not CSV ({error})") from None
        except UnicodeError:
            raise _no_text(path, reader.line_num + 1 if reader is not None else 1) from None
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{path}: cannot be read ({error})") from None


def _find_delimiter(stream: TextIO) -> tuple[int, str]:
    """The number of lines above the table, and the delimiter; leaves the stream at the start.

    Excel may declare it in a line above the header: `sep=;`.
    """
    sample = stream.read(_SAMPLE)
    is_whole = len(sample) < _SAMPLE
    stream.seek(0)
    first, _, _ = sample.partition("\n")
    if (said := re.fullmatch(r"\ufeff?\"?sep=([,;\t|])\"?\r?", first, re.IGNORECASE)) is not None:
        stream.readline()
        return 1, said[1]
    return 0, max(_DELIMITERS, key=lambda mark: _rate_delimiter(sample, mark, is_whole=is_whole))


def _rate_delimiter(sample: str, delimiter: str, *, is_whole: bool) -> tuple[bool, float, int]:
    """Whether there are columns, the share of rows with the same number, and the number."""
    widths: Counter[int] = Counter()
    try:
        rows = list(csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter))
    except csv.Error:
        return False, 0.0, 0
    for row in rows if is_whole else rows[:-1] or rows:
        widths[len(row)] += bool(row)
    width, n = max(widths.items(), key=lambda item: (item[0] > 1, item[1]), default=(0, 0))
    return width > 1, n / max(sum(widths.values()), 1), width


def _number_records(reader: Any, skipped: int) -> Iterator[tuple[int, list[Any]]]:
    """Each record with the number of its first line; blank lines are left out."""
    begins = 1
    for record in reader:
        if record:
            yield begins + skipped, record
        begins = reader.line_num + 1


# All tables with a header


def _make_lines(
    path: Path,
    records: Iterable[tuple[int, list[Any]]],
    problems: Problems,
    notes: list[str],
    *,
    is_padded: bool = False,
) -> Iterator[Line]:
    """The rows below the header as objects; rows of empty cells are left out.

    Args:
        records: each row with its number; the header is among the first ones.
        is_padded: every row of a sheet is as wide as the widest one.
    """
    numbered = iter(records)
    head = list(islice(numbered, _TOP))
    if not head:
        raise InputError(f"{path}:1: the file is empty, wanted a header and rows")
    at = _find_header(head)
    if at:
        notes.append(f"header in row {head[at][0]}")
    header = _Header(path, *head[at])
    for number, record in chain(head[at + 1 :], numbered):
        if (line := header.line(number, record, problems, is_padded=is_padded)) is not None:
            yield line
    notes += header.notes


def _find_header(rows: Sequence[tuple[int, list[Any]]]) -> int:
    """The position of the header: the first row with at least two cells, or the first row."""
    filled = [sum(not _is_empty(value) for value in record) for _, record in rows]
    return next((at for at, n in enumerate(filled) if n > 1), 0)


class _Header:
    """The names of the columns; one without a name gets its letter, if it has values."""

    def __init__(self, path: Path, number: int, record: Sequence[Any]) -> None:
        self._path = path
        cells = list(record)
        while len(cells) > 1 and _is_empty(cells[-1]):
            cells.pop()
        if len(cells) > MAX_COLUMNS:
            what = f"{len(cells):,} columns, wanted {MAX_COLUMNS:,} at most"
            raise InputError(f"{path}:{number}: {what}")
        self.names: list[str] = []
        self._unnamed: set[str] = set()
        self.notes: list[str] = []
        for at, value in enumerate(cells):
            name = "" if _is_empty(value) else " ".join(str(value).split())
            if not name:
                name = f"column {_letter(at)}"
                self._unnamed.add(name)
            if name in self.names:
                what = f"column {name!r} is in the header twice, wanted once"
                raise InputError(f"{path}:{number}: {what}")
            self.names.append(name)

    def line(
        self, number: int, record: Sequence[Any], problems: Problems, *, is_padded: bool
    ) -> Line | None:
        """The row as an object; None if it is empty or, as an error, too short or too long."""
        cells = [_plain_cell(value) for value in record]
        if all(value is None for value in cells):
            return None
        n = len(self.names)
        if any(value is not None for value in cells[n:]) or (len(cells) < n and not is_padded):
            what = f"cells in the row: {len(cells)}, in the header: {n}"
            problems.error(self._path, number, "bad_csv", what)
            return None
        row = dict(zip(self.names, cells, strict=False))
        for name in self._unnamed:
            if row.get(name) is None:
                row.pop(name, None)
            elif (note := f"{name} has no name") not in self.notes:
                self.notes.append(note)
        return Line(self._path, number, row, problems)


def _letter(at: int) -> str:
    """The letters that a spreadsheet uses for a column: A, B, ..., AA."""
    name = ""
    at += 1
    while at:
        at, rest = divmod(at - 1, 26)
        name = chr(ord("A") + rest) + name
    return name


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _plain_cell(value: Any) -> Any:
    """A cell in JSON's types: None if empty, whole floats as integers, dates as text."""
    if _is_empty(value):
        return None
    if hasattr(value, "item") and not isinstance(value, str):  # a numpy number
        value = value.item() if getattr(value, "ndim", 0) == 0 else value.tolist()
    if isinstance(value, str | int | list | dict):
        return value
    if str(value) in _ABSENT:
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat().removesuffix("T00:00:00")
    return str(value)


# Workbooks and Parquet


def _sheet_lines(
    path: Path, problems: Problems, sheet: str | None, notes: list[str]
) -> Iterator[Line]:
    calamine = need("python_calamine", EXTRA)
    try:
        with open_bytes(path) as stream:
            book = calamine.CalamineWorkbook.from_filelike(io.BytesIO(stream.read()))
        visible = [
            one.name for one in book.sheets_metadata
            if one.visible == calamine.SheetVisibleEnum.Visible
            and one.typ == calamine.SheetTypeEnum.WorkSheet
        ]  # fmt: skip
        if sheet is not None and sheet not in book.sheet_names:
            names = ", ".join(map(repr, book.sheet_names))
            what = f"no such sheet{did_you_mean(sheet, book.sheet_names)}; {path} has {names}"
            raise InputError(f"--sheet {sheet}: {what}")
        chosen = [sheet] if sheet is not None else visible
        sheets = {name: _read_sheet(book.get_sheet_by_name(name)) for name in chosen}
    except InputError:
        raise
    except Exception as error:  # calamine's errors have no common class
        raise InputError(f"{path}: not a workbook that can be read ({error})") from None
    filled = [name for name, rows in sheets.items() if rows]
    if not filled:
        raise InputError(f"{path}: no sheet has rows, wanted a header and rows")
    others = f" ({', '.join(filled[1:])} not read; choose one with --sheet)" if filled[1:] else ""
    if len(book.sheet_names) > 1:
        notes.append(f"sheet {filled[0]!r}{others}")
    yield from _make_lines(path, sheets[filled[0]], problems, notes, is_padded=True)


def _read_sheet(sheet: Any) -> list[tuple[int, list[Any]]]:
    """The rows of a sheet with their numbers, merged cells filled, without empty rows."""
    rows = sheet.to_python(skip_empty_area=False)
    for (top, left), (bottom, right) in sheet.merged_cell_ranges or ():
        if left == right:  # one column; a title may be merged over columns
            for at in range(top, min(bottom + 1, len(rows))):
                rows[at][left] = rows[top][left]
    return [
        (number, row)
        for number, row in enumerate(rows, 1)
        if not all(_is_empty(value) for value in row)
    ]


def _parquet_lines(
    path: Path, problems: Problems, sheet: str | None, notes: list[str]
) -> Iterator[Line]:
    if sheet is not None:
        raise InputError(f"--sheet {sheet}: {path} is not a workbook, so it has no sheets")
    parquet = need("pyarrow.parquet", EXTRA)
    try:
        with open_bytes(path) as stream:
            rows = parquet.read_table(io.BytesIO(stream.read())).to_pylist()
    except Exception as error:  # of pyarrow, or of a codec
        raise InputError(f"{path}: not a Parquet file that can be read ({error})") from None
    for number, row in enumerate(rows, 1):
        cells = {str(name): _plain_cell(value) for name, value in row.items()}
        yield Line(path, number, cells, problems)


_READERS = {"workbook": _sheet_lines, "parquet": _parquet_lines}
