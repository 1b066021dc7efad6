"""Lexical baselines of the judges of nuggets, citations and passages: content-word overlap.

It needs no model and is the same on every machine: the baseline that your model should beat.
Thresholds were chosen once on human labels: see docs/benchmarks/lexical-judge.md.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

import Stemmer

from ...records.nuggets import NuggetSupport
from ...records.rows import Importance
from ...records.support import CitationSupport
from ..labels import NuggetMatch
from .clauses import statements

# ruff: noqa: SIM905  a list of words reads best as words


# Share of a nugget's content words that an answer must contain.
NUGGET_FULL, NUGGET_PARTIAL = 0.65, 0.60
# Share of a sentence's words and word pairs that the cited passage must contain.
SENTENCE_FULL, SENTENCE_PARTIAL = 0.50, 0.32
# Share of the question's content words that a passage must contain for the grades 1, 2 and 3.
RELEVANCE_CUTS = (0.50, 0.65, 0.80)
VITAL_SHARE = 0.5  # of a list of nuggets, rounded up
# For new nuggets: weight of a word of the question, of a repeated word, and of a statement
# that starts with a pronoun; and the share of old content words that makes it a repetition.
ASKED, AGAIN, PRONOUN, REPEATED = 1.5, 0.9, 0.4, 0.67
MIN_CONTENT_WORDS = 3  # in a nugget

STOP_WORDS = frozenset(
    """
    a about after all also an and any are as at be because been but by can could did do does for
    from had has have he her his how i if in into is it its just may might more most must not of
    on or other our out over she should so some such than that the their them then there these
    they this those to too under up very was we were what when where which while who why will
    with would you your
    """.split()
)
WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
PRONOUNS = frozenset(
    """
    he here here's his i it it's its my our she that there there's these they this those we you
    your
    """.split()
)
stem = Stemmer.Stemmer("english").stemWord


@lru_cache(maxsize=4096)
def all_words(text: str) -> frozenset[str]:
    """The distinct words of a text, lower-cased and stemmed (Snowball English)."""
    return frozenset(stem(match.lower()) for match in WORD.findall(text))


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """The distinct stemmed content words; all words if there are none."""
    words = (match.lower() for match in WORD.findall(text))
    return frozenset(stem(word) for word in words if word not in STOP_WORDS) or all_words(text)


@lru_cache(maxsize=4096)
def word_pairs(text: str) -> frozenset[tuple[str, str]]:
    """The distinct pairs of neighbouring words, stemmed."""
    words = [stem(match.lower()) for match in WORD.findall(text)]
    return frozenset(pairwise(words))


def recall(needed: frozenset[Any], words: frozenset[Any]) -> float:
    """Share of `needed` that is in `words`, in [0, 1]; 0 if none is needed."""
    return len(needed & words) / len(needed) if needed else 0.0


def assign_nuggets(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Three grades by the share of a nugget's content words in the answer."""
    answer_words = content_words(inputs["answer"])
    return {
        "verdicts": {
            key: _grade(recall(content_words(nugget), answer_words))
            for key, nugget in inputs["nuggets"].items()
        }
    }


