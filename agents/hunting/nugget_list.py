"""The nuggets of one hunt: each once, with all spans of passages that state it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from ...judges.items import ItemJudge
from ...judges.lexical.entailment import STATED, stated
from ..tools import Tools

Dedupe = Literal["entailment", "words"]


@dataclass
class VerifiedNugget:
    """A nugget whose sources were verified.

    Attributes:
        sources: where it stands: docid, start, end, query, round; at least one.
        facets: indices of the facets whose search found it. because: paths of what verified it.
    """

    text: str
    sources: list[dict[str, Any]]
    facets: set[int] = field(default_factory=set)
    because: list[str] = field(default_factory=list)

    def join(self, other: VerifiedNugget) -> None:
        """Take over what another nugget that says the same rests on."""
        spans = {(source["docid"], source["start"], source["end"]) for source in self.sources}
        for source in other.sources:
            if (source["docid"], source["start"], source["end"]) not in spans:
                self.sources.append(source)
        self.facets |= other.facets
        self.because += other.because


class NuggetList:
    """Nuggets in the order in which they were found, none of them twice.

    Two are one where each states the other: as the entailment judge says, which is asked of the
    known one that shares most words with a new one, or by their words alone.

    Args:
        judge: who says whether one nugget states another.
        dedupe: words: by the lexical rule of that judge, of all known ones, without a call.
    """

    def __init__(self, judge: ItemJudge, dedupe: Dedupe) -> None:
        self.nuggets: list[VerifiedNugget] = []
        self.n_merged = 0
        self._judge = judge
        self._dedupe = dedupe

    @property
    def texts(self) -> list[str]:
        """Of all nuggets, in their order."""
        return [nugget.text for nugget in self.nuggets]

    def of_facet(self, facet: int) -> int:
        """How many nuggets a facet's searches found."""
        return sum(facet in nugget.facets for nugget in self.nuggets)

    def least_calls(self, text: str) -> int:
        """How many calls `add` makes at most."""
        same_words = any(_plain(text) == _plain(other) for other in self.texts)
        by_words = self._dedupe == "words" or same_words
        return 0 if by_words or self._nearest(text) is None else 2

    async def add(self, new: VerifiedNugget, tools: Tools) -> bool:
        """Add a nugget, or join it to the one that says the same; whether it was added.

        Raises: JudgeError where a call gave no judgement.
        """
        same = await self._same(new.text, tools)
        if same is None:
            self.nuggets.append(new)
            return True
        self.n_merged += 1
        same.join(new)
        return False

    async def _same(self, text: str, tools: Tools) -> VerifiedNugget | None:
        for nugget in self.nuggets:
            if _plain(nugget.text) == _plain(text):
                return nugget
        if self._dedupe == "words":
            both = ((nugget, min(_shares(text, nugget.text))) for nugget in self.nuggets)
            best = max(both, key=lambda pair: pair[1], default=None)
            return best[0] if best is not None and best[1] >= STATED else None
        near = self._nearest(text)
        if near is None or not await self._states(near.text, text, tools):
            return None
        return near if await self._states(text, near.text, tools) else None

    def _nearest(self, text: str) -> VerifiedNugget | None:
        """The known nugget that shares most with a text; None: none shares anything."""
        shares = ((max(_shares(text, nugget.text)), nugget) for nugget in self.nuggets)
        share, nugget = max(shares, key=lambda pair: pair[0], default=(0.0, None))
        return nugget if share > 0 else None

    async def _states(self, text: str, point: str, tools: Tools) -> bool:
        inputs = {"key_point": point, "response": text}
        verdict, _ = await tools.judge(self._judge, inputs, {"nugget": point, "in": text})
        return verdict.label == best_label(self._judge)


def best_label(judge: ItemJudge) -> str:
    """The label of a judge that means yes, whole, full."""
    fitted = judge.correction.labels if judge.correction is not None else None
    return (fitted or judge.scale)[-1]


def _shares(one: str, other: str) -> tuple[float, float]:
    return stated(one, other), stated(other, one)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(". ")
