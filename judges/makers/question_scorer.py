"""Is a question one to start a collection of long answers from?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy

from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...records.judgements import Provenance
from ..base import Judge
from ..labels import YesNo
from ..lexical import questions as lexical_questions

CRITERIA = ("uncommon", "clear", "unambiguous", "complex", "opinion")


class ScoreQuestion(dspy.Signature):  # type: ignore[misc]
    """Decide for each of five criteria whether the question meets it.

    - Judge the question as it is written, and each criterion separately.
    - Do not answer the question.
    """

    question: str = dspy.InputField(desc="the question to judge")
    uncommon: YesNo = dspy.OutputField(
        desc="yes if neither common knowledge nor one simple search answers the question"
    )
    clear: YesNo = dspy.OutputField(desc="yes if the question's topic and its scope are clear")
    unambiguous: YesNo = dspy.OutputField(
        desc="yes if the question has only one interpretation and every reference in it is clear"
    )
    complex: YesNo = dspy.OutputField(
        desc="yes if the question needs deep thought, several reasoning steps or a long explanation"
    )
    opinion: YesNo = dspy.OutputField(
        desc="yes if the question asks for a personal view or judgement"
    )


class QuestionScorer(Judge):
    """Gives a question a point for each criterion met: `judge(question=).scores`, 0 or 1 by name.

    Source: arXiv:2410.23000, appendix B, whose five criteria these are; a seed question needs at
        least 4 of the 5 points. Differs: one label a criterion, where the paper asks for the sum.
    """

    version = "3"
    twins: Mapping[str, Twin] = {"score": lexical_questions.score_question}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.score = dspy.Predict(ScoreQuestion)

    async def decide(self, *, question: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        return dspy.Prediction(scores=(await self.scores(question))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: all points, so that the question is kept."""
        return reply._replace(values=dict.fromkeys(CRITERIA, YesNo.YES))

    async def scores(self, question: str) -> tuple[dict[str, int], list[Provenance]]:
        """The five points, each 0 or 1, in the order of CRITERIA, and the call's provenance."""
        reply = await self.ask("score", question=question)
        points = {name: int(reply.values[name] == YesNo.YES) for name in CRITERIA}
        return points, [reply.provenance]
