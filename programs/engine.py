"""Runs the items of a stage: a bounded pool over a lazy iterator, with a journal to resume from."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import orjson

from ..backends.errors import JudgeError
from ..records.judgements import Judged, Outcome, Unjudged
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
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


class Stage(Protocol):
    """One kind of judgement within a run."""

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


async def run_stage(
    stage: Stage, journal: Journal, *, concurrency: int, progress: Progress | None = None
) -> Tally:
    """Judge every item that the journal does not hold yet.

    At most `concurrency` items are held at once, however many there are. Cancelling ends it with
    everything finished in the journal.

    Raises: EndpointUnusable as soon as one item meets it; the others are cancelled.
    """
    tally = Tally()
    queue = enumerate(stage.items())

    async def work() -> None:
        for number, item in queue:
            tally.items += 1
            digest = item.digest()
            if journal.recall(number, digest):
                tally.kept += 1
                if progress is not None:
                    progress.advance(None)
            else:
                outcome = await _judged(stage, item)
                journal.write(number, digest, outcome)
                if isinstance(outcome, Judged):
                    tally.judged += 1
                else:
                    tally.unjudged[outcome.reason.value] += 1
                if progress is not None:
                    progress.advance(outcome)
            if number % BREATH == 0:
                await asyncio.sleep(0)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return tally


async def _judged(stage: Stage, item: Item) -> Outcome:
    try:
        return await stage.judge(item)
    except JudgeError as error:
        return Unjudged(error.reason, error.detail, error.raw)
