"""The items program: any judge labels the items of a file, whatever ids and texts they have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...judges import (
    AnswerabilityGrader,
    EntailmentJudge,
    ItemJudge,
    NuggetAssigner,
    OwnJudge,
    RelevanceJudge,
    SupportJudge,
)
from ...judges.calls import calls
from ...judges.own import read_own_judge
from ...records.judgements import Judged
from ...records.labels.cells import Cell
from ...records.labels.items import ItemRow, item_lines, read_items
from ...records.labels.label_rows import KEY_FIELDS
from ...records.reading.lines import first_line
from ...records.reading.problems import InputError, Problems
from ...records.rows import Topic
from ..config.sections import Config
from ..engine.journal import Journal
from ..engine.judged_files import ITEMS, JUDGED_FILES
from ..engine.results import Results
from ..engine.stage import Item
from ..inputs.collection import Collection
from ..inputs.hostile import looks_like_an_instruction
from .item_scores import ItemScale, ItemScores, LabelledItem

_BUILT_IN: dict[str, type[ItemJudge]] = {
    "assigner": NuggetAssigner,
    "support": SupportJudge,
    "relevance": RelevanceJudge,
    "answerability": AnswerabilityGrader,
    "entailment": EntailmentJudge,
}


@dataclass
class ItemCollection(Collection):
    """The items of a file. They are not held: `rows()` reads them again in the same order."""

    path: Path = Path()
    fields: dict[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    key: tuple[str, ...] = ()  # the ids that each item has
    n_items: int = 0

    def rows(self) -> Iterator[ItemRow]:
        """The items of this run, line by line."""
        lines = item_lines(self.path, Problems(), self.fields)
        rows = read_items(lines, self.inputs)
        if "topic_id" in self.key:
            return (row for row in rows if row.ids["topic_id"] in self.topics)
        return islice(rows, self.n_items)


def load_items(config: Config) -> ItemCollection:
    """Read and check the file of items once.

    `run.limit` takes the first so many topics, or so many items where they have no topics.

    Raises: InputError with every error of the file, and for a judge that is not there.
    """
    path = config.data.items
    if path is None:
        raise InputError("no items: name a file of them (data.items, --items)")
    if config.items.judge is None:
        known = ", ".join(_BUILT_IN)
        raise InputError(f"no judge of items: name {known} or a YAML file (items.judge, --judge)")
    inputs = _inputs(config)
    if unknown := [name for name in config.items.fields if name not in (*inputs, *KEY_FIELDS)]:
        what = f"items.fields: the judge has no input {unknown[0]!r} and items no such id"
        raise InputError(f"{what}; wanted one of {', '.join((*inputs, *KEY_FIELDS))}")
    if not first_line(path):
        raise InputError(f"{path}:1: the file is empty, wanted items")
    found = ItemCollection({}, [], path=path, fields=dict(config.items.fields), inputs=inputs)
    _check(found, config.run.limit)
    found.problems.raise_errors()
    if not found.n_items:
        raise InputError(f"{path}:1: no item in it, wanted one")
    return found


def _inputs(config: Config) -> tuple[str, ...]:
    """What the judge reads. Raises: InputError if there is none, or it lacks a model."""
    if (own := config.items.own) is None:
        return _BUILT_IN[config.items.name].inputs
    definition = read_own_judge(own)
    if definition.lexical is None and config.model_of("item")[1].way == "lexical":
        what = "it has no `lexical:` section, so it needs a model (--model, models.default)"
        raise InputError(f"{own}: {what}")
    return tuple(definition.inputs)


def _check(found: ItemCollection, limit: int | None) -> None:
    """Note the ids of all items, and what is wrong with any of them."""
    path, problems = found.path, found.problems
    seen: dict[Cell, int] = {}
    runs: dict[str, None] = {}
    n_beyond = 0
    for row in read_items(item_lines(path, problems, found.fields), found.inputs):
        found.key = found.key or tuple(row.ids)
        if tuple(row.ids) != found.key:
            what = f"its ids are {', '.join(row.ids)}, those of the items before it"
            problems.error(path, row.line, "other_ids", f"{what} {', '.join(found.key)}")
            continue
        if row.cell in seen:
            what = f"item {' '.join(row.cell)} stands in line {seen[row.cell]} too, wanted once"
            problems.error(path, row.line, "duplicate_item", what)
            continue
        seen[row.cell] = row.line
        for name in ("topic_id", "run_id"):
            value = row.ids.get(name, "-")
            if value.split() != [value] or (name == "topic_id" and value == "all"):
                what = "wanted an id without white space that is not 'all', which names the means"
                problems.error(path, row.line, "bad_id", f"{name} is {value!r}, {what}")
        topic = row.ids.get("topic_id")
        n_before = len(found.topics) if topic is not None else found.n_items
        if limit is not None and n_before >= limit and topic not in found.topics:
            n_beyond += 1
            continue
        if topic is not None:
            found.topics.setdefault(topic, Topic(id=topic, text=""))
        runs[row.ids.get("run_id", ITEMS)] = None
        found.n_items += 1
        for name, text in row.inputs.items():
            if looks_like_an_instruction(text):
                what = f"its {name} has text that looks like an instruction to a judge"
                problems.keep(path, row.line, "instruction_like", what)
    found.run_ids = list(runs)
    if n_beyond:
        problems.skip(path, 0, "beyond_limit", f"{n_beyond:,} items are beyond the limit")


class ItemStage:
    """One item of the engine per call of `judges.calls`: an item of the file, or a window of them.

    A call is made when the last of its items is read; until then the others are held. Of a file
    whose answers stand one after the other that is one answer at a time.
    """

    name = ITEMS

    def __init__(self, collection: ItemCollection, judge: ItemJudge) -> None:
        self._collection = collection
        self._judge = judge
        self._names_topics = "topic_id" in collection.key

    def items(self) -> Iterator[Item]:
        """In the order of their last rows in the file."""
        for _, group in self._calls():
            ids = tuple(value for row in group for value in row.cell)
            yield Item(
                ids, tuple([row.inputs[name] for name in self._judge.inputs] for row in group)
            )

    def total(self) -> int:
        """Number of calls."""
        if self._judge.listed is None:
            return self._collection.n_items
        return len(self._sizes)

    def inputs(self, item: Item) -> dict[str, Any]:
        """What the judge's prompt is rendered from."""
        return self._judge.asked(self._of(item))

    async def judge(self, item: Item) -> Judged:
        """The labels of one call, in order."""
        topic = item.ids[0] if self._names_topics else None  # the first of ids
        verdicts, call = await self._judge.verdicts(self._of(item), topic)
        return Judged({"verdicts": [verdict.as_row() for verdict in verdicts]}, (call,))

    def finish(self, journal: Journal, results: Results) -> ItemScores:
        """Write labels.jsonl; return the scores that the labels make."""
        scale = self._scale()
        scores = ItemScores(scale)
        with results.open(JUDGED_FILES[ITEMS]) as rows:
            waiting: dict[int, tuple[LabelledItem, dict[str, Any]]] = {}  # for rows before them
            n_written = 0
            for number, (places, group) in enumerate(self._calls()):
                outcome = journal.outcome(number)
                values = {name: [row.ids[name] for row in group] for name in scale.key}
                shared = {name: given[0] for name, given in values.items() if len({*given}) == 1}
                place = {name: given for name, given in values.items() if name not in shared}
                results.judged(self.name, shared, outcome, n=len(group), place=place)
                found = outcome.values["verdicts"] if isinstance(outcome, Judged) else None
                found = found or [{"label": None}] * len(group)
                for at, row, verdict in zip(places, group, found, strict=True):
                    item = LabelledItem(row.cell, verdict["label"], verdict.get("probabilities"))
                    waiting[at] = item, {**row.ids, **verdict}
                while n_written in waiting:
                    item, line = waiting.pop(n_written)
                    scores.add(item)
                    rows.write(line)
                    n_written += 1
        results.items = scale.model_dump(mode="json")
        return scores

    def _of(self, item: Item) -> list[dict[str, str]]:
        return [dict(zip(self._judge.inputs, texts, strict=True)) for texts in item.payload]

    def _calls(self) -> Iterator[tuple[list[int], list[ItemRow]]]:
        """The items of each call, with their places in the file."""
        if self._judge.listed is None:
            yield from (([place], [row]) for place, row in enumerate(self._collection.rows()))
            return
        held: dict[int, tuple[list[int], list[ItemRow]]] = {}
        for place, row in enumerate(self._collection.rows()):
            call = self._call_of[place]
            places, rows = held.setdefault(call, ([], []))
            places.append(place)
            rows.append(row)
            if len(rows) == self._sizes[call]:
                yield held.pop(call)

    @cached_property
    def _call_of(self) -> NDArray[np.int64]:
        """(n_items,) the call of each, numbered by the first of its items."""
        found = calls(self._judge, self._collection.rows())
        call_of = np.empty(self._collection.n_items, dtype=np.int64)
        for number, places in enumerate(found):
            call_of[places] = number
        return call_of

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        """(n_calls,) how many items each has."""
        return np.bincount(self._call_of)

    def _scale(self) -> ItemScale:
        judge = self._judge
        measure = judge.definition.measure if isinstance(judge, OwnJudge) else None
        return ItemScale(
            judge=judge.name,
            inputs=judge.inputs,
            key=self._collection.key,
            labels=judge.scale,
            is_ordered=judge.is_ordered,
            gains=dict(judge.gains),
            measure=measure or "mean_gain",
        )
