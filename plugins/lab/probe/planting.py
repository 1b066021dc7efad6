"""Plant faults in judged texts: in whole answers, and in sentences with their citations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ....judges import ItemJudge
from ....judges.items import calls
from ....judges.lexical.overlap import content_words, recall
from ....judges.lexical.segments import sentences
from ....records.kinds import Cell
from ....records.labels import ItemRow
from .probing import get_topic, in_turns
from .rewriting import (
    VALUES,
    Parts,
    Value,
    Vocabulary,
    another,
    deny,
    has_other_form,
    is_negative,
    is_one_clause,
    negate,
    offsets,
    replace_value,
    split_parts,
    values_in,
)

MIN_ALONE = 2  # content words, not in the question, of a target that only one sentence states
MAX_ELSEWHERE = 0.5  # largest share of them in all other sentences
MIN_BESIDE = 0.5  # share of a target's other content words that appear next to its value
MIN_REPEATED = 4  # words of a sentence that is repeated
PADDING = (
    "That covers the question as it was put. There is no more to add at this point. "
    "Thank you for reading to the end. More can be said another time."
)
MIN_WORDS = 5  # content words of a sentence whose citation is swapped
MAX_SHARED = 0.25  # largest share of them in the other passage
MAX_REPEATED = 60  # words of a sentence that is repeated
OPENERS = ("To put it simply, ", "All in all, ", "As it happens, ")

Must = Literal["down", "same"]  # how the label of an honest judge must change


class Fault(NamedTuple):
    """A kind of fault. `test`: "directional" or "invariance", as in CheckList."""

    test: Literal["directional", "invariance"]
    what: str


# In the order of the tables. Sources: arXiv:2005.04118 (CheckList) for the two kinds of test,
# arXiv:2406.13439 (FBI) for perturbing answers to find blind spots of judges.
FAULTS: dict[str, Fault] = {
    "citation-swap": Fault("directional", "another passage of the topic is cited"),
    "negation": Fault("directional", "a sentence is negated"),
    "number": Fault("directional", "a number is changed"),
    "date": Fault("directional", "a year, month or weekday is changed"),
    "name": Fault("directional", "a name is changed"),
    "omission": Fault("directional", "the only sentence that states it is removed"),
    "duplication": Fault("invariance", "a sentence is repeated"),
    "reordering": Fault("invariance", "the sentences are reordered"),
    "citation-removal": Fault("directional", "the citation is removed"),
    "padding": Fault("invariance", "filler sentences are added"),
}


@dataclass(frozen=True)
class Form:
    """The inputs of a judge that can get faults.

    Attributes:
        target: the input that is looked for. source: the input in which it is looked for.
        wrote: which of the two a system wrote; faults are planted in it.
        blind: fault -> reason, for faults that do not change the judge's input.
        plants: faults with a certain effect on this judge.
        needed: function from a target to the text that the source must contain.
    """

    target: str
    source: str
    wrote: Literal["target", "source"]
    plants: tuple[str, ...]
    blind: Mapping[str, str] = field(default_factory=dict)
    needed: Callable[[str], str] = str


@dataclass(frozen=True)
class Case:
    """One planted fault: the items of one call with one input changed.

    Attributes:
        items: the items as judged. must: the expected change of each; None: uncertain.
        changed: the name of the changed input. text: its new text. also: other inputs that change.
        before, after: the sentences that the fault changed.
    """

    fault: str
    items: Sequence[ItemRow] = field(repr=False)
    must: Sequence[Must | None]
    changed: str
    text: str = field(repr=False)
    before: str
    after: str
    also: Mapping[str, str] = field(default_factory=dict, repr=False)

    def rows(self, number: int) -> list[ItemRow]:
        """The items with the fault. The number in their id `fault` keeps each case one call."""
        return [
            item.model_copy(
                update={
                    "ids": {**item.ids, "fault": str(number)},
                    "inputs": {**item.inputs, self.changed: self.text, **self.also},
                }
            )
            for item in self.items
        ]


@dataclass(frozen=True)
class SourceLabels:
    """The labels of the items that the source already has.

    Attributes:
        labels: cell -> label; None: not judged. Empty: the source has no labels.
        best: the best label, the only one that certainly falls; None: the labels have no order.
    """

    labels: Mapping[Cell, str | None] = field(repr=False)
    best: str | None

    def is_judged(self, item: ItemRow) -> bool:
        """Whether an item has a label; also True if the source has no labels."""
        return not self.labels or self.labels.get(item.cell) is not None

    def may_fall(self, item: ItemRow) -> bool:
        """Whether an item's label is the best one; also True if it is unknown."""
        if self.best is None:
            return False
        return not self.labels or self.labels.get(item.cell) == self.best


