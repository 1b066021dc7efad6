"""Which criteria of a rubric does an answer meet?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy

from ...backends.prompt import Scorer, Twin
from ...backends.reply import KeyedBy
from ...metrics.instruments.rubrics import CRITERION_GAINS
from ...records.labels.cells import CRITERION_KEY
from ..items import ItemJudge
from ..labels import BinaryCriterionMatch, CriterionMatch
from ..lexical import criteria as lexical
from ..lexical.overlap import weighted_overlap

WINDOW = 10  # criteria in one call, as in RAGDoll; ResearchRubrics asks about one at a time

_FAULTS = """\
A criterion may name a fault. It is then met when the response has the fault.
Judge each criterion by itself, as it is worded, and by the response alone: what you know from
elsewhere, how long it is and how it reads count only where the criterion says so."""


class GradeCriteria(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"""Decide for each criterion how far the response meets it.

met: all that the criterion asks for is there, in any wording. partly: some of it is there, or all
of it so vaguely that a reader gets only part. not_met: it is missing, or wrong where it stands.
{_FAULTS}"""

    question: str = dspy.InputField(desc="what the response is to")
    response: str = dspy.InputField(desc="the text being graded")
    criteria: dict[str, str] = dspy.InputField(desc="what to look for, by number")
    verdicts: Annotated[dict[str, CriterionMatch], KeyedBy("criteria")] = dspy.OutputField(
        desc="one label per criterion number"
    )


class GradeBinaryCriteria(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"""Decide for each criterion whether the response meets it.

met: all that the criterion asks for is there, in any wording. not_met: some of it is missing, or
wrong where it stands.
{_FAULTS}"""

    question: str = dspy.InputField(desc="what the response is to")
    response: str = dspy.InputField(desc="the text being graded")
    criteria: dict[str, str] = dspy.InputField(desc="what to look for, by number")
    verdicts: Annotated[dict[str, BinaryCriterionMatch], KeyedBy("criteria")] = dspy.OutputField(
        desc="one label per criterion number"
    )


class CriterionJudge(ItemJudge):
    """Grades criteria a window at a time: `judge(question=, response=, criteria=[...]).verdicts`.

    met, partly or not_met of each, in the order given. Of a criterion that names a fault (a weight
    below 0), met says that the fault is there; the judge is not told weights.

    Args:
        window: criteria per call. Part of the judge's identity.

    Source: arXiv:2511.07685 (ResearchRubrics), its ternary grades; RAGDoll's windows.
    """

    version = "1"
    name = "criterion"
    kind = "rubric"
    key = CRITERION_KEY
    inputs = ("question", "response", "criterion")
    source = "response"
    quotable: Mapping[str, str] = {"response": "criterion"}
    listed, listing = "criterion", "criteria"
    predictor, output = "grade", "verdicts"
    overlap = staticmethod(weighted_overlap)
    twins: Mapping[str, Twin] = {"grade": lexical.grade_criteria}
    scorers: Mapping[str, Scorer] = {"grade": lexical.score_criteria}
    answer_type: Any = CriterionMatch
    signature: Any = GradeCriteria

    def __init__(self, *args: Any, window: int = WINDOW, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        self.grade = dspy.Predict(self.signature)
        self.scale = tuple(label.value for label in self.answer_type)
        self.gains = {name: CRITERION_GAINS[name] for name in self.scale}

    async def decide(  # type: ignore[override]
        self, *, question: str, response: str, criteria: Sequence[str]
    ) -> dspy.Prediction:
        """All windows, one after the other."""
        shared = {"question": question, "response": response}
        verdicts = await self.in_windows([{**shared, "criterion": text} for text in criteria])
        return self.prediction(verdicts)


class BinaryCriterionJudge(CriterionJudge):
    """As CriterionJudge, of criteria that are met or not: there is no partly.

    Source: arXiv:2511.07685 (ResearchRubrics), its binary grades.
    """

    name = "binary_criterion"
    twins: Mapping[str, Twin] = {"grade": lexical.grade_binary_criteria}
    answer_type: Any = BinaryCriterionMatch
    signature: Any = GradeBinaryCriteria
