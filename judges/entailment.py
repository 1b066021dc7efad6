"""Does the response state the key point?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy
from annotated_types import MaxLen

from ..backends.prompt import Twin
from ..backends.replies.schema import KeyedBy
from ..records.key_points import KEY_POINT_KIND, PointEntailment
from .items import ItemJudge
from .lexical.entailment import judge_point, judge_points, stated

_RULES = """\
- Find the words of the response that decide it, quote them, and then give the label.
- Use only the response, not your own knowledge."""
Quote = Annotated[str, MaxLen(300)]
_QUOTE = (
    "one sentence or less, copied word for word from the response; empty if the response says "
    "nothing about it"
)


class JudgePoint(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"Decide whether the response entails the key point.\n\n{_RULES}"

    response: str = dspy.InputField(desc="the text that may state the key point")
    key_point: str = dspy.InputField(desc="the key point to look for")
    evidence: Quote = dspy.OutputField(desc=f"the words that decide it, {_QUOTE}")
    verdict: PointEntailment = dspy.OutputField(desc="the label that follows from the evidence")


class JudgePoints(dspy.Signature):  # type: ignore[misc]
    __doc__ = (
        "Decide for each key point whether the response entails it, every point by itself."
        f"\n\n{_RULES}"
    )

    response: str = dspy.InputField(desc="the text that may state the key points")
    key_points: dict[str, str] = dspy.InputField(desc="the key points to look for, by number")
    evidence: Annotated[dict[str, Quote], KeyedBy("key_points")] = dspy.OutputField(
        desc=f"for each number the words that decide it, {_QUOTE}"
    )
    verdicts: Annotated[dict[str, PointEntailment], KeyedBy("key_points")] = dspy.OutputField(
        desc="for each number the label that follows from its evidence"
    )


class EntailmentJudge(ItemJudge):
    """Says yes, no or neutral of a key point: `judge(response=, key_point=).verdict`.

    Of several key points: `judge(response=, key_points=[...]).verdicts`, in their order. yes: the
    response states it; no: it contradicts it; neutral: it does neither. Only yes counts for recall.
    The model quotes what it goes by before it gives the label, always: `evidence` is on in this
    judge. A quote that does not stand in the response (judges/lexical/grounds.py) is recognised by
    `is_quoted` False, and the label stands.

    Args:
        window: key points of one response in a call. 1: pairs, each asked about alone, as in the
            paper. More: a list of key points in one prompt, which costs less and is another
            instrument; fit and measure it as such. Part of the judge's identity.

    Source: arXiv:2410.23000 (Long2RAG), its labels.
    """

    version = "3"
    name = "entailment"
    kind = "keypoints"
    key = KEY_POINT_KIND.key
    inputs = ("key_point", "response")
    source = "response"
    quotable: Mapping[str, str] = {"response": "key_point"}
    evidence: Mapping[str, str] = {"evidence": "response"}
    answer_type = PointEntailment
    groundless = frozenset(("neutral",))
    scale = KEY_POINT_KIND.labels
    gains: Mapping[str, float] = KEY_POINT_KIND.gains
    overlap = staticmethod(stated)
    twins: Mapping[str, Twin] = {"judge_one": judge_point, "judge_each": judge_points}

    def __init__(self, *args: Any, window: int = 1, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        if window == 1:
            self.predictor, self.output = "judge_one", "verdict"
            self.judge_one = dspy.Predict(JudgePoint)
        else:
            self.listed, self.predictor, self.output = "key_point", "judge_each", "verdicts"
            self.judge_each = dspy.Predict(JudgePoints)
        self.scorers = {self.predictor: self.weighted_scorer({})}

    async def decide(  # type: ignore[override]
        self,
        *,
        response: str,
        key_point: str | None = None,
        key_points: Sequence[str] | None = None,
    ) -> dspy.Prediction:
        """One call, or one for each window of key points, one after the other.

        Raises: ValueError unless there is either a key point or a list of them.
        """
        if (key_point is None) == (key_points is None):
            raise ValueError("wanted either key_point or key_points")
        if key_point is not None:
            only, _ = await self.verdict(key_point=key_point, response=response)
            return self.prediction(only)
        items = [{"key_point": text, "response": response} for text in key_points or ()]
        return self.prediction(await self.in_windows(items))
