"""Made-up sentences and passages, all different, as long as those of TREC RAG 2024.

There a judged sentence has 157 characters and a passage 1,092 in the median, and more than half
of the passages hold a character outside Latin-1, which makes Python store them wider.
"""

from __future__ import annotations

import random
from functools import lru_cache

SENTENCE_CHARS, PASSAGE_CHARS = 157, 1092
ANSWER_CHARS, NUGGET_CHARS = 1900, 56

_PROSE = """harbour lantern bridge granite meadow copper signal winter orchard timber valley engine
anchor ribbon saddle canyon marble thunder velvet compass kettle barley magnet pebble quarry
rudder sparrow tunnel walnut copper cable delta ferry glacier hollow island jetty lattice mortar
the a of and to in is was for on with as by that from at which are were has after before over
carries measures turns holds rises falls crosses joins warms dries bends settles drifts spreads
slowly often mostly seldom again nearly early deep narrow broad steep hollow brittle damp"""
_MARKS = (". ", ". ", ", ", ", ", "; ", " (", ") ", ' "', '" ', "\n", " 1987 ", " 3.5 % ")
_WIDE = ("’", "–", "“", "”", "…")


def pair(number: int) -> tuple[str, str]:
    """The sentence and the passage with this number; other numbers have others."""
    return (
        f"Claim {number}: {_cut(number * 7919, SENTENCE_CHARS)}",
        f"Segment {number}: {_cut(number * 104_729, PASSAGE_CHARS)}",
    )


def window(number: int) -> tuple[str, str, list[str]]:
    """A question, an answer of 300 words or so, and ten nuggets, all of this number."""
    return (
        f"question {number}",
        f"Answer {number}: {_cut(number * 7919, ANSWER_CHARS)}",
        [_cut(number * 10_007 + i * 1_009, NUGGET_CHARS) for i in range(10)],
    )


def _cut(offset: int, size: int) -> str:
    text = _text()
    start = offset % (len(text) - size)
    return text[start : start + size]


@lru_cache(maxsize=1)
def _text() -> str:
    rng = random.Random(0)
    parts: list[str] = []
    for word in rng.choices(_PROSE.split(), k=120_000):
        draw = rng.random()
        mark = rng.choice(_MARKS) if draw < 0.12 else rng.choice(_WIDE) if draw > 0.995 else " "
        parts += (word, mark)
    return "".join(parts)
