"""How much of a narrative does a passage answer?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from annotated_types import Ge, Le

from ...backends.adapter import without
from ...backends.prompt import Scorer, Twin
from ...metrics.instruments.narratives import BEST_GRADE
from ..lexical import narratives as lexical
from ..relevance import RelevanceJudge


class JudgeNarrative(dspy.Signature):  # type: ignore[misc]
    """Grade how much of what the narrative asks for the passage answers.

    A narrative has several parts: its sub-narratives where they are listed, else the things that
    it plainly asks for. Count the parts that the passage answers in detail, with facts, reasons or
    examples rather than in passing.
    4: four parts or more. 3: two or three. 2: one. 1: it is on the subject but answers no part in
    detail. 0: it has nothing to do with it.
    Where far more of the passage is about other matter, give one grade less, but not below 1.
    """

    passage: str = dspy.InputField(desc="a retrieved passage")
    title: str = dspy.InputField(desc="title of the page that it is from", default="")
    question: str = dspy.InputField(desc="the narrative: what the user wants to know")
    sub_narratives: str = dspy.InputField(desc="its parts, one a line, numbered", default="")
    grade: Annotated[int, Ge(0), Le(4)] = dspy.OutputField(desc="the grade")


class NarrativeRelevanceJudge(RelevanceJudge):
    """Grades one passage 0-4: `judge(question=, passage=, sub_narratives="", title="").grade`.

    The sub-narratives are one text, a line each (`records.instruments.sub_narratives.numbered`).
    Without them the model takes the narrative apart by itself.

    Args:
        titles: show the title of a passage that has one. Part of the judge's identity.

    Source: guidelines of the TREC 2025 RAG track, relevance assessments: 0 not relevant, 1 related,
        2 one part of the narrative, 3 two or three, 4 four or more.
    """

    version = "1"
    optional: tuple[str, ...] = ("sub_narratives", "title")
    scale = tuple(map(str, range(BEST_GRADE + 1)))
    gains: Mapping[str, float] = {str(n): n / BEST_GRADE for n in range(BEST_GRADE + 1)}
    best_reply: Any = BEST_GRADE
    twins: Mapping[str, Twin] = {"judge": lexical.judge_narrative}
    scorers: Mapping[str, Scorer] = {"judge": lexical.score_narrative}

    def __init__(self, *args: Any, titles: bool = True, **options: Any) -> None:
        super().__init__(*args, titles=titles, **options)
        self.optional = ("sub_narratives", *self.optional)
        self.judge = dspy.Predict(JudgeNarrative if titles else without(JudgeNarrative, ("title",)))
