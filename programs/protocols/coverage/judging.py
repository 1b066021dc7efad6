"""The coverage program: sub-questions of a topic, and how well texts answer them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from ....judges import AnswerabilityGrader, SubQuestionGenerator
from ....metrics.tokens import token_counter
from ....records.judgements import Judged, Outcome, Reason, Unjudged
from ....records.ratings import NOT_JUDGED, UNPARSED, Ratings, is_own, passages_of, topics_of
from ....records.rows import QuestionSet, ScoreRow, SubQuestion
from ...engine.journal import Journal
from ...engine.results import Results
from ...engine.session import Session
from ...engine.stage import Item
from ...inputs.collection import Collection
from ...inputs.coverage import CoverageInputs
from .files import write_coverage
from .scores import coverage_rows
from .texts import CoverageTexts, Text, add_tokens, inputs_of
from .topic import CoverageData, TopicView


async def judge_coverage(
    session: Session, collection: Collection, results: Results
) -> list[ScoreRow]:
    """Have questions made and texts rated, as far as they are missing; write files, give scores."""
    inputs = inputs_of(collection)
    questions = await _questions(session, collection, results)
    data = CoverageData(questions, {t: dict(inputs.ratings.get(t, {})) for t in questions})
    texts = CoverageTexts(collection, data)

    async def rate(name: str, wanted: Callable[[], Iterable[Text]]) -> None:
        judge, zero = session.panel.answerability, inputs.settings.paper_zero
        stage = RatingStage(name, wanted, questions, data.ratings, judge, paper_zero=zero)
        journal = await session.journaled(stage, ("answerability",))
        stage.finish(journal, results)
        journal.close()

    add_pools(data, collection)
    await rate("pool", texts.of_pools)
    add_contexts(data, inputs)
    await rate("ratings", texts.of_systems)
    for topic_id, pool in data.pools.items():
        if not pool:  # nothing says which passages it has: all that were rated
            data.pools[topic_id] = tuple(passages_of(topic_id, data.ratings[topic_id]))
    add_tokens(data, collection, token_counter(inputs.settings.tokenizer))
    write_coverage(data, inputs.settings, results)
    return coverage_rows(data, inputs.settings, list(collection.topics))


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
        self._asked = {NOT_JUDGED} if paper_zero else {NOT_JUDGED, UNPARSED}
        self.kept = frozenset({Reason.UNPARSEABLE} if paper_zero else ())

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
        return self._judge.asked(self._pairs(item))

    async def judge(self, item: Item) -> Judged:
        """The ratings of one window, in order."""
        verdicts, call = await self._judge.verdicts(self._pairs(item), item.ids[0])
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
        return tuple(q for q in questions if known[q.column] in self._asked)

    def _known(self, text: Text) -> tuple[int, ...]:
        nothing = (NOT_JUDGED,) * self._questions[text.topic_id].n_columns
        return self._ratings.get(text.topic_id, {}).get(text.id, nothing)

    def _pairs(self, item: Item) -> list[dict[str, str]]:
        context, questions = item.payload
        return [{"question": question, "context": context} for question in questions]


def question_set(topic_id: str, texts: Sequence[str]) -> QuestionSet:
    """Questions named by their places."""
    questions = tuple(SubQuestion(id=str(i), text=text) for i, text in enumerate(texts))
    return QuestionSet(topic_id=topic_id, questions=questions, n_columns=len(texts))


def add_pools(data: CoverageData, collection: Collection) -> None:
    """Note which passages make P*, the pool that says what is answerable.

    Those that the pool file lists; without it, by their ids, the passages of the topic's own
    documents: those that have ratings, or all in the data if none has. Else none.
    """
    inputs = inputs_of(collection)
    held: dict[str, list[str]] = {}
    for name in collection.passages:
        for topic_id in topics_of(name, collection.topics):
            held.setdefault(topic_id, []).append(name)
    for topic_id in data.questions:
        rated = passages_of(topic_id, data.ratings.get(topic_id, {}))
        own = [name for name in rated if is_own(name, topic_id)] or held.get(topic_id, [])
        data.pools[topic_id] = tuple(inputs.listed.get(topic_id, own))


def add_contexts(data: CoverageData, inputs: CoverageInputs) -> None:
    """Cut each ranking to its context; needs the pools where `k` is "required"."""
    for topic_id in data.questions:
        k = TopicView(data, topic_id, inputs.settings).k
        for run_id, rankings in inputs.rankings.items():
            cut = data.rankings.setdefault(run_id, {})
            if topic_id in rankings:
                cut[topic_id] = rankings[topic_id][:k]


async def _questions(
    session: Session, collection: Collection, results: Results
) -> dict[str, QuestionSet]:
    """The sub-questions that were given, or new ones from the reference reports."""
    given, data = inputs_of(collection).questions, session.config.data
    if given is None:
        stage = QuestionStage(collection, session.panel.subquestions)
        journal = await session.journaled(stage, ("subquestions",))
        found = stage.finish(journal, results)
        journal.close()
    else:
        found = {topic: given[topic] for topic in collection.topics if topic in given}
    for topic in collection.topics:
        if topic not in found:
            what = f"topic {topic!r} has no sub-questions, it is left out of coverage"
            where = data.questions or data.reference or "questions"
            collection.problems.skip(where, 0, "no_questions", what)
    return found


def _ratings(outcome: Outcome, n: int) -> list[int]:
    if isinstance(outcome, Judged):
        return [int(verdict["label"]) for verdict in outcome.values["verdicts"]]
    return [UNPARSED if outcome.reason is Reason.UNPARSEABLE else NOT_JUDGED] * n
