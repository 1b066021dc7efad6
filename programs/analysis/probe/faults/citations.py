"""Faults in a sentence, or in what it cites: citations, and claims of judges of your own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from .....judges.lexical.nuggets_and_citations import content_words, recall
from .....judges.lexical.segments import sentences
from .....records.labels.items import ItemRow
from ..items import topic_of
from .cases import Case, Form, SourceLabels
from .negation import denied, negated
from .values import VALUES, Vocabulary, another, offsets, values_in

FEWEST_WORDS = 5  # content words of a sentence whose citation is swapped
MOST_SHARED = 0.25  # share of them that the other passage may have
MOST_REPEATED = 60  # words of a sentence that is repeated
OPENERS = ("To put it simply, ", "All in all, ", "As it happens, ")


class Citations:
    """Plants faults in sentences that are judged one by one with what they cite."""

    def __init__(
        self, form: Form, labels: SourceLabels, vocabulary: Vocabulary, items: Iterable[ItemRow]
    ) -> None:
        self._form, self._labels, self._vocabulary = form, labels, vocabulary
        self._titles: dict[str, dict[str, str]] = {}  # of what is cited, by topic and text
        for item in items:
            title = item.inputs.get("title", "")
            self._titles.setdefault(topic_of(item), {})[item.inputs[form.source]] = title

    def plant(self, fault: str, items: Sequence[ItemRow], rng: np.random.Generator) -> Case | None:
        """The item of a call with this fault in it; None where it is not certain."""
        [item] = items
        target, source = item.inputs[self._form.target], item.inputs[self._form.source]
        if fault in ("duplication", "padding"):
            after = _twice(target) if fault == "duplication" else self._padded(target, rng)
            if after is None or not self._labels.is_judged(item):
                return None
            return Case(fault, items, ["same"], self._form.target, after, target, after)
        if "?" in target or not self._labels.may_fall(item):
            return None
        if fault == "citation-swap":
            other = self._other_passage(item, rng)
            if other is None:
                return None
            title = self._titles[topic_of(item)][other]
            also = {"title": title} if title or "title" in item.inputs else {}
            return Case(fault, items, ["down"], self._form.source, other, source, other, also)
        changed = (
            self._with_value(fault, target, source, rng)
            if fault in VALUES
            else self._opposite(target)
        )
        if changed is None:
            return None
        return Case(fault, items, ["down"], self._form.target, changed, target, changed)

    def _other_passage(self, item: ItemRow, rng: np.random.Generator) -> str | None:
        """A passage of the topic with at most a quarter of the sentence's content words."""
        needed = content_words(item.inputs[self._form.target])
        if len(needed) < FEWEST_WORDS or not topic_of(item):
            return None
        free = [
            text
            for text in self._titles[topic_of(item)]
            if text != item.inputs[self._form.source]
            and recall(needed, content_words(text)) <= MOST_SHARED
        ]
        return free[int(rng.integers(len(free)))] if free else None

    def _with_value(
        self, kind: str, target: str, source: str, rng: np.random.Generator
    ) -> str | None:
        """The sentence with one value that the passage has changed to one that it has not."""
        candidates = [
            value
            for value in values_in(target, self._vocabulary)
            if value.kind == kind and offsets(source, value.text)
        ]
        if not candidates:
            return None
        value = candidates[int(rng.integers(len(candidates)))]
        new = another(value, f"{source} {target}", self._vocabulary, rng)
        if new is None:
            return None
        return target[: value.start] + new + target[value.start + len(value.text) :]

    def _opposite(self, target: str) -> str | None:
        """Its verb is negated, or else the whole is denied."""
        if len(sentences(target)) != 1:
            return None
        return negated(target) or denied(target, self._vocabulary.lower)

    def _padded(self, target: str, rng: np.random.Generator) -> str | None:
        """The sentence behind words that say nothing, one that begins as statements do."""
        first = target.split(maxsplit=1)[0]
        if not first.isalpha() or not target.endswith((".", "!")):
            return None
        if first.lower() in self._vocabulary.lower:
            target = first.lower() + target[len(first) :]
        return OPENERS[int(rng.integers(len(OPENERS)))] + target


def _twice(target: str) -> str | None:
    is_statement = target.endswith((".", "!")) and len(target.split()) <= MOST_REPEATED
    return f"{target} {target}" if is_statement else None
