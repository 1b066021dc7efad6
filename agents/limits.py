"""What an agent may do for one item, and what it has done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..backends.errors import JudgeError
from ..records.judgements import Reason


class Limits(NamedTuple):
    """What an agent may do for one item, each a number that is never passed but by `tokens`.

    Attributes:
        steps: turns of an agent that chooses its tools itself.
        calls: questions asked of models.
        tokens: of prompts and replies together, looked at before each call; None: any.
        read: bytes of passages that it reads itself. hits: passages that a search gives.
    """

    steps: int = 12
    calls: int = 40
    tokens: int | None = None
    read: int = 20_000
    hits: int = 20


@dataclass
class Spent:
    """What was done for one item so far.

    Each method counts something that is about to be done, and raises JudgeError(steps) where that
    is beyond the limit, before anything is asked.
    """

    limits: Limits
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    read: int = 0

    def step(self) -> None:
        """One more turn."""
        if self.steps >= self.limits.steps:
            raise _over(f"{self.limits.steps} steps")
        self.steps += 1

    def call(self, n: int = 1) -> None:
        """So many more questions."""
        if self.calls + n > self.limits.calls:
            raise _over(f"{self.limits.calls} calls of models")
        if self.limits.tokens is not None and self.tokens >= self.limits.tokens:
            raise _over(f"{self.limits.tokens:,} tokens")
        self.calls += n

    def reading(self, size: int) -> None:
        """So many more bytes of a passage."""
        if self.read + size > self.limits.read:
            raise _over(f"{self.limits.read:,} bytes to read")
        self.read += size


def _over(what: str) -> JudgeError:
    return JudgeError(Reason.STEPS, f"the limit of {what} was reached before it was done")
