"""The parts of a report: its length, the units within the limit, headings and table rows."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import takewhile

from ....records.answers import is_table_row
from ....records.rows import Answer, Sentence
from ..settings import ArgueConfig


@dataclass(frozen=True)
class Parts:
    """The parts of a report.

    Attributes:
        words: the number of words summed over its units, as TREC RAG 2026 counts.
        characters: the number of characters of its text after NFKC, as RAGTIME's limits count.
        is_over: True if it is longer than allowed.
        kept: the units that are judged, from the first.
    """

    words: int
    characters: int
    is_over: bool
    kept: tuple[Sentence, ...]

    @property
    def claims(self) -> list[Sentence]:
        """Return the kept units that make a claim, including rows of tables."""
        return [unit for unit in self.kept if unit.makes_claim]

    @property
    def headings(self) -> int:
        """Return the number of kept units that make no claim: headings, table heads and rules."""
        return sum(unit.is_heading for unit in self.kept)

    @property
    def table_rows(self) -> int:
        """Return the number of claims that are rows of tables."""
        return sum(is_table_row(unit.text) for unit in self.claims)


def split_parts(answer: Answer, settings: ArgueConfig) -> Parts:
    """Split a report into parts, under the limit of these settings."""
    units = answer.sentences
    is_over = settings.limit is not None and _length(units, settings) > settings.limit
    kept = units
    if is_over and settings.over == "cut":
        limit = settings.limit or 0
        fits = takewhile(lambda n: _length(units[:n], settings) <= limit, range(1, len(units) + 1))
        kept = units[: max(fits, default=0)]
    elif is_over and settings.over == "reject":
        kept = ()
    return Parts(_words(units), _characters(units), is_over, kept)


def _length(units: tuple[Sentence, ...], settings: ArgueConfig) -> int:
    return _words(units) if settings.unit == "words" else _characters(units)


def _words(units: tuple[Sentence, ...]) -> int:
    return count_summed_words([unit.text for unit in units])


def _characters(units: tuple[Sentence, ...]) -> int:
    return len(unicodedata.normalize("NFKC", " ".join(unit.text for unit in units)))


def count_summed_words(texts: Iterable[str]) -> int:
    """Count the words of an answer, summed over its objects, without NFKC.

    Source: TREC RAG 2026 guidelines of July 2026, `sum(len(item["text"].split()) ...)`; headings
        and rows of tables count, too, and reports of more than 1,024 words are rejected.

    >>> count_summed_words(["# Tides", "The moon pulls the sea."])
    7
    """
    return sum(len(text.split()) for text in texts)
