"""What runs in a Ray worker: an event loop, a Panel with its backends, and a pool of judgements."""

from __future__ import annotations

import asyncio
import io
import os
import pickle
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from ...backends.budget import Budget, Seen, Usage
from ...backends.cache import ReplyCache
from ...judges.base import Judge
from ...records.judgements import Outcome, Reason, Unjudged
from ..config.sections import Config
from .panel import Panel, open_cache
from .stage import Ask, Item, outcome_of

LONGEST_S = 0.05  # for which a finished judgement waits for others, so that few messages carry many


class Report(NamedTuple):
    """What a worker has finished since the last one, and has spent and seen since it started."""

    finished: list[tuple[int, Outcome]]
    usage: Usage
    counted: dict[str, float]
    seen: dict[str, Seen]


class Worker:
    """Judges the items of one stage after another; made and called by RayExecutor.

    Args:
        config: with this worker's share of the concurrency and rates.
        folder: working directory of the driver, which relative paths are meant from.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        with suppress(OSError):  # another machine, with absolute paths then
            os.chdir(folder)
        self._config = config
        self._cache: ReplyCache | None = None
        self._panel: Panel | None = None
        self._budget = Budget()
        self._slots = asyncio.Semaphore(config.run.concurrency)
        self._tasks: set[asyncio.Task[None]] = set()
        self._n_under_way = 0
        self._number = 0
        self._finished: list[tuple[int, Outcome]] = []
        self._error: BaseException | None = None
        self._some, self._few_left = asyncio.Event(), asyncio.Event()

    async def begin(
        self, number: int, ask: bytes, trusted: Sequence[str] = (), *, acts: bool = False
    ) -> None:
        """Take up a stage; the first is number 1.

        Args:
            trusted: entries of `models:` that gave a judgement, here or elsewhere.
            acts: see Stage.

        Raises: InputError, EndpointUnusable.
        """
        # Ray may call out of order: that stage ended without this worker.
        if number <= self._number:
            return
        if self._panel is None:
            self._cache = open_cache(self._config)
            self._panel = Panel(self._config, cache=self._cache, budget=self._budget)
        self._panel.trust(trusted)
        if acts:
            self._panel.keep_replies()
        self._ask, self._number = unpacked(ask, self._panel), number

    async def exchange(
        self, stage: int, new: Sequence[tuple[int, Item]], allowance: Allowance
    ) -> Report:
        """Take new items, and wait until some of those under way are finished.

        Args:
            stage: number of the stage that they are of, which has begun.
            new: with their positions in the stage's order.
        Raises: EndpointUnusable, InputError; what an item met that is no JudgeError.
        """
        if stage != self._number:
            raise RuntimeError(f"items of stage {stage} while it is {self._number}")
        for name, limit in allowance.limits.items():
            setattr(self._budget, name, limit)
        self._budget.is_shared = not allowance.is_alone
        self._budget.learn(allowance.seen)
        self._n_under_way += len(new)
        for number, item in new:
            task = asyncio.create_task(self._judge(self._ask, number, item))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._look()
        await self._some.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._few_left.wait(), LONGEST_S)
        if self._error is not None:
            raise self._error
        finished, self._finished = self._finished, []
        budget = self._budget
        return Report(finished, copy(budget.usage), budget.counted(), budget.seen)

    async def close(self) -> None:
        """Cancel what is under way, put replies away and let go of connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._panel is not None:
            await self._panel.aclose()
        if self._cache is not None:
            self._cache.close()

    async def _judge(self, ask: Ask, number: int, item: Item) -> None:
        try:
            async with self._slots:
                outcome = await outcome_of(ask, item)
            if outcome.steps and self._cache is not None:
                self._cache.settle()
            self._finished.append((number, outcome))
        except Exception as error:
            self._error = self._error or error
        self._n_under_way -= 1
        self._look()

    def _look(self) -> None:
        """Whether there is something to report, and whether it can wait for more."""
        for event, is_so in (
            (self._some, self._finished or self._error),
            (self._few_left, self._n_under_way < self._config.run.concurrency or self._error),
        ):
            if is_so:
                event.set()
            else:
                event.clear()


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


def packed(ask: Ask, panel: Panel) -> bytes:
    """What `unpacked` makes a function of that asks the judges of another panel.

    Bytes for a process of the same run, which code can be in: they are never kept.
    """
    from ray.cloudpickle import CloudPickler

    class Pickler(CloudPickler):  # type: ignore[misc]
        def persistent_id(self, obj: Any) -> Any:
            return panel.name_of(obj) if isinstance(obj, Judge) else None

    stream = io.BytesIO()
    Pickler(stream).dump(ask)
    return stream.getvalue()


def unpacked(ask: bytes, panel: Panel) -> Ask:
    """The function, asking the judges of this panel."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: Any) -> Any:
            return panel[name]

    function: Ask = Unpickler(io.BytesIO(ask)).load()
    return function
