"""Shares items and spending limits among workers."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import NamedTuple

from ...backends.budget import Budget, Seen, Usage
from ...programs.engine.stage import Item, Pending
from ...records.judgements import Reason, Unjudged

LIMITS = ("max_calls", "max_tokens", "max_cost")


@dataclass
class Lease:
    """One worker's part: its spending so far, and its limits.

    `counted` is as in Budget: it includes claims for requests in flight.
    """

    usage: Usage = field(default_factory=Usage)
    counted: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LIMITS, 0.0))
    granted: dict[str, float] = field(default_factory=lambda: dict.fromkeys(LIMITS, 0.0))


class Allowance(NamedTuple):
    """A worker's spending limits, and how large requests were on other workers.

    `is_alone`: no other worker is busy.
    """

    limits: Mapping[str, float]
    seen: Mapping[str, Seen]
    is_alone: bool


class Leases:
    """Grants that together never exceed the limits of a budget, whose usage is kept up to date.

    Attributes:
        seen: how large requests were on any worker.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._limits = {n: getattr(budget, n) for n in LIMITS if getattr(budget, n) is not None}
        self._leases: list[Lease] = []
        self.seen = budget.seen

    def open(self) -> Lease:
        """The lease of a new worker without spending."""
        self._leases.append(Lease())
        return self._leases[-1]

    def report(
        self, lease: Lease, usage: Usage, counted: dict[str, float], seen: Mapping[str, Seen]
    ) -> None:
        """Record the spending and request sizes of a worker since it started."""
        self._budget.learn(seen)
        total = self._budget.usage
        for name in (each.name for each in fields(Usage)):
            more = getattr(usage, name) - getattr(lease.usage, name)
            setattr(total, name, getattr(total, name) + more)
        lease.usage, lease.counted = usage, counted

    def grant(self, lease: Lease, share: float) -> dict[str, float]:
        """The limits of a worker: a share of the free remaining budget.

        Earlier grants stay, because the worker may have used them since its last report.
        """
        for name, limit in self._limits.items():
            left = limit - sum(each.counted[name] for each in self._leases)
            others = sum(each.granted[name] for each in self._leases if each is not lease)
            more = max(0.0, min(left * share, limit - others - lease.counted[name]))
            upto = lease.counted[name] + (more if name == "max_cost" else int(more))
            lease.granted[name] = min(limit - others, max(lease.granted[name], upto))
        return {name: lease.granted[name] for name in self._limits}

    def settle(self, lease: Lease) -> None:
        """Take back the unspent part of an idle worker."""
        lease.granted = dict(lease.counted)

    def bury(self, lease: Lease) -> None:
        """Count the whole grant of a worker as spent, because it is unknown what it still sent."""
        lease.counted = dict(lease.granted)

    def refusal(self, outcome: Unjudged) -> Unjudged:
        """The outcome of an item that needs more than the whole remaining budget."""
        name = outcome.detail.split(" ", 1)[0]
        if name not in self._limits:
            return outcome
        limit = self._limits[name]
        text = f"{name} {limit:g}" if name == "max_cost" else f"{name} {limit}"
        self._budget.reached = self._budget.reached or text
        return Unjudged(Reason.BUDGET, f"{text} reached, not asked")

    @property
    def is_reached(self) -> bool:
        """Whether a refusal is final."""
        return bool(self._budget.reached)


MAX_BOUND = 1000  # items that wait for one worker while others continue


class Deal:
    """Deals items to workers 0, 1, ..., lazily; items with equal payloads go to the same worker.

    Such items ask the same question: the worker shares a call among them, or has the reply in its
    cache. Memory: about 100 bytes for each payload.

    Attributes:
        refused: by worker, items that its part of the budget cannot pay; not dealt again.
    """

    def __init__(self, left: Iterator[Pending | None]) -> None:
        self.refused: defaultdict[int, list[Pending]] = defaultdict(list)
        self._left = left
        self._is_at_end = False
        self._free: deque[Pending] = deque()
        self._bound: defaultdict[int, deque[Pending]] = defaultdict(deque)
        self._worker_of: dict[int, int] = {}  # by digest of the payload
        self._gone: set[int] = set()

    def look(self) -> bool:
        """Whether it is known if there are items to deal; call it again until it is."""
        if not self._free and (pending := self._next()) is not None:
            self._free.append(pending)
        return bool(self._free) or self._is_at_end

    @property
    def is_over(self) -> bool:
        """Whether all items were dealt and none was given back."""
        waiting = [self._free, *self._bound.values(), *self.refused.values()]
        return self._is_at_end and not any(waiting)

    @property
    def refused_any(self) -> bool:
        """Whether there are refused items, which wait until other workers are idle."""
        return any(self.refused.values())

    def has_more(self, worker: int) -> bool:
        """Whether `take` may still find something for a worker."""
        goes_on = not self._is_at_end and not self._is_crowded
        return goes_on or bool(self._free or self._bound[worker])

    def take(self, worker: int, most: int) -> list[Pending]:
        """Up to `most` items for a worker."""
        self._gone.discard(worker)
        own, taken = self._bound[worker], list[Pending]()
        while len(taken) < most:
            if own:
                taken.append(own.popleft())
                continue
            pending = self._free.popleft() if self._free else self._next()
            if pending is None:
                break
            self._bound[self._owner(pending, worker)].append(pending)
        return taken

    def give_back(self, worker: int, items: list[Pending]) -> None:
        """Give back these items and all items that wait for a dead worker."""
        self._gone.add(worker)
        self._free.extend(items)
        self._free.extend(self._bound.pop(worker, ()))

    @property
    def _is_crowded(self) -> bool:
        return any(len(items) >= MAX_BOUND for items in self._bound.values())

    def _next(self) -> Pending | None:
        if self._is_at_end or self._is_crowded:
            return None
        try:
            return next(self._left)
        except StopIteration:
            self._is_at_end = True
            return None

    def _owner(self, pending: Pending, worker: int) -> int:
        """The worker that got this payload; `worker` if none did or that worker is dead."""
        payload = Item({}, pending.item.payload).digest()
        owner = self._worker_of.get(payload)
        if owner is None or owner in self._gone:
            owner = self._worker_of[payload] = worker
        return owner
