"""Which claims of an answer state a key point?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy

from ..backends.prompt import Scorer, Twin
from ..backends.replies.schema import KeyedBy
from ..metrics.answer_scores import CLAIM
from .items import ItemJudge
from .labels import ClaimMatch
from .lexical.entailment import judge_claims, nearest_point, score_claims

WINDOW = 10  # claims in one call


class JudgeClaims(dspy.Signature):  # type: ignore[misc]
    """Decide for each claim whether it expresses at least one of the key points.

    - The wording may differ. Detail that no key point contains does no harm.
    - A claim that contradicts every key point it is about, or is only about the same subject,
      expresses none.
    - A part of a key point counts only if the listed claims together express all of that point.
    - Use only the claims, not your own knowledge.
    """

    key_points: str = dspy.InputField(desc="the key points, numbered, one a line")
    claims: dict[str, str] = dspy.InputField(desc="single statements of an answer, by number")
    verdicts: Annotated[dict[str, ClaimMatch], KeyedBy("claims")] = dspy.OutputField(
        desc="one label for each number of the claims"
    )


class ClaimJudge(ItemJudge):
    """Says of claims whether they state a key point: `judge(key_points=, claims=[...]).verdicts`.

    The key points are one text, of `numbered`. One that is stated in part is not stated, as for
    EntailmentJudge; the parts of a long one may stand in several claims of a call.

    Args:
        window: claims of one answer in a call. Part of the judge's identity.

    Returns from a call: `verdicts`, yes or no for each claim in the order given, and `scores`.
    Source: arXiv:2410.23000 (Long2RAG) for the key points. Differs: the paper says of precision
        only that it is about the claims of the answer; the question is our reading.
    """

    version = "3"
    name = "claim"
    kind = "other"
    key = ("topic_id", "run_id")
    inputs = ("key_points", "claim")
    listed = "claim"
    quotable: Mapping[str, str] = {"claim": "key_points"}
    answer_type = ClaimMatch
    predictor, output = "judge", "verdicts"
    scale = tuple(label.value for label in ClaimMatch)
    gains: Mapping[str, float] = CLAIM
    twins: Mapping[str, Twin] = {"judge": judge_claims}
    scorers: Mapping[str, Scorer] = {"judge": score_claims}

    def __init__(self, *args: Any, window: int = WINDOW, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        self.judge = dspy.Predict(JudgeClaims)

    def looked_for(self, name: str, item: Mapping[str, str]) -> str:
        """See ExplainingJudge: the key point that is nearest to the claim."""
        return nearest_point(item["claim"], item["key_points"])

    async def decide(self, *, key_points: str, claims: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """All windows, one after the other."""
        items = [{"key_points": key_points, "claim": text} for text in claims]
        return self.prediction(await self.in_windows(items))


def numbered(key_points: Sequence[str]) -> str:
    """The key points as one text, one a line.

    >>> numbered(["wind moves a deck", "a damper slows it"])
    '1. wind moves a deck\\n2. a damper slows it'
    """
    lines = (" ".join(text.split()) for text in key_points)
    return "\n".join(f"{i}. {line}" for i, line in enumerate(lines, 1))
