"""How a command ends: done, not complete, stopped; the exit codes are the same for every one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import typer

from .tables import shown, spent_line, write_note

COMPLETE = 0
GATE_FAILED = 1
INPUT = 2
INCOMPLETE = 3
INTERNAL = 70  # an error of this program, with its traceback
INTERRUPTED = 130
TERMINATED = 143

T = TypeVar("T")


class Terminated(KeyboardInterrupt):
    """SIGTERM came; everything that tidies up after Ctrl-C does so for it."""


def unless_stopped(
    run: Callable[[], T], kept: str = "What was made is kept", out: Path | None = None
) -> T:
    """What `run` returns; Ctrl-C and SIGTERM end the process with a word on what is kept.

    Args:
        out: the results folder, which knows of batches that go on elsewhere.
    """
    try:
        return run()
    except KeyboardInterrupt as signal:
        is_term = isinstance(signal, Terminated)
        how = "Terminated" if is_term else "Interrupted"
        write_note(f"\n{how}. {kept}: the same command goes on.\n{_batches(out)}")
        raise typer.Exit(TERMINATED if is_term else INTERRUPTED) from None


def report_end(
    manifest: Mapping[str, Any],
    *,
    first: Iterable[str] = (),
    counted: Mapping[str, int],
    took: str | None = None,
    partial: str,
    last: Iterable[str] = (),
    is_complete: bool,
) -> None:
    """Say on stderr what is missing and what it took; exit with 3 if it is not complete.

    Args:
        manifest: of what was made; its `limit_reached` and `this_time` are printed.
        first: lines on what was left out, and notes.
        counted: what readers and programs counted, by its name.
        took: instead of requests, tokens, cost and seconds.
        partial: what a limit that was reached means, to go on "Stopped at max_cost: ".
        last: lines on where things are.
    """
    spent = manifest["this_time"]
    lines = [*first, *(f"  {n:>7,} {what}" for what, n in counted.items())]
    lines.append(f"{spent_line(spent)}, {spent['seconds']:.1f} s" if took is None else took)
    if manifest["limit_reached"]:
        lines.append(f"Stopped at {manifest['limit_reached']}: {partial}.")
    write_note("\n".join([*lines, *last]) + "\n")
    if not is_complete:
        raise typer.Exit(INCOMPLETE)


def is_whole(manifest: Mapping[str, Any], allow_missing: float) -> bool:
    """Whether no limit ended it, and no more than the allowed share is missing."""
    return manifest["share_missing"] <= allow_missing and not manifest["limit_reached"]


def list_problems(problems: Any) -> None:
    """Say on stderr what the readers left out or doubted, by kind, with the first of each."""
    for kind, n in problems.counts().items():
        first = next(row for row in problems if row.kind == kind)
        write_note(f"{n:>7,} {kind} ({first.action}), first at {first}\n")


def _batches(out: Path | None) -> str:
    """Which batches were left at their endpoints; "" if there are none."""
    from ..backends.batch.ledger import left_running
    from ..programs.pipelines.closed_loop import GENERATED

    folders = [] if out is None else [out, out / GENERATED]
    left = [batch for folder in folders for batch in left_running(folder / "journal")]
    if not left:
        return ""
    ids = ", ".join(batch_id for batch_id, _ in left)
    n = sum(n for _, n in left)
    return shown(f"Not stopped: {ids}, with {n:,} requests; the same command collects them.\n")
