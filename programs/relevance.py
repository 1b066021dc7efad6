"""The relevance program: grades 0-3 for the candidate passages of each topic."""

from __future__ import annotations

from collections.abc import Iterator

from ..judges import RelevanceJudge
from ..metrics import ranking_scores
from ..records.judgements import Judged
from ..records.relevance import RelevanceLabel, relevance_row
from ..records.rows import ScoreRow
from .collection import Collection
from .engine import Item
from .journal import Journal
from .results import Results

# arXiv:2406.06519 feeds its grades to these; computed by ir_measures on the judged grades.
RANKING_MEASURES = ("nDCG@10", "P(rel=2)@10", "AP(rel=2)")


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
        grade, call = await self._judge.label(question, passage)
        return Judged({"grade": grade}, (call,))

    def inputs(self, item: Item) -> dict[str, object]:
        """What the judge's prompt is rendered from."""
        question, passage = item.payload
        return {"passage": passage, "question": question}

    def finish(self, journal: Journal, results: Results) -> dict[str, dict[str, int]]:
        """Write relevance.jsonl; return the grades as qrels, without what was not judged."""
        grades: dict[str, dict[str, int]] = {}
        with results.open("relevance.jsonl") as rows:
            for number, (topic_id, passage_id) in enumerate(self._pairs()):
                outcome = journal.outcome(number)
                ids = {"topic_id": topic_id, "passage_id": passage_id}
                grade = None
                if isinstance(outcome, Judged):
                    grade = int(outcome.values["grade"])
                    grades.setdefault(topic_id, {})[passage_id] = grade
                results.judged(self.name, ids, outcome)
                label = RelevanceLabel(topic_id=topic_id, passage_id=passage_id, grade=grade)
                rows.write(relevance_row(label))
        return grades

    def scores(self, grades: dict[str, dict[str, int]]) -> list[ScoreRow]:
        """How good the candidate ranking is by the judged grades."""
        if not grades:
            return []
        candidates = self._collection.candidates
        run = {t: candidates[t].passage_ids for t in self._collection.topics if t in candidates}
        found = ranking_scores(grades, run, RANKING_MEASURES)
        run_id = next(iter(candidates.values())).run_id
        rows = []
        for measure in RANKING_MEASURES:
            cells = {**found.by_topic[measure], "all": found.mean[measure]}
            for topic_id, value in cells.items():
                of_topic = grades.get(topic_id, {})
                n = sum(map(len, grades.values())) if topic_id == "all" else len(of_topic)
                n_topics = len(found.by_topic[measure]) if topic_id == "all" else None
                row = ScoreRow(run_id=run_id, topic_id=topic_id, measure=measure, value=value)
                rows.append(row.model_copy(update={"n": n, "n_topics": n_topics}))
        return rows

    def _pairs(self) -> Iterator[tuple[str, str]]:
        for topic_id in self._collection.topics:
            ranking = self._collection.candidates.get(topic_id)
            for passage_id in ranking.passage_ids if ranking else ():
                if passage_id in self._collection.passages:
                    yield topic_id, passage_id
