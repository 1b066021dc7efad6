"""`judge score`: compute scores from stored judgements."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ...records.reading.problems import InputError, Problems
from ...views.printing import Format, print_view
from ...views.table import View
from ..options import Level, TableLayout, read_where
from ..signatures import ExistingPath
from ..stopping import list_problems
from ..tables import write_objects, write_rows
from ..views import ALL, LeaderboardOutput, print_leaderboards

if TYPE_CHECKING:
    from ...programs.analysis.leaderboards import Leaderboard
    from ...programs.analysis.run_spread import Spread
    from ...records.rows import ScoreRow

_FILES = (Format.CSV, Format.MARKDOWN)


@dataclass(frozen=True)
class Corrections:
    """How to correct scores with human labels.

    Args:
        against: Run to compare the others with; default: the best by the judge.
        by (NAMES): Means by group of topics: domain, category or documents (by length). With
            --labels, scores of slices: length, position, rank, citations, run:PATTERN.
        half_width: Estimate how many labels an interval of this half-width needs.
        ignore_other_labels: Ignore and count labels of topics or items that were not judged.
    """

    _: KW_ONLY
    against: str | None = None
    by: str | None = None
    half_width: float | None = None
    ignore_other_labels: bool = False
    level: Level = 0.95

    def list_given(self) -> list[str]:
        """The options that the user gave, as on the command line."""
        options = {
            "--against": self.against is not None,
            "--by": self.by is not None,
            "--half-width": self.half_width is not None,
            "--ignore-other-labels": self.ignore_other_labels,
        }
        return [name for name, is_given in options.items() if is_given]


def score(
    context: typer.Context,
    path: ExistingPath,
    *,
    topics: ExistingPath | None = None,
    labels: ExistingPath | None = None,
    where: list[str] | None = None,
    counts: str | None = None,
    spread: bool = False,
    run_groups: ExistingPath | None = None,
    corrections: Corrections,
    table: TableLayout,
    printed: LeaderboardOutput,
) -> None:
    """Score stored judgements again, without a model, and correct the scores with human labels.

    Examples: judge score results/demo --json
    / judge score results/demo --by category
    / judge score labels.jsonl --where condition=from_scratch
    / judge score results/demo --labels human.csv --half-width 0.02

    Args:
        path: A results folder, or nugget or support assignments; with --labels any labels.
        topics: Topics that every run must answer.
        labels: Human labels of a random sample of the items; also print corrected scores.
        where (FIELD=VALUE): Use only rows of the file PATH with this value, or with --labels only
            such human labels; repeat a field to allow several values.
        counts (FIELD): Print how often each label was given, by this field, instead of scores.
        spread: Also show the lowest, median and highest score of each topic, averaged over topics.
        run_groups: File with lines RUN, tab, GROUP; adds a column and the mean of each group.
    """
    from ..stopping import open_results

    named, (path,) = path, open_results(context, [path])
    if labels is None and counts is None and (by := corrections.by) is not None:
        if by.partition(":")[0] == "run":
            raise InputError(f"--by {by}: only for corrected scores; add --labels FILE")
        if spread or run_groups is not None:
            raise InputError(f"--by {by}: groups topics, wanted no --spread and no --run-groups")
        others = [name for name in corrections.list_given() if name != "--by"]
        _check_options(labels, counts, [*others, *table.list_given()], printed)
        if topics is not None or where:
            raise InputError(f"--by {by}: groups the topics of a run, wanted no --topics, --where")
        _print_groups(path, by, printed)
        return
    _check_options(labels, counts, [*corrections.list_given(), *table.list_given()], printed)
    has_spread = spread or run_groups is not None
    if has_spread and (labels is not None or counts is not None):
        raise InputError("--spread, --run-groups: for leaderboards, wanted no --labels, --counts")
    if counts is not None and (labels is not None or topics is not None):
        raise InputError(f"--counts {counts}: wanted no --labels and no --topics")
    problems, fields = Problems(), read_where(where or ())
    if counts is not None:
        _print_counts(path, counts, problems, fields, printed.way)
    elif labels is not None:
        _print_corrected(path, labels, problems, fields, topics, corrections, table, printed)
    else:
        from ...programs.scoring.score import score_path

        rows, ids = score_path(path, problems, topics=topics, where=fields), _read_topic_ids(topics)
        more: dict[str, Any] = {}
        if has_spread:
            more = _measure_spread(rows, path, ids, run_groups, printed, problems)
        if more or not has_spread:
            print_leaderboards(
                rows,
                path,
                printed.way,
                topics=ids,
                measures=printed.names,
                sort=printed.sort,
                named=named,
                has_tables=not where,
                **more,
            )
    list_problems(problems)


def _measure_spread(
    rows: Sequence[ScoreRow],
    path: Path,
    topics: Sequence[str] | None,
    run_groups: Path | None,
    printed: LeaderboardOutput,
    problems: Problems,
) -> dict[str, Any]:
    """Options of the printed leaderboards; {} if the rows are printed as JSON or CSV instead."""
    from ...programs.analysis.leaderboards import leaderboards
    from ...programs.analysis.run_spread import (
        as_rows,
        make_spread_table,
        match_groups,
        measure_spread,
    )

    runs = list(dict.fromkeys(row.run_id for row in rows))
    groups = {} if run_groups is None else match_groups(run_groups, runs, problems)

    def measure(board: Leaderboard) -> list[Spread]:
        return measure_spread(rows, path, board, topics, groups)

    if printed.way in (Format.JSON, Format.CSV):
        names = [] if printed.names == [ALL] else printed.names
        boards = leaderboards(rows, path, topics=topics, measures=names, sort=printed.sort)
        if printed.way is Format.JSON:
            write_objects(row for board in boards for row in as_rows(measure(board)))
        else:
            tables = [make_spread_table(board, measure(board)) for board in boards]
            print_view(View(tables=tables), printed.way)
        return {}
    return {
        "over_runs": lambda board: make_spread_table(board, measure(board)),
        "groups": groups,
    }


def _check_options(
    labels: Path | None, counts: str | None, of_labels: Sequence[str], printed: LeaderboardOutput
) -> None:
    """Raise InputError for options that the others leave without an effect."""
    of_boards = {"--sort": printed.sort, "--format": printed.way in _FILES}
    of_boards |= {} if counts is None else {"--measures": printed.measures}
    if (labels or counts) and (idle := [name for name, is_set in of_boards.items() if is_set]):
        what = "only for leaderboards; leave out --labels and --counts"
        raise InputError(f"{', '.join(idle)}: {what}")
    if labels is None and of_labels:
        raise InputError(f"{', '.join(of_labels)}: only for corrected scores; give --labels too")


def _print_groups(path: Path, by: str, printed: LeaderboardOutput) -> None:
    """Print the means of runs by group of topics, one table for each measure."""
    from ...programs.analysis.groups import make_group_table, read_group_means

    problems = Problems()
    if printed.sort is not None:
        raise InputError("--sort: each table by group is in the order of its own measure")
    names = () if printed.names == [ALL] else printed.names or None
    means = read_group_means([path], by, names, problems)
    if printed.way is Format.JSON:
        write_objects(row for each in means for row in each.rows())
    else:
        print_view(View(tables=[make_group_table(each) for each in means]), printed.way)
    list_problems(problems)


def _read_topic_ids(path: Path | None) -> list[str] | None:
    from ...records.topics import read_topics

    return list(read_topics(path, Problems())) if path is not None else None


def _print_counts(
    path: Path, counts: str, problems: Problems, where: Mapping[str, list[str]], way: Format
) -> None:
    """Print how often each label was given, by a field of the rows."""
    from ...programs.analysis.tables.scores import make_count_tables
    from ...programs.scoring.score import label_counts

    counted = label_counts(path, counts, problems, where)
    if way is Format.JSON:
        write_objects(count.as_dict() for count in counted)
    else:
        print_view(View(tables=list(make_count_tables(counted, counts))))


def _print_corrected(
    path: Path,
    labels: Path,
    problems: Problems,
    where: Mapping[str, list[str]],
    topics: Path | None,
    corrections: Corrections,
    table: TableLayout,
    printed: LeaderboardOutput,
) -> None:
    """Print scores corrected with human labels: of the runs, or of slices, one table after another.

    Problems are kept once, although every kind of slice reads the same files.
    """
    from ...programs.analysis.slices import slicer
    from ...programs.analysis.tables.scores import list_corrected_rows, make_corrected_tables
    from ...programs.scoring.corrected import correct_scores

    by, topic_ids = corrections.by, _read_topic_ids(topics)
    for n, name in enumerate(by.split(",") if by is not None else [None]):
        corrected = correct_scores(
            path,
            labels,
            problems if not n else Problems(),
            where=where,
            topics=topics,
            measures=[name for name in printed.names if name != ALL],
            against=corrections.against,
            half_width=corrections.half_width,
            level=corrections.level,
            ignore_others=corrections.ignore_other_labels,
            regroup=slicer(name.strip(), path, labels, problems) if name is not None else None,
            how=table.options,
        )
        if printed.way is Format.JSON:
            write_rows(corrected.plain)
            write_objects(list_corrected_rows(corrected, name))
        else:
            if corrected.plain:
                print_leaderboards(corrected.plain, path, printed.way, topics=topic_ids)
            sys.stdout.write("\n" * bool(corrected.plain or n))
            print_view(View(tables=list(make_corrected_tables(corrected))))
