"""Is a question one whose long answer has to be found in documents?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from annotated_types import Ge, Le

from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...records.judgements import Provenance
from ..base import Judge
from ..lexical import questions as lexical_questions

CRITERIA = ("clarity", "depth", "expertise", "sources", "objectivity")
LOWEST, HIGHEST = 1, 5
_Score = Annotated[int, Ge(LOWEST), Le(HIGHEST)]


class ScoreQuestion(dspy.Signature):  # type: ignore[misc]
    """Score the question on five criteria, each from 1 (not at all) to 5 (fully).

    Judge the question alone, and each criterion by itself. Do not answer the question.
    """

    question: str = dspy.InputField(desc="the question to score")
    clarity: _Score = dspy.OutputField(desc="it is understood alone, and in one way")
    depth: _Score = dspy.OutputField(desc="it wants paragraphs, not a name, a number or yes or no")
    expertise: _Score = dspy.OutputField(desc="it takes knowledge of a field, and reasoning")
    sources: _Score = dspy.OutputField(desc="a good answer has to look things up in documents")
    objectivity: _Score = dspy.OutputField(
        desc="facts decide it, not taste or belief, and answering does no harm"
    )


class QuestionScorer(Judge):
    """Scores a question 1-5 on five criteria: `judge(question=).scores`, by criterion.

    Source: arXiv:2410.23000 keeps seed questions by a model's scores on five criteria. Which they
        are is our reading, and the prompt is ours.
    """

    version = "1"
    twins: Mapping[str, Twin] = {"score": lexical_questions.score_question}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.score = dspy.Predict(ScoreQuestion)

    async def decide(self, *, question: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        return dspy.Prediction(scores=(await self.scores(question))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: the best scores, so that the question is kept."""
        return reply._replace(values=dict.fromkeys(CRITERIA, HIGHEST))

    async def scores(self, question: str) -> tuple[dict[str, int], list[Provenance]]:
        """The five scores in the order of CRITERIA, and the provenance of the call."""
        reply = await self.ask("score", question=question)
        return {name: reply.values[name] for name in CRITERIA}, [reply.provenance]
