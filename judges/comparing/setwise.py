"""Which of a few passages answers the question best?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import dspy

from ...backends.errors import JudgeOutputError
from ...backends.prompt import Twin
from ...records.judgements import Provenance, Reason
from ..base import Judge
from ..lexical import ranking as lexical_ranking


class PickPassage(dspy.Signature):  # type: ignore[misc]
    """Pick the passage that answers the question best.

    - A passage that contains the answer is better than one that is only about the topic.
    - The order in which the passages are given has no meaning.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    passages: dict[str, str] = dspy.InputField(desc="the passages to choose from, by number")
    best: int = dspy.OutputField(desc="the number of the best passage")


class SetwiseRanker(Judge):
    """Picks the best passage of a set: `judge(question=, passages=[...]).best`, its index from 0.

    For the best ten of many see retrieval.windows.setwise_top.

    Raises: JudgeError, also for a number that no passage has (unparseable). ValueError for fewer
        than 2 passages.
    Source: arXiv:2310.09497 (Setwise). The prompt is ours.
    """

    version = "2"
    twins: Mapping[str, Twin] = {"pick": lexical_ranking.best_passage}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.pick = dspy.Predict(PickPassage)

    async def decide(self, *, question: str, passages: Sequence[str]) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        return dspy.Prediction(best=(await self.best(question, passages))[0])

    async def best(self, question: str, passages: Sequence[str]) -> tuple[int, Provenance]:
        """The index of the best passage, and the provenance of the call."""
        if len(passages) < 2:
            raise ValueError(f"wanted 2 or more passages to choose from, got {len(passages)}")
        numbered = {str(number): text for number, text in enumerate(passages, 1)}
        reply = await self.ask("pick", question=question, passages=numbered)
        number = reply.values["best"]
        if not 1 <= number <= len(passages):
            detail = f"picked {number}, wanted 1 to {len(passages)}"
            raise JudgeOutputError(Reason.UNPARSEABLE, detail, str(reply.values))
        return number - 1, reply.provenance
