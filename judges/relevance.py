"""How well does a passage answer the question?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from annotated_types import Ge, Le

from ..backends.adapter import without
from ..backends.gateway import Reply
from ..backends.prompt import Baseline, Scorer
from ..backends.replies.schema import Graded
from ..records.relevance import RELEVANCE_KIND, RelevanceGrade
from .items import ItemJudge
from .lexical import overlap as lexical
from .lexical.overlap import weigh_overlap


class JudgeRelevance(dspy.Signature):  # type: ignore[misc]
    """Grade how well the passage answers the question.

    - Consider the likely intent behind the question.
    - Weigh how well the passage meets that intent and how far its content can be trusted.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    passage: str = dspy.InputField(desc="a retrieved passage")
    title: str = dspy.InputField(
        desc="the title of the page that the passage is from; it only helps to understand it",
        default="",
    )
    grade: Annotated[int, Ge(0), Le(3), Graded(RelevanceGrade)] = dspy.OutputField(
        desc="how well the passage answers the question, from 0 to 3"
    )


class RelevanceJudge(ItemJudge):
    """Grade one passage 0-3: `judge(question=, passage=, title="").grade`.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        titles: show the title of a passage that has one. Part of the judge's identity.

    Raises: JudgeError from a call, if there is no judgement.
    Source: arXiv:2406.06519 (UMBRELA), its four grades. Nuggets are made from grade 1 on.

    >>> RelevanceJudge("lexical")(question="Why do bridges sway?", passage="Bees dance.").grade
    0
    """

    version = "3"
    name = "relevance"
    kind = "relevance"
    key = RELEVANCE_KIND.key
    inputs: tuple[str, ...] = ("question", "passage")
    optional: tuple[str, ...] = ("title",)
    source = "passage"
    quotable: Mapping[str, str] = {"passage": "question"}
    answer_type = int
    predictor, output = "judge", "grade"
    scale: tuple[str, ...] = RELEVANCE_KIND.labels
    gains: Mapping[str, float] = RELEVANCE_KIND.gains
    best_reply: Any = 3
    overlap = staticmethod(weigh_overlap)
    baselines: Mapping[str, Baseline] = {"judge": lexical.judge_relevance}
    scorers: Mapping[str, Scorer] = {"judge": lexical.score_relevance}

    def __init__(self, *args: Any, titles: bool = True, **options: Any) -> None:
        super().__init__(*args, **options)
        self.optional = ("title",) if titles else ()
        self.judge = dspy.Predict(JudgeRelevance if titles else without(JudgeRelevance, ("title",)))

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: the best grade, so that the dry run uses the passage."""
        reply = super().at_most(inputs, reply)
        values = {**reply.values, self.output: self.best_reply}
        return reply._replace(values=values, scores={self.output: 1.0})
