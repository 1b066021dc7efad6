"""A text cut into its sentences, and the same text with one of them changed."""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from .....judges.lexical.nuggets_and_citations import PRONOUNS, WORD
from .....judges.lexical.segments import sentences

FEWEST_BLOCKS = 3  # that are put in another order
_LEANING = PRONOUNS | frozenset(
    """
    additionally again also although and another because besides both but consequently conversely
    either finally first former furthermore hence her him himself however instead itself last
    latter lastly likewise meanwhile moreover neither next nor or other others otherwise overall
    rather second secondly similarly since so still such their theirs them themselves then therefore
    third thirdly those though thus ultimately whereas while yet
    """.split()
)
_POINTING = frozenset(
    """
    above aforementioned below former he her hers him his it its latter she such their theirs them
    these they this those
    """.split()
)
_LEAD = re.compile(
    r"(?:for (?:example|instance)|in (?:addition|contrast|other words|turn)|as (?:a result|such)"
    r"|one (?:reason|example|such)|on the (?:other hand|contrary))\b",
    re.IGNORECASE,
)
_LISTED = re.compile(r"^\W*\d+[.)]|^[-*•#]")


class Parts:
    """A text and its sentences, in order."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.sentences = sentences(text)
        self._starts: list[int] = []
        at = 0
        for sentence in self.sentences:
            at = text.index(sentence, at)
            self._starts.append(at)
            at += len(sentence)

    def without(self, index: int) -> str:
        """The text without one sentence."""
        last = index + 1 == len(self.sentences)
        after = "" if last else self.text[self._starts[index + 1] :]
        before = self.text[: self._starts[index]]
        return before.rstrip() if last else before + after

    def with_sentence(self, index: int, sentence: str) -> str:
        """The text with another sentence in the place of one."""
        start = self._starts[index]
        return self.text[:start] + sentence + self.text[start + len(self.sentences[index]) :]

    def is_leant_on(self, index: int) -> bool:
        """Whether the next sentence may speak of what this one names."""
        after = self.sentences[index + 1 : index + 2]
        return bool(after) and leans(after[0])

    def reordered(self, rng: np.random.Generator) -> str | None:
        """The text with its sentences in another order, each with those behind that lean on it.

        None: it has fewer than 3 such blocks, lines, or a list, whose order has a meaning.
        """
        if "\n" in self.text.strip() or any(map(_LISTED.match, self.sentences)):
            return None
        blocks: list[list[str]] = []
        for index, sentence in enumerate(self.sentences):
            opens = index and self.sentences[index - 1].endswith(":")
            if blocks and (opens or leans(sentence)):
                blocks[-1].append(sentence)
            else:
                blocks.append([sentence])
        if len(blocks) < FEWEST_BLOCKS:
            return None
        order = rng.permutation(len(blocks))
        if list(order) == sorted(order):
            order = order[::-1]
        return " ".join(sentence for index in order for sentence in blocks[index])


@lru_cache(maxsize=4096)
def parts_of(text: str) -> Parts:
    """The parts of a text."""
    return Parts(text)


def leans(sentence: str) -> bool:
    """Whether a sentence may need the one before it: by how it begins, or by a pronoun in it."""
    words = [word.lower().replace("’", "'") for word in WORD.findall(sentence)]
    if _LEAD.match(sentence) or not words:
        return bool(words)
    return words[0] in _LEANING or bool({*words} & _POINTING)
