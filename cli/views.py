"""Views of commands: leaderboards, dry runs, and hints about missing judgements."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from ..backends.errors import TOO_LONG
from ..records.reading.problems import cell
from ..views.numbers import format_money
from ..views.printing import Format, print_view
from ..views.table import Cell, Column, Kind, Row, Sides, Table, View
from .options import AsJson, choose_format
from .tables import fit_hint, write_note, write_objects, write_rows

if TYPE_CHECKING:
    from ..programs.analysis.leaderboards import Leaderboard
    from ..programs.engine.spending import Estimate
    from ..records.rows import ScoreRow


ALL = "all"
_ALL_HINT = "all measures: --measures all"


@dataclass(frozen=True)
class LeaderboardOutput:
    """How leaderboards are printed.

    Output:
        measures (A,B): Measures to show, or all; default: as many as fit the window.
        sort (MEASURE): Order runs by this measure; default: the first measure of each task.
        format: How tables are written; json is the same as --json.
    """

    _: KW_ONLY
    measures: str | None = None
    sort: str | None = None
    format: Format = Format.TABLE
    as_json: AsJson = False

    @property
    def way(self) -> Format:
        """The format; `--json` means JSON. Raises: InputError if both are given and differ."""
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
    over_runs: Callable[[Leaderboard], Table] | None = None,
    groups: Mapping[str, str] | None = None,
) -> None:
    """Print scores: a leaderboard for each task, or every row as JSON.

    Args:
        measures: the measures to show, or `ALL`; default: as many as fit the window.
        named: the path as the user gave it, for the hint at the end; None: `path`.
        has_tables: whether further tables of tasks are printed.
        over_runs: makes the table after a leaderboard. groups: run -> text of an extra column.

    Raises: InputError for an unknown measure.
    """
    from ..programs.analysis.leaderboards import check_measures, leaderboards, rank_rows

    has_all = bool(measures)
    measures = [] if list(measures) == [ALL] else measures
    if format is Format.JSON:
        there = dict.fromkeys(row.measure for row in rows)
        check_measures(there, [*measures, *([sort] if sort is not None else [])], path)
        write_rows(rank_rows(rows, measures, sort))
        return
    is_csv = format is Format.CSV
    boards = leaderboards(
        rows, path, topics=topics, measures=measures, sort=sort, with_all_intervals=is_csv
    )
    if is_csv:
        print_view(View(tables=[make_means_table(boards)]), format)
        return
    from ..programs.analysis.tables.leaderboards import make_leaderboard_table, name_judges
    from ..programs.engine.manifest import note_dependence
    from ..programs.protocols.table import choose, programs
    from ..programs.scoring.result import Result

    is_folder, is_shown = path.is_dir(), format is Format.TABLE
    judges = name_judges(Result(path).judged_by) if is_folder else ""
    tables = []
    if has_tables and is_shown:
        ran = Result(path).manifest["config"]["program"] if is_folder else ()
        makers = choose(ran) if is_folder else programs()
        tables = [table for one in makers for table in one.tables(path)]
    for board in boards:
        how: dict[str, Any] = {"has_all": has_all, "names_excluded": not is_shown}
        tables.append(make_leaderboard_table(board, judges, groups=groups, **how))
        tables += [over_runs(board)] if over_runs is not None else []
    notes: list[str] = [*note_dependence([path])]
    if is_shown:
        why = ""
        if is_folder and boards:
            run = next(iter(boards[0].tested), boards[0].lines[0].run_id)
            why = f"why: judge show {quote(str(named or path))} {quote(run)}"
        notes.append(Sides(why, "" if has_all or not boards else _ALL_HINT))
    print_view(View(tables=tables, notes=[note for note in notes if note]), format)


def make_means_table(boards: Sequence[Leaderboard]) -> Table:
    """Return a row for each run and measure, in the order of the leaderboards."""
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


_COUNTS = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")
_BOUNDS = ("least", "expected", "most")


def make_plan_view(estimates: Sequence[Estimate], notes: Sequence[str] = ()) -> View:
    """Return a sentence with the totals, and a table with a row for each judge."""
    columns = [
        Column("judge", Kind.NAME), Column("model", Kind.NAME),
        Column("calls", Kind.COUNT), Column("prompt_tokens", Kind.COUNT, "prompt"),
        Column("cached_tokens", Kind.COUNT, "cached", optional=1),
        Column("completion_tokens", Kind.COUNT, "reply"), Column("cost", Kind.MONEY),
    ]  # fmt: skip
    rows = [
        Row([each.judge, each.model, *(getattr(each, name) for name in _COUNTS), each.cost])
        for each in estimates
    ]
    counts = [sum(getattr(each, name) for each in estimates) for name in _COUNTS]
    calls, prompt, _, reply = counts
    cost = _sum([each.cost for each in estimates])
    if len(estimates) > 1:
        rows.append(Row(["all", "", *counts, cost]))
    paid = "cost unknown" if cost is None else format_money(cost)
    verdict = f"Up to {calls:,} calls, {prompt:,} prompt and {reply:,} reply tokens, {paid}."
    return View(verdict, [Table("", columns, rows, has_all=True)], notes)


def make_agents_table(rows: Sequence[dict[str, Any]]) -> Table:
    """Return a table of what agents may spend: minimum, expected and maximum."""
    columns = [Column("agent", Kind.NAME), Column("items", Kind.COUNT)]
    columns += [
        Column(f"{what}_{bound}", Kind.COUNT, f"{what}, {bound}", optional=1)
        for what in ("calls", "tokens")
        for bound in _BOUNDS
    ]
    return Table("", columns, [Row(list(_agent_cells(row))) for row in rows], has_all=True)


def _agent_cells(row: dict[str, Any]) -> Iterator[Any]:
    yield from (row["agent"], row["items"])
    yield from (row[bound][what] for what in ("calls", "tokens") for bound in _BOUNDS)


def _sum(numbers: Sequence[float | None]) -> float | None:
    known = [n for n in numbers if n is not None]
    return sum(known) if len(known) == len(numbers) else None


_AGAIN = "run the same command again to retry"
_OFFLINE = "run the same command without --offline"
_LONGER = "longer than the context of the model: use a model with a larger one"
_WINDOW = ", or set a smaller window (judges.NAME.window)"
# By reason. For all other reasons, asking again can help.
_HELPS = {
    "abstained": "the judge could not decide: use another judge, or ask people (judge next)",
    "budget": "run the same command again to go on",
    "no_passage": "retrying will not help: their texts are missing (data.passages)",
    "refused": "the model or its filter declined: use another model",
    "steps": "the agent reached its limits: raise them and run again",
    "truncated": "the reply was cut off: raise the model's max_tokens",
}


_LASTING = {"abstained", "no_passage", "refused", "ungrounded"}  # asking again changes nothing
_RUNS_SHOWN = 3


def list_unjudged(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Return the file that lists missing judgements, and a hint for each reason; [] if none."""
    reasons = Counter(manifest["unjudged_by_reason"])
    if not reasons.total():
        return []
    lines = [f"Missing judgements are listed in {folder / 'unjudged.jsonl'}:"]
    n_long, windows = _too_long(folder) if {"error", "truncated"} & reasons.keys() else (0, set())
    reasons["error"] -= n_long
    is_offline = manifest.get("config", {}).get("run", {}).get("offline", False)
    for reason, n in (+reasons).items():
        helps = _OFFLINE if is_offline and reason == "error" else _HELPS.get(reason, _AGAIN)
        lines.append(f"  {reason} {n:,}: {helps}{_WINDOW if reason in windows else ''}")
    if n_long:
        lines.append(f"  error {n_long:,}: {_LONGER}{_WINDOW if TOO_LONG in windows else ''}")
    if not manifest["limit_reached"] and (+reasons).keys() <= _LASTING and not n_long:
        lines += _accept_missing(folder, manifest)
    return [fit_hint(line) for line in lines]


