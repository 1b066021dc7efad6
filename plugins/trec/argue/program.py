"""The argue task: which questions a report answers, and whether citations support the answers."""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

from ....metrics.answer_scores import Value
from ....programs.config.sections import Config
from ....programs.inputs import Collection, load_collection
from ....programs.protocols.judged_items import ItemScale, JudgedItems, equal_items
from ....programs.protocols.judgements import (
    AGAINST,
    MISSED,
    OPEN,
    QUESTION,
    STATED,
    FileLines,
    Judgement,
    Words,
    reference_judgement,
)
from ....programs.protocols.program import (
    CellTexts,
    Folder,
    Meaning,
    Meanings,
    Program,
    Run,
    Texts,
    need_answers,
)
from ....programs.protocols.reference_items import exclude, read_reference_texts
from ....programs.protocols.scoreboard import OVER_LENGTH, Scoreboard
from ....programs.protocols.support import FILE as SUPPORT_FILE
from ....programs.protocols.support import Support, labels_in
from ....records.kinds import Cell
from ....records.reading.problems import InputError
from ....records.rows import Answer
from ....records.support import support_with_lines
from ..settings import NAME
from .answered import (
    AnsweredQuestion,
    Open,
    read_answered,
    read_answered_with_lines,
    read_reports,
)
from .judging import ANSWERED, LISTS, REPORTS, STAGE, judge_answers
from .lists import ListedQuestion
from .scores import (
    COVERAGE,
    F1,
    QUESTION_GAINS,
    QUESTION_MEASURES,
    SENTENCES,
    STANDINGS,
    WEIGHTED,
    Between,
    question_scores,
    report_f1,
    sentence_support,
)

EXCLUDED = "topics_without_question_list"  # key of the manifest
KEY = ("topic_id", "run_id", "question_id")
_OF_QUESTIONS = (*QUESTION_MEASURES, F1)


