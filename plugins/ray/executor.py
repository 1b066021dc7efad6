"""Judges a stage on a Ray cluster: workers ask; this process keeps journal, order and budget.

It uses Ray actors, not Ray Data, because items come lazily, outcomes are journaled as they arrive,
each worker has a spending limit, and equal questions go to the same worker.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...backends.budget import Budget
from ...backends.errors import EndpointUnusable
from ...backends.loop import task_group
from ...programs.config.sections import Config, RunSection
from ...programs.engine.judge_set import JudgeSet
from ...programs.engine.stage import Pending, Work
from ...records.judgements import Outcome, Reason, Unjudged
from ...records.reading.problems import InputError, pip_install
from .sharing import Allowance, Deal, Lease, Leases
from .worker import pack

if TYPE_CHECKING:
    from .worker import Report


MAX_DEATHS = 3  # deaths of one worker in a row, without an outcome between them
REPLACE_S = 120.0  # until another worker takes over the items of a dead worker
CLOSE_S = 5.0


@dataclass
class _Slot:
    """The slot of one worker; a worker that dies is replaced."""

    number: int
    config: Config
    handle: Any
    lease: Lease
    deaths: int = 0


class RayExecutor:
    """See engine.Executor. Ray is started, or joined, when the first item is judged.

    Raises: InputError if Ray is not installed.
    """

    def __init__(self, config: Config, judge_set: JudgeSet, budget: Budget) -> None:
        # Read at the import: Ray's C++ takes SIGTERM for a crash, and aborts if the end takes 3 s.
        os.environ.setdefault("RAY_DISABLE_FAILURE_SIGNAL_HANDLER", "1")
        try:
            import ray.actor  # noqa: F401
        except ImportError:
            raise InputError(f"run.executor: ray needs Ray: {pip_install('ray')}") from None
        self.judge_set = judge_set
        self.leases = Leases(budget)
        self.slots: list[_Slot] = []
        self._config = config
        self._is_ours = False
        self._n_stages = 0

    async def run(self, work: Work) -> None:
        """See engine.Executor."""
        deal = Deal(work.left())
        while not deal.look():
            await asyncio.sleep(0)
        if deal.is_over:
            return
        if not self.slots:
            self._start()
        self._n_stages += 1
        await _StageOnRay(self, self._n_stages, work, deal).finish()

    def describe_in_flight(self) -> str:
        """See engine.Executor."""
        return "Workers of Ray have it"

    async def aclose(self) -> None:
        """Let workers store their replies; stop them, and Ray if it was started here."""
        import ray

        # An actor that died, is still starting or takes too long has nothing to store.
        with suppress(TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                closing = (slot.handle.close.remote() for slot in self.slots)
                await asyncio.gather(*map(_result, closing), return_exceptions=True)
        for slot in self.slots:
            ray.kill(slot.handle)
        self.slots = []
        if self._is_ours:
            ray.shutdown()

    def replace(self, slot: _Slot) -> None:
        """Replace a worker that died."""
        import ray

        ray.kill(slot.handle)  # it may only be unreachable
        self.leases.bury(slot.lease)
        slot.handle, slot.lease = worker(slot.config), self.leases.open()

    def _start(self) -> None:
        self._is_ours = connect(self._config.run)
        for number, config in enumerate(parts(self._config)):
            self.slots.append(_Slot(number, config, worker(config), self.leases.open()))


class _StageOnRay:
    """One stage: each worker gets items until none are left or its part of the budget is spent.

    An item that needs more than a worker's part, or an unknown amount, is asked again when no other
    worker is busy, with the whole remaining budget. If that is not enough, the limit is reached.
    """

    def __init__(self, executor: RayExecutor, number: int, work: Work, deal: Deal) -> None:
        self._executor, self._work, self._deal = executor, work, deal
        self._number = number
        self._leases = executor.leases
        self._ask = pack(work.stage.ask, executor.judge_set)

    async def finish(self) -> None:
        """Judge everything."""
        slots, refused = self._executor.slots, self._deal.refused
        while not self._deal.is_over:
            self._n_feeding, self._is_fed = 0, asyncio.Event()
            async with task_group() as group:
                for slot in slots:
                    group.create_task(self._open_and_feed(slot))
            for slot in slots:
                if refused[slot.number]:
                    await self._feed(slot, is_alone=True)

    async def _open_and_feed(self, slot: _Slot) -> None:
        begun = asyncio.create_task(self._begin(slot))
        others = asyncio.create_task(self._is_fed.wait())  # may come first if a cluster is full
        try:
            await asyncio.wait({begun, others}, return_when=asyncio.FIRST_COMPLETED)
            if not begun.done():
                return
            begun.result()
        finally:
            begun.cancel()
            others.cancel()
        self._n_feeding += 1
        await self._feed(slot)
        self._n_feeding -= 1
        if not self._n_feeding:
            self._is_fed.set()

    async def _begin(self, slot: _Slot) -> None:
        """Let the worker, or its replacement, start the stage."""
        while True:
            try:
                trusted = sorted(self._executor.judge_set.trusted)
                begun = slot.handle.begin.remote(
                    self._number, self._ask, trusted, acts=self._work.stage.limits is not None
                )
                await _result(begun)
                return
            except _Died as error:
                self._bury(slot, error)

    def _bury(self, slot: _Slot, error: _Died) -> None:
        slot.deaths += 1
        if slot.deaths > MAX_DEATHS:
            raise EndpointUnusable(f"a Ray worker died {slot.deaths} times in a row: {error}")
        self._executor.replace(slot)

    async def _feed(self, slot: _Slot, *, is_alone: bool = False) -> None:
        """Keep a worker busy, and store its outcomes, until there are no items for it."""
        share = 1.0 if is_alone else 1 / len(self._executor.slots)
        by_itself = is_alone or len(self._executor.slots) == 1
        under_way: dict[int, Pending] = {}
        unsent: list[Pending] = []
        room = at_once = slot.config.run.concurrency
        while True:
            new = self._take(slot, room - len(under_way), is_alone)
            if not (new or under_way):
                if is_alone or self._deal.refused_any or not self._deal.has_more(slot.number):
                    return
                await asyncio.sleep(0)
                continue
            under_way |= {pending.number: pending for pending in new}
            unsent += new
            items = [(pending.number, pending.item) for pending in unsent]
            limits = self._leases.grant(slot.lease, share)
            allowance = Allowance(limits, self._leases.seen, by_itself)
            try:
                answer = slot.handle.exchange.remote(self._number, items, allowance)
                report: Report = await _result(answer)
            except _Died as error:
                self._bury(slot, error)
                try:  # in the same slot: the next worker finds the cached replies
                    await asyncio.wait_for(self._begin(slot), REPLACE_S)
                except TimeoutError:
                    self._deal.give_back(slot.number, list(under_way.values()))
                    return
                unsent = list(under_way.values())
                continue
            slot.deaths, unsent = 0, []
            self._leases.report(slot.lease, report.usage, report.counted, report.seen)
            for number, outcome in report.finished:
                self._finish(slot, under_way.pop(number), outcome, is_alone)
            room = at_once + 2 * len(report.finished)  # enough to do until the next report
            if not under_way:
                self._leases.settle(slot.lease)

    def _take(self, slot: _Slot, most: int, is_alone: bool) -> list[Pending]:
        if is_alone:
            refused = self._deal.refused[slot.number]
            return [refused.pop() for _ in range(min(most, len(refused)))]
        return [] if self._deal.refused_any else self._deal.take(slot.number, most)

    def _finish(self, slot: _Slot, pending: Pending, outcome: Outcome, is_alone: bool) -> None:
        if isinstance(outcome, Unjudged) and outcome.reason is Reason.BUDGET:
            if not (is_alone or self._leases.is_reached):
                self._deal.refused[slot.number].append(pending)
                return
            outcome = self._leases.refusal(outcome)
        self._work.finish(pending, outcome)


class _Died(Exception):
    """The worker's process ended, or its machine did."""


