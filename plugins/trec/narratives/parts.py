"""Which parts of a narrative does a passage answer? The judge asks about each separately."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from ....backends.adapter import without
from ....backends.errors import JudgeError
from ....backends.prompt import Baseline, Scorer
from ....judges.verdicts import Verdict, as_one
from ....records.judgements import Provenance, Reason, Unjudged
from ..settings import BEST_GRADE
from . import lexical
from .grades import PartAnswer, narrative_grade, split_parts
from .whole import NarrativeRelevanceJudge

Part = Verdict | Unjudged
_HALF_RELATED = 1 / (2 * BEST_GRADE)  # score of a passage that answers no part, but is about one


class JudgePart(dspy.Signature):  # type: ignore[misc]
    """Decide how the passage answers one part of a narrative.

    - Judge only the answer to this part. Use the narrative to understand the part and to know the
      topic.
    - A mere mention is not an answer in detail.
    - Other content in the passage does not change the label.
    """

    question: str = dspy.InputField(desc="the narrative: all that the user wants to know")
    passage: str = dspy.InputField(desc="a retrieved passage")
    title: str = dspy.InputField(
        desc="the title of the page that the passage is from; it only helps to understand it",
        default="",
    )
    sub_narrative: str = dspy.InputField(desc="the part of the narrative to judge")
    answer: PartAnswer = dspy.OutputField(desc="how the passage answers the part")


class PartwiseRelevanceJudge(NarrativeRelevanceJudge):
    """Grade a passage 0-4 from a label of each sub-narrative: `judge(...).grade`, `.parts`.

    There is one call for each sub-narrative, and `narrative_grade` computes the grade. If parts
    were not judged, the passage has a grade only if it is the same whatever their labels are. The
    score is the share of four parts that are answered. Evidence is that of the answered parts.

    Args:
        titles: show the title of a passage that has one. Part of the judge's identity.

    Raises, when asked: ValueError for an item without sub-narratives.
    Source: as NarrativeRelevanceJudge; asking about each part separately is ours.
    """

    version = "2"
    inputs = ("question", "sub_narratives", "passage")
    optional: tuple[str, ...] = ("title",)
    output = "answer"
    quotable: Mapping[str, str] = {"passage": "sub_narrative"}
    groundless = frozenset({PartAnswer.NONE.value})
    is_derived = True
    best_reply = PartAnswer.DETAILED
    baselines: Mapping[str, Baseline] = {"judge": lexical.judge_part}
    scorers: Mapping[str, Scorer] = {}

    def __init__(self, *args: Any, titles: bool = True, **options: Any) -> None:
        super().__init__(*args, titles=titles, **options)
        self.optional = ("title",) if titles else ()
        self.judge = dspy.Predict(JudgePart if titles else without(JudgePart, ("title",)))

    async def judge_items(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], tuple[Provenance, ...]]:
        """See ItemJudge: one call for each sub-narrative of the one item."""
        [item] = items
        parts = split_parts(item.get("sub_narratives", ""))
        if not parts:
            raise ValueError("wanted sub-narratives, which are judged each by itself; got none")
        outcomes = await asyncio.gather(*(self._part({**item, "sub_narrative": p}) for p in parts))
        calls = tuple(call for _, call in outcomes if call is not None)
        return [self._grade_passage([outcome for outcome, _ in outcomes], topic_id)], calls

    async def verdicts(
        self, items: Sequence[Mapping[str, str]], topic_id: str | None = None
    ) -> tuple[list[Verdict | Unjudged], Provenance]:
        """See ItemJudge; all calls as one."""
        judged, calls = await self.judge_items(items, topic_id)
        return judged, as_one(self.model_name, calls)

    def prediction(self, outcome: Verdict | Sequence[Verdict], **more: Any) -> dspy.Prediction:
        """See ItemJudge: the grade, with the labels of the parts."""
        of_item = super().prediction(outcome, **more)
        if isinstance(outcome, Verdict):
            of_item = of_item.without(self.output)
            of_item.grade, of_item.parts = int(outcome.label), outcome.parts
        return of_item

    def make_weighted_scorer(self, words: Mapping[str, float]) -> Scorer:
        """See ItemJudge. Raises: ValueError, because the score counts parts, not words."""
        raise ValueError(f"the {self.name} judge by parts has no lexical score to weight")

    async def _part(self, item: Mapping[str, str]) -> tuple[Part, Provenance | None]:
        """The outcome of one part. Raises: JudgeError at the limit of a budget."""
        inputs = {name: text for name, text in item.items() if name != "sub_narratives"}
        try:
            reply = await self.ask(self.predictor, **inputs)
        except JudgeError as error:
            if error.reason is Reason.BUDGET:
                raise
            return Unjudged(error.reason, error.detail, error.raw), None
        verdict = Verdict(str(reply.values[self.output]))
        if self.says_why:
            return self.add_explanation(verdict, reply, None, item), reply.provenance
        return verdict, reply.provenance

    def _grade_passage(
        self, judged_parts: Sequence[Part], topic_id: str | None
    ) -> Verdict | Unjudged:
        """The grade of a passage from the outcomes of its parts, if they settle it."""
        labels = [each.label if isinstance(each, Verdict) else None for each in judged_parts]
        n_answered, n_related, n_lost = map(labels.count, (*_DETAILED_AND_RELATED, None))
        grade = narrative_grade(n_answered, n_related)
        if grade != narrative_grade(n_answered + n_lost, n_related):
            lost = next(each for each in judged_parts if isinstance(each, Unjudged))
            what = f"{n_lost} of {len(judged_parts)} sub-narratives not judged: {lost.detail}"
            return lost._replace(detail=what)
        score = n_answered / BEST_GRADE or (_HALF_RELATED if n_related else 0.0)
        verdict = Verdict(str(grade), min(1.0, score))
        if self.correction is not None:
            verdict = self.correction.verdict(verdict, self.scale, topic_id)
        parts = {str(i): label for i, label in enumerate(labels, 1)}
        return verdict._replace(parts=parts, **_why(judged_parts, verdict.label != self.scale[0]))


_DETAILED_AND_RELATED = (PartAnswer.DETAILED.value, PartAnswer.RELATED.value)


def _why(parts: Sequence[Part], is_ground: bool) -> dict[str, Any]:
    """The quotes and rationales of the parts with the best label."""
    judged = [(i, each) for i, each in enumerate(parts, 1) if isinstance(each, Verdict)]
    best = next((x for x in _DETAILED_AND_RELATED if any(e.label == x for _, e in judged)), None)
    of_best = [(i, each) for i, each in judged if each.label == best or best is None]
    quotes = [each.evidence for _, each in of_best if each.evidence is not None and is_ground]
    rationales = [f"{i}. {each.rationale}" for i, each in of_best if each.rationale]
    return {
        "evidence": tuple(dict.fromkeys(q for quoted in quotes for q in quoted))
        if quotes
        else None,
        "rationale": " ".join(rationales) or None,
    }
