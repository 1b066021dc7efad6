"""Nuggets that people edit: the start, and the result of their edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ....programs.engine.folders import find_inputs
from ....programs.inputs import Collection, load_collection
from ....programs.protocols.nuggets import BANKS
from ....records.nuggets import nugget_row, read_nugget_banks
from ....records.reading.problems import InputError, Problems
from ....records.rows import Importance, Nugget, NuggetBank, NuggetSource, Passage, nugget_ids
from ..store.events import BankEdit

# The number of nuggets and of texts of each change: (least, most), None: any number.
_SOURCES = {"add": (0, 0), "edit": (1, 1), "delete": (1, 1), "merge": (2, None), "split": (1, 1),
            "importance": (1, None)}  # fmt: skip
_TEXTS = {"add": (1, 1), "edit": (1, 1), "delete": (0, 0), "merge": (1, 1), "split": (2, None),
          "importance": (0, 0)}  # fmt: skip
MAX_CHARS = 2_000  # of a nugget's text
_MAX_CITED = 20
_MIN_GRADE = 1  # of a passage next to it, if the run does not say


@dataclass(frozen=True)
class EditedNugget:
    """A nugget after edits. `roots`: ids of the original nuggets that it comes from."""

    nugget: Nugget
    roots: tuple[str, ...]


@dataclass
class EditedBank:
    """The nuggets of a topic after some edits, in display order.

    They start without an importance, so that the judge's does not influence people.
    """

    topic_id: str
    query: str
    nuggets: dict[str, EditedNugget] = field(default_factory=dict)
    used_ids: set[str] = field(default_factory=set)  # all ids ever used; an id is never used again

    @classmethod
    def of(cls, bank: NuggetBank, edits: Iterable[BankEdit] = ()) -> EditedBank:
        """The bank after these edits. Raises: ValueError for an impossible edit."""
        edited = cls(bank.topic_id, bank.query)
        for nugget in bank.nuggets:
            plain = nugget.model_copy(update={"importance": None})
            edited.nuggets[nugget.id] = EditedNugget(plain, (nugget.id,))
        edited.used_ids = set(edited.nuggets)
        for edit in edits:
            edited.edit(edit)
        return edited

    def check(self, edit: BankEdit) -> None:
        """Raise ValueError for an edit that is impossible now."""
        for what, values, bounds in (
            ("nuggets", edit.sources, _SOURCES[edit.op]),
            ("texts", edit.texts, _TEXTS[edit.op]),
        ):
            least, most = bounds
            if len(values) < least or (most is not None and len(values) > most):
                wanted = f"{least}" if least == most else f"{least} or more"
                raise ValueError(f"{edit.op}: {len(values)} {what}, wanted {wanted}")
        if len(set(edit.sources)) < len(edit.sources):
            raise ValueError(f"{edit.op}: one nugget is named twice")
        for name in edit.sources:
            if name not in self.nuggets:
                raise ValueError(f"{edit.op}: there is no nugget {name!r} in topic {self.topic_id}")
        for text in edit.texts:
            if not text.strip() or len(text) > MAX_CHARS:
                what = f"{len(text):,} characters" if text.strip() else "empty"
                raise ValueError(f"{edit.op}: a text is {what}, wanted 1 to {MAX_CHARS:,}")

    def edit(self, edit: BankEdit) -> None:
        """Make a change. A new nugget takes the place of the first nugget that it comes from.

        An edit keeps the importance, and so does a merge of nuggets of equal importance. A split
        has no importance unless the edit gives one.
        """
        self.check(edit)
        sources = [self.nuggets[name] for name in edit.sources]
        importance = Importance(edit.importance) if edit.importance is not None else None
        if edit.op == "importance":
            for one in sources:
                named = one.nugget.model_copy(update={"importance": importance})
                self.nuggets[one.nugget.id] = replace(one, nugget=named)
            return
        before = {one.nugget.importance for one in sources}
        if importance is None and edit.op in ("edit", "merge") and len(before) == 1:
            importance = before.pop()
        new = self._make_nuggets(edit.texts, sources, importance)
        after: dict[str, EditedNugget] = {}
        for name, one in self.nuggets.items():
            if edit.sources and name == edit.sources[0]:
                after |= new
            if name not in edit.sources:
                after[name] = one
        self.nuggets = after if edit.sources else {**self.nuggets, **new}

    def _make_nuggets(
        self, texts: Sequence[str], sources: Sequence[EditedNugget], importance: Importance | None
    ) -> dict[str, EditedNugget]:
        roots = tuple(dict.fromkeys(root for one in sources for root in one.roots))
        passages = _distinct(source for one in sources for source in one.nugget.sources)
        new: dict[str, EditedNugget] = {}
        for text in texts:
            clean = text.strip()
            name = self._free(nugget_ids([clean])[0])
            nugget = Nugget(id=name, text=clean, importance=importance, sources=passages)
            new[name] = EditedNugget(nugget, roots)
        return new

    def _free(self, name: str) -> str:
        tried, n = name, 1
        while tried in self.used_ids:
            n += 1
            tried = f"{name}-{n}"
        self.used_ids.add(tried)
        return tried

    def as_bank(self) -> NuggetBank:
        """The nuggets: vital, then okay, then those without an importance."""
        order = [Importance.VITAL, Importance.OKAY, None]
        nuggets = [one.nugget for one in self.nuggets.values()]
        nuggets.sort(key=lambda nugget: order.index(nugget.importance))
        return NuggetBank(topic_id=self.topic_id, query=self.query, nuggets=tuple(nuggets))

    def as_row(self) -> dict[str, Any]:
        """A line of `nuggets.jsonl` that `judge run --nuggets` reads; `from` is the lineage."""
        rows = [
            {**nugget_row(nugget), "from": list(self.nuggets[nugget.id].roots)}
            for nugget in self.as_bank().nuggets
        ]
        head = {"query": self.query, "qid": self.topic_id, "condition": "edited"}
        return {**head, "nuggets": rows}


class BankTexts:
    """The nuggets of a results folder or a file, and the passages for them.

    Raises: InputError if there are none, or the file cannot be read.
    """

    def __init__(self, results: Path, problems: Problems) -> None:
        path = results / BANKS if results.is_dir() else results
        if not path.is_file():
            raise InputError(f"{results}: has no {BANKS}, so there are no nuggets to edit")
        self.banks: Mapping[str, NuggetBank] = read_nugget_banks(path, problems)
        problems.raise_errors()
        if not self.banks:
            raise InputError(f"{path}: has no nuggets, wanted a list for each topic")
        self._results, self._problems = results, problems
        self._collection: Collection | None = None
        self._least = _MIN_GRADE
        if results.is_dir():
            try:
                config = find_inputs(results).check("the page shows no passages for the nuggets")
                self._collection = load_collection(config.data, config.run.limit)
                self._least = config.nuggets.min_grade
            except InputError as error:
                problems.skip(results, 0, "no_passages", str(error).splitlines()[0])

    def question(self, topic_id: str) -> str:
        """The question of a topic."""
        topics = self._collection.topics if self._collection is not None else {}
        return topics[topic_id].question if topic_id in topics else self.banks[topic_id].query

    def passages(self, topic_id: str) -> list[Passage]:
        """The passages for the nuggets: their named sources, then the relevant passages.

        Qrels say which are relevant; without them, every candidate is. The order is that of the
        candidates. Without both, these are the passages that most answers cite.
        """
        data = self._collection
        if data is None:
            return []
        named = [
            source.docid if isinstance(source, NuggetSource) else source
            for nugget in self.banks[topic_id].nuggets
            for source in nugget.sources
        ]
        grades = data.qrels.get(topic_id)
        ranking = data.candidates.get(topic_id)
        pool: Iterable[str] = ranking.passage_ids if ranking is not None else grades or ()
        if grades is not None:
            pool = (name for name in pool if grades.get(name, -1) >= self._least)
        if ranking is None and grades is None:
            pool = _most_cited(data, topic_id)
        names = dict.fromkeys([*named, *pool])
        return [data.passages[name] for name in names if name in data.passages]


def _most_cited(data: Collection, topic_id: str) -> list[str]:
    """The passages that answers to a topic cite, most cited first."""
    n = Counter(
        name
        for answer, _ in data.read_cited_answers(topic_id)
        for name in {one.passage_id for each in answer.sentences for one in each.citations}
    )
    return sorted(n, key=lambda name: (-n[name], name))[:_MAX_CITED]


def _distinct(sources: Iterable[str | NuggetSource]) -> tuple[str | NuggetSource, ...]:
    return tuple(dict.fromkeys(sources))
