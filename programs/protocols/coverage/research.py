"""Sub-questions that an agent finds answers to in the passages of a run (`questions.how`)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated

from annotated_types import Ge, Le
from pydantic import Strict, StrictStr

from ....records.reading.problems import InputError
from ....records.rows import QuestionSet
from ...config.base import JudgeName
from ...config.sections import Config
from ...engine.journal import list_of, object_of
from ...engine.stage import Item, acts
from ...inputs import Collection
from ..program import Run
from .judging import question_set
from .texts import inputs_of

if TYPE_CHECKING:
    from ....agents import Corpus
    from ....agents.researcher import Researcher

RESEARCH = "research.jsonl"
JUDGES: tuple[JudgeName, ...] = ("question_decomposer", "answerability")
GRADE = Annotated[int, Strict(), Ge(0), Le(5)]
QUESTION = {"question": StrictStr, "answered_by": StrictStr | None, "grades": dict[str, GRADE]}
MADE = object_of({"questions": list_of(object_of(QUESTION))})
UNANSWERABLE = "sub-questions unanswerable in the corpus, left out (unanswerable_in_corpus)"


def check_research(config: Config) -> None:
    """Raise InputError where there is nothing to search."""
    if not config.data.passages:
        what = "searches passages: name files of them (data.passages, --passages)"
        raise InputError(f"questions.how: research {what}")


async def researched_questions(run: Run) -> tuple[dict[str, QuestionSet], list[str]]:
    """The sub-questions that a passage answers, by topic; a topic without any is not in it.

    Where no pool is given, the passages that answer are its pool.

    Returns: the questions; the topics of which a judgement or search is missing.
    """
    collection, results = run.collection, run.results
    has_pool, listed = run.config.data.pool is not None, inputs_of(collection).listed
    corpus = run.corpus(run.config.questions.pipeline)

    def items() -> Iterator[Item]:
        for topic in collection.topics.values():
            yield Item({"topic_id": topic.id}, (topic.id, topic.question, []))

    sets: dict[str, QuestionSet] = {}
    unasked = []
    total = len(collection.topics)
    stage = acts("research", JUDGES, _researcher(run, corpus), items, made=MADE, total=total)
    made = await run.session.made(stage, results)
    with results.open(RESEARCH) as rows:
        for topic_id, of_topic in ((ids["topic_id"], of_topic) for ids, of_topic in made):
            if of_topic is None:
                unasked.append(topic_id)
                continue
            questions = of_topic["questions"]
            answered = [each for each in questions if each["answered_by"] is not None]
            for each in questions:
                number = str(answered.index(each)) if each in answered else None
                rows.write({"topic_id": topic_id, "question_id": number, **each})
            if n_lost := len(questions) - len(answered):
                results.count(UNANSWERABLE, n_lost)
            if not answered:
                what = (
                    f"topic {topic_id!r}: no passage answers one of its {len(questions)} questions"
                )
                collection.problems.skip(RESEARCH, 0, "no_questions", what)
                continue
            sets[topic_id] = question_set(topic_id, [q["question"] for q in answered])
            if not has_pool:
                pool = dict.fromkeys(q["answered_by"] for q in answered)
                listed[topic_id] = dict.fromkeys(pool, 1)
                _hold(collection, corpus, pool)
    return sets, unasked


def _hold(collection: Collection, corpus: Corpus, names: Iterable[str]) -> None:
    """Have the texts of passages in the collection, which holds only those that runs name."""
    for name in names:
        if (passage := corpus.passage(name)) is not None:
            collection.passages.setdefault(name, passage)


def _researcher(run: Run, corpus: Corpus) -> Researcher:
    from ....agents import Limits
    from ....agents.researcher import Researcher

    n, hits = run.config.coverage.n, Limits().hits
    limits = Limits(calls=1 + n * hits, hits=hits)  # enough for all that a search gives
    judges = {name: run.panel[name] for name in JUDGES}
    return Researcher(corpus, limits, judges=judges, eta=run.config.coverage.eta, most=n)
