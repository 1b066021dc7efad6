"""Judges of questions: which are worth asking, new ones made of them, and their parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NamedTuple

import dspy
from annotated_types import MaxLen, MinLen
from pydantic import AfterValidator

from ...backends.adapter import SETTING
from ...backends.errors import JudgeOutputError
from ...backends.gateway import Reply
from ...backends.prompt import Twin
from ...backends.replies.schema import AtMost
from ...records.judgements import Provenance, Reason
from ..base import Judge
from ..labels import SearchKind, YesNo
from ..lexical import questions as lexical_questions
from ..lexical.filling import filled

CRITERIA = ("uncommon", "clear", "unambiguous", "complex", "opinion")


class ScoreQuestion(dspy.Signature):  # type: ignore[misc]
    """Decide for each of five criteria whether the question meets it.

    - Judge the question as it is written, and each criterion separately.
    - Do not answer the question.
    """

    question: str = dspy.InputField(desc="the question to judge")
    uncommon: YesNo = dspy.OutputField(
        desc="yes if neither common knowledge nor one simple search answers the question"
    )
    clear: YesNo = dspy.OutputField(desc="yes if the question's topic and its scope are clear")
    unambiguous: YesNo = dspy.OutputField(
        desc="yes if the question has only one interpretation and every reference in it is clear"
    )
    complex: YesNo = dspy.OutputField(
        desc="yes if the question needs deep thought, several reasoning steps or a long explanation"
    )
    opinion: YesNo = dspy.OutputField(
        desc="yes if the question asks for a personal view or judgement"
    )


class QuestionScorer(Judge):
    """Gives a question a point for each criterion met: `judge(question=).scores`, 0 or 1 by name.

    Source: arXiv:2410.23000, appendix B, whose five criteria these are; a seed question needs at
        least 4 of the 5 points. Differs: one label a criterion, where the paper asks for the sum.
    """

    version = "3"
    twins: Mapping[str, Twin] = {"score": lexical_questions.score_question}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.score = dspy.Predict(ScoreQuestion)

    async def decide(self, *, question: str) -> dspy.Prediction:  # type: ignore[override]
        """One call."""
        return dspy.Prediction(scores=(await self.scores(question))[0])

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: all points, so that the question is kept."""
        return reply._replace(values=dict.fromkeys(CRITERIA, YesNo.YES))

    async def scores(self, question: str) -> tuple[dict[str, int], list[Provenance]]:
        """The five points, each 0 or 1, in the order of CRITERIA, and the call's provenance."""
        reply = await self.ask("score", question=question)
        points = {name: int(reply.values[name] == YesNo.YES) for name in CRITERIA}
        return points, [reply.provenance]


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
