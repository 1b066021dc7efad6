"""Leaderboards as text of 100 columns, GitHub tables or CSV."""

from __future__ import annotations

import csv
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from ..options import AsJson
from ..tables import aligned, cell, figure, interval, shown, write_rows

if TYPE_CHECKING:
    from ...programs.analysis.leaderboards import Leaderboard, Line
    from ...records.rows import ScoreRow

WIDTH = 100
_LEAST_NAME = 24  # characters of a run's name that are left where columns need the room


class Format(StrEnum):
    """How scores are printed."""

    TABLE = "table"
    CSV = "csv"
    MARKDOWN = "markdown"
    JSON = "json"


@dataclass(frozen=True)
class Printed:
    """How leaderboards are printed.

    Output:
        measures (A,B): Measures to show, else all.
        sort (MEASURE): Order runs by this measure, else by each program's first.
        format: json is what --json prints.
    """

    _: KW_ONLY
    measures: str | None = None
    sort: str | None = None
    format: Format = Format.TABLE
    as_json: AsJson = False

    @property
    def way(self) -> Format:
        """The format, of `--json` JSON. Raises: InputError where both are given and differ."""
        from ...records.reading.problems import InputError

        if self.as_json and self.format not in (Format.TABLE, Format.JSON):
            raise InputError(f"--json and --format {self.format.value}: wanted one of them")
        return Format.JSON if self.as_json else self.format

    @property
    def names(self) -> list[str]:
        """`--measures A,B` as a list."""
        return [name.strip() for name in (self.measures or "").split(",") if name.strip()]


def print_leaderboards(
    rows: Sequence[ScoreRow],
    path: Path,
    format: Format,
    *,
    topics: Sequence[str] | None = None,
    measures: Sequence[str] = (),
    sort: str | None = None,
) -> None:
    """Print scores: a leaderboard of each program, or every row as JSON.

    Raises: InputError for a measure that is not there.
    """
    from ...programs.analysis.leaderboards import check_measures, leaderboards, ranked

    if format is Format.JSON:
        there = dict.fromkeys(row.measure for row in rows)
        check_measures(there, [*measures, *([sort] if sort is not None else [])], path)
        write_rows(ranked(rows, measures, sort))
        return
    is_csv = format is Format.CSV
    boards = leaderboards(
        rows, path, topics=topics, measures=measures, sort=sort, with_all_intervals=is_csv
    )
    if is_csv:
        write_csv(boards)
        return
    width = max(WIDTH, shutil.get_terminal_size().columns) if sys.stdout.isatty() else WIDTH
    is_table = format is Format.TABLE
    blocks = [board_text(board, width) if is_table else board_markdown(board) for board in boards]
    sys.stdout.write("\n".join(blocks) + _dependences(path, is_table=is_table))


def board_text(board: Leaderboard, width: int = WIDTH) -> str:
    """A leaderboard as a table of so many columns, with what its signs mean below it.

    Where there is no room for all, header lines are broken, then names cut in their middle, then
    measures left out and named below; no name is cut to that of another run.
    """
    names = [cell(line.run_id) for line in board.lines]
    longest, shortest = (max(map(len, each)) for each in (names, cut_names(names, _LEAST_NAME)))
    every = len(board.measures)
    for n, least in [(every, longest), *((n, shortest) for n in range(every, 0, -1))]:
        header, *rows = _table(board, board.measures[:n])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for heads in ([header], _lines(map(_broken, header, widths))):
            columns = zip(*(line[1:] for line in (*heads, *rows)), strict=True)
            room = width - sum(2 + max(map(len, column)) for column in columns)
            if room >= least:
                return _drawn(heads, rows, cut_names(names, room)) + _notes_text(board, n)
    return _drawn(heads, rows, cut_names(names, _LEAST_NAME)) + _notes_text(board, 1)


def _dependences(path: Path, *, is_table: bool) -> str:
    """What is known of systems that were made with the judge, below their leaderboards."""
    from ...programs.engine.folders.independence import dependence_of

    notes = [shown(note) for note in dependence_of([path])]
    lines = (textwrap.fill(note, WIDTH) if is_table else f"\n{_escaped(note)}" for note in notes)
    return "".join(f"{line}\n" for line in ("", *lines)) if notes else ""


