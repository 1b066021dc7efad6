"""How well does a passage answer the question?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from annotated_types import Ge, Le

from ..backends.prompt import Twin
from ..records.judgements import Provenance
from . import lexical
from .base import Judge


class JudgeRelevance(dspy.Signature):  # type: ignore[misc]
    """Grade how well the passage answers the question.

    3: it is about the question and holds the whole answer. 2: it holds an answer, but unclear,
    incomplete or buried in other matter. 1: it is on the topic but does not answer.
    0: it has nothing to do with the question.
    """

    passage: str = dspy.InputField(desc="a retrieved passage")
    question: str = dspy.InputField(desc="what the user wants to know")
    grade: Annotated[int, Ge(0), Le(3)] = dspy.OutputField(desc="the grade")


class RelevanceJudge(Judge):
    """Grades one passage 0-3: `judge(question=, passage=).grade`.

    Source: arXiv:2406.06519 (UMBRELA), its four grades; 1 and more feeds nugget creation.
    """

    version = "1"
    twins: Mapping[str, Twin] = {"judge": lexical.judge_relevance}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.judge = dspy.Predict(JudgeRelevance)

    async def decide(self, *, question: str, passage: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        return dspy.Prediction(grade=(await self.label(question, passage))[0])

    async def label(self, question: str, passage: str) -> tuple[int, Provenance]:
        """The grade and where it came from."""
        reply = await self.ask("judge", passage=passage, question=question)
        return reply.values["grade"], reply.provenance
