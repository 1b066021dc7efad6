"""What has to be searched for, to answer a question?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

import dspy
from pydantic import AfterValidator
from typing_extensions import TypedDict

from ...backends.prompt import Twin
from ...records.judgements import Provenance
from ..base import Judge
from ..labels import SearchKind
from ..lexical import questions as lexical_questions

MOST = 10  # sub-questions of one question


class SubQuery(NamedTuple):
    """A question to search documents for."""

    text: str
    kind: SearchKind


class TypedSubQuestion(TypedDict):
    """A sub-question as a reply gives it."""

    text: str
    kind: SearchKind


def _some(found: list[TypedSubQuestion]) -> list[TypedSubQuestion]:
    n = sum(bool(each["text"].strip()) for each in found)
    if not 1 <= n <= MOST:
        raise ValueError(f"{n} sub-questions with text, wanted 1 to {MOST}")
    return found


class DecomposeQuestion(dspy.Signature):  # type: ignore[misc]
    """Split the question into the sub-questions whose answers together answer it.

    Each can be understood alone and is worded as one would search for it. A question that asks
    one thing has itself as its only sub-question. Give each its kind.
    simple: one passage can answer it. complex: it takes several passages, compared or combined.
    vague: it says too little of what is meant to be searched for as it is.
    """

    question: str = dspy.InputField(desc="what the user wants to know")
    subquestions: Annotated[list[TypedSubQuestion], AfterValidator(_some)] = dspy.OutputField(
        desc="the sub-questions, at most 6"
    )


class QuestionDecomposer(Judge):
    """Splits a question for retrieval: `judge(question=).subquestions`, a list of SubQuery.

    Sub-questions that differ in case or white space alone are one, of the first kind given.

    Raises: JudgeError, also for no sub-question or more than 10 (unparseable).
    Source: arXiv:2410.23000, retrieval by sub-questions that are simple, complex or vague. What
        the three mean is our reading.
    """

    version = "1"
    twins: Mapping[str, Twin] = {"split": lexical_questions.split_question}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.split = dspy.Predict(DecomposeQuestion)

    async def decide(self, *, question: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        return dspy.Prediction(subquestions=(await self.decompose(question))[0])

    async def decompose(self, question: str) -> tuple[list[SubQuery], list[Provenance]]:
        """The sub-questions, at least one, and the provenance of the call."""
        reply = await self.ask("split", question=question)
        found: dict[str, SubQuery] = {}
        for each in reply.values["subquestions"]:
            if text := " ".join(each["text"].split()):
                found.setdefault(text.casefold(), SubQuery(text, each["kind"]))
        return list(found.values()), [reply.provenance]
