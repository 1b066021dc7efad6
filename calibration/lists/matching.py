"""Which items of a made list people's list states, and which of theirs the made one states."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...judges import ItemJudge, Verdict
from ...judges.calls import calls, judge_items
from ...judges.lexical.entailment import STATED, stated
from ...records.reading.problems import InputError
from .examples import ListExample

LEXICAL = "lexical"


class Match(NamedTuple):
    """For each item whether the other list states it; None: not judged.

    `unjudged`: how many, by reason; `n_calls`: how often a judge was asked.
    """

    made: tuple[bool | None, ...]
    wanted: tuple[bool | None, ...]
    unjudged: Counter[str] = Counter()  # noqa: RUF012  never written to
    n_calls: int = 0


@dataclass(frozen=True)
class _Comparison:
    """One item compared with the other list, as a judge of items is asked about it."""

    ids: Mapping[str, str]
    inputs: Mapping[str, str]


class Matcher:
    """Says what of two lists is stated in the other.

    Args:
        judge: who says it: a judge of items that looks for one text in another, which is the
            other list as a text, a line for each item. Its best label means stated. None: the
            lexical rule of the entailment judge, item by item: an item is stated if some item of
            the other list holds enough of its words.

    Raises: InputError for a judge that does not look for one text in another.
    """

    def __init__(self, judge: ItemJudge | None = None) -> None:
        self._judge = judge
        if judge is None:
            return
        sought = [name for name in judge.inputs if name not in (judge.source, "question")]
        if judge.source is None or len(sought) != 1:
            what = f"the {judge.name} judge does not look for one text in another"
            raise InputError(f"--match {judge.name}: {what}; take lexical or entailment")
        self._sought = sought[0]
        labels = judge.correction.labels if judge.correction is not None else None
        self._best = (labels or judge.scale)[-1]

    def check(self, example: ListExample) -> None:
        """Raise InputError if the judge is asked with a question, and the list has none."""
        if self._judge is not None and "question" in self._judge.inputs and not example.question:
            what = "is asked with a question, which these lists do not have; take entailment"
            raise InputError(f"--match {self._judge.name}: it {what}")

    @property
    def name(self) -> str:
        """For people: what matches."""
        judge = self._judge
        return LEXICAL if judge is None else f"{judge.name} by {judge.model_name or 'DSPy'}"

    async def match(self, example: ListExample, made: Sequence[str], concurrency: int = 8) -> Match:
        """Compare a made list with the wanted one, both ways.

        Raises: EndpointUnusable when no request can succeed.
        """
        sides = ((made, example.wanted), (example.wanted, made))
        if self._judge is None:
            made_too, wanted_too = (
                tuple(_is_stated(t, other) for t in own) for own, other in sides
            )
            return Match(made_too, wanted_too)
        items = [self._item(example, text, other) for own, other in sides for text in own if other]
        if not items:
            return Match((False,) * len(made), (False,) * len(example.wanted))
        verdicts = await judge_items(self._judge, items, concurrency=concurrency)
        reasons = Counter[str]()
        is_stated: list[bool | None] = []
        for outcome, _ in verdicts:
            if isinstance(outcome, Verdict):
                is_stated.append(outcome.label == self._best)
            else:
                is_stated.append(None)
                reasons[str(outcome.reason)] += 1
        n = len(made)
        n_calls = len(calls(self._judge, items))
        return Match(tuple(is_stated[:n]), tuple(is_stated[n:]), reasons, n_calls)

    def _item(self, example: ListExample, text: str, other: Sequence[str]) -> _Comparison:
        assert self._judge is not None
        assert self._judge.source is not None
        texts = {self._judge.source: "\n".join(other), self._sought: text}
        if "question" in self._judge.inputs:
            texts["question"] = example.question
        inputs = {name: texts[name] for name in self._judge.inputs}
        return _Comparison(example.ids, inputs)


def _is_stated(text: str, other: Sequence[str]) -> bool:
    return any(stated(text, item) >= STATED for item in other)
