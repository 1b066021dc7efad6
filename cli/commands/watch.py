"""`judge watch`: judge again when files of a config change, and show which scores moved."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ...records.reading.problems import InputError
from ...views.numbers import format_share
from ...views.printing import Format, print_view
from ...views.table import Column, Kind, Row, Table, View
from ..flags import ParsedSettings, settings
from ..signatures import File
from ..stopping import report_end, run_until_stopped
from ..tables import cell, write_note

if TYPE_CHECKING:
    from ...programs.config.sections import Config
    from ...records.rows import ScoreRow

SHOWN = 20  # topics whose scores changed
Key = tuple[str, str, str]  # measure, run, topic
Rows = Mapping[Key, "ScoreRow"]
Stamps = dict[Path, tuple[int, int, int]]  # modification time, size, inode
POLL_S = 0.5


@settings("run.out run.max_cost", model=False, config=False)
def watch(given: ParsedSettings, what: File) -> None:
    """Judge, then judge new input whenever a file of the config changes.

    Prints the leaderboard and the topics whose scores changed. If a file cannot be read, the
    command prints the error and waits for a change. Press Ctrl-C to end.

    Example: judge watch judge.yaml --max-cost 2

    Exit: 130 interrupted; judgements are kept, also for judge run.

    Args:
        what (CONFIG): A config file.
    """

    watched = Watched(what, lambda: given.read_config(str(what)))
    run_until_stopped(lambda: keep_judging(watched), "What was judged is kept")


def keep_judging(watched: Watched, rounds: int | None = None) -> None:
    """Judge each time that files have changed.

    Args:
        rounds: number of times to judge; None: no limit.
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
            watched.note_failure()
            write_note(f"judge: {error}\n")
        write_note("Waiting for changes; press Ctrl-C to end.\n")
        sys.stdout.flush()


def _judge(config: Config) -> None:
    from ...programs.run import judge_collection
    from ..views import print_leaderboards

    before = _rows(config.run.out)
    result = judge_collection(config, quiet=not sys.stderr.isatty())
    report_end(result.manifest, partial="the results are partial")
    if before is not None:
        print_view(_show_moves(before, _rows(config.run.out) or {}))
        sys.stdout.write("\n")
    print_leaderboards(result.scores, result.folder, Format.TABLE)


def _rows(folder: Path) -> Rows | None:
    """Read the main measures of each topic in a results folder; None: no results yet."""
    from ...gates.checks import choose_measures, list_runs
    from ...programs.scoring.result import Result

    try:
        rows = Result(folder).scores
    except (InputError, OSError):
        return None
    measures = choose_measures({row.measure for row in rows})
    runs = set(list_runs(rows))
    return {
        (row.measure, row.run_id, row.topic_id): row
        for row in rows
        if row.measure in measures and row.topic_id != "all" and row.run_id in runs
    }


def _show_moves(before: Rows, after: Rows) -> View:
    """Show the topics whose scores changed, largest drop first."""
    keys = dict.fromkeys((*after, *before))
    moved = [key for key in keys if _value(before, key) != _value(after, key)]
    if not moved:
        return View("No score moved.")
    moved.sort(key=lambda key: _change(before, after, key) or 0.0)
    names = [Column(name, Kind.NAME) for name in ("run", "topic", "measure")]
    values = [Column(name, Kind.SHARE) for name in ("before", "now")]
    rows = [
        Row([run_id, topic_id, measure, _value(before, key), _value(after, key),
             _change(before, after, key)])
        for key in moved[:SHOWN]
        for measure, run_id, topic_id in [key]
    ]  # fmt: skip
    notes = [f"... and {len(moved) - SHOWN:,} more"] if len(moved) > SHOWN else []
    title = f"{len(moved):,} score{'s' * (len(moved) != 1)} moved"
    columns = [*names, *values, Column("change", Kind.DIFFERENCE)]
    return View(tables=[Table(title, columns, rows, notes=notes)])


def _change(before: Rows, after: Rows, key: Key) -> float | None:
    one, other = (of[key].value if key in of else None for of in (before, after))
    return None if one is None or other is None else other - one


def _value(of: Rows, key: Key) -> str:
    if key not in of:
        return "no answer"
    row = of[key]
    if row.n_unjudged:
        return "not judged" if row.value is None else f"{format_share(row.value)} in part"
    return format_share(row.value)


class Watched:
    """A config file and all files that it names, also new files that match its patterns.

    Args:
        path: the config file. read: reads the current config; may raise InputError.
        poll_s: seconds between checks of the files.
    """

    def __init__(self, path: Path, read: Callable[[], Config], poll_s: float = POLL_S) -> None:
        self._path, self._read, self._poll_s = path, read, poll_s
        self._config: Config | None = None
        self._stamps: Stamps | None = None
        self._hashes: dict[Path, str] = {}
        self._is_failed = False

    def wait(self, most_looks: int | None = None) -> list[Path]:
        """Wait until the content of a file has changed and all files are stable.

        Args:
            most_looks: maximum number of checks; None: no limit.

        Returns: the changed files; all files on the first call; [] if no file changed.
        """
        looks = 0
        while most_looks is None or looks < most_looks:
            if looks:
                time.sleep(self._poll_s)
            looks += 1
            stamps = self._look()
            if stamps == self._stamps:
                continue
            if self._stamps is not None:  # somebody may still be writing
                time.sleep(self._poll_s)
                if self._look() != stamps:
                    continue
            before, self._stamps = self._stamps or {}, stamps
            hashes = {
                path: self._hashes[path] if before.get(path) == stamp else _hash(path)
                for path, stamp in stamps.items()
            }
            if self._is_failed:
                changed = [path for path, stamp in stamps.items() if before.get(path) != stamp]
            else:
                paths = {**hashes, **self._hashes}
                changed = [p for p in paths if hashes.get(p) != self._hashes.get(p)]
            self._hashes = hashes
            if changed:
                self._config, self._is_failed = None, False
                return changed
        return []

    def config(self) -> Config:
        """Read the current config. Raises: InputError."""
        self._config = self._read()
        return self._config

    def note_failure(self) -> None:
        """Count each file that is written again as changed, even with the same content."""
        self._is_failed = True

    def _look(self) -> Stamps:
        from ...programs.engine.manifest import input_files

        files = [self._path]
        with suppress(InputError):  # reported when the config is judged
            files += input_files(self._config or self._read())
        return {path: stamp for path in files if (stamp := _stamp(path)) is not None}


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat() if path.exists() else path.lstat()  # a broken link: the link itself
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _hash(path: Path) -> str:
    from ...records.reading.lines import hash_file

    with suppress(InputError, OSError):
        return hash_file(path)
    return ""
