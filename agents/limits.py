"""The limits of an agent for one item, and what it has used of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ..backends.errors import JudgeError
from ..records.judgements import Reason


class Limits(NamedTuple):
    """Limits of an agent for one item. Only `tokens` can be exceeded, by the last call.

    Attributes:
        steps: turns of an agent that chooses its tools itself.
        calls: calls of models.
        tokens: tokens of prompts and replies together, checked before each call; None: no limit.
        read: bytes of passages that the agent reads itself.
        hits: passages that one search returns.
    """

    steps: int = 12
    calls: int = 40
    tokens: int | None = None
    read: int = 20_000
    hits: int = 20


@dataclass(eq=False)
class Spent:
    """Counts what an agent does for one item, or for a part of it.

    Each method counts one thing before it is done. It raises JudgeError(steps) if that would exceed
    the limit.

    Args:
        whole: what this is a part of, until the part is used.
    """

    limits: Limits
    whole: Spent | None = None
    steps: int = 0
    calls: int = 0
    tokens: int = 0
    read: int = 0
    _parts: list[Spent] = field(default_factory=list)
    _unused: list[Spent] = field(default_factory=list)

    def part(self) -> Spent:
        """What one part may do: an even share of what is left when the first of them is used.

        Those that are made before any of them is used share, so that it is not the order of
        replies that decides which of them gets how far.
        """
        part = Spent(self.limits, self)
        self._unused.append(part)
        return part

    def step(self) -> None:
        """One more turn."""
        self._need("steps", 1, f"{self.limits.steps} steps")
        self.steps += 1

    def call(self, n: int = 1) -> None:
        """So many more questions."""
        self._need("calls", n, f"{self.limits.calls} calls of models")
        if self.limits.tokens is not None:
            self._need("tokens", 1, f"{self.limits.tokens:,} tokens")
        self.calls += n

    def reading(self, size: int) -> None:
        """So many more bytes of a passage."""
        self._need("read", size, f"{self.limits.read:,} bytes to read")
        self.read += size

    def left(self, what: str) -> int:
        """How much is left of the limit of steps, calls, tokens (if it has one) or read."""
        if self.whole is not None:
            self.whole._share()
        most: int = getattr(self.limits, what)
        return most - self._done(what)

    def _need(self, what: str, n: int, limit: str) -> None:
        if self.left(what) < n:
            raise JudgeError(Reason.STEPS, f"the limit of {limit} was reached before it was done")

    def _done(self, what: str) -> int:
        own: int = getattr(self, what)
        return own + sum(part._done(what) for part in self._parts)

    def _share(self) -> None:
        """Divide what is left among the parts that are not used yet."""
        n = len(self._unused)
        for index, part in enumerate(self._unused):
            part.whole = None
            for what in ("steps", "calls", "tokens", "read"):
                if getattr(self.limits, what) is not None:
                    left = max(0, self.left(what))
                    share = left // n + (index < left % n)
                    part.limits = part.limits._replace(**{what: share})
        self._parts += self._unused
        self._unused = []