def _drawn(heads: list[list[str]], rows: list[list[str]], names: list[str]) -> str:
    width = max(len(line[1]) for line in (*heads, *rows))
    for head in heads:  # the first measure's name stands above its value, not above its interval
        head[1] = head[1].ljust(width)
    return aligned([*heads, *([name, *row[1:]] for name, row in zip(names, rows, strict=True))])


def _notes_text(board: Leaderboard, n_shown: int) -> str:
    return "".join(f"{textwrap.fill(shown(note), WIDTH)}\n" for note in _notes(board, n_shown))


def _lines(names: Iterable[list[str]]) -> list[list[str]]:
    """Names in parts as lines, each part below the one before, the last ones on the last line."""
    parts = list(names)
    depth = max(map(len, parts))
    padded = [[""] * (depth - len(each)) + each for each in parts]
    return [[each[i] for each in padded] for i in range(depth)]


def _broken(name: str, width: int) -> list[str]:
    """A header in parts of its words, which are no wider than the column unless a word is."""
    words = re.findall(r"[^_@ ]+[_@]?", name) or [name]
    room = max(width, *map(len, words))
    parts = words[:1]
    for word in words[1:]:
        gap = "" if parts[-1][-1] in "_@" else " "
        if len(parts[-1] + gap + word) <= room:
            parts[-1] += gap + word
        else:
            parts.append(word)
    return parts


def cut_names(names: Sequence[str], most: int) -> list[str]:
    """Names of at most so many characters, cut in their middle; longer where two would be equal.

    >>> cut_names(["team.baseline_top20", "short"], 12)
    ['team...top20', 'short']
    """
    for room in range(most, max(map(len, names), default=0)):
        middle = (room - 2) // 2
        for tail in sorted(range(room - 2), key=lambda n: abs(n - middle)):
            cut = [_cut(name, room, tail) for name in names]
            if len(set(cut)) == len(set(names)):
                return cut
    return list(names)


def _cut(name: str, most: int, tail: int) -> str:
    if len(name) <= most:
        return name
    return f"{name[: most - 3 - tail]}...{name[len(name) - tail :]}"


def _table(board: Leaderboard, measures: Sequence[str]) -> list[list[str]]:
    """Header and rows, as people read them."""
    first = board.measures[0]
    has_bounds = any(_bounds(line, first) for line in board.lines)
    is_partial = _is_partial(board)
    header = ["run", *measures]
    header[2:2] = [IF_JUDGED] if has_bounds else []
    header += ["topics", *([IN_MEAN] if is_partial else []), "n", "unjudged"]
    table = [header]
    for line, first_cell in zip(board.lines, _first_cells(board), strict=True):
        row = [cell(line.run_id), first_cell, *(_value(line, m) for m in measures[1:])]
        row[2:2] = [_bounds(line, first) or "-"] if has_bounds else []
        mean = line.means.get(first)
        n_topics = [_n_topics(line, first)] if is_partial else []
        counts = [*n_topics, *((mean.n, mean.n_unjudged) if mean else (None, None))]
        row += [_topics(line, first), *("-" if n is None else f"{n:,}" for n in counts)]
        table.append(row)
    return table


IF_JUDGED = "if all judged"
IN_MEAN = "in mean"


def _first_cells(board: Leaderboard) -> list[str]:
    """Of each line the first measure's value, interval and mark, one below the other."""
    first = board.measures[0]
    values = [_value(line, first) for line in board.lines]
    bounds = [line.intervals.get(first) for line in board.lines]
    drawn = [interval(*each, _digits(first)) if each else "" for each in bounds]
    marks = ["=" if line.is_told_apart is False else "" for line in board.lines]
    columns = [[text.rjust(max(map(len, values))) for text in values]]
    for more in (drawn, marks):
        if room := max(map(len, more)):
            columns.append([text.ljust(room) for text in more])
    return [" ".join(row) for row in zip(*columns, strict=True)]


def _value(line: Line, measure: str) -> str:
    value = line.value(measure)
    return "-" if value is None else figure(value, _digits(measure))


