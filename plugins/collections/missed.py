"""Why does an answer miss a key point: is it incomplete, too general, or missing?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from ...backends.prompt import Baseline, Scorer
from ...judges.items import ItemJudge
from ...judges.lexical.keypoints import measure_stated
from ...judges.lexical.overlap import content_words
from ...judges.lexical.segments import sentences
from ...records.rows import Label


class MissReason(Label):
    """Why a key point is not stated in full (arXiv:2410.23000, section 6.1)."""

    MISSING = (
        "missing",
        "the response says nothing that the key point says; this includes a response that only "
        "shares its subject, or contradicts it",
    )
    GENERAL = (
        "general",
        "the response says what the key point says only in vague or general words, without any of "
        "its specific details",
    )
    INCOMPLETE = (
        "incomplete",
        "the response states at least one specific detail of the key point, and another part of "
        "the key point is missing",
    )


class JudgeMissedPoint(dspy.Signature):  # type: ignore[misc]
    """Decide why the response does not state the key point in full.

    - Compare the key point with the words of the response that come nearest to it.
    - Use only the response, not your own knowledge.
    """

    response: str = dspy.InputField(desc="the answer that does not state the key point in full")
    key_point: str = dspy.InputField(desc="the key point that it should state")
    verdict: MissReason = dspy.OutputField(desc="the label that fits")


GENERAL_FROM, INCOMPLETE_FROM = 0.2, 0.4  # of a point's words and letters; not fitted


def judge_missed_point(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """By the share of the key point's words and letters that the nearest sentence has."""
    point = inputs["key_point"]
    spoken = sentences(inputs["response"])
    nearest = max(spoken, key=lambda text: measure_stated(point, text), default="")
    share = measure_stated(point, nearest) if nearest else 0.0
    if share < GENERAL_FROM or not content_words(point) & content_words(nearest):
        return {"verdict": MissReason.MISSING}
    is_part = share >= INCOMPLETE_FROM
    return {"verdict": MissReason.INCOMPLETE if is_part else MissReason.GENERAL}


class MissedPointJudge(ItemJudge):
    """Says why a response misses a key point: `judge(response=, key_point=).verdict`.

    missing, general or incomplete. Ask it about key points that the response does not state.

    Source: arXiv:2410.23000, section 6.1, where people gave these three reasons.
    """

    version = "1"
    name = "missed_point"
    kind = "other"
    key = ("topic_id", "run_id", "key_point_id")
    inputs = ("key_point", "response")
    source = "response"
    quotable: Mapping[str, str] = {"response": "key_point"}
    answer_type = MissReason
    groundless = frozenset((MissReason.MISSING.value,))
    predictor, output = "judge", "verdict"
    scale = tuple(label.value for label in MissReason)
    gains: Mapping[str, float] = {}
    baselines: Mapping[str, Baseline] = {"judge": judge_missed_point}
    scorers: Mapping[str, Scorer] = {}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.judge = dspy.Predict(JudgeMissedPoint)

    async def decide(self, *, response: str, key_point: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        verdict, _ = await self.verdict(key_point=key_point, response=response)
        return self.prediction(verdict)
