"""Faults in a whole answer, in which something is looked for: nuggets, key points, questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .....judges.lexical.nuggets_and_citations import content_words, recall
from .....records.labels.items import ItemRow
from .cases import Case, Form, Must, SourceLabels
from .negation import denied, is_negative, is_one_clause, negated
from .parts import Parts, parts_of
from .values import VALUES, Value, Vocabulary, another, has_other_form, offsets, replaced, values_in

FEWEST_WORDS = 2  # content words of what one sentence alone holds, without those of the question
MOST_ELSEWHERE = 0.5  # share of them in all other sentences
LEAST_BESIDE = 0.5  # share of the other content words of a target that stand beside its value
FEWEST_REPEATED = 4  # words of a sentence that is repeated
PADDING = (
    "That covers the question as it was put. There is no more to add at this point. "
    "Thank you for reading to the end. More can be said another time."
)


class Answers:
    """Plants faults in what systems wrote as a whole.

    Which label has to fall is said of targets that one sentence alone holds: it has all of their
    content words, two or more of which the question has not, and all others together have at most
    half of these. Which has to stay, of targets that share no content word with what is changed; of
    any, where nothing is taken away.
    """

    def __init__(self, form: Form, labels: SourceLabels, vocabulary: Vocabulary) -> None:
        self._parts = form, labels, vocabulary

    def plant(self, fault: str, items: Sequence[ItemRow], rng: np.random.Generator) -> Case | None:
        """The items of a call with this fault in their text; None where it is not certain."""
        return _Answer(*self._parts, items, rng).planted(fault)


@dataclass(frozen=True)
class _Answer:
    """The items of one call, and the answer that they have in common."""

    form: Form
    labels: SourceLabels
    vocabulary: Vocabulary
    items: Sequence[ItemRow]
    rng: np.random.Generator

    @cached_property
    def parts(self) -> Parts:
        """The sentences of the answer."""
        return parts_of(self.items[0].inputs[self.form.source])

    def planted(self, fault: str) -> Case | None:
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

        if len(self.parts.sentences) < 2 or (index := self._drawn(is_certain)) is None:
            return None
        before = self.parts.sentences[index]
        must = self._must(index, is_certain, before)
        return _Change(must, self.parts.without(index), before, "")

    def _negation(self) -> _Change | None:
        def is_certain(item: ItemRow, index: int) -> bool:
            is_stated = not is_negative(self._target(item)) and not self.parts.is_leant_on(index)
            return is_stated and self._opposite(self.parts.sentences[index]) is not None

        if (index := self._drawn(is_certain)) is None:
            return None
        before = self.parts.sentences[index]
        after = self._opposite(before) or ""
        must = self._must(index, is_certain, before)
        return _Change(must, self.parts.with_sentence(index, after), before, after)

    def _opposite(self, sentence: str) -> str | None:
        """Of one clause its verb is negated, of several the whole is denied."""
        negation = negated(sentence) if is_one_clause(sentence) else None
        return negation or denied(sentence, self.vocabulary.lower)

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
        text = replaced(self.parts.text, value.text, new)
        if value.text.lower() in text.lower():
            return None
        before = " ".join(s for s in self.parts.sentences if offsets(s, value.text))
        after = replaced(before, value.text, new)
        same = self._same(f"{before} {after}")
        must = ["down" if at is item else one for at, one in zip(self.items, same, strict=True)]
        return _Change(must, text, before, after)

    def _duplication(self) -> _Change | None:
        long = [
            index
            for index, sentence in enumerate(self.parts.sentences)
            if len(sentence.split()) >= FEWEST_REPEATED and sentence.endswith((".", "!"))
        ]
        if not long:
            return None
        index = long[int(self.rng.integers(len(long)))]
        before = self.parts.sentences[index]
        after = f"{before} {before}"
        return _Change(self._same(), self.parts.with_sentence(index, after), before, after)

    def _reordering(self) -> _Change | None:
        text = self.parts.reordered(self.rng)
        return None if text is None else _Change(self._same(), text, self.parts.text, text)

    def _padding(self) -> _Change | None:
        text = f"{self.parts.text.rstrip()} {PADDING}"
        return _Change(self._same(PADDING), text, "", PADDING)

    def _drawn(self, is_certain: Callable[[ItemRow, int], bool]) -> int | None:
        """A sentence that alone holds a target whose label may fall."""
        candidates = {
            index for item in self.items if (index := self._falls(item, is_certain)) is not None
        }
        return sorted(candidates)[int(self.rng.integers(len(candidates)))] if candidates else None

    def _falls(self, item: ItemRow, is_certain: Callable[[ItemRow, int], bool]) -> int | None:
        """The sentence without which an item's label certainly falls."""
        index = self._holder(item) if self.labels.may_fall(item) else None
        return index if index is not None and is_certain(item, index) else None

    def _must(
        self, index: int, is_certain: Callable[[ItemRow, int], bool], changed: str
    ) -> list[Must | None]:
        same = zip(self.items, self._same(changed), strict=True)
        return ["down" if self._falls(item, is_certain) == index else one for item, one in same]

    def _same(self, touched: str = "") -> list[Must | None]:
        """Of each item, whether its label has to stay where this text alone is changed."""
        words = content_words(touched)
        are_apart = (not content_words(self._target(item)) & words for item in self.items)
        return [
            "same" if is_apart and self.labels.is_judged(item) else None
            for item, is_apart in zip(self.items, are_apart, strict=True)
        ]

    def _holder(self, item: ItemRow) -> int | None:
        """The one sentence that holds all of a target, where the others hold little of it."""
        needed = content_words(self._target(item))
        new_words = needed - content_words(item.inputs.get("question", ""))
        holders = [i for i, s in enumerate(self.parts.sentences) if needed <= content_words(s)]
        if len(new_words) < FEWEST_WORDS or len(holders) != 1:
            return None
        rest = (content_words(s) for i, s in enumerate(self.parts.sentences) if i != holders[0])
        elsewhere = recall(new_words, frozenset().union(*rest))
        return holders[0] if elsewhere <= MOST_ELSEWHERE else None

    def _states(self, item: ItemRow, value: Value) -> bool:
        """Whether the text has the value in this form alone, beside what the target says of it."""
        if has_other_form(value, self.parts.text):
            return False
        others = content_words(self._target(item)) - content_words(value.text)
        beside = (content_words(s) for s in self.parts.sentences if offsets(s, value.text))
        are_beside = [recall(others, words) >= LEAST_BESIDE for words in beside]
        return any(are_beside) if value.kind == "name" else bool(are_beside) and all(are_beside)

    def _target(self, item: ItemRow) -> str:
        return self.form.needed(item.inputs[self.form.target])


class _Change(NamedTuple):
    """What each label must do, the changed text, and the sentences before and after."""

    must: list[Must | None]
    text: str
    before: str
    after: str