def plant(
    judge: ItemJudge,
    form: Form,
    items: Sequence[ItemRow],
    labels: SourceLabels,
    limit: int,
    seed: int,
) -> list[Case]:
    """Plant at most `limit` cases of each fault of the form, fault by fault.

    Topics take turns in random order. The order is the same for all faults, so that they share
    answers, and the calls for unchanged answers. No changed text is judged twice.

    Args:
        items: the items as judged, so that calls have the same items as in the run.
    """
    texts = [item.inputs[name] for item in items for name in (form.target, form.source)]
    vocabulary = Vocabulary.of(texts)
    titles = collect_titles(form, items)
    groups = calls(judge, items)
    order = in_turns([get_topic(items[group[0]]) for group in groups], seed)
    cases: list[Case] = []
    for number, fault in enumerate(FAULTS):
        keys: set[tuple[str, ...]] = set()
        for at in order if fault in form.plants else ():
            if len(keys) == limit:
                break
            group = [items[index] for index in groups[at]]
            rng = np.random.default_rng([seed, number, at])
            parts = form, labels, vocabulary, group, rng
            maker = (
                JudgedAnswer(*parts) if form.wrote == "source" else JudgedCitation(*parts, titles)
            )
            case = maker.plant_fault(fault)
            if case is not None and (key := _key(case)) not in keys:
                keys.add(key)
                cases.append(case)
    return cases


def collect_titles(form: Form, items: Iterable[ItemRow]) -> dict[str, dict[str, str]]:
    """The titles of cited passages, by topic and text."""
    titles: dict[str, dict[str, str]] = {}
    for item in items:
        of_topic = titles.setdefault(get_topic(item), {})
        of_topic[item.inputs[form.source]] = item.inputs.get("title", "")
    return titles


def _key(case: Case) -> tuple[str, ...]:
    """Everything that the judge gets about an item."""
    inputs = (item.inputs | {case.changed: case.text} for item in case.items)
    return tuple(text for of_item in inputs for text in of_item.values())


# In answers


