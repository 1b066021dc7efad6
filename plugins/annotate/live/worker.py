"""Works the figures out when labelling has paused, in a thread: no label waits for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

QUIET_S = 2.0
_LONGEST_S = 30.0  # where people never pause


class Worker:
    """Calls a function some time after `notify`, and keeps what it gave.

    What it is given must not be changed by others meanwhile, as a State is: it should read the
    journals. The first call comes at once.

    Args:
        compute: gives the figures. quiet_s: how long nothing must have changed.
        longest_s: after a change, how long it is put off at most by others.
    """

    def __init__(
        self,
        compute: Callable[[], Mapping[str, Any]],
        *,
        quiet_s: float = QUIET_S,
        longest_s: float = _LONGEST_S,
    ) -> None:
        self._compute, self._quiet_s, self._longest_s = compute, quiet_s, longest_s
        self._wake = threading.Condition()
        self._first: float | None = 0.0  # when what is not worked out yet began to change
        self._last = -quiet_s
        self._is_closed = False
        self._figures: Mapping[str, Any] = {"measures": [], "reason": "being worked out"}
        self._thread = threading.Thread(target=self._run, name="live figures", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """There is something new. Comes back at once."""
        with self._wake:
            self._last = time.monotonic()
            if self._first is None:
                self._first = self._last
            self._wake.notify()

    def figures(self) -> Mapping[str, Any]:
        """What was found last; `reason` says what went wrong where something did."""
        return self._figures

    def close(self) -> None:
        """Work nothing out any more; what is being worked out is not waited for."""
        with self._wake:
            self._is_closed = True
            self._wake.notify()

    def _run(self) -> None:
        while self._has_turn():
            try:
                figures = self._compute()
            except Exception as error:  # the page says it, and labelling goes on
                lines = str(error).splitlines() or [type(error).__name__]
                figures = {
                    **self._figures,
                    "reason": f"the figures cannot be worked out: {lines[0]}",
                }
            self._figures = figures

    def _has_turn(self) -> bool:
        """Wait until labelling has paused; False: closed."""
        with self._wake:
            while not self._is_closed:
                now = time.monotonic()
                if self._first is None:
                    self._wake.wait()
                    continue
                at = min(self._last + self._quiet_s, self._first + self._longest_s)
                if self._first == 0.0 or now >= at:
                    self._first = None
                    return True
                self._wake.wait(at - now)
            return False
