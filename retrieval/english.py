"""The terms of an English text, equal to those of Lucene's English analyzer, and word hashes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

ANALYSIS = "lucene-english-1"  # changed when terms change; stored with an index

# The stop words of Lucene's EnglishAnalyzer.
_STOP_WORDS = """a an and are as at be but by for if in into is it no not of on or such that the
their then there these they this to was will with"""
STOP_WORDS = frozenset(_STOP_WORDS.split())

# Unicode's word boundaries (UAX 29): full stops, apostrophes and colons join letters, and full
# stops, commas and semicolons digits; every ideograph and every hiragana is a word by itself.
_SINGLE = "\u3041-\u3096\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_OUTSIDE = rf"{_SINGLE}²³¹¼-¾⁰-₉"  # words and numbers for Python's \w
_RUN = rf"(?:[^\W{_OUTSIDE}]|[\u0300-\u036f])"
_WORD = re.compile(
    rf"[{_SINGLE}]|_*[^\W_{_OUTSIDE}]{_RUN}*"
    rf"(?:(?:(?<=[^\W\d_])[.:·'‘’](?=[^\W\d_{_OUTSIDE}])|(?<=\d)[.,;'‘’](?=\d)){_RUN}+)*"
)
_POSSESSIVE = re.compile(r"['’＇]s$")

# Two endings that Porter's own program (and Lucene) treats differently from his paper (and
# Snowball): assembly -> assembl and technology -> technolog, if a syllable comes before.
_SYLLABLE = re.compile(r"(?:[aeiou]|(?<=[^aeiou])y)(?:[^aeiouy]|(?<=[aeiou])y)")
_DEPARTURE = re.compile(r"(bl|log)(?:y|ies|i)$")
_AS = {"bl": "ble", "log": "log"}


def terms(text: str) -> Iterator[str]:
    """The terms of a text in order: lower case, without stop words, stemmed by Porter.

    Differs: symbols and emoji are not terms; a word of more than 255 characters stays one term; a
    double c or k keeps both letters (trekking -> trekk).

    >>> list(terms("The U.S. census of 1,024 harbours' tides isn't Porter's"))
    ['u.', 'censu', '1,024', 'harbour', 'tide', "isn't", 'porter']
    """
    return filter(None, map(_term, _WORD.findall(text.lower())))


@lru_cache(maxsize=2**17)
def _term(word: str) -> str:
    """The stem of a word in lower case; "" for a stop word."""
    word = _POSSESSIVE.sub("", word)
    if word in STOP_WORDS:
        return ""
    if len(word) <= 2:
        return word
    if (end := _DEPARTURE.search(word)) and _SYLLABLE.search(word, 0, end.start()):
        word = word[: end.start()] + _AS[end[1]]
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer

    return Stemmer.Stemmer("porter", 0)  # without a cache


_ALL = 0xFFFFFFFF


@lru_cache(maxsize=1 << 16)
def word_hash(word: str) -> int:
    """MurmurHash3 (x86, seed 0) of a word in UTF-8, as a signed 32-bit number.

    scikit-learn's feature hashing uses the same hash, so the vectors are equal to its vectors.
    Source: Austin Appleby, MurmurHash3 (public domain, 2011).

    >>> word_hash("bridge")
    1309383782
    """
    text = word.encode("utf-8", "surrogatepass")
    n_whole = len(text) // 4 * 4
    state = 0
    for at in range(0, n_whole, 4):
        state ^= _scramble(int.from_bytes(text[at : at + 4], "little"))
        state = _rotate(state, 13) * 5 + 0xE6546B64 & _ALL
    state ^= _scramble(int.from_bytes(text[n_whole:], "little")) ^ len(text)
    state = (state ^ state >> 16) * 0x85EBCA6B & _ALL
    state = (state ^ state >> 13) * 0xC2B2AE35 & _ALL
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def _scramble(block: int) -> int:
    return _rotate(block * 0xCC9E2D51 & _ALL, 15) * 0x1B873593 & _ALL


def _rotate(bits: int, by: int) -> int:
    return (bits << by | bits >> 32 - by) & _ALL
