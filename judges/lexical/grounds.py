"""Finds the words of a text that state a point: verbatim quotes, and spans and reasons by rule."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from .overlap import WORD, all_words, content_words, stem
from .segments import sentence_offsets


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Find a quote in the text: `text[start:end]`, the first place if there are several.

    First an exact match, without white space at either end of the quote; then with any white space
    between its words. Letters, case and punctuation must agree. A blank quote is never found.

    >>> find_quote("the river  rose", "Then the river\\nrose.")
    (5, 19)
    >>> find_quote("The river rose", "Then the river rose.") is None
    True
    """
    words = quote.split()
    if not words:
        return None
    exact = quote.strip()
    if (start := text.find(exact)) >= 0:
        return start, start + len(exact)
    match = re.search(r"\s+".join(map(re.escape, words)), text)
    return match.span() if match else None


def is_quoted(quote: str, text: str) -> bool:
    """Whether find_quote finds the quote in the text."""
    return find_quote(quote, text) is not None


MAX_SPANS = 3
ENOUGH = 0.8  # share of the found words after which no further sentence is quoted
MAX_WORDS = 8  # listed in a reason, stated or missing

_CLAUSE_END = re.compile(r"[,;:]\s+|\s[–—-]\s")


class _Part(NamedTuple):
    """A part `text[start:end]` without white space at its ends, and its stems."""

    start: int
    end: int
    words: frozenset[str]


def spans(needed: str, text: str) -> list[tuple[int, int]]:
    """Find the content words of another text: the parts `text[start:end]` that hold them, in order.

    If the text holds no content word, all words count.

    The parts are the fewest sentences, 3 at most, that hold 80% of the words that occur at all,
    without clauses at either end of a sentence that hold none.

    >>> text = "Snow fell. In wind, vortices leave the deck; nobody saw it."
    >>> [text[start:end] for start, end in spans("wind sheds vortices from the deck", text)]
    ['In wind, vortices leave the deck']
    """
    parts = _holding(content_words(needed), text) or _holding(all_words(needed), text)
    left = frozenset[str]().union(*(words for _, words in parts))
    least = len(left) * (1 - ENOUGH)
    chosen: list[tuple[int, int]] = []
    while left and len(left) > least and len(chosen) < MAX_SPANS:
        best, words = max(
            parts, key=lambda pair: (len(pair[1] & left), pair[0].start - pair[0].end)
        )
        chosen.append(_cut(text, best, words & left))
        left -= words
    return sorted(chosen)


def _holding(wanted: frozenset[str], text: str) -> list[tuple[_Part, frozenset[str]]]:
    """The sentences that hold some of the words, each with its words."""
    both = ((part, part.words & wanted) for part in _sentences(text))
    return [(part, words) for part, words in both if words]


def reason(needed: str, text: str) -> str:
    """Say in one line which content words of one text another text contains.

    >>> reason("wind sheds vortices from the deck", "In wind, vortices leave the deck.")
    '3 of 4 words found: wind, vortices, deck; missing: sheds'
    """
    wanted, words = content_words(needed), all_words(text)
    surface: dict[str, str] = {}
    for match in WORD.findall(needed):
        if (word := stem(match.lower())) in wanted:
            surface.setdefault(word, match)
    stated = [shown for word, shown in surface.items() if word in words]
    missing = [shown for word, shown in surface.items() if word not in words]
    parts = [f"{len(stated)} of {len(surface)} words found"]
    parts[0] += f": {_list_words(stated)}" if stated else ""
    return "; ".join([*parts, f"missing: {_list_words(missing)}"] if missing else parts)


def _list_words(words: list[str]) -> str:
    more = [f"{len(words) - MAX_WORDS} more"] if len(words) > MAX_WORDS else []
    return ", ".join([*words[:MAX_WORDS], *more])


@lru_cache(maxsize=4096)
def _sentences(text: str) -> tuple[_Part, ...]:
    parts = (_part(text, start, end) for start, end in sentence_offsets(text))
    return tuple(part for part in parts if part.words)


def _cut(text: str, sentence: _Part, words: frozenset[str]) -> tuple[int, int]:
    """The sentence from the first to the last clause that holds one of the words."""
    inner = text[sentence.start : sentence.end]
    holding = [part for part in _clauses(inner) if part.words & words]
    if not holding:  # one clause, or a word cut by the border of two clauses
        return sentence.start, sentence.end
    start, end = holding[0].start, holding[-1].end
    while inner[end - 1] in ",;:–—- \t" and end > start + 1:
        end -= 1
    return sentence.start + start, sentence.start + end


@lru_cache(maxsize=16_384)
def _clauses(sentence: str) -> tuple[_Part, ...]:
    """The clauses of a sentence; () if it has only one."""
    ends = [match.end() for match in _CLAUSE_END.finditer(sentence)]
    if not ends:
        return ()
    borders = zip([0, *ends], [*ends, len(sentence)], strict=True)
    return tuple([_part(sentence, start, end) for start, end in borders])


def _part(text: str, start: int, end: int) -> _Part:
    inner = text[start:end]
    start += len(inner) - len(inner.lstrip())
    return _Part(start, start + len(inner.strip()), _stems(inner))


def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(match.lower()) for match in WORD.findall(text))
