"""Tables for a terminal: as wide as its window, with colours if it has them."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TextIO

from rich.cells import cell_len

from ..records.reading.problems import cell, escape, wrap
from .table import Column, Estimate, Kind, Row, Sides, Style, Table, View, get_style, get_value

WIDTH = 80  # without a window
_MIN_WIDTHS = {Kind.NAME: 20, Kind.TEXT: 24, Kind.BAR: 20}  # columns that shrink, and their minimum
_LAST = {Kind.BAR: 10, Kind.TEXT: 8}  # their minimum if nothing else helps
_MAX_BAR = 60
_FAIR_BAR = 0.45  # share of the window that bars get before columns with `optional` above 1
_GAP = 2
_CODES = {Style.LEADING: "1", Style.TRAILING: "2", Style.WARNING: "33", Style.UNJUDGED: "31"}


@dataclass(frozen=True)
class Terminal:
    """The properties of the terminal or file to write for.

    Attributes:
        width: columns; from 60 columns on, no line is longer.
        has_colour: whether it shows bold, dim and colours.
        has_unicode: whether it shows box-drawing characters; else bars are ASCII.
    """

    width: int = WIDTH
    has_colour: bool = False
    has_unicode: bool = True

    @classmethod
    def of(cls, stream: TextIO) -> Terminal:
        """Return the terminal of a stream; pipes and files: 80 columns (or COLUMNS), no colours."""
        is_window = stream.isatty()
        columns = os.environ.get("COLUMNS", "")
        width = int(columns) if columns.isdecimal() and int(columns) else WIDTH
        if is_window:
            width = shutil.get_terminal_size((WIDTH, 24)).columns
        has_colour = is_window and not os.environ.get("NO_COLOR")
        has_colour = has_colour and os.environ.get("TERM") != "dumb"
        return cls(max(width, 20), has_colour, _takes("├●┤─…≥≤", stream.encoding))


def _takes(characters: str, encoding: str | None) -> bool:
    try:
        characters.encode(encoding or "ascii")
    except (LookupError, UnicodeEncodeError):
        return False
    return True


def view_text(view: View, terminal: Terminal) -> str:
    """Return the verdict, the tables and the notes, with blank lines between them."""
    blocks = [_wrap(view.verdict, terminal)] if view.verdict else []
    blocks += [table_text(table, terminal) for table in view.tables]
    if view.notes:
        blocks.append(_notes_text(view.notes, terminal))
    return "\n".join(blocks)


def table_text(table: Table, terminal: Terminal) -> str:
    """Return a table with its title above and its notes below.

    If the window is too narrow for all columns, bars and names shrink first. Then optional columns
    are left out and named below, and at last other columns follow in a table below. Shortened
    names stay different from each other.
    """
    at, widths = _lay_out(table, terminal.width)
    columns = [table.columns[i] for i in at]
    names = {
        i: _cut_names(table, i, width, terminal)
        for i, width in zip(at, widths, strict=True)
        if table.columns[i].kind is Kind.NAME
    }
    rows = [_row_lines(table, row, at, widths, names, terminal) for row in table.rows]
    lines = [*_spread(table.title, table.aside, terminal), *_head_lines(columns, widths, terminal)]
    for i, row_lines in enumerate(rows):
        if table.rule_after == i and i:
            rule = "─" if terminal.has_unicode else "-"
            lines.append(
                _style(rule * min(_total(widths), terminal.width), Style.TRAILING, terminal)
            )
        lines += row_lines
    left = [i for i in range(len(table.columns)) if i not in at]
    notes = list(table.notes)
    is_below = table.has_all or any(not table.columns[i].optional for i in left)
    if left and table.names_excluded and not is_below:
        titles = ", ".join(dict.fromkeys(table.columns[i].title for i in left))
        notes.append(f"columns that do not fit: {titles}")
    text = "".join(f"{line}\n" for line in lines)
    if left and is_below:
        text += "\n" + table_text(_rest(table, left), terminal)
    return text + _notes_text(notes, terminal)


def _rest(table: Table, left: Sequence[int]) -> Table:
    """Return a table of the columns that did not fit, after the names of the rows."""
    names = [i for i, column in enumerate(table.columns) if column.kind is Kind.NAME]
    at = [*names, *(i for i in left if i not in names)]
    rows = [replace(row, cells=[row.cells[i] for i in at]) for row in table.rows]
    columns = [table.columns[i] for i in at]
    return replace(table, title="", aside="", columns=columns, rows=rows, notes=())


def _wrap(text: str, terminal: Terminal) -> str:
    if terminal.has_unicode:
        text = text.replace(" >= ", " ≥ ").replace(" <= ", " ≤ ")
    return wrap(escape(text).removesuffix("\n"), terminal.width, breaks_words=True) + "\n"


def _notes_text(notes: Sequence[str], terminal: Terminal) -> str:
    lines = []
    for note in notes:
        left, right = (note.left, note.right) if isinstance(note, Sides) else (note, "")
        lines += _spread(left, right, terminal)
    return "".join(f"{line}\n" for line in lines)


def _spread(left: str, right: str, terminal: Terminal) -> list[str]:
    """Put two texts at both ends of a line, or else on separate lines."""
    start, end = cell(left), cell(right)
    if start and end and cell_len(start) + cell_len(end) + _GAP <= terminal.width:
        return [start + " " * (terminal.width - cell_len(start) - cell_len(end)) + end]
    texts = [text for text in (left, right) if text]
    return [line for text in texts for line in _wrap(text, terminal).splitlines()]


# Columns that fit


def _lay_out(table: Table, width: int) -> tuple[list[int], list[int]]:
    """Return the shown columns and their widths."""
    at = list(range(len(table.columns)))
    natural = [_natural_width(table, i) for i in at]
    least = [min(natural[i], _least_width(table, i, natural[i])) for i in at]

    def overflow() -> int:
        """Return the excess width; bars get their share before less useful columns."""
        has_extras = any(table.columns[i].optional > 1 for i in at)
        bar = min(max(_MIN_WIDTHS[Kind.BAR], int(_FAIR_BAR * width) * has_extras), _MAX_BAR)
        return _total([bar if table.columns[i].kind is Kind.BAR else least[i] for i in at]) - width

    while overflow() > 0:
        optional = [i for i in at if table.columns[i].optional]
        if not optional:
            break
        at.remove(max(optional, key=lambda i: (table.columns[i].optional, i)))
    words = {i: _longest_word(table, i) for i in at if table.columns[i].kind is Kind.TEXT}
    plain = [i for i in at if table.columns[i].kind not in _MIN_WIDTHS]
    while plain and _least_total(table, at, least, words) > width:
        at.remove(plain.pop())
    widths = {i: least[i] for i in at}
    for kind in (Kind.NAME, Kind.TEXT, Kind.BAR):  # the order in which they get the rest
        for i in at:
            if table.columns[i].kind is kind:
                spare = width - _total(list(widths.values()))
                widths[i] = min(natural[i], widths[i] + max(spare, 0))
    for kind, least_of_kind in _LAST.items():  # narrower than their minimum; bars may go
        for i in [i for i in at if table.columns[i].kind is kind]:
            over = _total(list(widths.values())) - width
            last = max(least_of_kind, words.get(i, 0))
            if _least_total(table, at, least, words) > width:  # words must be broken
                last = least_of_kind
            widths[i] = max(widths[i] - max(over, 0), min(widths[i], last))
            if _total(list(widths.values())) > width and kind is Kind.BAR:
                at.remove(i)
                del widths[i]
    return at, [widths[i] for i in at]


def _least_total(
    table: Table, at: Sequence[int], least: Sequence[int], words: Mapping[int, int]
) -> int:
    """Return the smallest width of the columns, without bars, if no word is broken."""
    kept = [i for i in at if table.columns[i].kind is not Kind.BAR]
    return _total([min(least[i], words.get(i, least[i])) for i in kept])


def _longest_word(table: Table, i: int) -> int:
    texts = [table.columns[i].title, *(_cell_text(table.columns[i], row, i) for row in table.rows)]
    return max((cell_len(word) for text in texts for word in cell(text).split()), default=1)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + _GAP * (len(widths) - 1)


def _natural_width(table: Table, i: int) -> int:
    column = table.columns[i]
    if column.kind is Kind.BAR:
        return _MAX_BAR
    texts = [_cell_text(column, row, i) for row in table.rows]
    longest = max((cell_len(text) for text in texts), default=1)
    return max(longest, _head_width(table, i), 1)


def _least_width(table: Table, i: int, natural: int) -> int:
    """Return the minimum width of a column; different names stay different."""
    column = table.columns[i]
    least = _MIN_WIDTHS.get(column.kind, natural)
    if column.kind is Kind.NAME:
        names = [_cell_text(column, row, i) for row in table.rows]
        least = max(map(cell_len, cut_names(names, least)), default=least)
    return max(least, _head_width(table, i))


def _head_width(table: Table, i: int) -> int:
    """Return the width of the longest word of a head; heads are wrapped only between words."""
    return max(map(cell_len, cell(table.columns[i].title).split()), default=0)


def _cell_text(column: Column, row: Row, i: int) -> str:
    text = column.format(get_value(row.cells[i]))
    is_flagged = get_style(row.cells[i], row) is Style.WARNING and not column.is_words
    return f"! {text}" if is_flagged else text


def _head_lines(
    columns: Sequence[Column], widths: Sequence[int], terminal: Terminal
) -> Iterator[str]:
    heads = []
    for column, width in zip(columns, widths, strict=True):
        if column.kind is Kind.BAR:
            heads.append([_axis(column, width)])
        else:
            heads.append(textwrap.wrap(cell(column.title), width, break_on_hyphens=False) or [""])
    depth = max(map(len, heads), default=0)
    for k in range(depth):
        parts = [head[k - depth] if k >= depth - len(head) else "" for head in heads]
        yield _join(columns, widths, parts, [Style.PLAIN] * len(parts), terminal)


def _row_lines(
    table: Table,
    row: Row,
    at: Sequence[int],
    widths: Sequence[int],
    names: Mapping[int, Mapping[str, str]],
    terminal: Terminal,
) -> list[str]:
    parts = []
    for i, width in zip(at, widths, strict=True):
        column, text = table.columns[i], _cell_text(table.columns[i], row, i)
        value = get_value(row.cells[i])
        if column.kind is Kind.BAR:
            parts.append([_bar(column, value, width, terminal)])
        elif column.kind is Kind.NAME:
            parts.append([names[i][text]])
        elif column.kind is Kind.TEXT:
            parts.append(textwrap.wrap(text, width, break_on_hyphens=False) or [""])
        else:
            parts.append([text])
    columns = [table.columns[i] for i in at]
    styles = [get_style(row.cells[i], row) for i in at]
    depth = max(map(len, parts), default=0)
    lines = ([part[k] if k < len(part) else "" for part in parts] for k in range(depth))
    return [_join(columns, widths, line, styles, terminal) for line in lines]


def _join(
    columns: Sequence[Column],
    widths: Sequence[int],
    parts: Sequence[str],
    styles: Sequence[Style],
    terminal: Terminal,
) -> str:
    padded = []
    for i, (column, width, text) in enumerate(zip(columns, widths, parts, strict=True)):
        space = " " * (width - cell_len(text))
        if column.is_words or column.kind is Kind.BAR:
            space = "" if i == len(columns) - 1 else space
            padded.append(_style(text, styles[i], terminal) + space)
        else:
            padded.append(space + _style(text, styles[i], terminal))
    return (" " * _GAP).join(padded).rstrip()


def _style(text: str, style: Style, terminal: Terminal) -> str:
    code = _CODES.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text and terminal.has_colour else text


# Names


def _cut_names(table: Table, i: int, width: int, terminal: Terminal) -> dict[str, str]:
    """Return each name of a column, shortened to fit."""
    names = list(dict.fromkeys(_cell_text(table.columns[i], row, i) for row in table.rows))
    dots = "…" if terminal.has_unicode else "..."
    return dict(zip(names, cut_names(names, width, dots), strict=True))


def cut_names(names: Sequence[str], most: int, dots: str = "...") -> list[str]:
    """Cut names in the middle to this many columns; longer if two would be equal.

    >>> cut_names(["team.baseline_top20", "short"], 12)
    ['team...top20', 'short']
    """
    longest = max(map(cell_len, names), default=0)
    for room in range(max(most, len(dots) + 1), longest):
        middle = (room - len(dots) + 1) // 2
        tails = sorted(range(room - len(dots) + 1), key=lambda n: abs(n - middle))
        for tail in tails:
            cut = [_cut(name, room, tail, dots) for name in names]
            if len(set(cut)) == len(set(names)):
                return cut
    return list(names)


def _cut(name: str, most: int, tail: int, dots: str) -> str:
    if cell_len(name) <= most:
        return name
    return f"{name[: most - len(dots) - tail]}{dots}{name[len(name) - tail :]}"


# Bars


def _axis(column: Column, width: int) -> str:
    """Return the marks of a bar's axis, as many as fit: 0, .25, .5, .75, 1."""
    low, high = column.axis
    for parts in (4, 2, 1):
        line = [" "] * width
        labels = [_mark(low + (high - low) * i / parts) for i in range(parts + 1)]
        if sum(map(len, labels)) + 2 * parts > width:
            continue
        for i, label in enumerate(labels):
            middle = round((width - 1) * i / parts)
            start = min(max(middle - len(label) // 2, 0), width - len(label))
            line[start : start + len(label)] = label
        return "".join(line)
    return ""


def _mark(value: float) -> str:
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return text.replace("0.", ".", 1) if text not in ("0", "-0") else "0"


def _bar(column: Column, value: object, width: int, terminal: Terminal) -> str:
    """Draw an interval as a line with its value on it.

    >>> _bar(Column("share", Kind.BAR), Estimate(0.5, 0.25, 0.75), 21, Terminal())
    '     ├────●────┤'
    """
    if not isinstance(value, Estimate):
        return ""
    left, right, line, dot = "├┤─●" if terminal.has_unicode else "||-o"
    low, high = column.axis
    span = (high - low) or 1.0

    def place(number: float) -> int:
        return round((width - 1) * (min(max(number, low), high) - low) / span)

    drawn = [" "] * width
    start, end = place(value.low), place(value.high)
    drawn[start : end + 1] = line * (end - start + 1)
    drawn[start], drawn[end] = left, right
    drawn[place(value.value)] = dot
    return "".join(drawn).rstrip()
