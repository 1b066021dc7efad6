"""Many items judged: which share a call, and all calls, a bounded number at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from ..backends.errors import JudgeError
from ..backends.loop import task_group
from ..records.judgements import Provenance, Unjudged
from .items import ItemJudge
from .verdicts import Verdict

ANSWER_IDS = ("topic_id", "run_id")  # name an answer where the listed input has no id


class JudgedItem(Protocol):
    """An item: its ids by name, as label files have them, and the inputs of its judge."""

    @property
    def ids(self) -> Mapping[str, str]: ...
    @property
    def inputs(self) -> Mapping[str, str]: ...


def answers(judge: ItemJudge, items: Iterable[JudgedItem]) -> list[list[int]]:
    """Indices of the items that belong together, in the order of the first of them.

    A judge that lists an input takes together what is asked about one answer, wherever it stands:
    items that share every other input, and every id but that of the listed one (`nugget_id`, or
    `question_id` of a list of questions). Where items have no such id, those that share topic and
    run. Other judges take each item alone. Only indexes and a hash of each answer are kept in
    memory.
    """
    groups: dict[bytes | int, list[int]] = {}
    for index, item in enumerate(items):
        key = index if judge.listed is None else _answer(judge.listed, judge.inputs, item)
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def calls(judge: ItemJudge, items: Iterable[JudgedItem]) -> list[list[int]]:
    """Indices of the items that go into one call each: answers, cut at the judge's window."""
    size, groups = judge.window, answers(judge, items)
    return [group[i : i + size] for group in groups for i in range(0, len(group), size)]


async def judge_items(
    judge: ItemJudge, items: Sequence[JudgedItem], *, concurrency: int = 32
) -> list[tuple[Verdict | Unjudged, Provenance | None]]:
    """The verdict on each item, or why there is none; with the call of the first of a window.

    Args:
        concurrency: calls under way at once.

    Raises: EndpointUnusable when no request can succeed.
    """
    return await judge_calls(judge, items, calls(judge, items), concurrency=concurrency)


async def judge_calls(
    judge: ItemJudge,
    items: Sequence[JudgedItem],
    together: Iterable[list[int]],
    *,
    concurrency: int = 32,
) -> list[tuple[Verdict | Unjudged, Provenance | None]]:
    """As `judge_items`, with the indices of the items that go into one call each."""
    outcomes: dict[int, tuple[Verdict | Unjudged, Provenance | None]] = {}
    waiting = iter(together)

    async def work(waiting: Iterator[list[int]]) -> None:
        for indexes in waiting:
            topic_id = items[indexes[0]].ids.get("topic_id")
            try:
                verdicts, call = await judge.verdicts([items[i].inputs for i in indexes], topic_id)
            except JudgeError as error:
                missing = Unjudged(error.reason, error.detail, error.raw)
                outcomes.update((i, (missing, None)) for i in indexes)
            else:
                for n, (i, verdict) in enumerate(zip(indexes, verdicts, strict=True)):
                    outcomes[i] = (verdict, call if n == 0 else None)

    async with task_group() as group:
        for _ in range(concurrency):
            group.create_task(work(waiting))
    return [outcomes[i] for i in range(len(items))]


def _answer(listed: str, names: Sequence[str], item: JudgedItem) -> bytes:
    own, ids = f"{listed}_id", item.ids
    named = sorted(ids.keys() - {own}) if own in ids else [n for n in ANSWER_IDS if n in ids]
    shared = [item.inputs[name] for name in names if name != listed]
    key = repr(([(name, ids[name]) for name in named], shared))
    return hashlib.blake2b(key.encode(), digest_size=16).digest()
