"""How well does a text answer a question?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import dspy
from annotated_types import Ge, Le

from ..backends.prompt import Twin
from ..backends.replies.schema import Graded, KeyedBy
from ..records.questions import RATING_KIND, AnswerGrade
from .items import ItemJudge
from .lexical.answers import answer_overlap, grade_answer, grade_answers, subject_words

_RULES = """\
- Use only the text. Your own knowledge must not fill a gap in it.
- Judge whether the answer is there, not how well the text is written."""


class GradeAnswer(dspy.Signature):  # type: ignore[misc]
    __doc__ = f"Grade how well the text answers the question.\n\n{_RULES}"

    context: str = dspy.InputField(desc="the text that may contain the answer")
    question: str = dspy.InputField(desc="the question that the text may answer")
    grade: Annotated[int, Ge(0), Le(5), Graded(AnswerGrade)] = dspy.OutputField(
        desc="how well the text answers the question, from 0 to 5"
    )


class GradeAnswers(dspy.Signature):  # type: ignore[misc]
    __doc__ = (
        "Grade how well the text answers each of the questions, every question by itself."
        f"\n\n{_RULES}"
    )

    context: str = dspy.InputField(desc="the text that may contain the answers")
    questions: dict[str, str] = dspy.InputField(desc="the questions, by number")
    grades: Annotated[dict[str, AnswerGrade], KeyedBy("questions")] = dspy.OutputField(
        desc="one grade for each number of the questions"
    )


class AnswerabilityGrader(ItemJudge):
    """Grades 0-5 how well a text answers: `judge(context=, question=).grade`.

    Of several questions: `judge(context=, questions=[...]).grades`, in their order. A text
    answers a question from grade 3 on (eta in the paper).

    Args:
        window: questions about one text in a call. 1: pairs, each asked about alone, as in the
            paper. More: a list of questions in one prompt, which costs less and is another
            instrument; fit and measure it as such. Part of the judge's identity.

    Source: arXiv:2506.20051 (CRUX), its grades.
    """

    version = "3"
    name = "answerability"
    kind = "ratings"
    key = RATING_KIND.key
    inputs = ("question", "context")
    source = "context"
    quotable: Mapping[str, str] = {"context": "question"}
    answer_type = int
    scale = RATING_KIND.labels
    gains: Mapping[str, float] = RATING_KIND.gains
    overlap = staticmethod(answer_overlap)
    twins: Mapping[str, Twin] = {"grade_one": grade_answer, "grade_each": grade_answers}

    def __init__(self, *args: Any, window: int = 1, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        if window == 1:
            self.predictor, self.output = "grade_one", "grade"
            self.grade_one = dspy.Predict(GradeAnswer)
        else:
            self.listed, self.predictor, self.output = "question", "grade_each", "grades"
            self.grade_each = dspy.Predict(GradeAnswers)
        self.scorers = {self.predictor: self.weighted_scorer({})}

    def looked_for(self, name: str, item: Mapping[str, str]) -> str:
        """See ExplainingJudge: the words that say what the question is about."""
        return subject_words(item["question"])

    async def decide(  # type: ignore[override]
        self,
        *,
        context: str,
        question: str | None = None,
        questions: Sequence[str] | None = None,
    ) -> dspy.Prediction:
        """One call, or one for each window of questions, one after the other.

        Raises: ValueError unless there is either a question or a list of them.
        """
        if (question is None) == (questions is None):
            raise ValueError("wanted either question or questions")
        if question is not None:
            only, _ = await self.verdict(question=question, context=context)
            return self.prediction(only)
        items = [{"question": text, "context": context} for text in questions or ()]
        return self.prediction(await self.in_windows(items))