async def _result(reference: Any) -> Any:
    """The result of a worker. Raises: its error; _Died."""
    from ray.exceptions import RayActorError, RayTaskError

    try:
        return await reference
    except RayTaskError as error:
        raise (error.cause or error) from None
    except RayActorError as error:
        raise _Died(" ".join(str(error).split())) from None


OBJECT_STORE_BYTES = 100 * 2**20  # for the small messages with items and outcomes


def connect(run: RunSection) -> bool:
    """Start Ray on this machine, or join a cluster, without progress bars and telemetry.

    Returns: False if Ray was already running in this process.
    Raises: InputError.
    """
    import ray

    if ray.is_initialized():
        return False
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    options: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
    if run.address == "local":
        options |= {"include_dashboard": False, "object_store_memory": OBJECT_STORE_BYTES}
        options["_node_ip_address"] = "127.0.0.1"  # no port that others can reach
        if run.workers is not None:
            options["num_cpus"] = run.workers
    try:
        ray.init(run.address, **options)
    except Exception as error:  # a node that takes 30 s to start is no more than an Exception
        why = str(error).split("\n")[0]
        raise InputError(f"run.address {run.address}: cannot reach Ray ({why})") from None
    return True


def parts(config: Config) -> list[Config]:
    """The config of each worker; the concurrency and rates of all add up to the settings.

    Raises: InputError if there is no room for a worker.
    """
    import ray

    n = min(_room(config.run, ray.cluster_resources()), config.run.concurrency)
    return [_part(config, number, n) for number in range(n)]


def worker(config: Config) -> Any:
    """The Ray handle of a new worker with its part; it starts when there is room."""
    import ray

    from .worker import Worker

    run = config.run
    kind = ray.remote(num_cpus=1, num_gpus=run.worker_gpus)(Worker)
    return kind.remote(config, Path.cwd())


def _room(run: RunSection, resources: Mapping[str, float]) -> int:
    """The number of workers."""
    needs = {"CPU": 1.0, "GPU": run.worker_gpus}
    fits = [int(resources.get(kind, 0) // need) for kind, need in needs.items() if need]
    if run.workers is None and not fits:
        raise InputError("run.workers: give a number, because workers take neither CPU nor GPU")
    may_grow = run.workers is not None and run.address != "local"
    if not may_grow and not all(fits):
        there = ", ".join(f"{resources.get(kind, 0):g} {kind}" for kind in needs)
        raise InputError(f"no room for a Ray worker of {needs}: the cluster has {there}")
    return run.workers or min(fits)


def _part(config: Config, number: int, n: int) -> Config:
    config = config.change(
        "run",
        executor="local",
        concurrency=(config.run.concurrency + number) // n,
        **dict.fromkeys(("max_calls", "max_tokens", "max_cost")),
    )
    models = {
        alias: model.model_copy(
            update={
                "concurrency": max(1, (model.concurrency + number) // n),
                "rpm": model.rpm and model.rpm / n,
                "tpm": model.tpm and model.tpm / n,
            }
        )
        for alias, model in config.models.items()
    }
    return config.model_copy(update={"models": models})
