"""The coverage task: how many sub-questions of a topic do contexts and reports answer?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Collection as Names
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from annotated_types import Ge, Le
from pydantic import Strict, StrictStr

from ....records.judgements import Outcome, Reason, Unjudged
from ....records.kinds import Cell
from ....records.questions import (
    NOT_JUDGED,
    UNPARSED,
    Ratings,
    find_topics,
    is_own,
    list_passages,
    question_sets,
    ratings_with_lines,
)
from ....records.reading.problems import InputError, Problems
from ....records.rows import QuestionSet, SubQuestion
from ...config.base import JudgeName
from ...config.sections import Config
from ...engine.journal import make_list_type, make_object_type
from ...engine.results import Results, RowWriter
from ...engine.stage import Item, acts, labels, make_rows, makes
from ...inputs import Collection, CoverageInputs, load_collection
from ..judgements import SUB_QUESTION, FileLines, Judgement
from ..program import CellTexts, Folder, Meaning, Meanings, Program, Run
from ..scoreboard import Scoreboard
from .files import (
    CONTEXTS,
    POOLS,
    QUESTIONS,
    RANKS,
    RATINGS,
    REPORTS,
    UNASKED,
    WHY,
    CoverageTexts,
    Text,
    add_tokens,
    get_inputs,
    make_token_counter,
    read_coverage,
    write_coverage,
)
from .topic import COVERAGE_MEASURES, CoverageData, TopicView, coverage_measures, coverage_rows

if TYPE_CHECKING:
    from ....agents import Corpus
    from ....agents.researcher import Researcher
    from ...engine.session import Session  # imports DSPy, which readers of results do not need

RESEARCH = "research.jsonl"
JUDGES: tuple[JudgeName, ...] = ("question_decomposer", "answerability")
GRADE = Annotated[int, Strict(), Ge(0), Le(5)]
QUESTION = {"question": StrictStr, "answered_by": StrictStr | None, "grades": dict[str, GRADE]}
MADE = make_object_type({"questions": make_list_type(make_object_type(QUESTION))})
UNANSWERABLE = "sub-questions unanswerable in the corpus, left out (unanswerable_in_corpus)"


class Coverage(Program):
    """CRUX (arXiv:2506.20051): rate how well texts answer the sub-questions of a topic."""

    name = "coverage"
    paper = (
        "Controlled Retrieval-augmented Context Evaluation for Long-form RAG",
        "2506.20051",
    )
    needs = (("questions", "reference"), "questions, or a reference to make them from")
    judges = ("subquestions", "answerability")
    kind, judged, files = "ratings", RATINGS, (QUESTIONS, RATINGS)
    verb = ("answer", "answered")
    stages = ("ratings", "pool", "questions", "research")
    derived = (RESEARCH, WHY, POOLS, CONTEXTS, REPORTS, RANKS, "qrels.txt", "diversity_qrels.txt")
    makes: ClassVar[Mapping[str, str]] = {"questions": QUESTIONS}
    notes: ClassVar[Mapping[str, Any]] = {UNASKED: []}
    meanings: ClassVar[Meanings] = {
        "coverage": Meaning(
            "Share of the answerable sub-questions that the context answers.",
            says="retrieves answers to {} of the sub-questions",
            orders=7,
        ),
        "report_coverage": Meaning(
            "Share of the answerable sub-questions that the answer answers.",
            says="answers {} of the sub-questions",
            orders=3,
        ),
        "alpha_ndcg": (
            "How early the context's passages answer new sub-questions, "
            "against the best order of the pool."
        ),
        "alpha_ndcg_required": (
            "The same against the best order of the required passages alone; can be above 1."
        ),
        "density": "Answers per token of the context; 1 is as dense as the required passages.",
        "report_density": (
            "Answers per token of the answer; 1 is as dense as the required passages."
        ),
        "redundancy": Meaning(
            "Share of what the context's passages answer that one above answered before.", True
        ),
        "AP": "Average precision of the context's passages.",
        "R": "Share of the relevant passages that are in the context.",
    }
    shown = COVERAGE_MEASURES
    reads = ("question", "context")

    def list_judges(self, config: Config) -> tuple[JudgeName, ...]:
        """See Program."""
        is_research = config.questions.method == "research" and config.data.questions is None
        return JUDGES if is_research else self.judges

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return coverage_measures(config.coverage)

    def has_agents(self, config: Config) -> bool:
        """See Program."""
        return config.questions.method == "research" and config.data.questions is None

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        inputs, data = get_inputs(collection), config.data
        is_research = inputs.questions is None and config.questions.method == "research"
        if is_research:
            check_research(config)
        n_answers = collection.n_answers + len(collection.failed)
        if inputs.questions is None and not (inputs.reports or is_research):
            what = "add a file (data.questions) or reports to make them from"
            raise InputError(f"coverage needs sub-questions: {what} (data.reference)")
        if not (inputs.rankings or n_answers or inputs.reports or inputs.ratings):
            what = "retrieval runs (data.retrieval) or answers (data.runs, --runs)"
            raise InputError(f"coverage: nothing to judge; add {what}")
        if inputs.settings.contexts == "answers" and not n_answers:
            raise InputError(
                "coverage.contexts: answers, but there are no answers; add runs (--runs)"
            )
        if inputs.questions is None and inputs.ratings:
            what = "the rated questions are missing; add them (data.questions)"
            raise InputError(f"coverage: {data.ratings[0]}: {what}")
        has_pool = data.ratings or data.pool or is_research or any(_own(collection))
        if inputs.settings.k == "required" and not has_pool:
            what = "wanted ratings or a pool of passages, to find the required passages"
            raise InputError(f"coverage.k: {what} (data.ratings, data.pool)")
        if not (inputs.rankings or has_pool or inputs.settings.answerable == "all"):
            what = "cannot tell which questions are answerable; add a pool, ratings, retrieval runs"
            raise InputError(f"coverage: {what}, or set coverage.answerable to all")
        if inputs.rankings and not (data.ratings or collection.passages):
            what = "add passage files (data.passages, --passages), or ratings (data.ratings)"
            raise InputError(f"coverage: no passage has a text; {what}")
        make_token_counter(config.coverage)

    async def judge(self, run: Run) -> None:
        """Make missing questions and rate unrated texts."""
        collection, inputs = run.collection, get_inputs(run.collection)
        if inputs.questions is None and run.config.questions.method == "research":
            questions, unasked = await search_questions(run)
        else:
            questions, unasked = await get_questions(run)
        run.results.notes[UNASKED] = unasked
        data = CoverageData(questions, {t: dict(inputs.ratings.get(t, {})) for t in questions})
        data.unasked = unasked
        data.no_context, data.no_report = set(inputs.failed), set(collection.failed)
        texts = CoverageTexts(collection, data)

        with ExitStack() as files:
            says_why = run.judge_set["answerability"].says_why
            why = files.enter_context(run.results.open(WHY)) if says_why else None

            async def rate_items(name: str, wanted: Callable[[], Iterable[Text]]) -> None:
                rest = (wanted, questions, data.ratings)
                await rate(run.session, run.results, name, *rest, why=why)

            add_pools(data, collection)
            await rate_items("pool", texts.of_pools)
            add_contexts(data, inputs)
            await rate_items("ratings", texts.of_systems)
        for topic_id, pool in data.pools.items():
            if not pool:  # the pool is unknown: use all rated passages
                data.pools[topic_id] = tuple(list_passages(topic_id, data.ratings[topic_id]))
        add_tokens(data, collection, make_token_counter(inputs.settings))
        write_coverage(data, inputs.settings, run.results)

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        data, settings = read_coverage(folder)
        board.extend(coverage_rows(data, settings, folder.topics))

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield each rating: of reports of runs, and of passages, which belong to no run."""
        sets = question_sets(lines(QUESTIONS))
        why = {
            tuple(
                map(line.optional_id, ("topic_id", "passage_id", "question_id"))
            ): line.read_label_scores()
            for line in lines(WHY)
        }
        runs = {
            line.optional_id("report_id"): line.optional_id("run_id") or ""
            for line in lines(REPORTS)
        }
        for topic_id, texts in ratings_with_lines(lines(RATINGS), sets).items():
            for name, rated in texts.items():
                for question in sets[topic_id].questions:
                    cell, rating = (topic_id, name, question.id), rated.ratings[question.column]
                    label_scores = why.get(cell, {})
                    yield Judgement(
                        runs.get(name, ""),
                        topic_id,
                        cell,
                        SUB_QUESTION if name in runs else "rating",
                        question.id if name in runs else f"{name} {question.id}",
                        question.text,
                        None if rating < 0 else str(rating),
                        score=label_scores.get("score"),
                        docid=None if name in runs else name,
                        evidence=label_scores.get("evidence", ()),
                        reasoning=label_scores.get("rationale", ""),
                        asked={"passage_id": name, "question_ids": question.id},
                    )

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program."""
        data, _ = read_coverage(Folder(folder, Problems()))
        texts = CoverageTexts(load_collection(config.data, config.run.limit, config.coverage), data)
        for text in chain(texts.of_pools(), texts.of_systems()):
            question_set = data.questions.get(text.topic_id)
            for question in question_set.questions if question_set is not None else ():
                cell = (text.topic_id, text.id, question.id)
                if cell in wanted and text.text is not None:
                    yield cell, {"question": question.text, "context": text.text}


async def get_questions(run: Run) -> tuple[dict[str, QuestionSet], list[str]]:
    """The sub-questions that were given, or new ones from the reference reports, by topic.

    Returns: the questions; the topics whose questions could not be made.
    """
    collection, data = run.collection, run.config.data
    inputs = get_inputs(collection)
    unasked: list[str] = []
    if inputs.questions is None:
        questions = await _make_questions(run)
        unasked = [t for t in collection.topics if t in inputs.reports and t not in questions]
    else:
        given = inputs.questions
        questions = {topic: given[topic] for topic in collection.topics if topic in given}
    for topic in collection.topics:
        if topic not in questions and topic not in unasked:
            what = f"topic {topic!r} has no sub-questions, so it is excluded from coverage"
            where = data.questions or data.reference or "questions"
            collection.problems.skip(where, 0, "no_questions", what)
    return questions, unasked


async def _make_questions(run: Run) -> dict[str, QuestionSet]:
    inputs = get_inputs(run.collection)
    reports, n = inputs.reports, inputs.settings.n

    def items() -> Iterator[Item]:
        for topic_id in run.collection.topics:
            if topic_id in reports:
                yield Item({"topic_id": topic_id}, (reports[topic_id], n))

    sets: dict[str, QuestionSet] = {}
    generate = run.judge_set["subquestions"].generate
    stage = makes("questions", ("subquestions",), generate, items, made=list[StrictStr])
    for ids, made in await run.session.make_stage(stage, run.results):
        if made is not None:
            topic_id = ids["topic_id"]
            sets[topic_id] = question_set(topic_id, made)
            if missing := n - len(sets[topic_id].questions):
                run.results.count("fewer questions than requested", missing)
    return sets


async def rate(
    session: Session,
    results: Results,
    name: str,
    texts: Callable[[], Iterable[Text]],
    questions: Mapping[str, QuestionSet],
    ratings: Ratings,
    *,
    why: RowWriter | None = None,
) -> None:
    """Rate texts for the questions of their topics, if they are not rated yet.

    A question on a text that is not in the data is `Unjudged(no_passage)`, never 0.

    Args:
        texts: yields the texts to rate, each once; called for each pass, to save memory.
        ratings: existing ratings; new ratings are added.
        why: receives new ratings with explanations, each with its ids.
    """
    size = session.judge_set["answerability"].window
    before = {topic: dict(of_topic) for topic, of_topic in ratings.items()}

    def earlier_row(topic_id: str, text_id: str) -> tuple[int, ...]:
        nothing = (NOT_JUDGED,) * questions[topic_id].n_columns
        return before.get(topic_id, {}).get(text_id, nothing)

    def windows() -> Iterator[tuple[Sequence[SubQuestion], Item]]:
        for text in texts():
            if text.topic_id in questions:
                row = earlier_row(text.topic_id, text.id)
                missing = [
                    q
                    for q in questions[text.topic_id].questions
                    if row[q.column] in (NOT_JUDGED, UNPARSED)
                ]
                for start in range(0, len(missing), size):
                    window = missing[start : start + size]
                    yield window, _item(text, window)

    def items() -> Iterator[Item]:
        return (item for _, item in windows())

    stage = labels(name, session.judge_set, "answerability", items)
    async with session.judge_stage(stage, results) as outcome:
        for window, item in windows():
            topic_id, text_id = item.ids["topic_id"], item.ids["passage_id"]
            of_topic = ratings.setdefault(topic_id, {})
            row = list(of_topic.get(text_id) or earlier_row(topic_id, text_id))
            result = outcome(item)
            for question, verdict in zip(window, make_rows(result, item.n), strict=True):
                row[question.column] = _rating(result, verdict["label"])
                if why is not None and ("evidence" in verdict or "rationale" in verdict):
                    ids = {"topic_id": topic_id, "passage_id": text_id, "question_id": question.id}
                    why.write(ids | verdict)
            of_topic[text_id] = tuple(row)


def _item(text: Text, window: Sequence[SubQuestion]) -> Item:
    """Yield items text by text, so that calls about one text follow each other."""
    ids = {"topic_id": text.topic_id, "passage_id": text.id}
    named = {**ids, "question_ids": [question.id for question in window]}
    if text.text is None:
        return Item(named, None, len(window), f"{text.id} has no text in the data")
    return Item(named, ([question.text for question in window], text.text), len(window))


def question_set(topic_id: str, texts: Sequence[str]) -> QuestionSet:
    """Return questions with their positions as names."""
    questions = tuple(SubQuestion(id=str(i), text=text) for i, text in enumerate(texts))
    return QuestionSet(topic_id=topic_id, questions=questions, n_columns=len(texts))


def add_pools(data: CoverageData, collection: Collection) -> None:
    """Set P*, the pool of passages that decides which questions are answerable.

    P* is the passages in the pool file; without it, the passages of the topic's own documents (by
    id): those with ratings, or all in the data if none has a rating. Otherwise it is empty.
    """
    inputs = get_inputs(collection)
    in_data: dict[str, list[str]] = {}
    for name in collection.passages:
        for topic_id in find_topics(name, collection.topics):
            in_data.setdefault(topic_id, []).append(name)
    for topic_id in data.questions:
        rated = list_passages(topic_id, data.ratings.get(topic_id, {}))
        own = [name for name in rated if is_own(name, topic_id)] or in_data.get(topic_id, [])
        data.pools[topic_id] = tuple(inputs.listed.get(topic_id, own))


def add_contexts(data: CoverageData, inputs: CoverageInputs) -> None:
    """Cut each ranking to its context; needs the pools where `k` is "required".

    A retrieval run without passages on purpose (direct prompting) has no context to score.
    """
    of_runs = {
        run_id: of
        for run_id, of in inputs.rankings.items()
        if run_id not in inputs.retrieved or not of or any(of.values())
    }
    for topic_id in data.topics:
        k = inputs.most_k(topic_id)
        if topic_id in data.questions:
            k = TopicView(data, topic_id, inputs.settings).k
        for run_id, rankings in of_runs.items():
            cut = data.rankings.setdefault(run_id, {})
            if topic_id in rankings:
                cut[topic_id] = rankings[topic_id][:k]


def _rating(outcome: Outcome, label: str | None) -> int:
    if label is not None:
        return int(label)
    is_unreadable = isinstance(outcome, Unjudged) and outcome.reason is Reason.UNPARSEABLE
    return UNPARSED if is_unreadable else NOT_JUDGED


def check_research(config: Config) -> None:
    """Raise InputError if there is nothing to search."""
    if not config.data.passages:
        what = "searches passages: add passage files (data.passages, --passages)"
        raise InputError(f"questions.method: research {what}")


async def search_questions(run: Run) -> tuple[dict[str, QuestionSet], list[str]]:
    """Return the sub-questions that a passage answers, by topic, without topics that have none.

    If no pool is given, the answering passages are the pool.

    Returns: the questions; the topics with a missing judgement or search.
    """
    collection, results = run.collection, run.results
    has_pool, listed = run.config.data.pool is not None, get_inputs(collection).listed
    corpus = run.corpus(run.config.questions.pipeline)

    def items() -> Iterator[Item]:
        for topic in collection.topics.values():
            yield Item({"topic_id": topic.id}, (topic.id, topic.question, []))

    sets: dict[str, QuestionSet] = {}
    unasked = []
    total = len(collection.topics)
    stage = acts("research", JUDGES, _researcher(run, corpus), items, made=MADE, total=total)
    made = await run.session.make_stage(stage, results)
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
    """Add texts of passages to the collection, which has only passages that runs list."""
    for name in names:
        if (passage := corpus.passage(name)) is not None:
            collection.passages.setdefault(name, passage)


def _researcher(run: Run, corpus: Corpus) -> Researcher:
    from ....agents import Limits
    from ....agents.researcher import Researcher

    n, hits = run.config.coverage.n, Limits().hits
    limits = Limits(calls=1 + n * hits, hits=hits)  # enough for the results of a search
    judges = {name: run.judge_set[name] for name in JUDGES}
    return Researcher(corpus, limits, judges=judges, eta=run.config.coverage.eta, most=n)


def _own(collection: Collection) -> Iterator[str]:
    for name in collection.passages:
        yield from find_topics(name, collection.topics)
