"""The texts of answers, and of the passages that they cite, from the files that were judged."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ....records.labels import ItemRow, item_lines, mapped, read_items
from ....records.reading.fields import LineIndex
from ....records.reading.problems import InputError, Problems
from ....records.rows import Passage
from ...config.sections import Config, DataConfig
from ...engine.folders import inputs_of
from ...inputs import Collection, expand_runs, load_collection
from ...protocols.judged_files import scale_in

_NAMED = ("topics", "nuggets", "keypoints", "candidates")  # of what topics and texts are read


class Written(NamedTuple):
    """What a run wrote: its text, (text, ids of cited passages) by sentence, and the passages."""

    text: str
    sentences: tuple[tuple[str, tuple[str, ...]], ...]
    passages: Mapping[str, Passage]


NOTHING = Written("", (), {})


class AnswerTexts:
    """The texts of a results folder's inputs, read topic by topic.

    A file that is not there any more, or is not what was judged, is left out and listed.

    Args:
        is_whole: read answers and passages; else only what was asked.
    """

    def __init__(self, folder: Path, problems: Problems, *, is_whole: bool = True) -> None:
        self._folder, self._problems, self.is_whole = folder, problems, is_whole

    def of(self, topic_id: str) -> dict[str, Written]:
        """What each run wrote to a topic, in the order of the files."""
        if self._collection is None or topic_id not in self._collection.topics:
            return {}
        return {
            answer.run_id: Written(
                answer.text,
                tuple((s.text, tuple(c.passage_id for c in s.citations)) for s in answer.sentences),
                passages,
            )
            for answer, passages in self._collection.cited_answers(topic_id)
        }

    def question(self, topic_id: str) -> str:
        """What was asked; "" where that is not known."""
        collection = self._collection
        topic = collection.topics.get(topic_id) if collection is not None else None
        return topic.question if topic is not None else ""

    def items(self, topic_id: str) -> dict[tuple[str, ...], str]:
        """The texts of a topic's judged items, by their ids."""
        if self._items is None or self._config is None:
            return {}
        index, inputs = self._items
        lines = (mapped(line, self._config.items.fields) for line in index.lines(topic_id))
        return {row.cell: _shown(row) for row in read_items(lines, inputs, partly=True)}

    @cached_property
    def _data(self) -> tuple[Config, DataConfig] | None:
        """The config of the run, and of its files with texts those that are what was judged."""
        try:
            inputs = inputs_of(self._folder)
            data, changed = inputs.config.data, inputs.changed
            gone = [pattern for pattern in data.runs if pattern in changed]
            there = tuple(pattern for pattern in data.runs if pattern not in changed)
            runs = (*gone, *map(str, expand_runs(there))) if self.is_whole else ()
        except InputError as error:
            self._skip(self._folder, f"texts are left out: {str(error).splitlines()[0]}")
            return None
        named = {name: getattr(data, name) for name in (*_NAMED, "items")}
        passages = data.passages if self.is_whole else ()
        for path in filter(None, (*runs, *passages, *named.values())):
            if what := changed.get(str(path)):
                self._skip(path, f"{what}; its texts are left out")
        unchanged = {n: path for n, path in named.items() if path and str(path) not in changed}
        left = DataConfig(
            runs=tuple(path for path in runs if path not in changed),
            passages=tuple(path for path in passages if str(path) not in changed),
            **unchanged,
        )
        return inputs.config, left

    @property
    def _config(self) -> Config | None:
        return None if self._data is None else self._data[0]

    @cached_property
    def _collection(self) -> Collection | None:
        if self._data is None or self._data[1].items is not None:
            return None
        config, data = self._data
        if not (data.runs or any(getattr(data, name) for name in _NAMED)):
            return None
        try:
            return load_collection(data, config.run.limit)
        except InputError as error:
            self._skip(self._folder, f"texts are left out: {str(error).splitlines()[0]}")
            return None

    @cached_property
    def _items(self) -> tuple[LineIndex, tuple[str, ...]] | None:
        """Where judged items stand in their file, by topic, and the names of their texts."""
        scale = scale_in(self._folder, kind="items")
        if self._data is None or self._data[1].items is None or scale is None:
            return None
        index = LineIndex()
        for line in item_lines(self._data[1].items, Problems()):
            row = mapped(line, self._data[0].items.fields)
            index.note(line, row.optional_id("topic_id", "qid", "query_id") or "")
        return index, scale.inputs

    def _skip(self, path: Path | str, what: str) -> None:
        self._problems.skip(path, 0, "no_texts", what)


def _shown(row: ItemRow) -> str:
    """The texts that a judge of items read, each under its name where there are several."""
    if len(row.inputs) == 1:
        return next(iter(row.inputs.values()))
    return "\n".join(f"{name}: {text}" for name, text in row.inputs.items())
