"""What coverage asks of models: the sub-questions of topics, and ratings of texts for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import StrictStr

from ....records.judgements import Outcome, Reason, Unjudged
from ....records.questions import NOT_JUDGED, UNPARSED, Ratings, is_own, passages_of, topics_of
from ....records.rows import QuestionSet, SubQuestion
from ...engine.results import Results, RowWriter
from ...engine.stage import Item, labels, makes, rows_of
from ...inputs import Collection, CoverageInputs
from ..program import Run
from .texts import Text, inputs_of
from .topic import CoverageData, TopicView

if TYPE_CHECKING:
    from ...engine.session import Session  # with DSPy, which who reads results need not wait for


async def questions_of(run: Run) -> tuple[dict[str, QuestionSet], list[str]]:
    """The sub-questions that were given, or new ones from the reference reports, by topic.

    Returns: the questions; the topics whose questions could not be made.
    """
    collection, data = run.collection, run.config.data
    inputs = inputs_of(collection)
    unasked: list[str] = []
    if inputs.questions is None:
        questions = await _made_questions(run)
        unasked = [t for t in collection.topics if t in inputs.reports and t not in questions]
    else:
        given = inputs.questions
        questions = {topic: given[topic] for topic in collection.topics if topic in given}
    for topic in collection.topics:
        if topic not in questions and topic not in unasked:
            what = f"topic {topic!r} has no sub-questions, it is left out of coverage"
            where = data.questions or data.reference or "questions"
            collection.problems.skip(where, 0, "no_questions", what)
    return questions, unasked


async def _made_questions(run: Run) -> dict[str, QuestionSet]:
    inputs = inputs_of(run.collection)
    reports, n = inputs.reports, inputs.settings.n

    def items() -> Iterator[Item]:
        for topic_id in run.collection.topics:
            if topic_id in reports:
                yield Item({"topic_id": topic_id}, (reports[topic_id], n))

    sets: dict[str, QuestionSet] = {}
    generate = run.panel["subquestions"].generate
    stage = makes("questions", ("subquestions",), generate, items, made=list[StrictStr])
    for ids, made in await run.session.made(stage, run.results):
        if made is not None:
            topic_id = ids["topic_id"]
            sets[topic_id] = question_set(topic_id, made)
            if missing := n - len(sets[topic_id].questions):
                run.results.count("questions fewer than asked for", missing)
    return sets


async def rate(
    session: Session,
    results: Results,
    name: str,
    texts: Callable[[], Iterable[Text]],
    questions: Mapping[str, QuestionSet],
    ratings: Ratings,
    *,
    paper_zero: bool = False,
    why: RowWriter | None = None,
) -> None:
    """Have texts rated for the questions of their topics, as far as they are not rated yet.

    A question of a text that is not in the data ends as `Unjudged(no_passage)`, never as 0.

    Args:
        texts: what to rate, each once; called again for each pass, so that none is kept in memory.
        ratings: those that are there already; new ones are added.
        paper_zero: do not ask again for ratings that were unreadable: they count as 0.
        why: is given the new ratings for which the judge said why, each with its ids.
    """
    size = session.panel["answerability"].window
    to_ask = {NOT_JUDGED} if paper_zero else {NOT_JUDGED, UNPARSED}
    before = {topic: dict(of_topic) for topic, of_topic in ratings.items()}

    def earlier_row(topic_id: str, text_id: str) -> tuple[int, ...]:
        nothing = (NOT_JUDGED,) * questions[topic_id].n_columns
        return before.get(topic_id, {}).get(text_id, nothing)

    def windows() -> Iterator[tuple[Sequence[SubQuestion], Item]]:
        for text in texts():
            if text.topic_id in questions:
                row = earlier_row(text.topic_id, text.id)
                missing = [q for q in questions[text.topic_id].questions if row[q.column] in to_ask]
                for start in range(0, len(missing), size):
                    window = missing[start : start + size]
                    yield window, _item(text, window)

    def items() -> Iterator[Item]:
        return (item for _, item in windows())

    final = frozenset({Reason.UNPARSEABLE} if paper_zero else ())
    stage = labels(name, session.panel, "answerability", items, final=final)
    async with session.judged(stage, results) as outcome:
        for window, item in windows():
            topic_id, text_id = item.ids["topic_id"], item.ids["passage_id"]
            of_topic = ratings.setdefault(topic_id, {})
            row = list(of_topic.get(text_id) or earlier_row(topic_id, text_id))
            result = outcome(item)
            for question, verdict in zip(window, rows_of(result, item.n), strict=True):
                row[question.column] = _rating(result, verdict["label"])
                if why is not None and ("evidence" in verdict or "rationale" in verdict):
                    ids = {"topic_id": topic_id, "passage_id": text_id, "question_id": question.id}
                    why.write(ids | verdict)
            of_topic[text_id] = tuple(row)


def _item(text: Text, window: Sequence[SubQuestion]) -> Item:
    """Text by text, so that calls about one text follow each other."""
    ids = {"topic_id": text.topic_id, "passage_id": text.id}
    named = {**ids, "question_ids": [question.id for question in window]}
    if text.text is None:
        return Item(named, None, len(window), f"{text.id} has no text in the data")
    return Item(named, ([question.text for question in window], text.text), len(window))


def question_set(topic_id: str, texts: Sequence[str]) -> QuestionSet:
    """Questions named by their positions."""
    questions = tuple(SubQuestion(id=str(i), text=text) for i, text in enumerate(texts))
    return QuestionSet(topic_id=topic_id, questions=questions, n_columns=len(texts))


def add_pools(data: CoverageData, collection: Collection) -> None:
    """Note which passages make P*, the pool that says what is answerable.

    Those that the pool file lists; without it, by their ids, the passages of the topic's own
    documents: those that have ratings, or all in the data if none has. Else none.
    """
    inputs = inputs_of(collection)
    in_data: dict[str, list[str]] = {}
    for name in collection.passages:
        for topic_id in topics_of(name, collection.topics):
            in_data.setdefault(topic_id, []).append(name)
    for topic_id in data.questions:
        rated = passages_of(topic_id, data.ratings.get(topic_id, {}))
        own = [name for name in rated if is_own(name, topic_id)] or in_data.get(topic_id, [])
        data.pools[topic_id] = tuple(inputs.listed.get(topic_id, own))


def add_contexts(data: CoverageData, inputs: CoverageInputs) -> None:
    """Cut each ranking to its context; needs the pools where `k` is "required"."""
    for topic_id in data.topics:
        k = inputs.most_k(topic_id)
        if topic_id in data.questions:
            k = TopicView(data, topic_id, inputs.settings).k
        for run_id, rankings in inputs.rankings.items():
            cut = data.rankings.setdefault(run_id, {})
            if topic_id in rankings:
                cut[topic_id] = rankings[topic_id][:k]


def _rating(outcome: Outcome, label: str | None) -> int:
    if label is not None:
        return int(label)
    is_unreadable = isinstance(outcome, Unjudged) and outcome.reason is Reason.UNPARSEABLE
    return UNPARSED if is_unreadable else NOT_JUDGED
