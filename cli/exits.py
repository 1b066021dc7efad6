"""Exit codes, the same for every command."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

COMPLETE = 0
GATE_FAILED = 1
INPUT = 2
INCOMPLETE = 3
INTERNAL = 70  # an error of ours, with its traceback
INTERRUPTED = 130
TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """SIGTERM came; everything that tidies up after Ctrl-C does so for it."""


def unless_stopped(run: Callable[[], T], kept: str = "What was made is kept") -> T:
    """What `run` returns; Ctrl-C and SIGTERM end the process with a word on what is kept."""
    import typer

    try:
        return run()
    except KeyboardInterrupt as signal:
        is_term = isinstance(signal, Terminated)
        how = "Terminated" if is_term else "Interrupted"
        sys.stderr.write(f"\n{how}. {kept}: the same command goes on.\n")
        raise typer.Exit(TERMINATED if is_term else INTERRUPTED) from None
