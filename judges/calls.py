"""Many items judged: which share a call, and all calls, a bounded number at once."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence

from ..backends.errors import JudgeError
from ..records.judgements import Provenance, Unjudged
from .items import ItemJudge
from .verdicts import Verdict

Inputs = Mapping[str, str]


def calls(judge: ItemJudge, items: Sequence[tuple[str, Inputs]]) -> list[list[int]]:
    """Places of the items that go into one call each, in the order of the first of them.

    Items of one topic that share every input but the listed one go together, up to the window.

    Args:
        items: the topic id and the inputs of each.
    """
    groups: dict[tuple[str, ...], list[int]] = {}
    for place, (topic_id, inputs) in enumerate(items):
        shared = [inputs[name] for name in judge.inputs if name != judge.listed]
        alone = () if judge.listed else (str(place),)
        groups.setdefault((topic_id, *shared, *alone), []).append(place)
    size = judge.window
    return [group[i : i + size] for group in groups.values() for i in range(0, len(group), size)]


async def judge_items(
    judge: ItemJudge, items: Sequence[tuple[str, Inputs]], *, concurrency: int = 32
) -> list[tuple[Verdict | Unjudged, Provenance | None]]:
    """The verdict on each item, or why there is none; with the call of the first of a window.

    Args:
        items: the topic id and the inputs of each.
        concurrency: calls under way at once.

    Raises: EndpointUnusable when no request can succeed.
    """
    outcomes: dict[int, tuple[Verdict | Unjudged, Provenance | None]] = {}
    waiting = iter(calls(judge, items))

    async def work(waiting: Iterator[list[int]]) -> None:
        for places in waiting:
            topic_id = items[places[0]][0]
            try:
                verdicts, call = await judge.verdicts([items[i][1] for i in places], topic_id)
            except JudgeError as error:
                missing = Unjudged(error.reason, error.detail, error.raw)
                outcomes.update((i, (missing, None)) for i in places)
            else:
                for n, (i, verdict) in enumerate(zip(places, verdicts, strict=True)):
                    outcomes[i] = (verdict, call if n == 0 else None)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(work(waiting))
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [outcomes[i] for i in range(len(items))]
