"""How a command ends that is stopped before it is done."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import typer

from .exits import INTERRUPTED, TERMINATED
from .terminal import shown

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
        sys.stderr.write(f"\n{how}. {kept}: the same command goes on.\n{_batches(out)}")
        raise typer.Exit(TERMINATED if is_term else INTERRUPTED) from None


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
