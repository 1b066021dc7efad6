"""A verifier: uncertain labels are judged again by a judge that must quote."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import dspy

from ...backends.errors import JudgeError
from ...records.judgements import Provenance, Unjudged
from ...records.kinds import FIRST, VERIFIED, VERIFIER
from ..items import ItemJudge
from ..lexical.grounds import spans
from ..verdicts import Verdict
from .cascade import Cascade
from .jury import Followed, Jury, with_input

VERSION = "1"  # raised when the combination of the two labels changes
PARTS = "parts_in_question"
DESC = (
    "parts of the texts above or below, word for word, that a first look went by; they may decide "
    "the label, say the opposite, or leave out what does"
)
_OF_BOTH = ("name", "kind", "key", "inputs", "source", "listed", "scale", "is_ordered")
_OF_FIRST = (*_OF_BOTH, "optional", "window")
_OF_VERIFIER = ("answer_type", "gains", "quotable", "groundless", "output")  # a jury lacks some


class Verified(Followed):
    """A judge with a verifier: `judge(sentence=, passage=)` has label, score, votes.

    Args:
        first: gives every label; a judge, or a jury.
        verifier: a judge of the same kind, asked once about an item whose label is uncertain. It
            sees the words that the first judge quoted or, if they are not found in the texts, the
            sentences with most of the relevant words. It does not see the label.
        score: verify labels whose score is in this range, two numbers in [0, 1]; a label
            without a score has its position on the scale.
        labels: verify these labels.
        spread: verify if votes of a jury are at least this many steps of the scale apart, >= 1.

    The label changes only if the verifier gives another one and quotes words that are found: in the
    source (the passage), or in any judged text for a label that needs no evidence there (none).
    Score, probabilities and evidence are then the verifier's. `votes` has both labels, `first` and
    `verifier`, if the verifier was asked. It is not asked if there is nothing to show it. If it
    fails, the items of the call fail with its reason: an uncertain label is not kept without it.

    Raises: ValueError for judges that differ in what they judge or cannot quote, for no condition,
        or for a condition that is never met. JudgeError from a call, if there is no judgement.

    >>> from nuggetjudge.judges import SupportJudge
    >>> judge = Verified(SupportJudge("lexical"), SupportJudge("lexical"), labels=["full"])
    >>> judged = judge(sentence="Wind sways bridges.", passage="Wind sways bridges.")
    >>> judged.label, judged.votes
    ('full', {'first': 'full', 'verifier': 'full'})
    """

    role = VERIFIER

    def __init__(
        self,
        first: ItemJudge,
        verifier: ItemJudge,
        *,
        score: tuple[float, float] | None = None,
        labels: Collection[str] = (),
        spread: int | None = None,
    ) -> None:
        super().__init__()
        if isinstance(first, Verified | Cascade) or isinstance(verifier, Verified | Cascade | Jury):
            raise ValueError("wanted a judge or a jury, verified once by a single judge")
        for shared in _OF_BOTH:
            got, wanted = getattr(verifier, shared), getattr(first, shared)
            if got != wanted:
                raise ValueError(f"the verifier: {shared} is {got!r}, the judge has {wanted!r}")
        self.first = first
        self.verifier = with_input(verifier.explaining(evidence=True), PARTS, DESC)
        for judge, names in ((first, _OF_FIRST), (verifier, _OF_VERIFIER)):
            for name in names:
                setattr(self, name, getattr(judge, name))
        self.definition = getattr(first, "definition", None)  # of a custom judge
        self.version = f"{first.version}+verified{VERSION}"
        self.score = score
        self.labels = tuple(label for label in self.scale if label in labels)
        self.spread = spread
        self._check(labels)

    def _check(self, labels: Collection[str]) -> None:
        if unknown := sorted(set(labels) - set(self.scale)):
            raise ValueError(f"labels: {unknown[0]!r} is not one of {', '.join(self.scale)}")
        if self.score is None and not self.labels and self.spread is None:
            raise ValueError("wanted a condition for uncertain labels: score, labels or spread")
        if self.score is not None:
            low, high = self.score
            if not 0 <= low <= high <= 1:
                raise ValueError(f"score: wanted two numbers from 0 to 1, got {low:g}, {high:g}")
            if not self.is_ordered:
                raise ValueError("score: labels without an order have no score")
        if self.spread is not None and not (isinstance(self.first, Jury) and self.spread >= 1):
            raise ValueError("spread: wanted 1 or more, for the votes of a jury")

    def is_unsure(self, verdict: Verdict) -> bool:
        """Return whether a label of the first judge must be verified.

        Args:
            verdict: the verdict of the first judge.

        Returns: True if it meets one of the conditions: score, labels or spread.
        """
        if verdict.label in self.labels:
            return True
        if self.score is not None:
            position = self.scale.index(verdict.label) / (len(self.scale) - 1)
            score = position if verdict.score is None else verdict.score
            if self.score[0] <= score <= self.score[1]:
                return True
        if self.spread is None:
            return False
        codes = [self.scale.index(label) for label in (verdict.votes or {}).values() if label]
        away = max(codes) - min(codes) if self.is_ordered else len(set(codes)) - 1
        return away >= self.spread

    async def judge_items(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], tuple[Provenance, ...]]:
        """See ItemJudge. Returns the calls of the first judge, then the verifier's."""
        verdicts, calls = await self.first.judge_items(items, topic_id)
        both = zip(items, verdicts, strict=True)
        verified = await asyncio.gather(*(self._verify(*each, topic_id) for each in both))
        more = tuple(call for _, call in verified if call is not None)
        return [verdict for verdict, _ in verified], (*calls, *more)

    def prediction(self, outcome: Verdict | Sequence[Verdict], **more: Any) -> dspy.Prediction:
        """See ItemJudge. Adds `votes`: None if a label was not verified."""
        if isinstance(outcome, Verdict):
            return super().prediction(outcome, votes=outcome.votes, **more)
        return super().prediction(outcome, votes=[each.votes for each in outcome], **more)

    @property
    def second(self) -> ItemJudge:
        """See Followed."""
        return self.verifier

    @property
    def model_name(self) -> str:
        """See ItemJudge: the models of both."""
        return f"{self.first.model_name} verified by {self.verifier.model_name}"

    async def _verify(
        self, item: Mapping[str, str], first: Verdict | Unjudged, topic_id: str | None
    ) -> tuple[Verdict | Unjudged, Provenance | None]:
        """The final outcome of one item, and the call of the verifier if it was asked."""
        if isinstance(first, Unjudged) or not self.is_unsure(first):
            return first, None
        if not (shown := "\n".join(self._parts(item, first))):
            return first, None
        try:
            second, call = await self.verifier.verdict(topic_id, **{**item, PARTS: shown})
        except JudgeError as error:
            what = f"verifier: {error.detail} (first: {first.label})"
            raise JudgeError(error.reason, what, error.raw) from None
        votes = {**(first.votes or {}), FIRST: first.label, VERIFIER: second.label}
        stands = second if second.label != first.label and self._is_grounded(second) else first
        before = None if stands is first else first.label
        return stands._replace(votes=votes, method=VERIFIED, superseded=before), call

    def _is_grounded(self, verdict: Verdict) -> bool:
        """Whether it has a quote that was found; from the source, if the label needs evidence."""
        wanted = self._sources if self.needs_evidence(verdict.label) else self.quotes
        return any(each.is_quoted and each.of in wanted for each in verdict.evidence or ())

    @property
    def _sources(self) -> Collection[str]:
        return self.quotes if self.source is None else (self.source,)

    def _parts(self, item: Mapping[str, str], verdict: Verdict) -> list[str]:
        """The words that the first label quotes, or the sentences nearest to the question."""
        evidence = [each for each in verdict.evidence or () if each.of in self._sources]
        parts = [each.quote for each in evidence if each.is_quoted]
        if not parts:
            for name in self._sources:
                offsets = spans(self.choose_sought_text(name, item), item[name])
                parts += [item[name][start:end] for start, end in offsets]
        return list(dict.fromkeys(parts))