def score_nuggets(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The share behind the grades of `assign_nuggets`, for each nugget."""
    answer_words = content_words(inputs["answer"])
    return {
        "verdicts": {
            key: recall(content_words(nugget), answer_words)
            for key, nugget in inputs["nuggets"].items()
        }
    }


def match_nuggets(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Two grades, at the same threshold as full support."""
    grades = assign_nuggets(inputs)["verdicts"]
    full = NuggetSupport.SUPPORT
    return {
        "verdicts": {
            key: NuggetMatch.SUPPORT if grade is full else NuggetMatch.NOT_SUPPORT
            for key, grade in grades.items()
        }
    }


def judge_support(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Three grades by the share of a sentence's words and word pairs in the passage."""
    share = measure_support(inputs["sentence"], inputs["passage"])
    if share >= SENTENCE_FULL:
        return {"verdict": CitationSupport.FULL}
    partial = share >= SENTENCE_PARTIAL
    return {"verdict": CitationSupport.PARTIAL if partial else CitationSupport.NONE}


def score_support(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The share behind the grades of `judge_support`."""
    return {"verdict": measure_support(inputs["sentence"], inputs["passage"])}


def measure_support(sentence: str, passage: str) -> float:
    """Mean of the shares of words and of word pairs that the passage contains, in [0, 1]."""
    words = recall(all_words(sentence), all_words(passage))
    pairs = word_pairs(sentence)
    return (words + recall(pairs, word_pairs(passage))) / 2 if pairs else words


def judge_relevance(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """0-3 by the share of the question's content words in the passage."""
    share = recall(content_words(inputs["question"]), content_words(inputs["passage"]))
    return {"grade": sum(share >= cut for cut in RELEVANCE_CUTS)}


def score_relevance(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The share behind the grades of `judge_relevance`."""
    return {"grade": recall(content_words(inputs["question"]), content_words(inputs["passage"]))}


def rate_importance(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Vital is the half of a list that shares most words with the question, earlier ones first."""
    question_words = content_words(inputs["question"])
    shared = {
        key: len(question_words & content_words(text)) for key, text in inputs["nuggets"].items()
    }
    ranked = sorted(shared, key=lambda key: -shared[key])
    vital = set(ranked[: math.ceil(len(ranked) * VITAL_SHARE)])
    return {
        "importance": {key: Importance.VITAL if key in vital else Importance.OKAY for key in shared}
    }


def update_nuggets(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The statements of list and passages that say most about the question, the best first.

    A word counts more if several passages contain it or the question asks for it, and less each
    time it is chosen. A statement that mostly repeats a chosen one is skipped.
    """
    question_words = content_words(inputs["question"])
    passages = list(inputs["passages"].values())
    texts = [*inputs["nuggets"], *(text for passage in passages for text in statements(passage))]
    words = {
        text: content for text in texts if len(content := content_words(text)) >= MIN_CONTENT_WORDS
    }
    spread = Counter(w for text in [*passages, *inputs["nuggets"]] for w in content_words(text))
    worth = {  # 0 for a word in statements only, such as a stop word
        w: math.log2(1 + spread[w]) * (ASKED if w in question_words else 1.0)
        for w in frozenset().union(*words.values())
    }
    chosen: list[str] = []

    def gain(text: str) -> float:
        content = words[text]
        new = math.fsum(worth[word] for word in content) / math.sqrt(math.sqrt(len(content)))
        return new * PRONOUN if _leans_back(text) else new

    heap = [(-gain(text), index, text) for index, text in enumerate(words) if gain(text)]
    heapq.heapify(heap)
    while heap and len(chosen) < inputs["limit"]:
        _, index, text = heapq.heappop(heap)
        now = -gain(text)
        if heap and now > heap[0][0]:  # its value has dropped since it was added
            heapq.heappush(heap, (now, index, text))
        elif all(recall(words[text] - question_words, words[old]) < REPEATED for old in chosen):
            chosen.append(text)
            worth |= {word: worth[word] * AGAIN for word in words[text]}
    return {"updated": chosen}


def _leans_back(text: str) -> bool:
    return text.split(maxsplit=1)[0].lower().replace("’", "'") in PRONOUNS


def _grade(share: float) -> NuggetSupport:
    if share >= NUGGET_FULL:
        return NuggetSupport.SUPPORT
    if share >= NUGGET_PARTIAL:
        return NuggetSupport.PARTIAL_SUPPORT
    return NuggetSupport.NOT_SUPPORT


LETTERS = 5  # in a letter sequence
MIN_TEXTS = 2  # that must contain a word before it has its own weight
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_NOT_A_WORD = re.compile(r"[\W_]+")


def word_weights(texts: Iterable[str]) -> dict[str, float]:
    """Compute the weight of each word from the number of texts that contain it.

    Args:
        texts: the texts of the collection, such as all passages; each counts once.

    Returns: stem -> ln((n + 1) / (n_with + 0.5)), > 0, for stems that 2 or more texts hold, in
        alphabetical order. All other stems have the largest of these weights.
    Source: inverse document frequency (Sparck Jones, 1972), smoothed.

    >>> word_weights(["the bridge", "the river", "a bridge over the river"])
    {'bridg': 0.47, 'river': 0.47, 'the': 0.1335}
    """
    distinct = set(texts)
    counts = Counter(word for text in distinct for word in all_words(text))
    return {
        word: round(math.log((len(distinct) + 1) / (n + 0.5)), 4)
        for word, n in sorted(counts.items())
        if n >= MIN_TEXTS
    }


def weigh_overlap(needed: str, source: str, weights: Mapping[str, float]) -> float:
    """Measure how much of one text another one contains, in [0, 1].

    The mean of two shares: of the needed words by weight, in the best two neighbouring sentences
    of the source; and of the needed five-letter sequences, anywhere in it. 0 without words.

    Args:
        needed: a sentence, nugget or question.
        source: a passage or answer.
        weights: from `word_weights`; {}: all words weigh the same.
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