@dataclass(frozen=True)
class JudgedAnswer:
    """The items of one call, and their common answer, which gets the faults.

    A label must fall if only one sentence states its target: this sentence has all content words of
    the target, at least two of them are not in the question, and all other sentences together have
    at most half of these. A label must stay if its target shares no content word with the changed
    text, or if nothing is removed.
    """

    form: Form
    labels: SourceLabels
    vocabulary: Vocabulary
    items: Sequence[ItemRow]
    rng: np.random.Generator

    @cached_property
    def parts(self) -> Parts:
        """The sentences of the answer."""
        return split_parts(self.items[0].inputs[self.form.source])

    def plant_fault(self, fault: str) -> Case | None:
        makers: dict[str, Callable[[], _Change | None]] = {
            "negation": self._negation,
            "omission": self._omission,
            "duplication": self._duplication,
            "reordering": self._reordering,
            "padding": self._padding,
        }
        change = self._value(fault) if fault in VALUES else makers[fault]()
        if change is None or not any(change.must):
            return None
        return Case(fault, self.items, change.must, self.form.source, *change[1:])

    def _omission(self) -> _Change | None:
        def is_certain(item: ItemRow, index: int) -> bool:
            return not self.parts.is_leant_on(index)

        if len(self.parts.sentences) < 2 or (index := self._draw(is_certain)) is None:
            return None
        before = self.parts.sentences[index]
        must = self._must(index, is_certain, before)
        return _Change(must, self.parts.without(index), before, "")

    def _negation(self) -> _Change | None:
        def is_certain(item: ItemRow, index: int) -> bool:
            is_stated = not is_negative(self._target(item)) and not self.parts.is_leant_on(index)
            return is_stated and self._opposite(self.parts.sentences[index]) is not None

        if (index := self._draw(is_certain)) is None:
            return None
        before = self.parts.sentences[index]
        after = self._opposite(before) or ""
        must = self._must(index, is_certain, before)
        return _Change(must, self.parts.with_sentence(index, after), before, after)

    def _opposite(self, sentence: str) -> str | None:
        """Negate the verb of a sentence with one clause, or deny a sentence with several."""
        negation = negate(sentence) if is_one_clause(sentence) else None
        return negation or deny(sentence, self.vocabulary.lower)

    def _value(self, kind: str) -> _Change | None:
        candidates = [
            (item, value)
            for item in self.items
            if self.labels.may_fall(item)
            for value in values_in(self._target(item), self.vocabulary)
            if value.kind == kind and self._states(item, value)
        ]
        if not candidates:
            return None
        item, value = candidates[int(self.rng.integers(len(candidates)))]
        avoid = " ".join([self.parts.text, *map(self._target, self.items)])
        new = another(value, avoid, self.vocabulary, self.rng)
        if new is None:
            return None
        text = replace_value(self.parts.text, value.text, new)
        if value.text.lower() in text.lower():
            return None
        before = " ".join(s for s in self.parts.sentences if offsets(s, value.text))
        after = replace_value(before, value.text, new)
        same = self._same(f"{before} {after}")
        must = ["down" if at is item else one for at, one in zip(self.items, same, strict=True)]
        return _Change(must, text, before, after)

    def _duplication(self) -> _Change | None:
        long = [
            index
            for index, sentence in enumerate(self.parts.sentences)
            if len(sentence.split()) >= MIN_REPEATED and sentence.endswith((".", "!"))
        ]
        if not long:
            return None
        index = long[int(self.rng.integers(len(long)))]
        before = self.parts.sentences[index]
        after = f"{before} {before}"
        return _Change(self._same(), self.parts.with_sentence(index, after), before, after)

    def _reordering(self) -> _Change | None:
        text = self.parts.reorder(self.rng)
        return None if text is None else _Change(self._same(), text, self.parts.text, text)

    def _padding(self) -> _Change | None:
        text = f"{self.parts.text.rstrip()} {PADDING}"
        return _Change(self._same(PADDING), text, "", PADDING)

    def _draw(self, is_certain: Callable[[ItemRow, int], bool]) -> int | None:
        """Draw a sentence that alone states a target whose label may fall."""
        candidates = {
            index for item in self.items if (index := self._falls(item, is_certain)) is not None
        }
        return sorted(candidates)[int(self.rng.integers(len(candidates)))] if candidates else None

    def _falls(self, item: ItemRow, is_certain: Callable[[ItemRow, int], bool]) -> int | None:
        """The sentence whose removal certainly lowers an item's label."""
        index = self._holder(item) if self.labels.may_fall(item) else None
        return index if index is not None and is_certain(item, index) else None

    def _must(
        self, index: int, is_certain: Callable[[ItemRow, int], bool], changed: str
    ) -> list[Must | None]:
        same = zip(self.items, self._same(changed), strict=True)
        return ["down" if self._falls(item, is_certain) == index else one for item, one in same]

    def _same(self, touched: str = "") -> list[Must | None]:
        """For each item, whether its label must stay if only this text is changed."""
        words = content_words(touched)
        are_apart = (not content_words(self._target(item)) & words for item in self.items)
        return [
            "same" if is_apart and self.labels.is_judged(item) else None
            for item, is_apart in zip(self.items, are_apart, strict=True)
        ]

    def _holder(self, item: ItemRow) -> int | None:
        """The only sentence that states a target; the others contain little of it."""
        needed = content_words(self._target(item))
        new_words = needed - content_words(item.inputs.get("question", ""))
        holders = [i for i, s in enumerate(self.parts.sentences) if needed <= content_words(s)]
        if len(new_words) < MIN_ALONE or len(holders) != 1:
            return None
        rest = (content_words(s) for i, s in enumerate(self.parts.sentences) if i != holders[0])
        elsewhere = recall(new_words, frozenset().union(*rest))
        return holders[0] if elsewhere <= MAX_ELSEWHERE else None

    def _states(self, item: ItemRow, value: Value) -> bool:
        """Whether the text has the value only in this form, next to the target's other words."""
        if has_other_form(value, self.parts.text):
            return False
        others = content_words(self._target(item)) - content_words(value.text)
        beside = (content_words(s) for s in self.parts.sentences if offsets(s, value.text))
        are_beside = [recall(others, words) >= MIN_BESIDE for words in beside]
        return any(are_beside) if value.kind == "name" else bool(are_beside) and all(are_beside)

    def _target(self, item: ItemRow) -> str:
        return self.form.needed(item.inputs[self.form.target])


