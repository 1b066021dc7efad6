"""The lexical twin of every judge: the same question answered by content-word overlap.

It needs no model, is the same on every machine, and is the row that an LLM judge has to beat.
The thresholds were chosen once on human labels; docs/lexical.md says which and shows the fit.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import Stemmer

from ..records.rows import Importance
from .labels import CitationSupport, NuggetMatch, NuggetSupport

# Share of a nugget's content words that an answer must hold.
NUGGET_FULL, NUGGET_PARTIAL = 0.65, 0.50
# Share of a sentence's words, function words too, that the cited passage must hold.
SENTENCE_FULL, SENTENCE_PARTIAL = 0.61, 0.38
# Share of the question's content words that a passage must hold for the grades 1, 2 and 3.
RELEVANCE_CUTS = (0.34, 0.67, 1.0)
NUGGET_WORDS = 12  # longest nugget, arXiv:2411.09607

_STOP = frozenset(
    """
    a about after all also an and any are as at be because been but by can could did do does for
    from had has have he her his how i if in into is it its just may might more most must not of
    on or other our out over she should so some such than that the their them then there these
    they this those to too under up very was we were what when where which while who why will
    with would you your
    """.split()  # noqa: SIM905  a list of words reads best as words
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE = re.compile(r"[,;:()]\s+|\s[-–—]\s")
_stem = Stemmer.Stemmer("english").stemWord


@lru_cache(maxsize=4096)
def all_words(text: str) -> frozenset[str]:
    """The distinct words of a text, lower-cased and stemmed (Snowball English)."""
    return frozenset(_stem(match.lower()) for match in _WORD.findall(text))


@lru_cache(maxsize=4096)
def content_words(text: str) -> frozenset[str]:
    """The distinct stemmed words that carry meaning; all of its words if none does."""
    words = (match.lower() for match in _WORD.findall(text))
    return frozenset(_stem(word) for word in words if word not in _STOP) or all_words(text)


def recall(needed: frozenset[str], held: frozenset[str]) -> float:
    """Share of the words `needed` that are `held`, in [0, 1]; 0 if none is needed."""
    return len(needed & held) / len(needed) if needed else 0.0


def assign_nuggets(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Three grades by the share of a nugget's content words in the answer."""
    held = content_words(inputs["answer"])
    return {
        "verdicts": {
            key: _grade(recall(content_words(nugget), held))
            for key, nugget in inputs["nuggets"].items()
        }
    }


def match_nuggets(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Two grades, at the same threshold as full support."""
    found = assign_nuggets(inputs)["verdicts"]
    full = NuggetSupport.SUPPORT
    return {
        "verdicts": {
            key: NuggetMatch.SUPPORT if grade is full else NuggetMatch.NOT_SUPPORT
            for key, grade in found.items()
        }
    }


def judge_support(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Three grades by the share of a sentence's words in the passage."""
    share = recall(all_words(inputs["sentence"]), all_words(inputs["passage"]))
    if share >= SENTENCE_FULL:
        return {"verdict": CitationSupport.FULL}
    partial = share >= SENTENCE_PARTIAL
    return {"verdict": CitationSupport.PARTIAL if partial else CitationSupport.NONE}


def judge_relevance(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """0-3 by the share of the question's content words in the passage."""
    share = recall(content_words(inputs["question"]), content_words(inputs["passage"]))
    return {"grade": sum(share >= cut for cut in RELEVANCE_CUTS)}


def rate_importance(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Vital when a nugget shares a content word with the question, else okay."""
    asked = content_words(inputs["question"])
    return {
        "importance": {
            key: Importance.VITAL if asked & content_words(nugget) else Importance.OKAY
            for key, nugget in inputs["nuggets"].items()
        }
    }


def update_nuggets(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Add the clauses of the passages that say most that is new about the question.

    A clause scores by the question's words in it and by words that several passages share; one
    that is mostly known from a chosen nugget is passed over.
    """
    asked = content_words(inputs["question"])
    passages = list(inputs["passages"].values())
    spread = Counter(word for passage in passages for word in content_words(passage))
    chosen: list[str] = list(inputs["nuggets"])
    clauses = [clause for passage in passages for clause in _clauses(passage)]

    def weight(clause: str) -> float:
        words = content_words(clause)
        shared = sum(spread[word] > 1 for word in words)
        return 2 * len(words & asked) + shared / 2 + min(len(words), 8) / 8

    for clause in sorted(dict.fromkeys(clauses), key=lambda c: (-weight(c), c)):
        if len(chosen) >= inputs["limit"]:
            break
        words = content_words(clause)
        if all(recall(words, content_words(known)) < 0.5 for known in chosen):
            chosen.append(clause)
    return {"updated": chosen}


def _grade(share: float) -> NuggetSupport:
    if share >= NUGGET_FULL:
        return NuggetSupport.SUPPORT
    if share >= NUGGET_PARTIAL:
        return NuggetSupport.PARTIAL_SUPPORT
    return NuggetSupport.NOT_SUPPORT


def _clauses(passage: str) -> list[str]:
    """Sentences, or their clauses, that fit in a nugget and hold at least three content words."""
    found = []
    for sentence in _SENTENCE.split(passage):
        parts = [sentence]
        if len(sentence.split()) > NUGGET_WORDS:
            parts = _CLAUSE.split(sentence)
        for part in parts:
            clause = " ".join(part.split()[:NUGGET_WORDS]).strip(" .,;:!?\"'")
            if len(content_words(clause)) >= 3:
                found.append(clause)
    return found
