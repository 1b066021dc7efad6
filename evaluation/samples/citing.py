"""What answers cite of their contexts, counted, so that a score of 0 has a reason that is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .fields import Sample
from .marks import mark_like

FORMS = "[1], [1, 3], 【1】, [Source 1], (1), superscripts, or the id of a context in brackets"


@dataclass
class Citing:
    """Counts of the answers that have contexts, and where the first of a kind stands.

    Attributes:
        n_answers: how many there are. n_from_zero: of them those whose `[0]` is the first context.
        n_uncited: those that cite nothing. unread: what looks like a mark in the first of those
            that have something, and where.
        n_not_given: citations of contexts that are not there.
    """

    n_answers: int = 0
    n_from_zero: int = 0
    n_uncited: int = 0
    unread: str = ""
    first_uncited: str = ""
    n_not_given: int = 0
    first_not_given: str = ""

    def count(
        self, sample: Sample, first: int, cited: Sequence[Sequence[int | str]], missing: list[str]
    ) -> None:
        """Count one answer: the number of its first context, and what its sentences cite."""
        if not sample.contexts or not sample.answer.strip():
            return
        self.n_answers += 1
        self.n_from_zero += not first
        if not any(cited):
            self.n_uncited += 1
            self.first_uncited = self.first_uncited or sample.location
            if not self.unread and (like := mark_like(sample.answer)):
                self.unread = f"{like!r} in {sample.location}"
        if missing:
            self.n_not_given += sum(name in missing for each in cited for name in each)
            self.first_not_given = self.first_not_given or sample.location

    def doubts(self) -> Iterator[str]:
        """What a user should know of them, a line each."""
        if self.n_uncited:
            which = f"{self.n_uncited:,} of {self.n_answers:,} answers cite none of their contexts"
            unread = f"{self.unread} was not read as a citation; " if self.unread else ""
            yield f"{which}, first {self.first_uncited}, so support is 0; {unread}read are {FORMS}"
        if self.n_not_given:
            yield (
                f"{self.n_not_given:,} citations name a context that is not there, first in "
                f"{self.first_not_given}; they count as no support"
            )
        if 0 < self.n_from_zero < self.n_answers:
            yield (
                f"{self.n_from_zero:,} of {self.n_answers:,} answers have [0] and are read as "
                "counting contexts from 0, the others from 1; if all count from 0, give them marks "
                "from [1]"
            )
