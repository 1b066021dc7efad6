"""A number for each word, the same on every machine and in every process: MurmurHash3."""

from __future__ import annotations

from functools import lru_cache

_ALL = 0xFFFFFFFF


@lru_cache(maxsize=1 << 16)
def word_hash(word: str) -> int:
    """The 32 bits, as a signed number, that MurmurHash3 (x86, seed 0) gives a word in UTF-8.

    scikit-learn's feature hashing goes by the same, so vectors are those that it makes.
    Source: Austin Appleby, MurmurHash3 (public domain, 2011).

    >>> word_hash("bridge")
    1309383782
    """
    text = word.encode("utf-8", "surrogatepass")
    n_whole = len(text) // 4 * 4
    state = 0
    for at in range(0, n_whole, 4):
        state ^= _scrambled(int.from_bytes(text[at : at + 4], "little"))
        state = _turned(state, 13) * 5 + 0xE6546B64 & _ALL
    state ^= _scrambled(int.from_bytes(text[n_whole:], "little")) ^ len(text)
    state = (state ^ state >> 16) * 0x85EBCA6B & _ALL
    state = (state ^ state >> 13) * 0xC2B2AE35 & _ALL
    state ^= state >> 16
    return state - (1 << 32) if state >> 31 else state


def _scrambled(block: int) -> int:
    return _turned(block * 0xCC9E2D51 & _ALL, 15) * 0x1B873593 & _ALL


def _turned(bits: int, by: int) -> int:
    return (bits << by | bits >> 32 - by) & _ALL
