"""Which new questions does a good one lead to, deeper into its subject or beside it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import dspy
from annotated_types import MaxLen, MinLen

from ...backends.adapter import SETTING
from ...backends.errors import JudgeOutputError
from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...backends.replies.schema import AtMost
from ...records.judgements import Provenance, Reason
from ..base import Judge
from ..lexical import questions as lexical_questions
from ..lexical.filling import filled

Way = Literal["depth", "width"]
NewQuestions = Annotated[list[Annotated[str, MaxLen(600)]], MinLen(1), AtMost("wanted")]


class DeepenQuestion(dspy.Signature):  # type: ignore[misc]
    """Write more complex versions of the question.

    - Make it more complex in one of these ways: ask for more depth, replace something general by a
      concrete case, require one more step of reasoning, or add a condition.
    - Each new question is 10 to 20 words longer than the given one.
    - Each stays closely related to the domain, belongs to the category and has the style of the
      given question. It asks about something specific in the domain that few people ask about.
    - Each needs a long answer with several specific details, which documents can support. It is
      neither common knowledge nor vague or ambiguous.
    - Each can be understood on its own, and no two ask the same thing.
    """

    question: str = dspy.InputField(desc="the given question")
    domain: Annotated[str, SETTING] = dspy.InputField(
        desc="the field that the new questions are about; if empty, that of the given question"
    )
    category: Annotated[str, SETTING] = dspy.InputField(
        desc="the kind of question to write; if empty, that of the given question"
    )
    wanted: Annotated[int, SETTING] = dspy.InputField(desc="how many new questions to write")
    questions: NewQuestions = dspy.OutputField(desc="the new questions")


class WidenQuestion(dspy.Signature):  # type: ignore[misc]
    """Write new questions on different subjects in the same field as the question.

    - Each has a length, a difficulty and a style similar to those of the given question.
    - Each is closely related to the domain and belongs to the category. It asks about something
      specific in the domain that few people ask about. Prefer questions that need deep thought,
      a detailed explanation or several steps of reasoning.
    - Each needs a long answer with several specific details, which documents can support. It is
      neither common knowledge nor vague or ambiguous.
    - Each can be understood without the given question, and no two have the same subject.
    """

    question: str = dspy.InputField(desc="the given question")
    domain: Annotated[str, SETTING] = dspy.InputField(
        desc="the field that the new questions are about; if empty, that of the given question"
    )
    category: Annotated[str, SETTING] = dspy.InputField(
        desc="the kind of question to write; if empty, that of the given question"
    )
    wanted: Annotated[int, SETTING] = dspy.InputField(desc="how many new questions to write")
    questions: NewQuestions = dspy.OutputField(desc="the new questions")


class QuestionEvolver(Judge):
    """Makes new questions from one: `judge(question=, way="depth", n=1).questions`, at most n.

    `depth` asks for more about its subject, `width` about other subjects of its domain and
    category. One call. Blank questions do not count, nor those that differ from the first one or
    from each other in case, white space and the final question mark alone; those beyond n are cut.

    Raises: JudgeError, also when no new question came (incomplete).
    Source: arXiv:2410.23000, in-depth and in-width evolution.
    """

    version = "3"
    twins: Mapping[str, Twin] = {
        "depth": lexical_questions.deepen_question,
        "width": lexical_questions.widen_question,
    }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.depth = dspy.Predict(DeepenQuestion)
        self.width = dspy.Predict(WidenQuestion)

    async def decide(  # type: ignore[override]
        self, *, question: str, way: Way, n: int = 1, domain: str = "", category: str = ""
    ) -> dspy.Prediction:
        """One call."""
        return dspy.Prediction(questions=(await self.evolve(question, way, n, domain, category))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: as many questions as are wanted."""
        questions = filled(reply.values["questions"], inputs["wanted"])
        return reply._replace(values={"questions": questions})

    async def evolve(
        self, question: str, way: Way, n: int = 1, domain: str = "", category: str = ""
    ) -> tuple[list[str], list[Provenance]]:
        """The new questions, 1 to n (>= 1), and the provenance of the call."""
        if n < 1:
            raise ValueError(f"n must be 1 or more, got {n}")
        reply = await self.ask(way, question=question, domain=domain, category=category, wanted=n)
        evolved: dict[str, str] = {}
        for text in reply.values["questions"]:
            if (key := _key(text)) not in ("", _key(question)):
                evolved.setdefault(key, " ".join(text.split()))
        if not evolved:
            raise JudgeOutputError(Reason.INCOMPLETE, "no new question", str(reply.values))
        return list(evolved.values())[:n], [reply.provenance]


def _key(question: str) -> str:
    return " ".join(question.split()).casefold().rstrip("? ")
