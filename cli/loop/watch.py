"""`judge watch`: judge again what changes in the files of a config, and show what moved."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...records.reading.problems import InputError
from ..flags import Given, settings
from ..signatures import File
from ..stopping import unless_stopped
from ..tables import aligned, cell, figure, spent_line, write_note

if TYPE_CHECKING:
    from ...programs.config.sections import Config
    from ...programs.scoring.result import Result
    from ...records.rows import ScoreRow
    from .watched import Watched

SHOWN = 20  # questions that moved
Key = tuple[str, str, str]  # measure, run and question
Rows = Mapping[Key, "ScoreRow"]


@settings("run.out run.force run.max_cost run.max_calls run.max_tokens run.allow_missing")
def watch(given: Given, what: File) -> None:
    """Judge, wait for a file of the config to change, and judge again what is new in it.

    Prints the leaderboard and the questions whose scores moved since the last time. Input that
    cannot be read is reported, and waited for. Ends with Ctrl-C.

    Example: judge watch judge.yaml --max-cost 2

    Exit: 130 interrupted; what was judged is kept, also for judge run.

    Args:
        what (CONFIG): A config file.
    """
    from .watched import Watched

    watched = Watched(what, lambda: given.config_of(str(what)))
    unless_stopped(lambda: keep_judging(watched), "What was judged is kept")


def keep_judging(watched: Watched, rounds: int | None = None) -> None:
    """Judge whenever files have changed.

    Args:
        rounds: end after so many; None: never.
    """
    from ...backends.errors import EndpointUnusable

    n = 0
    while rounds is None or n < rounds:
        changed = watched.wait()
        n += 1
        named = ", ".join(cell(str(path)) for path in changed[:3])
        more = f" and {len(changed) - 3:,} more" if len(changed) > 3 else ""
        about = "" if n == 1 else f" changed: {named}{more}"
        write_note(f"{time.strftime('%H:%M:%S')}{about}\n")
        try:
            _judge(watched.config())
        except (InputError, EndpointUnusable, OSError) as error:
            watched.failed()
            write_note(f"judge: {error}\n")
        write_note("Waiting for changes; Ctrl-C ends.\n")
        sys.stdout.flush()


def _judge(config: Config) -> None:
    from ...programs.run import judge_collection
    from ...views.printing import Format
    from ..views.leaderboards import print_leaderboards

    before = _rows(config.run.out)
    result = judge_collection(config, quiet=not sys.stderr.isatty())
    print_leaderboards(result.scores, result.folder, Format.TABLE)
    if before is not None:
        sys.stdout.write(_moved_text(before, _rows(config.run.out) or {}))
    write_note(_end(result))


def _rows(folder: Path) -> Rows | None:
    """The main measures of each question in a results folder; None: there are no results yet."""
    from ...gates.measures import main_measures, runs_in
    from ...programs.scoring.result import Result

    try:
        rows = Result(folder).scores
    except (InputError, OSError):
        return None
    measures = main_measures({row.measure for row in rows})
    runs = set(runs_in(rows))
    return {
        (row.measure, row.run_id, row.topic_id): row
        for row in rows
        if row.measure in measures and row.topic_id != "all" and row.run_id in runs
    }


def _moved_text(before: Rows, after: Rows) -> str:
    """The questions whose scores are others now, those that fell furthest first."""
    keys = dict.fromkeys((*after, *before))
    moved = [key for key in keys if _value(before, key) != _value(after, key)]
    if not moved:
        return "\nNo score moved.\n"
    moved.sort(key=lambda key: _change(before, after, key) or 0.0)
    table: list[Sequence[str]] = [["moved", "question", "measure", "before", "now", "change"]]
    for key in moved[:SHOWN]:
        measure, run_id, topic_id = key
        values = [_value(of, key) for of in (before, after)]
        change = figure(_change(before, after, key), sign="+")
        table.append([run_id, topic_id, measure, *values, change])
    more = f"... and {len(moved) - SHOWN:,} more\n" if len(moved) > SHOWN else ""
    return f"\n{aligned(table)}{more}"


def _change(before: Rows, after: Rows, key: Key) -> float | None:
    one, other = (of[key].value if key in of else None for of in (before, after))
    return None if one is None or other is None else other - one


def _value(of: Rows, key: Key) -> str:
    if key not in of:
        return "no answer"
    row = of[key]
    if row.n_unjudged:
        return "not judged" if row.value is None else f"{figure(row.value)} in part"
    return figure(row.value)


def _end(result: Result) -> str:
    spent: dict[str, Any] = result.manifest["this_time"]
    judged = f"{result.n_judged:,} judged, {result.n_unjudged:,} unjudged"
    limit = result.manifest["limit_reached"]
    stopped = f"Stopped at {limit}: the results are partial.\n" if limit else ""
    return f"{judged}; {spent_line(spent)}, {spent['seconds']:.1f} s\n{stopped}"
