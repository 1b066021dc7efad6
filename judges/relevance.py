"""How well does a passage answer the question?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from annotated_types import Ge, Le

from ..backends.gateway import Reply
from ..backends.prompt import Scorer, Twin
from ..records.labels.cells import RELEVANCE_KEY
from .items import ItemJudge
from .lexical import nuggets_and_citations as lexical
from .lexical.overlap import weighted_overlap


class JudgeRelevance(dspy.Signature):  # type: ignore[misc]
    """Grade how well the passage answers the question.

    3: it is about the question and holds the whole answer. 2: it holds an answer, but unclear,
    incomplete or buried in other matter. 1: it is on the topic but does not answer.
    0: it has nothing to do with the question.
    """

    passage: str = dspy.InputField(desc="a retrieved passage")
    question: str = dspy.InputField(desc="what the user wants to know")
    grade: Annotated[int, Ge(0), Le(3)] = dspy.OutputField(desc="the grade")


class RelevanceJudge(ItemJudge):
    """Grades one passage 0-3: `judge(question=, passage=).grade`.

    Source: arXiv:2406.06519 (UMBRELA), its four grades; 1 and more feeds nugget creation.
    """

    version = "1"
    name = "relevance"
    kind = "relevance"
    key = RELEVANCE_KEY
    inputs = ("question", "passage")
    source = "passage"
    quotable: Mapping[str, str] = {"passage": "question"}
    answer_type = int
    predictor, output = "judge", "grade"
    scale = ("0", "1", "2", "3")
    gains: Mapping[str, float] = {"0": 0.0, "1": 1 / 3, "2": 2 / 3, "3": 1.0}
    twins: Mapping[str, Twin] = {"judge": lexical.judge_relevance}
    scorers: Mapping[str, Scorer] = {"judge": lexical.score_relevance}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.judge = dspy.Predict(JudgeRelevance)

    def weighted_scorer(self, words: Mapping[str, float]) -> Scorer:
        """See ItemJudge: the weighted overlap of question and passage."""

        def score(inputs: Mapping[str, Any]) -> dict[str, Any]:
            return {"grade": weighted_overlap(inputs["question"], inputs["passage"], words)}

        return score

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: the best grade, so that the passage is used."""
        reply = super().at_most(inputs, reply)
        values = {**reply.values, "grade": int(self.scale[-1])}
        return reply._replace(values=values, scores={"grade": 1.0})

    async def decide(self, *, question: str, passage: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        found, _ = await self.verdict(question=question, passage=passage)
        return self.prediction(found)
