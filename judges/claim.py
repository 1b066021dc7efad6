"""Which claims of an answer state a key point?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy

from ..backends.prompt import Scorer, Twin
from ..backends.reply import KeyedBy
from .items import ItemJudge
from .labels import YesNo
from .lexical.entailment import judge_claims, nearest_point, score_claims

WINDOW = 10  # claims in one call


class JudgeClaims(dspy.Signature):  # type: ignore[misc]
    """Decide for each claim whether it states at least one of the key points.

    yes: the claim states all of some key point, in any wording, or the point follows from it; or
    it states a part of one that these claims together state in full. no: some important part of
    the point is in none of them, or the claim contradicts the key points, adds what none of them
    says, or is only about the same matter.
    Go by the claims alone: what you know from elsewhere does not count.
    """

    key_points: str = dspy.InputField(desc="the key points, one a line, numbered")
    claims: dict[str, str] = dspy.InputField(desc="single statements of an answer, by number")
    verdicts: Annotated[dict[str, YesNo], KeyedBy("claims")] = dspy.OutputField(
        desc="one label per claim number"
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

    version = "2"
    name = "claim"
    kind = "other"
    key = ("topic_id", "run_id")
    inputs = ("key_points", "claim")
    listed = "claim"
    quotable: Mapping[str, str] = {"claim": "key_points"}
    answer_type = YesNo
    predictor, output = "judge", "verdicts"
    scale = tuple(label.value for label in YesNo)
    gains: Mapping[str, float] = {"no": 0.0, "yes": 1.0}
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
