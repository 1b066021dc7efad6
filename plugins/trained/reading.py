"""What a trained judge reads of an item: the part of a text that fits best, and shared words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...judges.lexical.overlap import STOP_WORDS, WORD, all_words, stem, weigh_overlap

WINDOW, STRIDE = 80, 30  # words of a text that are read at once, and how far the next part starts
STATEMENT = 60  # words of a statement that are read
MOST_TOKENS = 220
IN_TEXT, SHARED = 1, 2  # added up: kinds 0 to 3 of tokens
INPUTS = ("ids", "kinds", "mask", "stated", "overlap")  # of the network


class Tokens(NamedTuple):
    """One item for the network.

    Attributes:
        ids, kinds: of the tokens; n_statement: tokens 1..n are those of the statement.
        overlap: how much of the statement the whole text contains, see `weigh_overlap`.
    """

    ids: list[int]
    kinds: list[int]
    n_statement: int
    overlap: float


class Reader:
    """Turns a statement and a text into tokens.

    Args:
        tokenizer: of the package `tokenizers`.
        words: the weight of each word stem, see `word_weights`.
    """

    def __init__(self, tokenizer: Any, words: Mapping[str, float]) -> None:
        self._tokenizer, self._words = tokenizer, words
        self._rarest = max(words.values(), default=1.0)
        tokenizer.no_padding()
        tokenizer.enable_truncation(MOST_TOKENS)

    def read(self, statement: str, text: str) -> Tokens:
        """Return the tokens of an item.

        A long text is cut to the `WINDOW` words that hold most of the statement's words by weight.
        Tokens of words that both have are marked, so that the network need not learn what is equal.
        """
        said = " ".join(statement.split()[:STATEMENT])
        part = self._find_window(all_words(said) - STOP_WORDS, text)
        found = self._tokenizer.encode(said, part)
        texts = (said, part)
        stems = [
            None if side is None else _stem(texts[side][slice(*_around(texts[side], span))])
            for side, span in zip(found.sequence_ids, found.offsets, strict=True)
        ]
        both = [
            {s for s, side in zip(stems, found.sequence_ids, strict=True) if side == which}
            for which in (0, 1)
        ]
        shared = both[0] & both[1] - {""}
        kinds = [
            kind * IN_TEXT + (s in shared) * SHARED
            for kind, s in zip(found.type_ids, stems, strict=True)
        ]
        n_statement = sum(side == 0 for side in found.sequence_ids)
        overlap = weigh_overlap(statement, text, self._words)
        return Tokens(found.ids, kinds, n_statement, overlap)

    def _find_window(self, needed: frozenset[str], text: str) -> str:
        words = text.split()
        if len(words) <= WINDOW:
            return text
        stems = _stem_words(text)
        best, most = 0, -1.0
        for start in range(0, len(words) - WINDOW + STRIDE, STRIDE):
            near = needed.intersection(*[frozenset().union(*stems[start : start + WINDOW])])
            worth = sum(self._words.get(word, self._rarest) for word in near)
            if worth > most + 1e-9:
                best, most = start, worth
        return " ".join(words[best : best + WINDOW])


def pad(items: Sequence[Tokens]) -> dict[str, NDArray[Any]]:
    """Return the inputs of the network for some items: (n, 1) overlap, (n, length) of others."""
    length = max(len(item.ids) for item in items)
    made: dict[str, NDArray[Any]] = {
        name: np.zeros((len(items), length), np.int64) for name in INPUTS[:-1]
    }
    for i, item in enumerate(items):
        n = len(item.ids)
        made["ids"][i, :n], made["kinds"][i, :n], made["mask"][i, :n] = item.ids, item.kinds, 1
        made["stated"][i, 1 : item.n_statement + 1] = 1
    made["overlap"] = np.array([[item.overlap] for item in items], np.float32)
    return made


def _around(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """The word around a piece of a word."""
    start, end = span
    while start and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return start, end


@lru_cache(maxsize=100_000)
def _stem(word: str) -> str:
    """The stem of a word; "" for stop words and what is not a word."""
    lower = word.lower()
    return stem(lower) if WORD.fullmatch(lower) and lower not in STOP_WORDS else ""


@lru_cache(maxsize=4096)
def _stem_words(text: str) -> tuple[frozenset[str], ...]:
    return tuple(all_words(word) for word in text.split())
