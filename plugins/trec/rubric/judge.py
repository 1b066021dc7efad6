"""Which criteria of a rubric does an answer meet?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy

from ....backends.prompt import Baseline, Scorer
from ....backends.replies.schema import KeyedBy
from ....judges.items import ItemJudge
from ....judges.lexical.overlap import weigh_overlap
from . import lexical as lexical
from .rubrics import BinaryCriterionMatch, CriterionMatch
from .verdicts import CRITERION_KIND

WINDOW = 10  # criteria in one call, as in RAGDoll; ResearchRubrics asks about one at a time

_RULES = """\
- Judge each criterion by itself, exactly as it is worded.
- A criterion may describe a fault. It is met if the response has that fault.
- Ignore length and style unless the criterion mentions them.
- Something is incorrect if the response states it differently from the criterion. Use your own
  knowledge only if the criterion itself asks whether something is correct."""


class GradeCriteria(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"Decide for each criterion how far the response meets it.\n\n{_RULES}"

    question: str = dspy.InputField(desc="the question that the response answers")
    response: str = dspy.InputField(desc="the text to grade")
    criteria: dict[str, str] = dspy.InputField(desc="the criteria, by number")
    verdicts: Annotated[dict[str, CriterionMatch], KeyedBy("criteria")] = dspy.OutputField(
        desc="one label for each number of the criteria"
    )


class GradeBinaryCriteria(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"Decide for each criterion whether the response meets it.\n\n{_RULES}"

    question: str = dspy.InputField(desc="the question that the response answers")
    response: str = dspy.InputField(desc="the text to grade")
    criteria: dict[str, str] = dspy.InputField(desc="the criteria, by number")
    verdicts: Annotated[dict[str, BinaryCriterionMatch], KeyedBy("criteria")] = dspy.OutputField(
        desc="one label for each number of the criteria"
    )


class CriterionJudge(ItemJudge):
    """Grade criteria, a window in a call: `judge(question=, response=, criteria=[...]).verdicts`.

    Each verdict is met, partly or not_met, in the given order. For a criterion that names a fault
    (a weight below 0), met says that the answer has the fault; the judge does not see weights.

    Args:
        window: criteria in a call, >= 1. Part of the judge's identity.

    Source: arXiv:2511.07685 (ResearchRubrics), its ternary grades; RAGDoll's windows.
    """

    version = "2"
    name = "criterion"
    kind = "rubric"
    key = CRITERION_KIND.key
    inputs = ("question", "response", "criterion")
    source = "response"
    examples: Mapping[str, str | list[str]] = {
        "criterion": ["Says at which temperature water is densest", "Mentions salt water"]
    }
    required_text = staticmethod(lexical.find_required_text)
    quotable: Mapping[str, str] = {"response": "criterion"}
    listed, listing = "criterion", "criteria"
    predictor, output = "grade", "verdicts"
    overlap = staticmethod(weigh_overlap)
    baselines: Mapping[str, Baseline] = {"grade": lexical.grade_criteria}
    scorers: Mapping[str, Scorer] = {"grade": lexical.score_criteria}
    answer_type: Any = CriterionMatch
    signature: Any = GradeCriteria

    def __init__(self, *args: Any, window: int = WINDOW, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        self.grade = dspy.Predict(self.signature)
        self.scale = tuple(label.value for label in self.answer_type)
        self.gains = {name: CRITERION_KIND.gains[name] for name in self.scale}

    async def decide(  # type: ignore[override]
        self, *, question: str, response: str, criteria: Sequence[str]
    ) -> dspy.Prediction:
        """Grade all criteria, window by window."""
        shared = {"question": question, "response": response}
        verdicts = await self.in_windows([{**shared, "criterion": text} for text in criteria])
        return self.prediction(verdicts)


class BinaryCriterionJudge(CriterionJudge):
    """Grade criteria as CriterionJudge does, but without partly.

    Source: arXiv:2511.07685 (ResearchRubrics), its binary grades.
    """

    name = "binary_criterion"
    baselines: Mapping[str, Baseline] = {"grade": lexical.grade_binary_criteria}
    answer_type: Any = BinaryCriterionMatch
    signature: Any = GradeBinaryCriteria
