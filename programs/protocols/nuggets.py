"""The nuggets program: banks made from relevant passages, and answers judged against them."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...judges import NuggetAssigner, NuggetImportance, Nuggetizer
from ...metrics import count_words
from ...records.assignments import AssignedNugget, Assignment, assignment_row
from ...records.judgements import Judged, Unjudged
from ...records.nuggets import bank_row
from ...records.rows import Answer, Importance, Nugget, NuggetBank, Topic, nugget_ids
from ..config.sections import NuggetsConfig
from ..engine.journal import Journal
from ..engine.results import Results
from ..engine.stage import Item
from ..inputs.collection import Collection
from .expected import EXPECTED_NUGGET_MEASURES, NOT_JUDGED, add_expected_nuggets
from .scoreboard import Scoreboard, nugget_values, unjudged_nugget_values


class BankStage:
    """One item per topic that has a relevant passage: create, rate, sort, keep.

    Source: arXiv:2411.09607, the numbers of `NuggetsConfig`.
    """

    name = "nuggets"

    def __init__(
        self,
        collection: Collection,
        grades: Mapping[str, Mapping[str, int]],
        nuggetizer: Nuggetizer,
        importance: NuggetImportance,
        numbers: NuggetsConfig,
        unjudged: Names[str] = (),
    ) -> None:
        self._collection = collection
        self._grades = grades
        self._nuggetizer = nuggetizer
        self._importance = importance
        self._numbers = numbers
        self._unjudged = frozenset(unjudged)  # topics with a candidate that was not graded

    def items(self) -> Iterator[Item]:
        """Topics in order, each with its relevant candidates in rank order."""
        for topic in self._collection.topics.values():
            if passages := self._relevant(topic):
                yield Item((topic.id,), (topic.question, passages))

    def total(self) -> int:
        """Number of items."""
        return sum(bool(self.sources(topic)) for topic in self._collection.topics.values())

    def sources(self, topic: Topic) -> list[str]:
        """Ids of the passages that a topic's nuggets are made from."""
        ranking = self._collection.candidates.get(topic.id)
        grades = self._grades.get(topic.id, {})
        return [
            passage_id
            for passage_id in (ranking.passage_ids if ranking else ())
            if grades.get(passage_id, -1) >= self._numbers.min_grade
            and passage_id in self._collection.passages
        ]

    async def judge(self, item: Item) -> Judged:
        """A finished list: importance rated, vital first, cut to `keep`."""
        question, passages = item.payload
        texts, n_cut, calls = await self._nuggetizer.create(question, passages)
        labels, more = await self._importance.label(question, texts)
        rated = sorted(zip(texts, labels, strict=True), key=lambda pair: pair[1] != "vital")
        kept = [[text, str(label)] for text, label in rated[: self._numbers.keep]]
        return Judged({"nuggets": kept, "n_cut": n_cut}, (*calls, *more))

    def finish(self, journal: Journal, results: Results) -> dict[str, NuggetBank | None]:
        """Write nuggets.jsonl; a topic whose bank was not judged maps to None.

        A topic without a relevant candidate has no bank, unless a grade is missing that could
        have given it one.
        """
        banks: dict[str, NuggetBank | None] = dict.fromkeys(
            topic.id
            for topic in self._collection.topics.values()
            if topic.id in self._unjudged and not self.sources(topic)
        )
        with results.open("nuggets.jsonl") as rows:
            for number, item in enumerate(self.items()):
                topic = self._collection.topics[item.ids[0]]
                outcome = journal.outcome(number)
                results.judged(self.name, {"topic_id": topic.id}, outcome)
                if isinstance(outcome, Unjudged):
                    banks[topic.id] = None
                    continue
                if n_cut := outcome.values["n_cut"]:
                    results.count("nuggets beyond the longest list", n_cut)
                bank = banks[topic.id] = _bank(topic, outcome.values["nuggets"])
                rows.write(bank_row(bank))
        return banks

    def _relevant(self, topic: Topic) -> list[str]:
        return [self._collection.passages[name].text for name in self.sources(topic)]