class Argue(Program):
    """ARGUE (arXiv:2405.00982): accepted answers sentence by sentence, joined with support.

    The labels of the support task show whether citations support a sentence. If that task does not
    run, this task judges them.
    """

    name = "argue"
    judges_citations = True
    paper = ("On the Evaluation of Machine-Generated Reports", "2405.00982")
    judges = ("accepted_answer", "support")
    kind, judged, files = "argue", ANSWERED, (LISTS, ANSWERED, REPORTS)
    verb = ("answer", "answered")
    matrix = "points"
    words = Words(
        *("Questions", "question", "answer it with support"),
        first="those that the fewest runs answer with support",
        labels={
            "supported": (*STATED, "said and supported"),
            "uncited": (*OPEN, "said but uncited"),
            "unsupported": (*AGAINST, "said, citation does not support"),
            "not_said": (*MISSED, "not said"),
        },
    )
    stages = (STAGE, "support")
    notes: ClassVar[Mapping[str, Any]] = {EXCLUDED: []}
    meanings: ClassVar[Meanings] = {
        COVERAGE: Meaning(
            "Share of the listed questions that sentences with supporting citations answer.",
            says="answers {} of the questions with citations that support it",
            orders=2,
        ),
        "question_coverage": (
            "Share of the listed questions that the report answers, whatever it cites."
        ),
        "said_uncited": Meaning(
            "Share of the listed questions that the report answers, but only without a citation.",
            True,
        ),
        "said_unsupported": Meaning(
            "Share of the listed questions that the report answers, "
            "but only where a citation fails.",
            True,
        ),
        WEIGHTED: "As question_coverage_supported, where a vital question counts twice.",
        SENTENCES: "Share of the sentences that all their judged citations support in full.",
        F1: "Harmonic mean of question_coverage_supported and sentence_support.",
        OVER_LENGTH: Meaning("Share of the reports that are longer than allowed.", True),
    }
    shown = tuple(meanings)
    without, of_points = EXCLUDED, _OF_QUESTIONS
    reads = ("request", "accepted", "report")

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return self.shown

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        need_answers(collection)
        if NAME not in collection.given:
            what = "name files of them (data.question_lists)"
            raise InputError(f"argue needs question lists: {what}")
        Support().check(config, collection)

    async def judge(self, run: Run) -> None:
        """See Program."""
        collection, config = run.collection, run.config
        if not _judges_support(config):
            await Support().judge(run)
        question_lists = collection.given.get(NAME, {})
        lists = {
            t: question_lists[t]
            for t in collection.topics
            if t in question_lists and question_lists[t].questions
        }
        where = next(iter(getattr(config.data, NAME)), "question lists")
        why = "questions, it is left out of their scores"
        exclude(run, EXCLUDED, lists, "no_questions", why, where)
        await judge_answers(run, lists, labels_in(run.results.folder / f"{SUPPORT_FILE}.part"))

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        supported: dict[tuple[str, str], Value] = {}
        for report in read_reports(folder.need(REPORTS), folder.problems):
            at = (report.run_id, report.topic_id)
            supported[at] = sentence_support([_between(each) for _, each in report.claims])
            over = float(report.is_over)
            board.add(*at, {SENTENCES: supported[at], OVER_LENGTH: Value(over, 0, 0, over, over)})
        rows = read_answered(folder.need(ANSWERED), folder.problems)
        for at, of_report in groupby(rows, lambda row: (row.run_id, row.topic_id)):
            questions = list(of_report)
            scores = question_scores(
                [_between(q) for q in questions], [q.importance for q in questions]
            )
            support = supported.get(at, sentence_support(()))
            board.add(*at, {**scores, F1: report_f1(scores[COVERAGE], support)})
        board.mark_failed((), (*_OF_QUESTIONS, SENTENCES, OVER_LENGTH))
        board.exclude(_OF_QUESTIONS, folder.notes.get(EXCLUDED, ()))

    def scale(self, folder: Path) -> ItemScale:
        """See Program."""
        return ItemScale(
            judge="accepted_answer",
            inputs=self.reads,
            key=KEY,
            labels=STANDINGS,
            is_ordered=True,
            gains=QUESTION_GAINS[COVERAGE],
            measure=COVERAGE,
        )

    def items(self, folder: Folder) -> JudgedItems:
        """See Program: each question of a report is an item."""
        cells = [
            ((row.topic_id, row.run_id, row.question_id), row.run_id, row.label, None)
            for row in read_answered(folder.need(ANSWERED), folder.problems)
        ]
        counted = folder.list_counted((cell[0] for cell, *_ in cells), EXCLUDED)
        return equal_items(cells, "other", STANDINGS, KEY, QUESTION_GAINS, counted)

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield each question, with the sentences that answer it."""
        missing = {
            (row.run_id, sentence.id): citation.passage_id
            for _, row in support_with_lines(lines(SUPPORT_FILE))
            for sentence in row.sentences
            for citation in sentence.citations
            if citation.label is None
        }
        for _, row in read_answered_with_lines(lines(ANSWERED)):
            stated = [(a, s) for a in row.answers for s in a.sentences if s.label is not None]
            reasons = [each.rationale for _, each in stated if each.rationale]
            yield reference_judgement(
                *(row, QUESTION, row.question_id, _show(row), row.label),
                importance=row.importance,
                evidence=tuple(dict.fromkeys(one for _, each in stated for one in each.evidence)),
                reasoning="; ".join([*_where(row), *reasons]),
                asked=_missing(row, missing) if row.label is None else {},
            )

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program."""
        data = load_collection(config.data, config.run.limit)
        lists = {
            topic: question_list.questions
            for topic, question_list in data.given.get(NAME, {}).items()
        }

        def texts(request: str, answer: Answer, each: ListedQuestion) -> Texts:
            accepted = _with_accepted(each.text, each.aggregator, [a.text for a in each.answers])
            return {"request": request, "accepted": accepted, "report": answer.text}

        return read_reference_texts(data, lists, wanted, texts)


def _judges_support(config: Config) -> bool:
    """Whether another task of the run writes support labels before this one."""
    by_evidence = "evidence" in config.program and config.evidence.labels is None
    return "support" in config.program or by_evidence


def _between(bounds: Open) -> Between:
    return Between(bounds.low, bounds.high)


def _show(row: AnsweredQuestion) -> str:
    return _with_accepted(row.question, row.aggregator, [answer.text for answer in row.answers])


def _with_accepted(question: str, aggregator: str, answers: list[str]) -> str:
    """A question with all of its accepted answers.

    >>> _with_accepted("Who struck?", "OR", ["dockers", "pilots"])
    'Who struck? [dockers OR pilots]'
    """
    accepted = f" {aggregator} ".join(answer or "any answer" for answer in answers)
    return f"{question} [{accepted}]"


def _where(row: AnsweredQuestion) -> Iterator[str]:
    """The sentences that give each answer, counted from 1."""
    for answer in row.answers:
        numbers = sorted({s.sentence + 1 for s in answer.sentences if s.label is not None})
        if numbers:
            text = f"said in sentence {', '.join(map(str, numbers))}"
            yield text if len(row.answers) == 1 else f"{answer.text or 'any answer'}: {text}"


def _missing(row: AnsweredQuestion, unsupported: Mapping[tuple[str, int], str]) -> dict[str, str]:
    """The ids of the first missing judgement that leaves a question open."""
    for answer in row.answers:
        for each in answer.sentences:
            ids = {"run_id": row.run_id, "sentence": str(each.sentence)}
            if each.label is None:
                return {**ids, "answers": f"{row.question_id}:{answer.id}"}
            if (docid := unsupported.get((row.run_id, each.sentence))) is not None:
                return {**ids, "citation": docid}
    return {}
