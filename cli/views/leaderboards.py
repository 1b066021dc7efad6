"""Leaderboards: what `judge run` and `judge score` print."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from ...views.printing import Format, print_view
from ...views.table import Cell, Column, Kind, Row, Sides, Table, View
from ..options import AsJson, choose_format
from ..tables import write_rows

if TYPE_CHECKING:
    from ...programs.analysis.leaderboards import Leaderboard
    from ...records.rows import ScoreRow
ALL = "all"
_ALL_HINT = "all measures: --measures all"


@dataclass(frozen=True)
class Printed:
    """How leaderboards are printed.

    Output:
        measures (A,B): Measures to show, or all; else those that the window has room for.
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
        """The format; JSON by `--json`. Raises: InputError where both are given and differ."""
        return choose_format(self.format, as_json=self.as_json)

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
    named: Path | None = None,
    has_tables: bool = True,
) -> None:
    """Print scores: a leaderboard of each program, or every row as JSON.

    Args:
        measures: to show, or `ALL`; by default those that the window has room for.
        named: how the user named `path`, for the line on how to look further; None: the same.
        has_tables: whether those that programs make are printed above.

    Raises: InputError for a measure that is not there.
    """
    from ...programs.analysis.leaderboards import check_measures, leaderboards, ranked

    has_all = bool(measures)
    measures = [] if list(measures) == [ALL] else measures
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
        print_view(View(tables=[means_table(boards)]), format)
        return
    from ...programs.analysis.tables.leaderboards import leaderboard_table, name_judges
    from ...programs.engine.manifest import dependence_of
    from ...programs.protocols.table import programs
    from ...programs.scoring.result import Result

    is_folder, is_shown = path.is_dir(), format is Format.TABLE
    judges = name_judges(Result(path).judged_by) if is_folder else ""
    makers = programs() if has_tables and is_shown else ()
    tables = [table for one in makers for table in one.tables(path)]
    tables += [
        leaderboard_table(board, judges, has_all=has_all, names_left_out=not is_shown)
        for board in boards
    ]
    notes: list[str] = [*dependence_of([path])]
    if is_shown:
        why = ""
        if is_folder and boards:
            run = next(iter(boards[0].tested), boards[0].lines[0].run_id)
            why = f"why: judge show {quote(str(named or path))} {quote(run)}"
        notes.append(Sides(why, "" if has_all or not boards else _ALL_HINT))
    print_view(View(tables=tables, notes=[note for note in notes if note]), format)


def means_table(boards: Sequence[Leaderboard]) -> Table:
    """A line for each run and measure, in the order of the leaderboards."""
    columns = [
        Column("run_id", Kind.NAME), Column("measure", Kind.NAME), Column("mean", Kind.SHARE),
        Column("interval", Kind.INTERVAL), Column("is_different_from_next", Kind.TEXT),
        Column("if_all_judged", Kind.INTERVAL), Column("n", Kind.COUNT),
        Column("n_unjudged", Kind.COUNT), Column("n_answered", Kind.COUNT),
        Column("n_asked", Kind.COUNT), Column("n_topics", Kind.COUNT),
    ]  # fmt: skip
    return Table("means", columns, [Row(cells) for board in boards for cells in _means(board)])


def _means(board: Leaderboard) -> Iterator[list[Cell]]:
    for line in board.lines:
        for measure in board.measures:
            if (row := line.means.get(measure)) is None:
                continue
            differs = line.is_different_from_next if measure == board.measures[0] else None
            yield [
                line.run_id, measure, row.value, line.intervals.get(measure),
                None if differs is None else str(differs).lower(),
                None if row.low is None or row.high is None else (row.low, row.high),
                row.n, row.n_unjudged, *line.answered.get(measure, (None, None)), row.n_topics,
            ]  # fmt: skip
