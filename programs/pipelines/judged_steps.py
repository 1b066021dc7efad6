"""The steps of a pipeline that ask a model: list-wise, set-wise and coverage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

from ...backends.errors import JudgeError
from ...backends.loop import task_group
from ...judges import ItemJudge
from ...judges.questions import QuestionDecomposer
from ...judges.ranking import ListwiseRanker, SetwiseRanker
from ...records.judgements import Unjudged
from ...records.questions import NOT_JUDGED, Ratings
from ...records.rows import QuestionSet, Topic
from ...retrieval.rerank.diversity import greedy_coverage
from ...retrieval.rerank.windows import setwise_top, slide
from ...retrieval.scored import Ranked, Scored, by_rank
from ..config.pipelines import CoverageStep, ListwiseStep, SetwiseStep
from ..engine.judge_set import JudgeSet
from ..protocols.coverage.program import question_set

MENDED = "list-wise replies that were not a permutation, repaired"
T = TypeVar("T")
JudgedStep = ListwiseStep | SetwiseStep | CoverageStep


class JudgedSteps:
    """Reorders the passages of a topic with judges.

    A call without a judgement is counted and changes nothing: its window keeps its order, its
    rating adds nothing.

    Args:
        questions, ratings: given sub-questions and ratings, by topic.

    Attributes:
        asked, failed: calls, and calls without a judgement.
        counts: further counts for the reader of a run.
    """

    def __init__(
        self, judge_set: JudgeSet, questions: Mapping[str, QuestionSet], ratings: Ratings
    ) -> None:
        self._judge_set = judge_set
        self._questions = questions
        self._ratings = ratings
        self.asked: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self.counts: Counter[str] = Counter()

    def take(self, step: str, counts: Counter[str]) -> None:
        """Add the new counts of a library's reranker."""
        self.asked += Counter({step: counts["windows"]})  # drops zeros
        self.failed += Counter({step: counts["failed"]})
        self.counts += Counter({MENDED: counts["mended"]})
        counts.clear()

    async def rerank(
        self, step: JudgedStep, topic: Topic, ranked: Sequence[Scored], texts: Mapping[str, str]
    ) -> Ranked:
        """Return the passages in their new order."""
        if len(ranked) < 2:
            return list(ranked)
        if isinstance(step, ListwiseStep):
            return await self._listwise(step, topic, ranked, texts)
        if isinstance(step, SetwiseStep):
            return await self._setwise(step, topic, ranked, texts)
        return await self._for_coverage(step, topic, ranked, texts)

    async def _listwise(
        self, step: ListwiseStep, topic: Topic, ranked: Sequence[Scored], texts: Mapping[str, str]
    ) -> Ranked:
        judge: ListwiseRanker = self._judge_set["listwise"]

        async def order(indexes: Sequence[int]) -> Sequence[int]:
            passages = [texts[ranked[index].passage_id] for index in indexes]
            call = judge.order(topic.question, passages)
            if (reply := await self._ask_and_count("listwise", call)) is None:
                return indexes
            if reply.is_mended:
                self.counts[MENDED] += 1
            return [indexes[i] for i in reply.indexes]

        indexes = await slide(len(ranked), order, window=step.window, stride=step.stride)
        return by_rank(ranked[index].passage_id for index in indexes)

    async def _setwise(
        self, step: SetwiseStep, topic: Topic, ranked: Sequence[Scored], texts: Mapping[str, str]
    ) -> Ranked:
        judge: SetwiseRanker = self._judge_set["setwise"]

        async def best(indexes: Sequence[int]) -> int:
            passages = [texts[ranked[index].passage_id] for index in indexes]
            reply = await self._ask_and_count("setwise", judge.best(topic.question, passages))
            return min(indexes) if reply is None else indexes[reply]

        indexes = await setwise_top(len(ranked), best, top=step.top, size=step.size)
        return by_rank(ranked[index].passage_id for index in indexes)

    async def _for_coverage(
        self, step: CoverageStep, topic: Topic, ranked: Sequence[Scored], texts: Mapping[str, str]
    ) -> Ranked:
        questions = await self._find_questions(step, topic)
        if questions is None:
            return list(ranked)
        async with task_group() as group:
            tasks = {
                name: group.create_task(self._rate_text(step, topic, name, questions, texts[name]))
                for name, _ in ranked
            }
        ratings = {name: task.result() for name, task in tasks.items()}
        return greedy_coverage(ranked, ratings, weight=step.weight, hits=step.hits)

    async def _ask_and_count(self, what: str, call: Awaitable[tuple[T, Any]]) -> T | None:
        """Call a judge and count it; return the reply without provenance, or None if it failed."""
        self.asked[what] += 1
        try:
            reply, _ = await call
        except JudgeError:
            self.failed[what] += 1
            return None
        return reply

    async def _find_questions(self, step: CoverageStep, topic: Topic) -> QuestionSet | None:
        if step.questions == "given":
            if (given := self._questions.get(topic.id)) is None:
                self.counts["topics without sub-questions, not reordered"] += 1
            return given
        judge: QuestionDecomposer = self._judge_set["question_decomposer"]
        reply = await self._ask_and_count("sub-questions", judge.decompose(topic.question))
        return None if reply is None else question_set(topic.id, reply.subquestions)

    async def _rate_text(
        self, step: CoverageStep, topic: Topic, name: str, questions: QuestionSet, text: str
    ) -> list[float | None]:
        """Return a rating for each question; given ratings are not asked again."""
        judge: ItemJudge = self._judge_set["answerability"]
        known: Sequence[int] = ()
        if step.questions == "given":
            known = self._ratings.get(topic.id, {}).get(name, ())
        ratings: dict[str, float | None] = {}
        for question in questions.questions:
            rating = known[question.column] if known else NOT_JUDGED
            ratings[question.id] = None if rating < 0 else float(rating)
        missing = [question for question in questions.questions if ratings[question.id] is None]
        for start in range(0, len(missing), judge.window):
            window = missing[start : start + judge.window]
            pairs = [{"question": question.text, "context": text} for question in window]
            verdicts = await self._ask_and_count("ratings", judge.verdicts(pairs, topic.id))
            for question, verdict in zip(window, verdicts, strict=True) if verdicts else ():
                if isinstance(verdict, Unjudged):
                    self.failed["ratings"] += 1
                else:
                    ratings[question.id] = float(verdict.label)
        return list(ratings.values())
