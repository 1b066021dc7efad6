"""The coverage program: sub-questions of a topic, and how well texts answer them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ..judges import AnswerabilityGrader, SubQuestionGenerator
from ..records.judgements import Judged, Outcome, Reason, Unjudged
from ..records.ratings import NOT_JUDGED, UNPARSED, Ratings, answer_id, reference_id
from ..records.rows import QuestionSet, SubQuestion
from .collection import Collection
from .coverage_inputs import CoverageInputs
from .coverage_scores import CoverageData, CoverageSettings, TopicView, pool_of
from .engine import Item
from .journal import Journal
from .results import Results


class QuestionStage:
    """One item per topic with a reference report: its sub-questions."""

    name = "questions"

    def __init__(self, collection: Collection, judge: SubQuestionGenerator) -> None:
        self._collection = collection
        self._inputs = inputs_of(collection)
        self._judge = judge

    def items(self) -> Iterator[Item]:
        """Topics in order."""
        reports = self._inputs.reports
        for topic_id in self._collection.topics:
            if topic_id in reports:
                yield Item((topic_id,), (reports[topic_id], self._inputs.settings.n))

    def total(self) -> int:
        """Number of items."""
        return sum(1 for _ in self.items())

    def inputs(self, item: Item) -> dict[str, object]:
        """What the first prompt is rendered from."""
        report, n = item.payload
        return {"report": report, "known": [], "wanted": n}

    async def judge(self, item: Item) -> Judged:
        """The questions of one report."""
        report, n = item.payload
        texts, calls = await self._judge.generate(report, n)
        return Judged({"questions": texts}, tuple(calls))

    def finish(self, journal: Journal, results: Results) -> dict[str, QuestionSet]:
        """The questions by topic; a topic whose questions were not judged has none."""
        found: dict[str, QuestionSet] = {}
        for number, item in enumerate(self.items()):
            outcome = journal.outcome(number)
            topic_id, wanted = item.ids[0], item.payload[1]
            results.judged(self.name, {"topic_id": topic_id}, outcome)
            if isinstance(outcome, Judged):
                found[topic_id] = question_set(topic_id, outcome.values["questions"])
                if missing := wanted - len(found[topic_id].questions):
                    results.count("questions fewer than asked for", missing)
        return found


class Text(NamedTuple):
    """Something that is rated: a passage, or a report under its own id. `text` None: unknown."""

    topic_id: str
    id: str
    text: str | None


class RatingStage:
    """One item per text and question, or window of questions; those that are rated are left out.

    A question of a text that is not in the data ends as `Unjudged(no_passage)`, never as 0.

    Args:
        texts: what to rate, each once; called again for each pass, so that no text is held.
        ratings: those that are there already; `finish` adds to them.
        paper_zero: do not ask again for ratings that were unreadable: they count as 0.
    """

    def __init__(
        self,
        name: str,
        texts: Callable[[], Iterable[Text]],
        questions: Mapping[str, QuestionSet],
        ratings: Ratings,
        judge: AnswerabilityGrader,
        *,
        paper_zero: bool = False,
    ) -> None:
        self.name = name
        self._texts = texts
        self._questions = questions
        self._ratings = ratings
        self._judge = judge
        self._is_missing = operator.le if not paper_zero else operator.lt

    def items(self) -> Iterator[Item]:
        """Text by text, so that calls about one text follow each other."""
        for text, window in self._windows():
            if text.text is not None:
                columns = ",".join(question.id for question in window)
                payload = (text.text, [question.text for question in window])
                yield Item((text.topic_id, text.id, columns), payload)

    def total(self) -> int:
        """Number of items."""
        return sum(1 for text, _ in self._windows() if text.text is not None)

    def inputs(self, item: Item) -> dict[str, object]:
        """What the judge's prompt is rendered from."""
        return self._judge.asked(self._asked(item))

    async def judge(self, item: Item) -> Judged:
        """The ratings of one window, in order."""
        verdicts, call = await self._judge.verdicts(self._asked(item), item.ids[0])
        return Judged({"verdicts": [verdict.as_row() for verdict in verdicts]}, (call,))

    def finish(self, journal: Journal, results: Results) -> None:
        """Add what was judged to the ratings."""
        number = 0
        found: dict[tuple[str, str], list[int]] = {}
        for text, window in self._windows():
            if text.text is None:
                outcome: Outcome = Unjudged(Reason.NO_PASSAGE, f"{text.id} has no text in the data")
            else:
                outcome = journal.outcome(number)
                number += 1
            ids = {"topic_id": text.topic_id, "passage_id": text.id}
            place = {"question_ids": [question.id for question in window]}
            results.judged(self.name, ids, outcome, n=len(window), place=place)
            row = found.setdefault((text.topic_id, text.id), list(self._known(text)))
            for question, rating in zip(window, _ratings(outcome, len(window)), strict=True):
                row[question.column] = rating
        for (topic_id, name), row in found.items():
            self._ratings.setdefault(topic_id, {})[name] = tuple(row)

    def _windows(self) -> Iterator[tuple[Text, tuple[SubQuestion, ...]]]:
        size = self._judge.window
        for text in self._texts():
            if text.topic_id in self._questions:
                missing = self._missing(text)
                for start in range(0, len(missing), size):
                    yield text, missing[start : start + size]

    def _missing(self, text: Text) -> tuple[SubQuestion, ...]:
        known, questions = self._known(text), self._questions[text.topic_id].questions
        return tuple(q for q in questions if self._is_missing(known[q.column], UNPARSED))

    def _known(self, text: Text) -> tuple[int, ...]:
        nothing = (NOT_JUDGED,) * self._questions[text.topic_id].n_columns
        return self._ratings.get(text.topic_id, {}).get(text.id, nothing)

    def _asked(self, item: Item) -> list[dict[str, str]]:
        context, questions = item.payload
        return [{"question": question, "context": context} for question in questions]


