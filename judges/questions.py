"""Judges of sub-questions: split a question, write questions for a report, grade answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple

import dspy
from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import AfterValidator

from ..backends.adapter import SETTING
from ..backends.errors import JudgeError, JudgeOutputError
from ..backends.gateway import Reply
from ..backends.prompt import Baseline
from ..backends.replies.schema import AtMost, Graded, KeyedBy
from ..records.judgements import Provenance, Reason
from ..records.questions import RATING_KIND, AnswerGrade
from .base import Judge
from .items import ItemJudge
from .labels import SearchKind
from .lexical import questions as lexical
from .lexical.questions import answer_overlap, grade_answer, grade_answers, subject_words
from .makers.lists import SUBQUESTIONS, Inputs, ListMaker, Spans, add_example, fill_up

MAX_QUESTIONS = 10  # sub-questions of one question


class Decomposed(NamedTuple):
    """The kind of a question, and the questions to search for."""

    kind: SearchKind
    subquestions: list[str]


def _some(texts: list[str]) -> list[str]:
    n = sum(bool(text.strip()) for text in texts)
    if not 1 <= n <= MAX_QUESTIONS:
        raise ValueError(f"{n} sub-questions with text, wanted 1 to {MAX_QUESTIONS}")
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
        list[Annotated[str, MaxLen(400)]], MinLen(1), MaxLen(MAX_QUESTIONS), AfterValidator(_some)
    ] = dspy.OutputField(desc="the sub-questions")


class QuestionDecomposer(Judge):
    """Split a question for retrieval: `judge(question=)` has its `kind` and `subquestions`.

    A simple question is kept unchanged, whatever else a reply lists. Sub-questions that
    differ only in case or white space are one.

    Args:
        model, backend: the model that answers, see `ItemJudge`.

    Raises: JudgeError from a call, also for a reply without sub-questions or with more than 10
        (unparseable).
    Source: arXiv:2410.23000, appendix B: a simple question is kept, a complex one is split, and a
        vague one is widened.

    >>> QuestionDecomposer("lexical")(question="Why do bridges sway?").subquestions
    ['Why do bridges sway?']
    """

    version = "3"
    baselines: Mapping[str, Baseline] = {"split": lexical.split_question}

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.split = dspy.Predict(DecomposeQuestion)

    async def decide(self, *, question: str) -> dspy.Prediction:  # type: ignore[override]
        """Split a question in one call; `judge(...)` calls this.

        Args:
            question: the question of the user.

        Returns: a prediction with `kind` and `subquestions`.
        """
        split, _ = await self.decompose(question)
        return dspy.Prediction(kind=split.kind, subquestions=split.subquestions)

    async def decompose(self, question: str) -> tuple[Decomposed, list[Provenance]]:
        """Split a question for retrieval.

        Args:
            question: the question of the user.

        Returns: the kind and the sub-questions, at least one, and the provenance of the call.
        """
        reply = await self.ask("split", question=question)
        kind: SearchKind = reply.values["kind"]
        texts = [question] if kind is SearchKind.SIMPLE else reply.values["subquestions"]
        distinct: dict[str, str] = {}
        for text in (" ".join(text.split()) for text in texts):
            if text:
                distinct.setdefault(text.casefold(), text)
        return Decomposed(kind, list(distinct.values())), [reply.provenance]


# Temperature of the texts that CRUX generates (requests, questions, passages), appendix A.1.
CRUX_SAMPLING = {"temperature": 0.7, "top_p": 0.95}


QUESTIONS = 15  # of one report; arXiv:2506.20051 has 15 for DUC'04 and 10 for Multi-News
ROUNDS = 3  # most calls about one report


class WriteSubQuestions(dspy.Signature):  # type: ignore[misc]
    """Write questions that the report answers and that together cover the information in it.

    - Write diverse questions. Each asks about another fact or aspect of the report.
    - Each question is self-contained: a reader who has never seen the report understands it. Use
      names, places and dates instead of words such as "he", "the company" or "in the report".
    - Do not repeat or paraphrase a known question.
    - Write as many questions as `wanted` says, and fewer only if the report answers no more.
    """

    report: str = dspy.InputField(desc="the report to cover")
    known: list[str] = dspy.InputField(desc="the questions that exist already")
    wanted: Annotated[int, SETTING] = dspy.InputField(desc="how many new questions to write")
    questions: Annotated[list[Annotated[str, MaxLen(400)]], AtMost("wanted")] = dspy.OutputField(
        desc="the new questions, without the known ones"
    )


class SubQuestionGenerator(ListMaker):
    """Write questions from a report: `judge(report=, n=15).questions`, at most n, all different.

    If a model returns too few, it sees them and is asked for more, as long as each call adds
    something. A short report may not answer n questions, so fewer may be returned. Each question
    becomes one line; blank entries and questions beyond n are dropped, and questions that differ
    only in case, white space or the final question mark are one.

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        rounds: the largest number of calls for one report, >= 1.
        example: show one worked example, made up for the prompt.

    Raises: ValueError for fewer than 1 round. JudgeError from a call, also if no question came at
        all, or if the report is blank (no request is made).
    Source: arXiv:2506.20051 (CRUX), section 3.2.

    >>> judge = SubQuestionGenerator("lexical")
    >>> len(judge(report="Wind sways bridges. Bees dance.", n=1).questions)
    1
    """

    name = "subquestions"
    kind = "questions"
    made_from = ("report", "n")
    predictor, output = "write", "questions"
    version = "3"
    sampling: Mapping[str, float] = CRUX_SAMPLING
    baselines: Mapping[str, Baseline] = {"write": lexical.write_questions}

    def __init__(
        self, *args: Any, rounds: int = ROUNDS, example: bool = True, **options: Any
    ) -> None:
        super().__init__(*args, **options)
        if rounds < 1:
            raise ValueError(f"rounds must be 1 or more, got {rounds}")
        self.rounds = rounds
        self.write = dspy.Predict(WriteSubQuestions)
        if example:
            add_example(self.write, SUBQUESTIONS)

    async def decide(self, *, report: str, n: int = QUESTIONS) -> dspy.Prediction:  # type: ignore[override]
        """Write questions that a report answers; `judge(...)` calls this.

        Args:
            report: the text to cover.
            n: the largest number of questions, >= 1.

        Returns: a prediction with `questions`, a list of texts.
        """
        return dspy.Prediction(questions=(await self.generate(report, n))[0])

    async def make_texts(self, *, report: str, n: int = QUESTIONS) -> list[str]:  # type: ignore[override]
        """See ListMaker."""
        return (await self.generate(report, n))[0]

    def example(self, inputs: Inputs, texts: Sequence[str], spans: Spans) -> dict[str, Any]:
        """See ListMaker: all questions in one reply."""
        questions = list(texts)
        inputs_of_call = {"report": inputs["report"], "known": [], "wanted": len(questions)}
        return {**inputs_of_call, "questions": questions}

    def at_most(self, inputs: Mapping[str, Any], reply: Reply) -> Reply:
        """See Judge: as many questions as are wanted."""
        questions = fill_up(reply.values["questions"], inputs["wanted"])
        return reply._replace(values={"questions": questions})

    async def generate(self, report: str, n: int = QUESTIONS) -> tuple[list[str], list[Provenance]]:
        """Write questions that a report answers.

        Args:
            report: the text to cover.
            n: the largest number of questions, >= 1.

        Returns: the questions, and the provenance of each call.
        Raises: ValueError for n below 1; JudgeError as for a call of the judge.
        """
        if n < 1:
            raise ValueError(f"n must be 1 or more, got {n}")
        if not report.strip():
            raise JudgeError(Reason.NO_PASSAGE, "the report is blank")
        questions: dict[str, str] = {}
        calls: list[Provenance] = []
        for _ in range(self.rounds):
            n_known = len(questions)
            reply = await self.ask(
                "write", report=report, known=list(questions.values()), wanted=n - n_known
            )
            calls.append(reply.provenance)
            for text in reply.values["questions"]:
                question = " ".join(text.split())
                if key := _key(question):
                    questions.setdefault(key, question)
            if len(questions) >= n or len(questions) == n_known:
                break
        if not questions:
            raise JudgeOutputError(Reason.INCOMPLETE, "no question", str(reply.values))
        return list(questions.values())[:n], calls


def _key(question: str) -> str:
    return question.casefold().rstrip("? ")


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
    """Grade 0-5 how well a text answers a question: `judge(context=, question=).grade`.

    For several questions: `judge(context=, questions=[...]).grades`, in their order. A text answers
    a question from grade 3 on (eta in the paper).

    Args:
        model, backend: the model that answers, see `ItemJudge`.
        window: questions about one text in a call, >= 1. 1: each in its own prompt, as in the
            paper. More: a list of questions in one prompt, which costs less and gives other grades;
            fit and measure it separately. Part of the judge's identity.

    Raises: ValueError for a window below 1. JudgeError from a call, if there is no judgement.
    Source: arXiv:2506.20051 (CRUX), section 3.1: grades 0 to 5, and the threshold 3.

    >>> judge = AnswerabilityGrader("lexical")
    >>> judge(question="Why do bridges sway?", context="Bees dance.").grade
    0
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
    baselines: Mapping[str, Baseline] = {"grade_one": grade_answer, "grade_each": grade_answers}

    def __init__(self, *args: Any, window: int = 1, **options: Any) -> None:
        super().__init__(*args, **options)
        self._take_window(window)
        if window == 1:
            self.predictor, self.output = "grade_one", "grade"
            self.grade_one = dspy.Predict(GradeAnswer)
        else:
            self.listed, self.predictor, self.output = "question", "grade_each", "grades"
            self.grade_each = dspy.Predict(GradeAnswers)
        self.scorers = {self.predictor: self.make_weighted_scorer({})}

    def choose_sought_text(self, name: str, item: Mapping[str, str]) -> str:
        """See ExplainingJudge: the words of the question's subject."""
        return subject_words(item["question"])

    async def decide(  # type: ignore[override]
        self,
        *,
        context: str,
        question: str | None = None,
        questions: Sequence[str] | None = None,
    ) -> dspy.Prediction:
        """Grade one question, or each of a list; `judge(...)` calls this.

        Args:
            context: the text that may contain the answers.
            question: the question to grade.
            questions: several questions, instead of one.

        Returns: the prediction, see `ItemJudge.prediction`.
        Raises: ValueError unless there is either a question or a list of them.
        """
        if (question is None) == (questions is None):
            raise ValueError("wanted either question or questions")
        if question is not None:
            only, _ = await self.verdict(question=question, context=context)
            return self.prediction(only)
        items = [{"question": text, "context": context} for text in questions or ()]
        return self.prediction(await self.in_windows(items))