def _bounds(line: Line, measure: str) -> str:
    """Between what the mean would be if all were judged; "": all are."""
    row = line.means.get(measure)
    if row is None or not row.n_unjudged:
        return ""
    if row.low is None or row.high is None:
        return "anything"
    digits = _digits(measure)
    return f"{figure(row.low, digits)} to {figure(row.high, digits)}"


def _topics(line: Line, measure: str) -> str:
    """What the run answered of what was asked; one number where that is all."""
    if measure not in line.answered:
        n = _n_topics(line, measure)
        return "-" if n is None else f"{n:,}"
    n, n_of = line.answered[measure]
    return f"{n:,}" if n == n_of else f"{n:,} of {n_of:,}"


def _n_topics(line: Line, measure: str) -> int | None:
    row = line.means.get(measure)
    return None if row is None else row.n_topics


def _is_partial(board: Leaderboard) -> bool:
    """Whether topics are missing from a mean because nothing was judged on them."""
    first = board.measures[0]
    with_counts = [line for line in board.lines if first in line.answered]
    return any(
        _n_topics(x, first) != x.answered[first][not board.is_of_answered] for x in with_counts
    )


def _digits(measure: str) -> int:
    return 0 if measure in ("length", "strength", "elo") else 3  # words, points


def _notes(board: Leaderboard, n_shown: int) -> Iterator[str]:
    """What the signs of a leaderboard mean, of those that stand in it."""
    first = board.measures[0]
    parts = []
    if any(first in line.intervals for line in board.lines):
        parts.append(f"[ ] {board.level:.0%} interval by topic")
    if board.test:
        share = f"{board.n_told_apart:,} of {board.n_pairs:,} pairs"
        parts.append(f"told apart by {board.test} (p < {1 - board.level:.2g}): {share}")
        if any(line.is_told_apart is False for line in board.lines):
            parts.append("= not from the next")
    if parts:
        yield "; ".join(parts)
    if board.untested:
        yield f"Not tested: {board.untested}"
    if any(_bounds(line, first) for line in board.lines):
        yield f"{IF_JUDGED}: the mean with what is unjudged at its worst and best; no interval"
    answered = [line.answered[first] for line in board.lines if first in line.answered]
    if any(n != n_asked for n, n_asked in answered):
        what = "is not in the mean" if board.is_of_answered else "counts 0"
        yield f"topics: answered of asked; one that is not answered {what}"
    if _is_partial(board):
        yield f"{IN_MEAN}: topics that the mean is over; on the others nothing was judged"
    if left := board.measures[n_shown:]:
        yield f"Not shown: {', '.join(map(cell, left))} (--measures, or --format csv)"


def board_markdown(board: Leaderboard) -> str:
    """A leaderboard as a GitHub table, nothing cut, names as text."""
    header, *rows = _table(board, board.measures)
    lines = [[*map(_escaped, row)] for row in (header, *rows)]
    lines.insert(1, ["---", *["---:"] * (len(header) - 1)])
    table = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    notes = [_escaped(note) for note in _notes(board, len(board.measures))]
    return table + ("\n" + "  \n".join(notes) + "\n" if notes else "")


def _escaped(text: str) -> str:
    """Text that GitHub shows as it is, in one cell."""
    return re.sub(r"([\\`*_\[\]<>#|~&@$])", r"\\\1", " ".join(cell(text).split()))


CSV_COLUMNS = (
    "run_id", "measure", "mean", "interval_low", "interval_high", "is_told_apart_from_next",
    "if_all_judged_low", "if_all_judged_high", "n", "n_unjudged", "n_answered", "n_asked",
    "n_topics",
)  # fmt: skip


def write_csv(boards: Sequence[Leaderboard]) -> None:
    """A line for each run and measure, in the order of the tables, with all digits."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(CSV_COLUMNS)
    for board in boards:
        for line in board.lines:
            for measure in board.measures:
                if (row := line.means.get(measure)) is None:
                    continue
                is_first = measure == board.measures[0]
                apart = line.is_told_apart if is_first else None
                out.writerow([
                    cell(line.run_id), measure, row.value, *line.intervals.get(measure, ("", "")),
                    "" if apart is None else str(apart).lower(), row.low, row.high, row.n,
                    row.n_unjudged, *line.answered.get(measure, ("", "")), row.n_topics,
                ])  # fmt: skip
