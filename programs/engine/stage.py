"""Runs the items of a stage: a bounded pool over a lazy iterator, with a journal to resume from."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import orjson

from ...backends.errors import JudgeError
from ...records.judgements import Judged, Outcome, Unjudged
from .journal import Journal

BREATH = 64  # items that need no waiting, such as lexical ones, between two looks at Ctrl-C


class Item(NamedTuple):
    """One thing to judge: the ids that name it, and what the stage needs to judge it.

    `payload` holds the judge's inputs only (str, int, lists of them): it enters the digest.
    """

    ids: tuple[str, ...]
    payload: tuple[Any, ...]

    def digest(self) -> int:
        """64-bit hash of ids and inputs, the same in every process."""
        try:
            text = orjson.dumps((self.ids, self.payload))
        except TypeError:  # half a surrogate pair, which UTF-8 cannot hold
            text = repr((self.ids, self.payload)).encode("utf-8", "surrogatepass")
        return int.from_bytes(hashlib.sha256(text).digest()[:8], "big")


class Stage(Protocol):
    """One kind of judgement within a run.

    `judge` needs the item, judges, coroutine functions and settings alone, and none of the data:
    in a worker elsewhere the stage has no more (shipping.py).
    """

    name: str

    def items(self) -> Iterator[Item]:
        """All items, lazily, in the same order each time."""
        ...

    def total(self) -> int:
        """How many items there will be, for the progress bar."""
        ...

    async def judge(self, item: Item) -> Judged:
        """Judge one. Raises: JudgeError."""
        ...


class Progress(Protocol):
    """Is told of each finished item."""

    def advance(self, outcome: Outcome | None) -> None:
        """None: the item was finished in an earlier run."""
        ...


@dataclass
class Tally:
    """How the items of a stage ended; `kept` of them in an earlier run."""

    items: int = 0
    kept: int = 0
    judged: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)


class Pending(NamedTuple):
    """An item without an outcome: its place in the stage's order, its digest, itself."""

    number: int
    digest: int
    item: Item


class Work:
    """What is left of a stage, and where the outcomes go; who asks for them is an executor's part.

    Args:
        progress: is told of each outcome.
    """

    def __init__(self, stage: Stage, journal: Journal, progress: Progress | None = None) -> None:
        self.stage = stage
        self.tally = Tally()
        self._journal = journal
        self._progress = progress

    def left(self) -> Iterator[Pending | None]:
        """Items that the journal does not hold, lazily; a None now and then, to look up at."""
        for number, item in enumerate(self.stage.items()):
            self.tally.items += 1
            digest = item.digest()
            if self._journal.recall(number, digest):
                self.tally.kept += 1
                if self._progress is not None:
                    self._progress.advance(None)
            else:
                yield Pending(number, digest, item)
            if number % BREATH == 0:
                yield None

    def finish(self, pending: Pending, outcome: Outcome) -> None:
        """Keep what became of an item."""
        self._journal.write(pending.number, pending.digest, outcome)
        if isinstance(outcome, Judged):
            self.tally.judged += 1
        else:
            self.tally.unjudged[outcome.reason.value] += 1
        if self._progress is not None:
            self._progress.advance(outcome)


class Executor(Protocol):
    """Who judges what is left of a stage, where that is not this process."""

    async def run(self, work: Work) -> None:
        """Finish all of it. Raises: EndpointUnusable as soon as one item meets it."""
        ...

    async def aclose(self) -> None:
        """Let go of all workers."""
        ...


async def run_stage(
    stage: Stage, journal: Journal, *, concurrency: int, progress: Progress | None = None
) -> Tally:
    """Judge every item that the journal does not hold yet. See `run_here`."""
    work = Work(stage, journal, progress)
    await run_here(work, concurrency)
    return work.tally


async def run_here(work: Work, concurrency: int) -> None:
    """Judge what is left of a stage in this process.

    At most `concurrency` items are held at once, however many there are. Cancelling ends it with
    everything finished in the journal.

    Raises: EndpointUnusable as soon as one item meets it; the others are cancelled.
    """
    left = work.left()

    async def judge() -> None:
        for pending in left:
            if pending is None:
                await asyncio.sleep(0)
            else:
                work.finish(pending, await outcome_of(work.stage, pending.item))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(judge())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def outcome_of(stage: Stage, item: Item) -> Outcome:
    """Judge one item; a JudgeError is its outcome."""
    try:
        return await stage.judge(item)
    except JudgeError as error:
        return Unjudged(error.reason, error.detail, error.raw)
