"""The items task: a judge labels the items of a file, with any ids and texts."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import ValidationError

from ...judges.table import item_judges
from ...metrics.answer_scores import SUFFIX
from ...records.kinds import Cell, key_fields
from ...records.labels import ItemRow, find_item_fields, item_lines, read_items
from ...records.reading.fields import Line
from ...records.reading.injections import looks_like_an_instruction
from ...records.reading.problems import InputError, Problems
from ...records.reading.settings import plain_error
from ...records.rows import Topic
from ..config.base import JudgeName
from ..config.sections import Config
from ..engine.manifest import read_manifest
from ..engine.results import MANIFEST
from ..engine.stage import Item, labels, make_rows
from ..inputs import Collection
from .judged_items import (
    ITEMS,
    MEAN_GAIN,
    ItemScale,
    JudgedItems,
    item_measures,
    item_rows,
    read_labelled,
    read_labelled_items,
)
from .program import CellTexts, Folder, Program, Run
from .scoreboard import Scoreboard

if TYPE_CHECKING:
    from ...judges import ItemJudge

FILE = "labels.jsonl"
_ALONE = -1  # instead of the number of a call: an item without a call


class Items(Program):
    """A judge labels each item of a file; runs are scored if items name them."""

    name = ITEMS
    judges = ("item",)
    kind, judged, files = ITEMS, FILE, (FILE,)
    notes: ClassVar[Mapping[str, Any]] = {ITEMS: None}

    def list_judges(self, config: Config) -> tuple[JudgeName, ...]:
        """See Program."""
        return (config.items.name,)

    def measures(self, config: Config) -> Names[str] | None:
        """See Program."""
        if config.items.judge is None:
            return None
        if (own := config.items.own) is not None:
            from ...judges import read_custom_judge

            of = read_custom_judge(own)
            names = list(item_measures(of.scale, of.gains, of.measure))
            return [*names, names[0] + SUFFIX] if of.gains else names
        judge = config.judge(config.items.name).load(config.items.name)
        names = list(item_measures(judge.scale, judge.gains))
        return [*names, names[0] + SUFFIX] if judge.gains else names

    def load(self, config: Config) -> Collection:
        """See Program."""
        return load_items(config)

    async def judge(self, run: Run) -> None:
        """See Program."""
        collection, config = run.collection, run.config
        assert isinstance(collection, ItemCollection)
        judge = run.judge_set.item_judge(config.items.judge or "")
        calls = _Calls(collection, judge)
        stage = labels(ITEMS, run.judge_set, config.items.name, calls.items, total=calls.total)
        async with run.session.judge_stage(stage, run.results) as outcome:
            with run.results.open(FILE) as rows:
                waiting: dict[int, dict[str, Any]] = {}  # for earlier rows
                n_written = 0
                for numbers, group, item in calls:
                    verdicts = make_rows(outcome(item), item.n)
                    for number, row, verdict in zip(numbers, group, verdicts, strict=True):
                        waiting[number] = {**row.ids, **verdict}
                    while n_written in waiting:
                        rows.write(waiting.pop(n_written))
                        n_written += 1
        run.results.notes[ITEMS] = _scale(collection, judge).model_dump(mode="json")

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        scale = _scale_in(folder.path, folder.notes)
        items = read_labelled(folder.need(FILE), scale, folder.problems)
        board.extend(item_rows(items, scale, folder.topics or ()))

    def scale(self, folder: Path) -> ItemScale | None:
        """See Program."""
        about = read_manifest(folder)
        return None if about.get(ITEMS) is None else _scale_in(folder, about)

    def is_by_own_topics(self, measure: str, folder: Folder) -> bool:
        """See Program: always, since a file of items may be a sample."""
        measures = _scale_in(folder.path, folder.notes).measures
        return measure.removesuffix(SUFFIX) in measures

    def items(self, folder: Folder) -> JudgedItems:
        """See Program."""
        scale, topics = _scale_in(folder.path, folder.notes), folder.topics or ()
        return read_labelled_items(folder.need(FILE), scale, topics, folder.problems)

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program."""
        rows = load_items(config).rows()
        return ((row.cell, dict(row.inputs)) for row in rows if row.cell in wanted)


