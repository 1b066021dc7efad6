"""What kind of question is it, and what has to be searched for, to answer it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator

from ...backends.prompt import Twin
from ...records.judgements import Provenance
from ..base import Judge
from ..labels import SearchKind
from ..lexical import questions as lexical_questions

MOST = 10  # sub-questions of one question


class Decomposed(NamedTuple):
    """A question's kind, and the questions to search documents for."""

    kind: SearchKind
    subquestions: list[str]


def _some(texts: list[str]) -> list[str]:
    n = sum(bool(text.strip()) for text in texts)
    if not 1 <= n <= MOST:
        raise ValueError(f"{n} sub-questions with text, wanted 1 to {MOST}")
    return texts


class DecomposeQuestion(dspy.Signature):  # type: ignore[misc]
    """Decide what kind of question this is, and write sub-questions to search for.

    - Together, the answers to the sub-questions answer the question. Write at most 6.
    - If the question is simple, return it as its only sub-question.
    - If it is complex, split it into shorter sub-questions, each complete and easy to search for.
    - If it is vague, write related questions that cover different aspects of what it may mean.
    - Each sub-question can be understood on its own and is worded as one would search for it.
    """

    question: str = dspy.InputField(desc="the question of the user")
    kind: SearchKind = dspy.OutputField(desc="the kind of the question")
    subquestions: Annotated[
        list[Annotated[str, MaxLen(400)]], MinLen(1), MaxLen(MOST), AfterValidator(_some)
    ] = dspy.OutputField(desc="the sub-questions")


class QuestionDecomposer(Judge):
    """Splits a question for retrieval: `judge(question=)` has its `kind` and `subquestions`.

    A simple question is searched for as it is, whatever else a reply lists. Sub-questions that
    differ in case or white space alone are one.

    Raises: JudgeError, also for no sub-question or more than 10 (unparseable).
    Source: arXiv:2410.23000, appendix B: a question is simple, complex or vague, and is left
        whole, split or widened by that.
    """

    version = "3"
    twins: Mapping[str, Twin] = {"split": lexical_questions.split_question}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.split = dspy.Predict(DecomposeQuestion)

    async def decide(self, *, question: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        split, _ = await self.decompose(question)
        return dspy.Prediction(kind=split.kind, subquestions=split.subquestions)

    async def decompose(self, question: str) -> tuple[Decomposed, list[Provenance]]:
        """The kind and the sub-questions, at least one, and the provenance of the call."""
        reply = await self.ask("split", question=question)
        kind: SearchKind = reply.values["kind"]
        texts = [question] if kind is SearchKind.SIMPLE else reply.values["subquestions"]
        distinct: dict[str, str] = {}
        for text in (" ".join(text.split()) for text in texts):
            if text:
                distinct.setdefault(text.casefold(), text)
        return Decomposed(kind, list(distinct.values())), [reply.provenance]