class _Change(NamedTuple):
    """The expected change of each label, the changed text, and the sentences before and after."""

    must: list[Must | None]
    text: str
    before: str
    after: str


# In sentences and their citations


@dataclass(frozen=True)
class JudgedCitation:
    """A sentence that is judged alone with its citation; `titles`: titles of all cited passages."""

    form: Form
    labels: SourceLabels
    vocabulary: Vocabulary
    items: Sequence[ItemRow]
    rng: np.random.Generator
    titles: Mapping[str, Mapping[str, str]]

    def plant_fault(self, fault: str) -> Case | None:
        """The item of a call with this fault; None if its effect is uncertain."""
        [item] = self.items
        target, source = item.inputs[self.form.target], item.inputs[self.form.source]
        if fault in ("duplication", "padding"):
            after = _twice(target) if fault == "duplication" else self._pad(target)
            if after is None or not self.labels.is_judged(item):
                return None
            return Case(fault, self.items, ["same"], self.form.target, after, target, after)
        if "?" in target or not self.labels.may_fall(item):
            return None
        if fault == "citation-swap":
            other = self._other_passage(item)
            if other is None:
                return None
            title = self.titles[get_topic(item)][other]
            also = {"title": title} if title or "title" in item.inputs else {}
            return Case(fault, self.items, ["down"], self.form.source, other, source, other, also)
        changed = (
            self._with_value(fault, target, source) if fault in VALUES else self._opposite(target)
        )
        if changed is None:
            return None
        return Case(fault, self.items, ["down"], self.form.target, changed, target, changed)

    def _other_passage(self, item: ItemRow) -> str | None:
        """Another passage of the topic with at most a quarter of the sentence's content words."""
        needed = content_words(item.inputs[self.form.target])
        if len(needed) < MIN_WORDS or not get_topic(item):
            return None
        free = [
            text
            for text in self.titles[get_topic(item)]
            if text != item.inputs[self.form.source]
            and recall(needed, content_words(text)) <= MAX_SHARED
        ]
        return free[int(self.rng.integers(len(free)))] if free else None

    def _with_value(self, kind: str, target: str, source: str) -> str | None:
        """The sentence with one value of the passage replaced by a value that the passage lacks."""
        candidates = [
            value
            for value in values_in(target, self.vocabulary)
            if value.kind == kind and offsets(source, value.text)
        ]
        if not candidates:
            return None
        value = candidates[int(self.rng.integers(len(candidates)))]
        new = another(value, f"{source} {target}", self.vocabulary, self.rng)
        if new is None:
            return None
        return target[: value.start] + new + target[value.start + len(value.text) :]

    def _opposite(self, target: str) -> str | None:
        """Negate the verb of the sentence, or deny the whole sentence."""
        if len(sentences(target)) != 1:
            return None
        return negate(target) or deny(target, self.vocabulary.lower)

    def _pad(self, target: str) -> str | None:
        """Put an opening phrase without content before a sentence that is a statement."""
        first = target.split(maxsplit=1)[0]
        if not first.isalpha() or not target.endswith((".", "!")):
            return None
        if first.lower() in self.vocabulary.lower:
            target = first.lower() + target[len(first) :]
        return OPENERS[int(self.rng.integers(len(OPENERS)))] + target


def _twice(target: str) -> str | None:
    is_statement = target.endswith((".", "!")) and len(target.split()) <= MAX_REPEATED
    return f"{target} {target}" if is_statement else None
