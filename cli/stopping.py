"""How a command ends: complete, incomplete or stopped. All commands share the exit codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import typer

from ..views.numbers import format_money, format_seconds
from .tables import escape, format_spending, write_note

COMPLETE = 0
GATE_FAILED = 1
INPUT = 2
INCOMPLETE = 3
INTERNAL = 70  # an error of this program, with its traceback
INTERRUPTED = 130
TERMINATED = 143

T = TypeVar("T")


class Terminated(KeyboardInterrupt):
    """SIGTERM arrived; it is handled like Ctrl-C."""


def run_until_stopped(
    run: Callable[[], T], kept: str = "What was made is kept", out: Path | None = None
) -> T:
    """Return the result of `run`; Ctrl-C and SIGTERM end the process and say what is kept.

    Args:
        kept: says what is kept, such as "Replies are kept".
        out: the results folder; it lists batches that continue at their endpoints.
    """
    try:
        return run()
    except KeyboardInterrupt as signal:
        is_term = isinstance(signal, Terminated)
        how = "Terminated" if is_term else "Interrupted"
        write_note(f"\n{how}. {kept}: the same command continues.\n{_batches(out)}")
        raise typer.Exit(TERMINATED if is_term else INTERRUPTED) from None


def report_end(
    manifest: Mapping[str, Any],
    *,
    done: str | None = None,
    in_all: str = "",
    details: Iterable[str] = (),
    excluded: Mapping[str, int] | None = None,
    partial: str,
    notes: Iterable[str] = (),
) -> None:
    """Print on stderr how many results were made, how many are missing, and the cost.

    Args:
        manifest: the manifest of the results.
        done: counts of made and missing results; None: counts of judgements.
        in_all: text after the cost.
        details: lines printed above, for `--verbose`.
        excluded: skipped or flagged input, counts by kind; None: the counts of the manifest.
        partial: the effect of a limit that was reached, printed after "Stopped at max_cost: ".
        notes: lines printed below: what is missing, and what helps.
    """
    cost = manifest["this_time"]["cost"]
    paid = "cost unknown" if cost is None else format_money(cost)
    lines = [*details, f"done: {done or count_made(manifest)}, {paid}{in_all}"]
    if manifest["limit_reached"]:
        lines.append(f"Stopped at {manifest['limit_reached']}: {partial}.")
    counts = manifest["problems"] if excluded is None else excluded
    if counts:
        named = ", ".join(f"{n:,} {name}" for name, n in counts.items())
        lines.append(f"Left out or doubted in the input: {named}")
    write_note("".join(f"{line}\n" for line in (*lines, *notes)))


def count_made(manifest: Mapping[str, Any], what: str = "judged") -> str:
    """Return counts of made and missing results as text; `what` names the made ones."""
    n_made, n_missing = (sum(manifest[name].values()) for name in ("judged", "unjudged"))
    return f"{n_made:,} {what}, {n_missing:,} missing"


def list_details(manifest: Mapping[str, Any]) -> list[str]:
    """List counts, requests, tokens and time, for `--verbose`."""
    spent = manifest["this_time"]
    counted = [f"{n:,} {what}" for what, n in manifest["counts"].items()]
    return [*counted, f"{format_spending(spent)}, {format_seconds(spent['seconds'])}"]


def exit_unless(is_complete: bool) -> None:
    """Exit with code 3 unless the results are complete."""
    if not is_complete:
        raise typer.Exit(INCOMPLETE)


def is_whole(manifest: Mapping[str, Any], allow_missing: float) -> bool:
    """Return whether no limit was reached and at most the allowed share is missing."""
    return manifest["share_missing"] <= allow_missing and not manifest["limit_reached"]


def list_problems(problems: Any) -> None:
    """Print on stderr how tables were read, and the first problem of each kind."""
    for note in problems.notes:
        write_note(f"{note}\n")
    for kind, n in problems.counts().items():
        first = next(row for row in problems if row.kind == kind)
        write_note(f"{n:>7,} {kind} ({first.action}), first at {first}\n")


def _batches(out: Path | None) -> str:
    """Return a note on batches that still run at their endpoints; "" if there are none."""
    from ..backends.batch.ledger import find_running_batches
    from ..programs.pipelines.closed_loop import GENERATED

    folders = [] if out is None else [out, out / GENERATED]
    left = [batch for folder in folders for batch in find_running_batches(folder / "journal")]
    if not left:
        return ""
    ids = ", ".join(batch_id for batch_id, _ in left)
    n = sum(n for _, n in left)
    return escape(f"Not stopped: {ids}, with {n:,} requests; the same command collects them.\n")


def open_results(context: typer.Context, paths: Iterable[Path]) -> list[Path]:
    """Return the paths; a stopped run or a tool folder is read into a temporary results folder.

    Prints a line on stderr for each converted path. Raises: InputError, see `results_at`.
    """
    from ..programs.engine.manifest import read_manifest
    from ..programs.partial import results_at

    folders = []
    for path in paths:
        at = context.with_resource(results_at(path))
        folder = at.path
        if at.problems is not None:
            write_note(f"{path}: judged by another tool, read from {at.is_of}\n")
            list_problems(at.problems)
        if at.is_partial:
            manifest = read_manifest(folder)
            n_judged = sum(manifest["judged"].values())
            n = n_judged + sum(manifest["unjudged"].values())
            what = f"{path}: stopped run, {n_judged:,} of {n:,} judged: partial"
            write_note(f"{what}; `judge run` with the same config goes on\n")
        folders.append(folder)
    return folders
