"""Which of eight categories is a question in?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import dspy

from ...backends.prompt import Baseline, Scorer
from ...judges.items import ItemJudge
from ...records.judgements import Provenance
from ...records.rows import Label


class QuestionCategory(Label):
    """What a question asks for: the categories of arXiv:2410.23000, Figure 3, in our words."""

    FACTUAL = "factual", "facts about one subject: what it is, who, when, where or how much"
    EXPLANATORY = "explanatory", "how an idea, a system or a process works, or what it means"
    COMPARATIVE = "comparative", "how two or more things differ, are alike or rank"
    SUBJECTIVE = "subjective", "an opinion, a judgement of value or a recommendation"
    METHODOLOGICAL = "methodological", "how to do something: steps, a method or a technique"
    CAUSAL = "causal", "why something happens or happened, or what its effects are"
    HYPOTHETICAL = "hypothetical", "what would follow if something were not as it is"
    PREDICTIVE = "predictive", "what will happen, or is likely to happen, in the future"


class CategorizeQuestion(dspy.Signature):  # type: ignore[misc]
    """Decide what the question asks for.

    - If it asks for several things, choose the category of what most of a good answer is about.
    - An imagined case is hypothetical, and the future is predictive, whatever else is asked of it.
    - Do not answer the question.
    """

    question: str = dspy.InputField(desc="the question to put in a category")
    category: QuestionCategory = dspy.OutputField(desc="the category that fits best")


_SIGNS = {  # the first that is found decides; not fitted
    QuestionCategory.HYPOTHETICAL: r"\bif\b.*\b(?:had|were)\b|\b(?:would|what if|suppose)\b",
    QuestionCategory.PREDICTIVE: r"\bwill\b|\bfuture\b|\blikely to\b|\bby 20\d\d\b",
    QuestionCategory.COMPARATIVE: r"\bcompar|\bdiffer|\bversus\b|\bvs\b|\bsimilar|\b\w+er than\b",
    QuestionCategory.SUBJECTIVE: r"\bshould\b|\bbest\b|\bdo you\b|\bopinion|\bworth\b|\bview",
    QuestionCategory.CAUSAL: r"\bwhy\b|\bcause|\beffects?\b|\bimpact|\bconsequence|\binfluence",
    QuestionCategory.METHODOLOGICAL: r"\bhow (?:to|can|do i|do you|do we)\b|\bmethod|\bsteps\b",
    QuestionCategory.EXPLANATORY: r"\bhow\b(?! (?:many|much|long|often|old|far))|\bexplain|\bmean",
}


def categorize(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Choose by words that show what is asked for; without such a word, factual."""
    text = inputs["question"]
    found = (c for c, sign in _SIGNS.items() if re.search(sign, text, re.IGNORECASE))
    return {"category": next(found, QuestionCategory.FACTUAL)}


class QuestionCategorizer(ItemJudge):
    """Puts a question in one of eight categories: `judge(question=).category`.

    Source: arXiv:2410.23000, section 3.1 and Figure 3, which prints no prompt.
    """

    version = "1"
    name = "question_categorizer"
    kind = "other"
    key = ("topic_id",)
    inputs = ("question",)
    quotable: Mapping[str, str] = {}
    answer_type = QuestionCategory
    predictor, output = "judge", "category"
    scale = tuple(label.value for label in QuestionCategory)
    gains: Mapping[str, float] = {}
    baselines: Mapping[str, Baseline] = {"judge": categorize}
    scorers: Mapping[str, Scorer] = {}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.judge = dspy.Predict(CategorizeQuestion)

    async def decide(self, *, question: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        verdict, _ = await self.verdict(question=question)
        return self.prediction(verdict)

    async def categorize(self, question: str) -> tuple[str, list[Provenance]]:
        """The category and the provenance of the call. Raises: JudgeError."""
        verdict, provenance = await self.verdict(question=question)
        return verdict.label, [provenance]
