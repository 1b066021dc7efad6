"""The texts that are rated: passages of pools and contexts, reports; and how long they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ....metrics.length import token_counter
from ....records.questions import answer_id, reference_id
from ....records.reading.problems import InputError
from ...config.sections import CoverageConfig
from ...inputs import Collection, CoverageInputs
from .topic import CoverageData


class Text(NamedTuple):
    """Something that is rated: a passage, or a report under its own id. `text` None: unknown."""

    topic_id: str
    id: str
    text: str | None


class CoverageTexts:
    """Which texts are rated: first those of the pools, then contexts and reports."""

    def __init__(self, collection: Collection, data: CoverageData) -> None:
        self._collection = collection
        self._inputs = inputs_of(collection)
        self._data = data

    def of_pools(self) -> Iterator[Text]:
        """The passages of the pools, and the reference reports."""
        for topic_id in self._collection.topics:
            pool = self._inputs.judged_ids(topic_id, self._data.pools.get(topic_id, ()))
            yield from self._passages(topic_id, pool)
            if (report := self._inputs.reports.get(topic_id)) is not None:
                yield Text(topic_id, reference_id(topic_id), report)

    def of_systems(self) -> Iterator[Text]:
        """The passages of all contexts, each once, and the answers that have text."""
        for topic_id in self._collection.topics:
            names = dict.fromkeys(
                name
                for rankings in self._data.rankings.values()
                for name in self._inputs.judged_ids(topic_id, rankings.get(topic_id, ()))
            )
            pool = set(self._data.pools.get(topic_id, ()))
            yield from self._passages(topic_id, (name for name in names if name not in pool))
        for answer in self._collection.answers():
            if answer.text.strip():
                name = answer_id(answer.topic_id, answer.run_id)
                yield Text(answer.topic_id, name, answer.text)

    def _passages(self, topic_id: str, names: Iterable[str]) -> Iterator[Text]:
        for name in names:
            passage = self._collection.passages.get(name)
            yield Text(topic_id, name, None if passage is None else passage.text)


def inputs_of(collection: Collection) -> CoverageInputs:
    """What was read for coverage. Raises: ValueError if nothing was."""
    if collection.coverage is None:
        raise ValueError("the collection was loaded without the inputs of coverage")
    return collection.coverage


def token_counter_of(settings: CoverageConfig) -> Callable[[str], int]:
    """What counts tokens. Raises: InputError if there is no such tokenizer."""
    try:
        return token_counter(settings.tokenizer)
    except (ValueError, OSError) as error:
        raise InputError(f"coverage.tokenizer: {error}") from None


def add_tokens(data: CoverageData, collection: Collection, count: Callable[[str], int]) -> None:
    """Count the tokens of every text whose length matters and that is there."""
    names = {name for pool in data.pools.values() for name in pool}
    names.update(n for of in data.rankings.values() for ids in of.values() for n in ids)
    passages = collection.passages
    data.tokens.update((name, count(passages[name].text)) for name in names if name in passages)
    for topic_id, report in inputs_of(collection).reports.items():
        data.tokens[reference_id(topic_id)] = count(report)
    data.reports.update((run_id, {}) for run_id in collection.run_ids)
    for answer in collection.answers():
        name = answer_id(answer.topic_id, answer.run_id)
        has_text = bool(answer.text.strip())
        data.reports[answer.run_id][answer.topic_id] = name if has_text else None
        data.tokens[name] = count(answer.text)