class CoverageTexts:
    """Which texts are rated: first those of the pools, then contexts and answers."""

    def __init__(self, collection: Collection, data: CoverageData) -> None:
        self._collection = collection
        self._inputs = inputs_of(collection)
        self._data = data

    def of_pools(self) -> Iterator[Text]:
        """The passages that the pool file lists, and the reference reports."""
        for topic_id in self._collection.topics:
            yield from self._passages(topic_id, self._inputs.listed.get(topic_id, ()))
            if (report := self._inputs.reports.get(topic_id)) is not None:
                yield Text(topic_id, reference_id(topic_id), report)

    def of_systems(self) -> Iterator[Text]:
        """The passages of all contexts, each once, and the answers that have text."""
        of_pool = self._inputs.listed
        for topic_id in self._collection.topics:
            found = dict.fromkeys(
                name
                for contexts in self._data.contexts.values()
                for name in self._inputs.asked(topic_id, contexts.get(topic_id, ()))
            )
            others = [name for name in found if name not in of_pool.get(topic_id, ())]
            yield from self._passages(topic_id, others)
        for answer in self._collection.answers():
            if answer.text.strip():
                name = answer_id(answer.topic_id, answer.run_id)
                yield Text(answer.topic_id, name, answer.text)

    def _passages(self, topic_id: str, names: Iterable[str]) -> Iterator[Text]:
        for name in names:
            passage = self._collection.passages.get(name)
            yield Text(topic_id, name, None if passage is None else passage.text)


def inputs_of(collection: Collection) -> CoverageInputs:
    """What was read for coverage. Raises: ValueError if nothing was."""
    if collection.coverage is None:
        raise ValueError("the collection was loaded without the inputs of coverage")
    return collection.coverage


def question_set(topic_id: str, texts: Sequence[str]) -> QuestionSet:
    """Questions named by their places."""
    questions = tuple(SubQuestion(id=str(i), text=text) for i, text in enumerate(texts))
    return QuestionSet(topic_id=topic_id, questions=questions, n_columns=len(texts))


def add_pools(data: CoverageData, inputs: CoverageInputs) -> None:
    """Note which passages make each topic's pool, from the ratings that are there."""
    for topic_id in data.questions:
        given = data.ratings.get(topic_id, {})
        data.pools[topic_id] = pool_of(topic_id, given, inputs.listed.get(topic_id))


def add_contexts(data: CoverageData, inputs: CoverageInputs, settings: CoverageSettings) -> None:
    """Cut each ranking to its context; needs the pools where `k` is "required"."""
    for topic_id in data.questions:
        depth = TopicView(data, topic_id, settings).depth
        for run_id, rankings in inputs.rankings.items():
            cut = data.contexts.setdefault(run_id, {})
            if topic_id in rankings:
                cut[topic_id] = rankings[topic_id][:depth]


def add_tokens(data: CoverageData, collection: Collection, count: Callable[[str], int]) -> None:
    """Count the tokens of every text whose length matters and that is there."""
    names = {name for pool in data.pools.values() for name in pool}
    names.update(n for of in data.contexts.values() for ids in of.values() for n in ids)
    held = collection.passages
    data.tokens.update((name, count(held[name].text)) for name in names if name in held)
    for topic_id, report in inputs_of(collection).reports.items():
        data.tokens[reference_id(topic_id)] = count(report)
    data.answers.update((run_id, {}) for run_id in collection.run_ids)
    for answer in collection.answers():
        name = answer_id(answer.topic_id, answer.run_id)
        has_text = bool(answer.text.strip())
        data.answers[answer.run_id][answer.topic_id] = name if has_text else None
        data.tokens[name] = count(answer.text)


def _ratings(outcome: Outcome, n: int) -> list[int]:
    if isinstance(outcome, Judged):
        return [int(verdict["label"]) for verdict in outcome.values["verdicts"]]
    return [UNPARSED if outcome.reason is Reason.UNPARSEABLE else NOT_JUDGED] * n
