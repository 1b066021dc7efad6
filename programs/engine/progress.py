"""One line on stderr while a run goes on: how far, failed, cost, time left; more if it stalls."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Callable

from rich.console import Console
from rich.live import Live
from rich.text import Text

from ...backends.budget import Usage
from ...records.judgements import Outcome, Unjudged
from ...records.printed import shown, write_note
from ...views.numbers import format_money, format_seconds

REDRAW_S = 0.2
LOG_S = 30.0  # between two lines where stderr is not a terminal
STALL_S = 30.0  # without a finished item, until a line says what is in flight; then twice as long

log = logging.getLogger("nuggetjudge")


class ProgressBar:
    """The progress of one stage, in a line that a terminal rewrites and that goes when it ends.

    `usage` is the run's, so that the cost is the run's.

    Args:
        total: number of items; None: not known.
        quiet: draw nothing.
        in_flight: says what is waited for, in the loop that this is entered in, where no item
            ends for STALL_S, also when quiet; None: nothing is said.
    """

    def __init__(
        self,
        name: str,
        total: int | None,
        usage: Usage,
        *,
        quiet: bool = False,
        in_flight: Callable[[], str] | None = None,
    ) -> None:
        self._name, self._total, self._usage, self._quiet = name, total, usage, quiet
        self._began = self._drawn = self._finished = time.monotonic()
        self._in_flight, self._patience = in_flight, STALL_S
        self._timer: asyncio.TimerHandle | None = None
        self.done = self.unjudged = self._kept = 0
        self._live: Live | None = None
        if not quiet and sys.stderr.isatty():
            console = Console(stderr=True, highlight=False)
            self._live = Live(self._text(), console=console, auto_refresh=False, transient=True)

    def advance(self, outcome: Outcome | None) -> None:
        """See engine.Progress."""
        if outcome is None:
            self._kept += 1
        elif isinstance(outcome, Unjudged):
            self.unjudged += 1
        self.step()

    def step(self) -> None:
        """One more item is done; it is drawn now and then."""
        self.done += 1
        now = self._finished = time.monotonic()
        self._patience = STALL_S
        if now - self._drawn >= (REDRAW_S if self._live else LOG_S):
            self._drawn = now
            self._draw()

    def line(self) -> str:
        """How far the stage is, what failed, what the run costs so far, and the time left."""
        total = "" if self._total is None else f" / {self._total:,}"
        parts = [f"{self._name}  {self.done:,}{total}", f"{self.unjudged:,} failed"]
        if self._usage.requests:
            cost = self._usage.known_cost
            parts.append("cost unknown" if cost is None else format_money(cost))
        asked = self.done - self._kept
        if self._total is not None and asked:
            left = (time.monotonic() - self._began) / asked * max(self._total - self.done, 0)
            parts.append(f"{format_seconds(left)} left")
        return ", ".join(parts)

    def _text(self) -> Text:
        return Text(shown(self.line()), no_wrap=True, overflow="ellipsis")

    def _draw(self) -> None:
        if self._live is not None:
            self._live.update(self._text(), refresh=True)
        elif not self._quiet:
            write_note(f"{self.line()}\n")

    def _watch(self, says: Callable[[], str]) -> None:
        """Say what is in flight if nothing has ended for too long, and look again later."""
        idle = time.monotonic() - self._finished
        if idle >= self._patience:
            what = f"{self._name}: nothing finished for {idle:.0f} s"
            log.warning("%s", shown(f"{what}. {says()}"))
            self._patience = 2 * idle
        loop, wait = asyncio.get_running_loop(), self._patience - idle
        self._timer = loop.call_later(max(wait, 0.01), self._watch, says)

    def __enter__(self) -> ProgressBar:
        if self._live is not None:
            self._live.start()
        if self._in_flight is not None:
            self._watch(self._in_flight)
        return self

    def __exit__(self, *ended: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._live is not None:
            self._live.stop()
