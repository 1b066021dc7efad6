"""Faults in a whole answer, in which something is looked for: nuggets, key points, questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .....judges.lexical.nuggets_and_citations import content_words, recall
from .....records.labels.items import ItemRow
from .cases import Case, Form, Known, Must
from .negation import denied, is_negative, is_one_clause, negated
from .parts import Parts, parts_of
from .values import VALUES, Value, Vocabulary, another, offsets, replaced, said_otherwise, values_in

FEWEST_WORDS = 2  # content words of what one sentence alone holds, without those of the question
MOST_ELSEWHERE = 0.5  # share of them in all other sentences
LEAST_BESIDE = 0.5  # share of the other content words of a target that stand beside its value
FEWEST_SAID_TWICE = 4  # words of a sentence that is said twice
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

    def __init__(self, form: Form, known: Known, vocabulary: Vocabulary) -> None:
        self._form, self._known, self._vocabulary = form, known, vocabulary

    def plant(self, fault: str, items: Sequence[ItemRow], rng: np.random.Generator) -> Case | None:
        """The items of a call with this fault in their text; None where it is not certain."""
        parts = parts_of(items[0].inputs[self._form.source])
        if fault in VALUES:
            return self._value(fault, items, parts, rng)
        makers: dict[str, Callable[..., Case | None]] = {
            "negation": self._negation,
            "omission": self._omission,
            "duplication": self._duplication,
            "reordering": self._reordering,
            "padding": self._padding,
        }
        return makers[fault](items, parts, rng)

    def _omission(
        self, items: Sequence[ItemRow], parts: Parts, rng: np.random.Generator
    ) -> Case | None:
        def is_certain(item: ItemRow, index: int) -> bool:
            return not parts.is_leant_on(index)

        if (
            len(parts.sentences) < 2
            or (index := self._drawn(items, parts, is_certain, rng)) is None
        ):
            return None
        before = parts.sentences[index]
        must = self._must(items, parts, index, is_certain, before)
        return self._case("omission", items, must, parts.without(index), before, "")

    def _negation(
        self, items: Sequence[ItemRow], parts: Parts, rng: np.random.Generator
    ) -> Case | None:
        def is_certain(item: ItemRow, index: int) -> bool:
            is_stated = not is_negative(self._target(item)) and not parts.is_leant_on(index)
            return is_stated and self._opposite(parts.sentences[index]) is not None

        if (index := self._drawn(items, parts, is_certain, rng)) is None:
            return None
        before = parts.sentences[index]
        after = self._opposite(before) or ""
        must = self._must(items, parts, index, is_certain, before)
        return self._case("negation", items, must, parts.with_sentence(index, after), before, after)

    def _opposite(self, sentence: str) -> str | None:
        """Of one clause its verb is negated, of several the whole is denied."""
        found = negated(sentence) if is_one_clause(sentence) else None
        return found or denied(sentence, self._vocabulary.lower)

    def _value(
        self, kind: str, items: Sequence[ItemRow], parts: Parts, rng: np.random.Generator
    ) -> Case | None:
        found = [
            (item, value)
            for item in items
            if self._known.may_fall(item)
            for value in values_in(self._target(item), self._vocabulary)
            if value.kind == kind and self._states(parts, item, value)
        ]
        if not found:
            return None
        item, value = found[int(rng.integers(len(found)))]
        avoid = " ".join([parts.text, *map(self._target, items)])
        new = another(value, avoid, self._vocabulary, rng)
        if new is None:
            return None
        text = replaced(parts.text, value.text, new)
        if value.text.lower() in text.lower():
            return None
        changed = [s for s in parts.sentences if offsets(s, value.text)]
        before = " ".join(changed)
        after = replaced(before, value.text, new)
        touched = content_words(f"{before} {after}")
        must: list[Must | None] = [
            "down" if other is item else self._same(other, touched) for other in items
        ]
        return self._case(kind, items, must, text, before, after)

    def _duplication(
        self, items: Sequence[ItemRow], parts: Parts, rng: np.random.Generator
    ) -> Case | None:
        long = [
            index
            for index, sentence in enumerate(parts.sentences)
            if len(sentence.split()) >= FEWEST_SAID_TWICE and sentence.endswith((".", "!"))
        ]
        if not long:
            return None
        index = long[int(rng.integers(len(long)))]
        before = parts.sentences[index]
        after = f"{before} {before}"
        must = [self._same(item, frozenset()) for item in items]
        text = parts.with_sentence(index, after)
        return self._case("duplication", items, must, text, before, after)

    def _reordering(
        self, items: Sequence[ItemRow], parts: Parts, rng: np.random.Generator
    ) -> Case | None:
        if (text := parts.reordered(rng)) is None:
            return None
        must = [self._same(item, frozenset()) for item in items]
        return self._case("reordering", items, must, text, parts.text, text)

    def _padding(
        self, items: Sequence[ItemRow], parts: Parts, rng: np.random.Generator
    ) -> Case | None:
        must = [self._same(item, content_words(PADDING)) for item in items]
        text = f"{parts.text.rstrip()} {PADDING}"
        return self._case("padding", items, must, text, "", PADDING)

    def _case(
        self,
        fault: str,
        items: Sequence[ItemRow],
        must: Sequence[Must | None],
        text: str,
        before: str,
        after: str,
    ) -> Case | None:
        if not any(must):
            return None
        return Case(fault, items, must, self._form.source, text, before, after)

    def _drawn(
        self,
        items: Sequence[ItemRow],
        parts: Parts,
        is_certain: Callable[[ItemRow, int], bool],
        rng: np.random.Generator,
    ) -> int | None:
        """A sentence that alone holds a target whose label may fall."""
        found = {
            index
            for item in items
            if self._known.may_fall(item)
            and (index := self._holder(parts, item)) is not None
            and is_certain(item, index)
        }
        return sorted(found)[int(rng.integers(len(found)))] if found else None

    def _must(
        self,
        items: Sequence[ItemRow],
        parts: Parts,
        index: int,
        is_certain: Callable[[ItemRow, int], bool],
        changed: str,
    ) -> list[Must | None]:
        touched = content_words(changed)
        return [
            "down"
            if self._known.may_fall(item)
            and self._holder(parts, item) == index
            and is_certain(item, index)
            else self._same(item, touched)
            for item in items
        ]

    def _same(self, item: ItemRow, touched: frozenset[str]) -> Must | None:
        is_apart = not content_words(self._target(item)) & touched
        return "same" if is_apart and self._known.is_judged(item) else None

    def _holder(self, parts: Parts, item: ItemRow) -> int | None:
        """The one sentence that holds all of a target, where the others hold little of it."""
        needed = content_words(self._target(item))
        told = needed - content_words(item.inputs.get("question", ""))
        holders = [i for i, s in enumerate(parts.sentences) if needed <= content_words(s)]
        if len(told) < FEWEST_WORDS or len(holders) != 1:
            return None
        rest = (content_words(s) for i, s in enumerate(parts.sentences) if i != holders[0])
        elsewhere = recall(told, frozenset().union(*rest))
        return holders[0] if elsewhere <= MOST_ELSEWHERE else None

    def _states(self, parts: Parts, item: ItemRow, value: Value) -> bool:
        """Whether the text has the value in this form alone, beside what the target says of it."""
        if said_otherwise(value, parts.text):
            return False
        others = content_words(self._target(item)) - content_words(value.text)
        beside = (content_words(s) for s in parts.sentences if offsets(s, value.text))
        told = [recall(others, words) >= LEAST_BESIDE for words in beside]
        return any(told) if value.kind == "name" else bool(told) and all(told)

    def _target(self, item: ItemRow) -> str:
        return self._form.said(item.inputs[self._form.target])
