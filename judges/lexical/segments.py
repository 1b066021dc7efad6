"""Cuts a long text into parts that are short enough, at the best borders."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

MAX_TOKENS = 1024  # of a segment, arXiv:2506.20051
TITLES = ("Dr", "Mr", "Mrs", "Ms", "St", "Gen", "Gov", "Rep", "Rev", "Sen")

# Each ends a part; the best border first. A full stop after a title or an initial does not count.
_PARAGRAPH = re.compile(r"\n\s*\n")
_SENTENCE = re.compile(  # starts with its characters, which makes the search fast
    r"[.!?…。！？](?:(?<=[。！？])\s*|(?<=[.!?…])"
    + "".join(rf"(?<!\b{title}.)" for title in ("[A-Z]", *TITLES))
    + r"[\"'”’)\]]*\s++(?![\"'“‘(\[]*[a-z]))"
)
_LINE = re.compile(r"\n+")
_BORDERS = (_PARAGRAPH, _SENTENCE, re.compile(r"\s+"))


def n_words(text: str) -> int:
    """Words between white space."""
    return len(text.split())


def segments(
    document: str, most_tokens: int = MAX_TOKENS, count: Callable[[str], int] = n_words
) -> list[str]:
    """Cut a document into as few parts as its borders allow, of similar length; no text is lost.

    A paragraph (up to a blank line) that fits stays whole; otherwise its sentences do; otherwise
    its words. A word is cut only if it is too long by itself.

    Args:
        most_tokens: of a part, >= 1. Only a single character may have more.
        count: counts the tokens of a text. A part has the sum of its pieces, which may differ by a
            few from the count of the joined text.

    Returns: the parts in order, without white space at either end; [] for a blank document.
    Raises: ValueError if `most_tokens` is below 1.

    >>> segments("Rain fell. The river rose. A dam broke.", most_tokens=5)
    ['Rain fell. The river rose.', 'A dam broke.']
    """
    if most_tokens < 1:
        raise ValueError(f"most_tokens must be 1 or more, got {most_tokens}")
    pieces = [(piece, count(piece)) for piece in _fitting(document, most_tokens, count, _BORDERS)]
    fewest = len(_pack(pieces, most_tokens))
    even = bisect_left(
        range(most_tokens), True, key=lambda most: len(_pack(pieces, most)) <= fewest
    )
    return [part for text in _pack(pieces, even) if (part := text.strip())]


def sentences(text: str) -> list[str]:
    """Split a text into sentences, in order, without white space at either end.

    >>> sentences("Dr. Oke came. Did she stay?")
    ['Dr. Oke came.', 'Did she stay?']
    """
    paragraphs = _cut(text, _PARAGRAPH)
    pieces = (piece for paragraph in paragraphs for piece in _cut(paragraph, _SENTENCE))
    return [sentence for piece in pieces if (sentence := piece.strip())]


def sentence_offsets(text: str) -> list[tuple[int, int]]:
    """Find the sentences, `text[start:end]` each, with white space; line ends end them too.

    >>> sentence_offsets("Dr. Oke came. Did she stay?")
    [(0, 14), (14, 27)]
    """
    ends = {match.end() for border in (_SENTENCE, _LINE) for match in border.finditer(text)}
    return list(pairwise(sorted({0, *ends, len(text)})))


def _fitting(
    text: str, most: int, count: Callable[[str], int], borders: Sequence[re.Pattern[str]]
) -> Iterator[str]:
    """Pieces that make up the text, each as long as possible between the best borders."""
    if count(text) <= most or len(text) < 2:
        yield text
        return
    middle = len(text) // 2
    pieces = _cut(text, borders[0]) if borders else [text[:middle], text[middle:]]
    for piece in pieces:
        yield from _fitting(piece, most, count, borders[1:])


def _cut(text: str, border: re.Pattern[str]) -> list[str]:
    ends = (match.end() for match in border.finditer(text))
    return [text[start:end] for start, end in pairwise(dict.fromkeys([0, *ends, len(text)]))]


def _pack(pieces: Sequence[tuple[str, int]], most: int) -> list[str]:
    """Join pieces in order, up to `most` tokens; a longer piece stays alone."""
    parts: list[list[str]] = []
    room = 0
    for piece, size in pieces:
        if not parts or size > room:
            parts.append([])
            room = most
        parts[-1].append(piece)
        room -= size
    return ["".join(part) for part in parts]