@dataclass
class ItemCollection(Collection):
    """The items of a file; `rows()` reads them from the file each time, in the same order."""

    path: Path = Path()
    fields: dict[str, str] = field(default_factory=dict)
    inputs: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    key: tuple[str, ...] = ()  # the ids of each item
    n_items: int = 0
    has_annotators: bool = False  # an item may have a row for each annotator

    def rows(self) -> Iterator[ItemRow]:
        """Yield the items of this run, line by line."""
        lines = item_lines(self.path, Problems(), self.fields)
        rows = read_items(lines, self.inputs, optional=self.optional)
        rows = _take_once(rows) if self.has_annotators else rows
        if "topic_id" in self.key:
            return (row for row in rows if row.ids["topic_id"] in self.topics)
        return islice(rows, self.n_items)


def load_items(config: Config) -> ItemCollection:
    """Read and check the file of items once.

    `run.limit` limits topics, or items if they have no topics.

    Raises: InputError with every error of the file, or for a missing judge.
    """
    path = config.data.items
    if path is None:
        raise InputError("no items: add a file (data.items, --items)")
    if config.items.judge is None:
        names = ", ".join(item_judges())
        raise InputError(f"no judge of items: name {names} or a YAML file (items.judge, --judge)")
    inputs, optional = _inputs(config)
    fields = (*inputs, *optional, *key_fields())
    if unknown := [name for name in config.items.fields if name not in fields]:
        what = f"items.fields: {unknown[0]!r} is neither an input of the judge nor an id of items"
        raise InputError(f"{what}; wanted one of {', '.join(fields)}")
    collection = ItemCollection({}, [], path=path, inputs=inputs, optional=optional)
    collection.fields = find_item_fields(path, config.items.fields, inputs, collection.problems)
    _check(collection, config.run.limit)
    collection.problems.raise_errors()
    if not collection.n_items:
        raise InputError(f"{path}:1: the file has no items")
    return collection


