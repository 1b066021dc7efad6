"""An agent that finds which sub-questions a corpus can answer, and by which passage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ..backends.config import ModelConfig
from ..backends.errors import JudgeError
from ..backends.loop import task_group
from ..judges import AnswerabilityGrader, QuestionDecomposer
from ..judges.base import Judge
from ..judges.items import require_verdict
from .agent import Agent
from .corpus import Corpus
from .tools import Limits, Tools

MAX_QUESTIONS = 15  # sub-questions of a topic
HITS = 5  # passages that are graded for a question
JUDGES: Mapping[str, type[Judge]] = {
    "question_decomposer": QuestionDecomposer,
    "answerability": AnswerabilityGrader,
}


class Researcher(Agent):
    """Splits a question and finds answers to its parts: `researcher(question=...).questions`.

    It searches for each part and grades the passages, best first, until one reaches
    `eta`. `answered_by`: the id of that passage; None: no passage reached it, so the corpus, as far
    as this search sees it, does not answer the question. `grades`: the grades by passage.

    With `questions=[...]` it uses these, and splits nothing.

    A missing grade ends the item unless another passage answers the question, so that no
    result depends on a failure. Parts are searched in parallel.

    Args:
        model: of both judges, unless they are given.
        judges: by their names in a config: question_decomposer, answerability.
        eta: grade, 1 to 5, from which a passage answers. most: number of sub-questions.

    Source: the grades and eta of arXiv:2506.20051 (CRUX).
    """

    name = "research"
    inputs = ("topic_id", "question", "questions")
    default_limits = Limits(calls=1 + MAX_QUESTIONS * HITS, hits=HITS)
    JUDGES: ClassVar[Mapping[str, type[Judge]]] = JUDGES
    question_decomposer: Any
    answerability: Any

    def __init__(
        self,
        corpus: Corpus | None = None,
        limits: Limits | None = None,
        *,
        model: str | ModelConfig | None = None,
        judges: Mapping[str, Any] | None = None,
        eta: int = 3,
        most: int = MAX_QUESTIONS,
    ) -> None:
        super().__init__(corpus, limits)
        self.take_judges(judges, model)
        self.eta = eta
        self.most = most

    def identity(self) -> list[Any]:
        """See Agent."""
        return [*super().identity(), self.eta, self.most]

    async def act(self, tools: Tools, **item: Any) -> dict[str, Any]:
        """See Agent."""
        questions = await self._questions(tools, item["question"], item.get("questions") or ())
        parts = [tools.part("plan", f"question {i}") for i in range(1, len(questions) + 1)]
        async with task_group() as group:
            both = zip(questions, parts, strict=True)
            tasks = [group.create_task(self._answer(part, text)) for text, part in both]
        rows, because = [], []
        for task in tasks:
            made = task.result()
            if isinstance(made, JudgeError):  # after all, so that the steps are always the same
                raise made
            rows.append(made[0])
            because += made[1]
        n_answered = sum(each["answered_by"] is not None for each in rows)
        tools.end(f"{n_answered} of {len(rows)} answered", because)
        return {"questions": rows}

    async def _questions(
        self, tools: Tools, question: str, subquestions: Sequence[str]
    ) -> list[str]:
        if subquestions:
            return list(subquestions)
        call = self.question_decomposer.decompose(question)
        (split, _), _ = await tools.ask(
            "question_decomposer", call, {}, lambda reply: reply[0].subquestions
        )
        return list(split.subquestions[: self.most])

    async def _answer(
        self, part: Tools, question: str
    ) -> tuple[dict[str, Any], list[str]] | JudgeError:
        """The passage that answers a question, and its step; or why it is unknown."""
        made: dict[str, Any] = {"question": question, "answered_by": None, "grades": {}}
        failed: JudgeError | None = None
        try:
            hits = await part.search(question)
        except JudgeError as error:
            return error
        for docid, _ in hits:
            try:
                inputs = {"question": question, "context": part.passage(docid).text}
                about = {"question": question, "passage": docid}
                verdict, path = await part.judge(self.answerability, inputs, about)
            except JudgeError as error:
                failed = failed or error
                continue
            made["grades"][docid] = int(require_verdict(verdict).label)
            if made["grades"][docid] >= self.eta:
                return {**made, "answered_by": docid}, [path]
        return failed or (made, [])