def _accept_missing(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Return the runs that lack most judgements, and the --allow-missing that accepts them."""
    from ..records.reading.lines import json_lines
    from ..records.reading.problems import Problems

    share = manifest["share_missing"]
    if share <= manifest["config"]["run"]["allow_missing"]:
        return []
    by_run = Counter[str]()
    for _, row in json_lines(folder / "unjudged.jsonl", Problems()):
        by_run[cell(row.get("run_id") or "")] += row["n"]
    named = [f"{name} {n:,}" for name, n in by_run.most_common(_RUNS_SHOWN) if name]
    more = len(by_run) - len(named)
    runs = ", ".join([*named, *([f"{more:,} more runs"] if more and named else [])])
    lines = [f"  most in {runs}"] if named else []
    return [*lines, f"  to accept this: --allow-missing {round_up_share(share)}"]


def round_up_share(share: float) -> str:
    """Round a share up to a percentage with two decimals.

    >>> round_up_share(9 / 899), round_up_share(0.0084), round_up_share(1.0)
    ('1.01%', '0.84%', '100%')
    """
    from ..programs.config.sections import as_share

    hundredths = math.floor(share * 10_000)
    while as_share(text := f"{hundredths / 100:g}%") < share:
        hundredths += 1
    return text


def _too_long(folder: Path) -> tuple[int, set[str]]:
    """Count items longer than the model's context, and find reasons that a smaller window helps.

    Returns: the count; the reasons, "truncated" or TOO_LONG, that calls with several items had.
    """
    from ..records.reading.lines import json_lines
    from ..records.reading.problems import Problems

    n_long, windows = 0, set()
    for _, row in json_lines(folder / "unjudged.jsonl", Problems()):
        is_long = row["detail"].startswith(TOO_LONG)
        n_long += is_long
        if row["n"] > 1 and (is_long or row["reason"] == "truncated"):
            windows.add(TOO_LONG if is_long else "truncated")
    return n_long, windows


def print_plan(
    plan: Iterable[Any],
    assumed: str | None = None,
    *,
    dry_run: bool = True,
    as_json: bool,
) -> bool:
    """Print the estimate of a command.

    Args:
        assumed: a note below the estimate; None: the assumptions of a dry run.

    Returns: `dry_run`: whether the command ends here.
    """
    from ..programs.engine.dry_run import ASSUMED

    estimates = list(plan)
    if dry_run:
        write_note("A dry run: no model is asked, and no key is needed.\n")
    if dry_run and as_json:
        write_objects(vars(estimate) for estimate in estimates)
        return True
    notes = [ASSUMED if assumed is None else assumed]
    view = make_plan_view(estimates, [note for note in notes if note])
    print_view(view, stream=sys.stdout if dry_run else sys.stderr)
    return dry_run
