"""The lexical twins of the evidence agent's judges: what to search by, and plain contradictions.

A contradiction is seen where a sentence of the passage says nearly the same in the same words and
differs in a "not" or in a number alone. All others are not seen, so "neither" means little.
"""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any

from ..labels import Contradiction
from .nuggets_and_citations import STOP_WORDS, WORD, content_words, recall, stem
from .segments import sentences

NEARLY_ALL = 0.8  # of the content words of either sentence that the other has
FEWEST_WORDS = 3  # that carry meaning, in a sentence that can be contradicted
_NEGATIVE = frozenset("cannot neither never no nobody none nor not nothing nowhere without".split())
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")


def write_queries(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The content words of the sentence; then those of its halves, as far as they are wanted."""
    words = [word for word in WORD.findall(inputs["sentence"]) if word.lower() not in STOP_WORDS]
    half = (len(words) + 1) // 2
    queries = [" ".join(part) for part in (words, words[:half], words[half:]) if part]
    return {"queries": list(dict.fromkeys(queries))[: inputs["wanted"]]}


def judge_contradiction(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a sentence of the passage says the same but for a "not" or a number; it is quoted."""
    sentence = inputs["sentence"]
    opposites = [part for part in _sentences(inputs["passage"]) if _is_opposite(sentence, part)][:1]
    return {
        "passage_quotes": opposites,
        "sentence_quotes": [sentence] if opposites else [],
        "verdict": Contradiction.CONTRADICTS if opposites else Contradiction.NEITHER,
    }


@lru_cache(maxsize=1024)  # a topic's passages are read again for each sentence of its answers
def _sentences(passage: str) -> tuple[str, ...]:
    return tuple(sentences(passage))


def _is_opposite(sentence: str, part: str) -> bool:
    ours, theirs = _plain(sentence), _plain(part)
    if min(len(ours), len(theirs)) < FEWEST_WORDS:
        return False
    if min(recall(ours, theirs), recall(theirs, ours)) < NEARLY_ALL:
        return False
    if _n_negative(sentence) != _n_negative(part):
        return True
    return any(
        set(other) != set(own)
        for counted, own in _numbers(sentence).items()
        if (other := _numbers(part).get(counted)) is not None
    )


@lru_cache(maxsize=4096)
def _plain(text: str) -> frozenset[str]:
    """Its content words without numbers and words that deny."""
    denying = _denying()
    return frozenset(w for w in content_words(text) if w not in denying and not w[0].isdigit())


@cache
def _denying() -> frozenset[str]:
    return frozenset(map(stem, _NEGATIVE))


def _n_negative(text: str) -> int:
    words = (word.lower().replace("’", "'") for word in WORD.findall(text))
    return sum(1 for word in words if word in _NEGATIVE or word.endswith("n't")) % 2


def _numbers(text: str) -> dict[str, list[str]]:
    """Its numbers by the word behind them, which says what they count."""
    by_word: dict[str, list[str]] = {}
    for number in _NUMBER.finditer(text):
        if behind := WORD.match(text[number.end() :].lstrip(" %")):
            by_word.setdefault(stem(behind.group().lower()), []).append(number.group())
    return by_word
