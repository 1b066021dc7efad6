"""A finer lexical score, with word weights from the collection's own texts and without labels.

Half of it looks at words, half at letters. The words of the needed text count by how rare they
are, and have to stand close together: in two neighbouring sentences of the source. The letters,
five at a time, see word order, inflections and numbers. docs/trust/calibration.md shows what it
gains. Without weights it is what the twin of the answerability judge goes by (lexical_answers.py).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from .nuggets_and_citations import all_words, recall

LETTERS = 5  # in a run
FEWEST_TEXTS = 2  # that a word stands in, to have a weight of its own
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_NOT_A_WORD = re.compile(r"[\W_]+")


def word_weights(texts: Iterable[str]) -> dict[str, float]:
    """How much each word tells, from how many of the texts it stands in.

    Args:
        texts: those of the collection, such as all passages; each counts once.

    Returns: stem -> ln((n + 1) / (n_with + 0.5)), > 0, for stems that 2 or more texts hold, in
        alphabetical order; {} for no such stem. All others weigh as much as the heaviest here.
    Source: inverse document frequency (Sparck Jones, 1972), smoothed.

    >>> word_weights(["the bridge", "the river", "a bridge over the river"])
    {'bridg': 0.47, 'river': 0.47, 'the': 0.1335}
    """
    distinct = set(texts)
    counts = Counter(word for text in distinct for word in all_words(text))
    return {
        word: round(math.log((len(distinct) + 1) / (n + 0.5)), 4)
        for word, n in sorted(counts.items())
        if n >= FEWEST_TEXTS
    }


def weighted_overlap(needed: str, source: str, weights: Mapping[str, float]) -> float:
    """How much of one text another one holds, in [0, 1].

    The mean of two shares: of the needed words by weight, in the best two neighbouring sentences
    of the source; and of the needed runs of five letters, anywhere in it. 0 for no words.

    Args:
        needed: a sentence, nugget or question.
        source: a passage or answer.
        weights: of `word_weights`; {}: all words weigh the same.
    """
    words = all_words(needed)
    heaviest = max(weights.values(), default=1.0)
    worth = {word: weights.get(word, heaviest) for word in words}
    total = math.fsum(worth[word] for word in words)
    if not total:
        return 0.0
    best = max(math.fsum(worth[word] for word in words & near) for near in _windows(source))
    return (best / total + recall(_letter_runs(needed), _letter_runs(source))) / 2


@lru_cache(maxsize=4096)
def _windows(text: str) -> tuple[frozenset[str], ...]:
    """The words of each sentence together with the next."""
    sentences = [all_words(part) for part in _SENTENCE_END.split(text)]
    return tuple(a | b for a, b in zip(sentences, [*sentences[1:], frozenset()], strict=True))


@lru_cache(maxsize=4096)
def _letter_runs(text: str) -> frozenset[str]:
    plain = _NOT_A_WORD.sub(" ", text.casefold()).strip()
    return frozenset(plain[i : i + LETTERS] for i in range(max(1, len(plain) - LETTERS + 1)))