def _inputs(config: Config) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the inputs of the judge, and optional texts of items.

    Raises: InputError if there is no judge, or it lacks a model.
    """
    if (own := config.items.own) is None:
        settings = config.judge(config.items.name)
        judge = settings.load(config.items.name)
        hidden = () if settings.titles else ("title",)
        return judge.inputs, tuple(name for name in judge.optional if name not in hidden)
    from ...judges import read_custom_judge  # imports DSPy

    definition = read_custom_judge(own)
    if definition.lexical is None and config.get_model("item")[1].way == "lexical":
        what = "it has no `lexical:` section, so it needs a model (--model, models.default)"
        raise InputError(f"{own}: {what}")
    return tuple(definition.inputs), ()


def _check(collection: ItemCollection, limit: int | None) -> None:
    """Note the ids of all items, and their problems."""
    path, problems = collection.path, collection.problems
    seen: dict[Cell, tuple[int, int]] = {}  # line, and hash of the texts
    runs: dict[str, None] = {}
    n_beyond = 0
    lines = _note_annotators(item_lines(path, problems, collection.fields), collection)
    fine: set[tuple[str, str]] = set()  # checked ids of topics and runs
    for row in read_items(lines, collection.inputs, optional=collection.optional):
        collection.key = collection.key or tuple(row.ids)
        if tuple(row.ids) != collection.key:
            what = f"its ids are {', '.join(row.ids)}, earlier items have"
            problems.error(path, row.line, "other_ids", f"{what} {', '.join(collection.key)}")
            continue
        cell = row.cell
        texts = hash(tuple(sorted(row.inputs.items())))
        if cell in seen:
            first, texts_before = seen[cell]
            if not collection.has_annotators:
                what = f"item {' '.join(cell)} is also in line {first}; wanted each item once"
                problems.error(path, row.line, "duplicate_item", what)
            elif texts != texts_before:
                what = f"item {' '.join(cell)} has other texts than in line {first}"
                problems.error(path, row.line, "duplicate_item", f"{what}, wanted equal texts")
            continue
        seen[cell] = row.line, texts
        for name in ("topic_id", "run_id"):
            if (named := (name, value := row.ids.get(name, "-"))) in fine:
                continue
            if value.split() != [value] or (name == "topic_id" and value == "all"):
                what = "wanted an id without white space that is not 'all', which names the means"
                problems.error(path, row.line, "bad_id", f"{name} is {value!r}, {what}")
            else:
                fine.add(named)
        topic = row.ids.get("topic_id")
        n_before = len(collection.topics) if topic is not None else collection.n_items
        if limit is not None and n_before >= limit and topic not in collection.topics:
            n_beyond += 1
            continue
        if topic is not None and topic not in collection.topics:
            collection.topics[topic] = Topic(id=topic, text="")
        runs[row.ids.get("run_id", ITEMS)] = None
        collection.n_items += 1
        for name, text in row.inputs.items():
            if looks_like_an_instruction(text):
                what = f"its {name} has text that looks like an instruction to a judge"
                problems.keep(path, row.line, "instruction_like", what)
    collection.run_ids = list(runs)
    if n_beyond:
        problems.skip(path, 0, "beyond_limit", f"{n_beyond:,} items are beyond the limit")


def _note_annotators(lines: Iterator[Line], collection: ItemCollection) -> Iterator[Line]:
    """Yield the lines, and note whether any has an annotator."""
    for line in lines:
        collection.has_annotators |= line.row.get("annotator") is not None
        yield line


def _take_once(rows: Iterator[ItemRow]) -> Iterator[ItemRow]:
    """Yield the first row of each item."""
    seen: set[Cell] = set()
    for row in rows:
        if row.cell not in seen:
            seen.add(row.cell)
            yield row


class _Calls:
    """The items of a file, grouped into calls: one by one, or in windows.

    A call is ready when its last item is read. If the items of an answer follow each other in the
    file, only one answer is in memory.
    """

    def __init__(self, collection: ItemCollection, judge: ItemJudge) -> None:
        from ...judges.items import calls

        self._collection, self._judge = collection, judge
        self.total = collection.n_items
        if judge.listed is not None:
            made: list[int] = []  # numbers of rows with texts
            by_call = calls(judge, self._rows_with_texts(made))
            self.total = len(by_call)
            self._call_of = np.full(collection.n_items, _ALONE, dtype=np.int64)
            for number, of_call in enumerate(by_call):
                self._call_of[[made[index] for index in of_call]] = number
            self._sizes = np.bincount(self._call_of[self._call_of != _ALONE])

    def _rows_with_texts(self, numbers: list[int]) -> Iterator[ItemRow]:
        for number, row in enumerate(self._collection.rows()):
            if row.failed is None:
                numbers.append(number)
                yield row

    def items(self) -> Iterator[Item]:
        """Return items in the order of their last rows in the file."""
        return (item for _, _, item in self)

    def __iter__(self) -> Iterator[tuple[list[int], list[ItemRow], Item]]:
        """Yield for each call the row numbers, the rows, and the judged item."""
        if self._judge.listed is None:
            for number, row in enumerate(self._collection.rows()):
                yield [number], [row], self._item([row])
            return
        begun: dict[int, tuple[list[int], list[ItemRow]]] = {}
        for number, row in enumerate(self._collection.rows()):
            if (call := int(self._call_of[number])) == _ALONE:
                yield [number], [row], self._item([row])
                continue
            numbers, rows = begun.setdefault(call, ([], []))
            numbers.append(number)
            rows.append(row)
            if len(rows) == self._sizes[call]:
                del begun[call]
                yield numbers, rows, self._item(rows)

    def _item(self, group: list[ItemRow]) -> Item:
        judge = self._judge
        values = {name: [row.ids[name] for row in group] for name in self._collection.key}
        shared = {name: column[0] for name, column in values.items() if len({*column}) == 1}
        ids = shared | {name: column for name, column in values.items() if name not in shared}
        if (why := group[0].failed) is not None:
            return Item(ids, None, missing=f"its text was not made ({why})", reason=why)
        payload = tuple(
            [row.inputs[name] for row in group] if name == judge.listed else group[0].inputs[name]
            for name in judge.inputs
        )
        return Item(ids, (*payload, *judge.list_optional_texts(group[0].inputs)), len(group))


def _scale_in(folder: Path, notes: Mapping[str, Any]) -> ItemScale:
    """Return the scale of judged items in a manifest. Raises: InputError if it is invalid."""
    try:
        return ItemScale.model_validate(notes.get(ITEMS))
    except ValidationError as error:
        at, what = plain_error(error.errors(include_url=False)[0])
        raise InputError(f"{folder / MANIFEST}: {'.'.join((ITEMS, *at))}: {what}") from None


def _scale(collection: ItemCollection, judge: ItemJudge) -> ItemScale:
    definition = getattr(judge, "definition", None)  # a custom judge
    measure = definition and definition.measure
    return ItemScale.of(judge, collection.key, measure or MEAN_GAIN)
