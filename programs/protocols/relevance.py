"""The relevance program: grades 0-3 for the candidate passages of each topic."""

from __future__ import annotations

from collections.abc import Iterator

from ...judges import RelevanceJudge
from ...records.judgements import Judged
from ...records.relevance import RelevanceLabel, relevance_row
from ..engine.journal import Journal
from ..engine.results import Results
from ..engine.stage import Item
from ..inputs.collection import Collection


class RelevanceStage:
    """One item per topic and candidate passage with text."""

    name = "relevance"

    def __init__(self, collection: Collection, judge: RelevanceJudge) -> None:
        self._collection = collection
        self._judge = judge

    def items(self) -> Iterator[Item]:
        """Topics in order, their candidates in rank order."""
        for topic_id, passage_id in self._pairs():
            topic = self._collection.topics[topic_id]
            text = self._collection.passages[passage_id].text
            yield Item((topic_id, passage_id), (topic.question, text))

    def total(self) -> int:
        """Number of items."""
        return sum(1 for _ in self._pairs())

    async def judge(self, item: Item) -> Judged:
        """One grade."""
        question, passage = item.payload
        verdict, call = await self._judge.verdict(item.ids[0], question=question, passage=passage)
        return Judged({**verdict.as_row(), "label": int(verdict.label)}, (call,))

    def inputs(self, item: Item) -> dict[str, object]:
        """What the judge's prompt is rendered from."""
        question, passage = item.payload
        return {"passage": passage, "question": question}

    def finish(self, journal: Journal, results: Results) -> dict[str, dict[str, int | None]]:
        """Write relevance.jsonl; return the grades by topic and passage, None: not judged."""
        grades: dict[str, dict[str, int | None]] = {}
        with results.open("relevance.jsonl") as rows:
            for number, (topic_id, passage_id) in enumerate(self._pairs()):
                outcome = journal.outcome(number)
                ids = {"topic_id": topic_id, "passage_id": passage_id}
                found = dict(outcome.values) if isinstance(outcome, Judged) else {}
                grade = found.pop("label", None)
                grades.setdefault(topic_id, {})[passage_id] = grade
                results.judged(self.name, ids, outcome)
                rows.write(relevance_row(RelevanceLabel(**ids, grade=grade, **found)))
        return grades

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for topic_id in self._collection.topics:
            ranking = self._collection.candidates.get(topic_id)
            for passage_id in ranking.passage_ids if ranking else ():
                if passage_id in self._collection.passages:
                    yield topic_id, passage_id
