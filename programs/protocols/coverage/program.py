"""The coverage program: how much of what a topic asks for is in contexts and in reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Collection as Names
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar

from ....records.kinds import Cell
from ....records.questions import passages_of, question_sets, ratings_with_lines, topics_of
from ....records.reading.problems import InputError, Problems
from ...config.base import JudgeName
from ...config.sections import Config
from ...inputs import Collection, load_collection
from ..pieces import SUB_QUESTION, FileLines, Piece
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
    read_coverage,
    write_coverage,
)
from .judging import add_contexts, add_pools, questions_of, rate
from .research import JUDGES as RESEARCHING_JUDGES
from .research import RESEARCH, check_research, researched_questions
from .scores import COVERAGE_MEASURES, coverage_measures, coverage_rows
from .texts import CoverageTexts, Text, add_tokens, inputs_of, token_counter_of
from .topic import CoverageData


class Coverage(Program):
    """CRUX (arXiv:2506.20051): sub-questions of a topic, and how well texts answer them."""

    name = "coverage"
    paper = (
        "Controlled Retrieval-augmented Context Evaluation for Long-form RAG",
        "2506.20051",
    )
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

    def judges_of(self, config: Config) -> tuple[JudgeName, ...]:
        """See Program."""
        is_research = config.questions.how == "research" and config.data.questions is None
        return RESEARCHING_JUDGES if is_research else self.judges

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return coverage_measures(config.coverage)

    def has_agents(self, config: Config) -> bool:
        """See Program."""
        return config.questions.how == "research" and config.data.questions is None

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        inputs, data = inputs_of(collection), config.data
        is_research = inputs.questions is None and config.questions.how == "research"
        if is_research:
            check_research(config)
        n_answers = collection.n_answers + len(collection.not_made)
        if inputs.questions is None and not (inputs.reports or is_research):
            what = "name them (data.questions) or reports to make them from"
            raise InputError(f"coverage needs sub-questions: {what} (data.reference)")
        if not (inputs.rankings or n_answers or inputs.reports or inputs.ratings):
            what = "retrieval runs (data.retrieval) or answers (data.runs, --runs)"
            raise InputError(f"coverage: nothing to judge; name {what}")
        if inputs.settings.contexts == "answers" and not n_answers:
            raise InputError("coverage.contexts: answers, but there are none; name runs (--runs)")
        if inputs.questions is None and inputs.ratings:
            what = "the questions that they rate are not given; name them (data.questions)"
            raise InputError(f"coverage: {data.ratings[0]}: {what}")
        has_pool = data.ratings or data.pool or is_research or any(_own(collection))
        if inputs.settings.k == "required" and not has_pool:
            what = "wanted ratings or a pool of passages, from which the required ones are found"
            raise InputError(f"coverage.k: {what} (data.ratings, data.pool)")
        if not (inputs.rankings or has_pool or inputs.settings.answerable == "all"):
            what = (
                "nothing says which questions can be answered; name a pool, ratings, retrieval runs"
            )
            raise InputError(f"coverage: {what}, or set coverage.answerable to all")
        if inputs.rankings and not (data.ratings or collection.passages):
            what = "name a file of them (data.passages, --passages), or of ratings (data.ratings)"
            raise InputError(f"coverage: no passage has a text; {what}")
        token_counter_of(config.coverage)

    async def judge(self, run: Run) -> None:
        """Have questions made and texts rated, as far as they are missing."""
        collection, inputs = run.collection, inputs_of(run.collection)
        if inputs.questions is None and run.config.questions.how == "research":
            questions, unasked = await researched_questions(run)
        else:
            questions, unasked = await questions_of(run)
        run.results.notes[UNASKED] = unasked
        data = CoverageData(questions, {t: dict(inputs.ratings.get(t, {})) for t in questions})
        data.unasked = unasked
        data.no_context, data.no_report = set(inputs.not_made), set(collection.not_made)
        texts = CoverageTexts(collection, data)

        with ExitStack() as files:
            says_why = run.panel["answerability"].says_why
            why = files.enter_context(run.results.open(WHY)) if says_why else None

            async def rated(name: str, wanted: Callable[[], Iterable[Text]]) -> None:
                zero = inputs.settings.paper_zero
                rest = (wanted, questions, data.ratings)
                await rate(run.session, run.results, name, *rest, paper_zero=zero, why=why)

            add_pools(data, collection)
            await rated("pool", texts.of_pools)
            add_contexts(data, inputs)
            await rated("ratings", texts.of_systems)
        for topic_id, pool in data.pools.items():
            if not pool:  # nothing says which passages it has: all that were rated
                data.pools[topic_id] = tuple(passages_of(topic_id, data.ratings[topic_id]))
        add_tokens(data, collection, token_counter_of(inputs.settings))
        write_coverage(data, inputs.settings, run.results)

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        data, settings = read_coverage(folder)
        board.extend(coverage_rows(data, settings, folder.topics))

    def pieces(self, lines: FileLines) -> Iterator[Piece]:
        """Each rating: of the reports that runs wrote, and of passages, which are of no run."""
        sets = question_sets(lines(QUESTIONS))
        why = {
            tuple(map(line.optional_id, ("topic_id", "passage_id", "question_id"))): line.leaning()
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
                    leaning = why.get(cell, {})
                    yield Piece(
                        runs.get(name, ""),
                        topic_id,
                        cell,
                        SUB_QUESTION if name in runs else "rating",
                        question.id if name in runs else f"{name} {question.id}",
                        question.text,
                        None if rating < 0 else str(rating),
                        score=leaning.get("score"),
                        docid=None if name in runs else name,
                        evidence=leaning.get("evidence", ()),
                        reasoning=leaning.get("rationale", ""),
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


def _own(collection: Collection) -> Iterator[str]:
    for name in collection.passages:
        yield from topics_of(name, collection.topics)
