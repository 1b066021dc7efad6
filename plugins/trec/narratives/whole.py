"""How much of a narrative does a passage answer?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import dspy
from annotated_types import Ge, Le

from ....backends.adapter import without
from ....backends.prompt import Baseline, Scorer
from ....backends.replies.schema import Graded
from ....judges.relevance import RelevanceJudge
from ..settings import BEST_GRADE, GAINS
from . import lexical
from .grades import NarrativeGrade


class JudgeNarrative(dspy.Signature):  # type: ignore[misc]
    """Grade how many parts of the narrative the passage answers in detail.

    - The parts are the listed sub-narratives. If none are listed, they are the separate things
      that the narrative asks for.
    - A part is answered in detail if the passage gives facts, reasons or examples for it. A mere
      mention does not count.
    - Other content in the passage does not change the grade.
    """

    question: str = dspy.InputField(desc="the narrative: what the user wants to know")
    sub_narratives: str = dspy.InputField(
        desc="the parts of the narrative, numbered, one a line", default=""
    )
    passage: str = dspy.InputField(desc="a retrieved passage")
    title: str = dspy.InputField(
        desc="the title of the page that the passage is from; it only helps to understand it",
        default="",
    )
    grade: Annotated[int, Ge(0), Le(4), Graded(NarrativeGrade)] = dspy.OutputField(
        desc="how many parts the passage answers in detail, as a grade from 0 to 4"
    )


class NarrativeRelevanceJudge(RelevanceJudge):
    """Grade a passage 0-4: `judge(question=, passage=, sub_narratives="", title="").grade`.

    The sub-narratives are one text with a line for each (`records.topics.number_texts`). Without
    them, the model divides the narrative itself.

    Args:
        titles: show the title of a passage that has one. Part of the judge's identity.

    Source: guidelines of the TREC 2025 RAG track, relevance assessments: 0 not relevant, 1 related,
        2 one part of the narrative, 3 two or three, 4 four or more.
    """

    version = "2"
    optional: tuple[str, ...] = ("sub_narratives", "title")
    scale = tuple(GAINS)
    gains: Mapping[str, float] = GAINS
    best_reply: Any = BEST_GRADE
    baselines: Mapping[str, Baseline] = {"judge": lexical.judge_narrative}
    scorers: Mapping[str, Scorer] = {"judge": lexical.score_narrative}

    def __init__(self, *args: Any, titles: bool = True, **options: Any) -> None:
        super().__init__(*args, titles=titles, **options)
        self.optional = ("sub_narratives", *self.optional)
        self.judge = dspy.Predict(JudgeNarrative if titles else without(JudgeNarrative, ("title",)))
