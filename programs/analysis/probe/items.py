"""A sample of the items that a judge is probed with, topic by topic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

import numpy as np

from ....judges import ItemJudge
from ....judges.calls import answers
from ....records.labels.items import ItemRow
from ....records.reading.problems import InputError


def sample_items(
    items: Sequence[ItemRow], judge: ItemJudge, limit: int, seed: int
) -> list[ItemRow]:
    """At most `limit` items, in their order: topics take turns, each giving one in random order.

    A judge that takes several items a call is given all those of an answer or none.
    Raises: InputError if no answer has so few items.
    """
    groups = answers(judge, items)
    chosen: list[int] = []
    for at in in_turns([topic_of(items[group[0]]) for group in groups], seed):
        if len(chosen) + len(groups[at]) <= limit:
            chosen += groups[at]
    if not chosen:
        least = min(map(len, groups))
        raise InputError(f"--sample {limit}: the items of an answer stay together, {least} or more")
    return [items[i] for i in sorted(chosen)]


def in_turns(topics: Sequence[str | None], seed: int) -> list[int]:
    """Places in random order: topics take turns, each giving one; None: takes no part."""
    by_topic: dict[str, list[int]] = {}
    for at in map(int, np.random.default_rng(seed).permutation(len(topics))):
        if (topic := topics[at]) is not None:
            by_topic.setdefault(topic, []).append(at)
    return [at for turn in zip_longest(*by_topic.values()) for at in turn if at is not None]


def topic_of(item: ItemRow) -> str:
    """The topic of an item; "" where it names none."""
    return item.ids.get("topic_id", "")


def with_text(item: ItemRow, name: str, text: str) -> ItemRow:
    """The item with another text in one of its inputs."""
    return item.model_copy(update={"inputs": {**item.inputs, name: text}})


def topics_of(items: Iterable[ItemRow]) -> list[str] | None:
    """The topic of each item; None: some have none."""
    topics = [topic_of(item) for item in items]
    return topics if all(topics) else None
