"""Computes the figures in a thread when labelling pauses, so that no label waits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

QUIET_S = 2.0
_LONGEST_S = 30.0  # if people never pause


class Worker:
    """Calls a function some time after `notify`, and keeps its result.

    The function must not use data that others change meanwhile, such as a State; it should read
    the journals. The first call comes immediately.

    Args:
        compute: computes the figures. quiet_s: seconds without a change before a call.
        longest_s: the most seconds that later changes can delay a call.
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
        self._first: float | None = 0.0  # time of the first change that is not computed yet
        self._last = -quiet_s
        self._is_closed = False
        self._figures: Mapping[str, Any] = {"measures": [], "reason": "not computed yet"}
        self._thread = threading.Thread(target=self._run, name="live figures", daemon=True)
        self._thread.start()

    def notify(self) -> None:
        """Report a change. Returns immediately."""
        with self._wake:
            self._last = time.monotonic()
            if self._first is None:
                self._first = self._last
            self._wake.notify()

    def figures(self) -> Mapping[str, Any]:
        """The last figures; `reason` gives the error, if any."""
        return self._figures

    def close(self) -> None:
        """Stop, without waiting for a running computation."""
        with self._wake:
            self._is_closed = True
            self._wake.notify()

    def _run(self) -> None:
        while self._has_turn():
            try:
                figures = self._compute()
            except Exception as error:  # the page shows it, and labelling continues
                lines = str(error).splitlines() or [type(error).__name__]
                figures = {
                    **self._figures,
                    "reason": f"the numbers cannot be computed: {lines[0]}",
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