class AssignStage:
    """One item per answer and window of nuggets."""

    name = "assignments"

    def __init__(
        self,
        collection: Collection,
        banks: Mapping[str, NuggetBank | None],
        assigner: NuggetAssigner,
    ) -> None:
        self._collection = collection
        self._banks = banks
        self._assigner = assigner

    def items(self) -> Iterator[Item]:
        """Answers topic by topic; those without text need no call."""
        for answer, windows in self._cells():
            question = self._collection.topics[answer.topic_id].question
            for start, window in windows:
                texts = [nugget.text for nugget in window]
                ids = (answer.topic_id, answer.run_id, str(start))
                yield Item(ids, (question, answer.text, texts))

    def total(self) -> int:
        """Number of items."""
        window, answers = self._assigner.window, self._collection.n_with_text
        sizes = {t: len(bank.nuggets) for t, bank in self._banks.items() if bank is not None}
        return sum(answers[topic] * -(-size // window) for topic, size in sizes.items())

    def inputs(self, item: Item) -> dict[str, object]:
        """What the judge's prompt is rendered from."""
        question, answer, texts = item.payload
        numbered = {str(i): text for i, text in enumerate(texts, 1)}
        return {"question": question, "answer": answer, "nuggets": numbered}

    async def judge(self, item: Item) -> Judged:
        """The labels of one window, in order."""
        question, answer, texts = item.payload
        asked = [{"question": question, "answer": answer, "nugget": text} for text in texts]
        verdicts, call = await self._assigner.verdicts(asked, item.ids[0])
        return Judged({"verdicts": [verdict.as_row() for verdict in verdicts]}, (call,))

    def finish(self, journal: Journal, results: Results, board: Scoreboard) -> None:
        """Write assignments.jsonl and note each answer's scores."""
        number, is_expected = 0, False
        with results.open("assignments.jsonl") as rows:
            for answer, windows in self._cells():
                bank = self._banks[answer.topic_id]
                if bank is None:
                    board.add(answer.run_id, answer.topic_id, unjudged_nugget_values())
                    results.cells_without_bank.append((answer.run_id, answer.topic_id))
                    continue
                verdicts: list[dict[str, Any]] = []
                for _, window in windows:
                    outcome = journal.outcome(number)
                    number += 1
                    ids = {"topic_id": answer.topic_id, "run_id": answer.run_id}
                    place = {"nuggets": [nugget.id for nugget in window]}
                    results.judged(self.name, ids, outcome, n=len(window), place=place)
                    judged = outcome.values["verdicts"] if isinstance(outcome, Judged) else None
                    verdicts += judged or [{"label": None}] * len(window)
                if not answer.text.strip():
                    verdicts = [{"label": "not_support"}] * len(bank.nuggets)
                    results.count("answers without text (all nuggets not_support)")
                rows.write(assignment_row(_assignment(answer, bank, verdicts)))
                labels = [verdict["label"] for verdict in verdicts]
                is_expected |= any("probabilities" in verdict for verdict in verdicts)
                importances = [nugget.importance for nugget in bank.nuggets]
                length = count_words(answer.text)
                values = nugget_values(labels, importances, length)
                board.add(answer.run_id, answer.topic_id, values)
        if is_expected:
            add_expected_nuggets(results.unpublished("assignments.jsonl"), board)
            unjudged = dict.fromkeys(EXPECTED_NUGGET_MEASURES, NOT_JUDGED)
            for run_id, topic_id in results.cells_without_bank:
                board.add(run_id, topic_id, unjudged)

    def _cells(self) -> Iterator[tuple[Answer, list[tuple[int, tuple[Nugget, ...]]]]]:
        for answer in self._collection.answers():
            if answer.topic_id not in self._banks:
                continue  # listed once per topic as `no_nuggets`
            bank = self._banks[answer.topic_id]
            nuggets = bank.nuggets if bank is not None and answer.text.strip() else ()
            size = self._assigner.window
            starts = range(0, len(nuggets), size)
            yield answer, [(start, nuggets[start : start + size]) for start in starts]


def _bank(topic: Topic, kept: list[list[str]]) -> NuggetBank:
    ids = nugget_ids([text for text, _ in kept])
    nuggets = tuple(
        Nugget(id=name, text=text, importance=Importance(label))
        for name, (text, label) in zip(ids, kept, strict=True)
    )
    return NuggetBank(topic_id=topic.id, query=topic.text, nuggets=nuggets)


def _assignment(
    answer: Answer, bank: NuggetBank, verdicts: Sequence[Mapping[str, Any]]
) -> Assignment:
    assigned = tuple(
        AssignedNugget(nugget=nugget, **verdict)
        for nugget, verdict in zip(bank.nuggets, verdicts, strict=True)
    )
    return Assignment(
        run_id=answer.run_id,
        topic_id=answer.topic_id,
        query=bank.query,
        answer_text=answer.text,
        response_length=count_words(answer.text),
        nuggets=assigned,
    )
