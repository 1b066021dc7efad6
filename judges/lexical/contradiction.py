"""Lexical baselines of queries, contradictions, groundedness and proposed nuggets.

The baseline finds a contradiction only if a sentence of the passage says nearly the same in the
same words and differs in a "not" or in a number. So "neither" means little.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

from ...records.groundedness import StatementSupport
from ..labels import Contradiction
from .clauses import statements
from .grounds import find_quote
from .overlap import (
    REPEATED,
    SENTENCE_FULL,
    STOP_WORDS,
    WORD,
    content_words,
    measure_support,
    recall,
    stem,
    update_nuggets,
)
from .questions import subject_words
from .segments import sentences

# ruff: noqa: SIM905  a list of words reads best as words


NEARLY_ALL = 0.8  # share of the content words of either sentence that the other must have
MIN_WORDS = 3  # content words of a sentence that can be contradicted
_NEGATIVE = frozenset("cannot neither never no nobody none nor not nothing nowhere without".split())
_BLANK_LINES = re.compile(r"\n\s*\n")
_NUMBER = re.compile(r"(?<![\w.,])\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")


def write_queries(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The content words of the sentence, then of its halves, until there are enough queries."""
    words = [word for word in WORD.findall(inputs["sentence"]) if word.lower() not in STOP_WORDS]
    half = (len(words) + 1) // 2
    queries = [" ".join(part) for part in (words, words[:half], words[half:]) if part]
    return {"queries": list(dict.fromkeys(queries))[: inputs["wanted"]]}


def judge_contradiction(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Whether a sentence of the passage differs only in a "not" or a number; it is quoted."""
    sentence = inputs["sentence"]
    opposites = [part for part in _sentences(inputs["passage"]) if _is_opposite(sentence, part)][:1]
    return {
        "passage_quotes": opposites,
        "sentence_quotes": [sentence] if opposites else [],
        "verdict": Contradiction.CONTRADICTS if opposites else Contradiction.NEITHER,
    }


def judge_groundedness(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """supported: a passage has the words of the statement, at the threshold of full support.

    contradicted: no passage supports it, and one differs only in a "not" or a number.
    """
    passages = _passages(inputs["context"])
    return {
        "verdicts": {key: _ground(text, passages) for key, text in inputs["statements"].items()}
    }


def score_groundedness(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The share behind `judge_groundedness`, for the passage with the largest share."""
    passages = _passages(inputs["context"])
    return {
        "verdicts": {
            key: max((measure_support(text, each) for each in passages), default=0.0)
            for key, text in inputs["statements"].items()
        }
    }


def _ground(statement: str, passages: Sequence[str]) -> StatementSupport:
    is_contradicted = False
    for passage in passages:
        if any(_is_opposite(statement, part) for part in _sentences(passage)):
            is_contradicted = True
        elif measure_support(statement, passage) >= SENTENCE_FULL:
            return StatementSupport.SUPPORTED
    return StatementSupport.CONTRADICTED if is_contradicted else StatementSupport.NOT_FOUND


@lru_cache(maxsize=256)  # a context is read again for each window of statements
def _passages(context: str) -> tuple[str, ...]:
    return tuple(filter(None, (part.strip() for part in _BLANK_LINES.split(context))))


@lru_cache(maxsize=1024)  # a topic's passages are read again for each sentence of its answers
def _sentences(passage: str) -> tuple[str, ...]:
    return tuple(sentences(passage))


def _is_opposite(sentence: str, part: str) -> bool:
    ours, theirs = _plain(sentence), _plain(part)
    if min(len(ours), len(theirs)) < MIN_WORDS:
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
    """Content words without numbers and negations."""
    denying = _denying()
    return frozenset(w for w in content_words(text) if w not in denying and not w[0].isdigit())


@cache
def _denying() -> frozenset[str]:
    return frozenset(map(stem, _NEGATIVE))


def _n_negative(text: str) -> int:
    words = (word.lower().replace("’", "'") for word in WORD.findall(text))
    return sum(1 for word in words if word in _NEGATIVE or word.endswith("n't")) % 2


def _numbers(text: str) -> dict[str, list[str]]:
    """Numbers by the word after them, which says what they count."""
    by_word: dict[str, list[str]] = {}
    for number in _NUMBER.finditer(text):
        if behind := WORD.match(text[number.end() :].lstrip(" %")):
            by_word.setdefault(stem(behind.group().lower()), []).append(number.group())
    return by_word


MORE_WORDS = 3  # words of a query from the nuggets so far


def propose_nuggets(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The statements that say most, from the sentences with a word of the facet.

    A statement that mostly repeats a known nugget is left out. The quote is the statement if the
    passage contains it literally, otherwise its sentence.
    """
    facet_words = content_words(subject_words(inputs["facet"]))
    known_words = [content_words(text) for text in inputs["known"]]
    proposals: dict[str, tuple[int, str]] = {}
    for number, passage in inputs["passages"].items():
        for sentence in sentences(passage):
            if not facet_words & content_words(sentence):
                continue
            for text in statements(sentence):
                new = content_words(text) - facet_words
                if all(recall(new, old) < REPEATED for old in known_words):
                    quote = text if find_quote(text, passage) else sentence
                    proposals.setdefault(text, (int(number), quote))
    question = f"{inputs['question']} {inputs['facet']}"
    listed = {"question": question, "limit": inputs["limit"], "passages": {}}
    best = update_nuggets({**listed, "nuggets": list(proposals)})["updated"]
    return {
        "proposed": [
            {"nugget": text, "passage": proposals[text][0], "quote": proposals[text][1]}
            for text in best
        ]
    }


def write_gap_queries(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The words of each facet, with the commonest untried words of the nuggets."""
    tried = {stem(word) for text in inputs["tried"] for word in _words(text)}
    seen = Counter(word for text in inputs["nuggets"] for word in dict.fromkeys(_words(text)))
    new = sorted((word for word in seen if stem(word) not in tried), key=lambda w: (-seen[w], w))
    queries = {}
    for index, (number, facet) in enumerate(inputs["facets"].items()):
        start = index * MORE_WORDS  # other words for each facet, while there are any
        more = new[start : start + MORE_WORDS] or new[:MORE_WORDS]
        queries[number] = " ".join([subject_words(facet), *more])
    return {"queries": queries}


def _words(text: str) -> list[str]:
    return [word for word in WORD.findall(text.lower()) if word not in STOP_WORDS]
