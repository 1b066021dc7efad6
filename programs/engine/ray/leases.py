"""What a run may still spend, shared out among workers in other processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from ....backends.budget import Budget, Seen, Usage
from ....records.judgements import Reason, Unjudged

LIMITS = ("max_calls", "max_tokens", "max_cost")


@dataclass
class Lease:
    """One worker's part: what it has spent so far, and how far it may go, by limit.

    `counted` is that of Budget: what is claimed for requests on their way is in it.
    """

    usage: Usage = field(default_factory=Usage)
    counted: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LIMITS, 0.0))
    granted: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LIMITS, 0.0))


class Allowance(NamedTuple):
    """How far a worker's spending may go, by limit, and how large requests were elsewhere.

    `is_alone`: no other worker has anything under way.
    """

    limits: Mapping[str, float]
    seen: Mapping[str, Seen]
    is_alone: bool


class Leases:
    """Grants that together never pass the limits of a budget, whose usage is kept up to date.

    Attributes:
        seen: how large requests were, with any worker.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._limits = {n: getattr(budget, n) for n in LIMITS if getattr(budget, n) is not None}
        self._leases: list[Lease] = []
        self.seen = budget.seen

    def open(self) -> Lease:
        """The lease of a new worker, which has spent nothing."""
        self._leases.append(Lease())
        return self._leases[-1]

    def report(
        self, lease: Lease, usage: Usage, counted: dict[str, float], seen: Mapping[str, Seen]
    ) -> None:
        """Note what a worker has spent, and seen, since it started."""
        self._budget.learn(seen)
        total = self._budget.usage
        for name in (each.name for each in fields(Usage)):
            more = getattr(usage, name) - getattr(lease.usage, name)
            setattr(total, name, getattr(total, name) + more)
        lease.usage, lease.counted = usage, counted

    def grant(self, lease: Lease, share: float) -> dict[str, float]:
        """How far a worker may go, by limit: a share of what is left, as far as it is free.

        What was granted before stands: since its last report it may have gone up to there.
        """
        for name, limit in self._limits.items():
            left = limit - sum(each.counted[name] for each in self._leases)
            others = sum(each.granted[name] for each in self._leases if each is not lease)
            more = max(0.0, min(left * share, limit - others - lease.counted[name]))
            upto = lease.counted[name] + (more if name == "max_cost" else int(more))
            lease.granted[name] = min(limit - others, max(lease.granted[name], upto))
        return {name: lease.granted[name] for name in self._limits}

    def settle(self, lease: Lease) -> None:
        """Take back what an idle worker has not spent."""
        lease.granted = dict(lease.counted)

    def bury(self, lease: Lease) -> None:
        """Count as spent all that a worker was granted: nobody knows what it still sent."""
        lease.counted = dict(lease.granted)

    def refusal(self, outcome: Unjudged) -> Unjudged:
        """The outcome of an item that not even all that is left would do for."""
        name = outcome.detail.split(" ", 1)[0]
        if name not in self._limits:
            return outcome
        limit = self._limits[name]
        text = f"{name} {limit:g}" if name == "max_cost" else f"{name} {limit}"
        self._budget.reached = self._budget.reached or text
        return Unjudged(Reason.BUDGET, f"{text} reached, not asked")

    @property
    def is_reached(self) -> bool:
        """Whether a refusal was final."""
        return bool(self._budget.reached)
