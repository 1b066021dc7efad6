"""A Ray worker: an event loop, judges and their backends, and a pool of judgements."""

from __future__ import annotations

import asyncio
import io
import os
import pickle
from collections.abc import Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

from ...backends.budget import Budget, Seen, Usage
from ...backends.cache import ReplyCache
from ...judges.base import Judge
from ...programs.config.sections import Config
from ...programs.engine.judge_set import JudgeSet, open_cache
from ...programs.engine.stage import Ask, Item, judge_item
from ...records.judgements import Outcome
from .sharing import Allowance

LONGEST_S = 0.05  # seconds that a finished judgement waits for others, to send few large messages


class Report(NamedTuple):
    """The finished judgements since the last report, and the spending since the start."""

    finished: list[tuple[int, Outcome]]
    usage: Usage
    counted: dict[str, float]
    seen: dict[str, Seen]


class Worker:
    """Judges the items of one stage after another; created and called by RayExecutor.

    Args:
        config: the config, with this worker's share of the concurrency and rates.
        folder: working directory of the driver, the base of relative paths.
    """

    def __init__(self, config: Config, folder: Path) -> None:
        with suppress(OSError):  # another machine, with absolute paths then
            os.chdir(folder)
        self._config = config
        self._cache: ReplyCache | None = None
        self._judge_set: JudgeSet | None = None
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
        """Start a stage; the first is number 1.

        Args:
            trusted: entries of `models:` that gave a judgement, on any worker.
            acts: see Stage.

        Raises: InputError, EndpointUnusable.
        """
        # Ray may call out of order: that stage ended without this worker.
        if number <= self._number:
            return
        if self._judge_set is None:
            self._cache = open_cache(self._config)
            self._judge_set = JudgeSet(self._config, cache=self._cache, budget=self._budget)
        self._judge_set.trust(trusted)
        if acts:
            self._judge_set.keep_replies()
        self._ask, self._number = unpack(ask, self._judge_set), number

    async def exchange(
        self, stage: int, new: Sequence[tuple[int, Item]], allowance: Allowance
    ) -> Report:
        """Take new items, and wait until some items are finished.

        Args:
            stage: number of their stage, which has started.
            new: items with their positions in the stage's order.
        Raises: EndpointUnusable, InputError; any error of an item except a JudgeError.
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
        return Report(finished, copy(budget.usage), budget.count_by_limit(), budget.seen)

    async def close(self) -> None:
        """Cancel running judgements, store replies and close connections."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._judge_set is not None:
            await self._judge_set.aclose()
        if self._cache is not None:
            self._cache.close()

    async def _judge(self, ask: Ask, number: int, item: Item) -> None:
        try:
            async with self._slots:
                outcome = await judge_item(ask, item)
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


def pack(ask: Ask, judge_set: JudgeSet) -> bytes:
    """Bytes from which `unpacked` makes a function that asks the judges of another judge_set.

    They are for a process of the same run. They can contain code, so they are never stored.
    """
    from ray.cloudpickle import CloudPickler

    class Pickler(CloudPickler):  # type: ignore[misc]
        def persistent_id(self, obj: Any) -> Any:
            return judge_set.find_name(obj) if isinstance(obj, Judge) else None

    stream = io.BytesIO()
    Pickler(stream).dump(ask)
    return stream.getvalue()


def unpack(ask: bytes, judge_set: JudgeSet) -> Ask:
    """The function that asks the judges of this judge_set."""

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, name: Any) -> Any:
            return judge_set[name]

    function: Ask = Unpickler(io.BytesIO(ask)).load()
    return function
