"""Judge which answers reports give, sentence by sentence, and join them with support labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ....programs.engine.stage import Item, labels, make_rows
from ....programs.protocols.program import Run
from ....programs.protocols.support import Labels
from ....records.judgements import Outcome
from ....records.rows import Answer, Sentence
from ..settings import ArgueConfig
from .answered import (
    AnsweredQuestion,
    JudgedAnswer,
    JudgedReport,
    JudgedSentence,
    Open,
    make_answered_row,
    report_row,
)
from .lists import (
    AcceptedAnswer,
    ListedQuestion,
    QuestionList,
    question_list_row,
)
from .parts import Parts, split_parts
from .scores import (
    NOT_SAID,
    Between,
    answer_standing,
    sentence_standing,
    take_best,
    take_worst,
)

STAGE, JUDGE = "argue", "accepted_answer"
LISTS, ANSWERED, REPORTS = "question_lists.jsonl", "answered.jsonl", "reports.jsonl"

Statements = Mapping[tuple[str, str], list[tuple[int, dict[str, Any]]]]  # by question and answer


class _Accepted(NamedTuple):
    question: ListedQuestion
    answer: AcceptedAnswer


async def judge_answers(run: Run, lists: Mapping[str, QuestionList], support: Labels) -> None:
    """Look for the accepted answers in each sentence of each report, and write all files."""
    work = _Work(run, lists)
    stage = labels(STAGE, run.judge_set, JUDGE, work.items)
    results = run.results
    async with run.session.judge_stage(stage, results) as outcome:
        with results.open(LISTS) as rows:
            for question_list in lists.values():
                rows.write(question_list_row(question_list))
        with results.open(ANSWERED) as rows, results.open(REPORTS) as reports:
            for answer, parts in work.reports():
                carried = _find_supported(answer, parts, support)
                reports.write(report_row(_judge_report(answer, parts, carried)))
                _count(parts, run)
                statements = work.statements(answer, parts, outcome)
                if answer.topic_id in lists:
                    for question in lists[answer.topic_id].questions:
                        rows.write(
                            make_answered_row(_question(answer, question, statements, carried))
                        )


class _Work:
    """The reports of a run, each with the windows of answers to look for."""

    def __init__(self, run: Run, lists: Mapping[str, QuestionList]) -> None:
        self._run, self._window = run, run.judge_set[JUDGE].window
        self._accepted = {
            topic: [
                _Accepted(question, each) for question in of.questions for each in question.answers
            ]
            for topic, of in lists.items()
        }

    def reports(self) -> Iterator[tuple[Answer, Parts]]:
        """Yield the reports in the order of the files, topic by topic."""
        for answer in self._run.collection.answers():
            yield answer, split_parts(answer, self._run.config.section(ArgueConfig))

    def items(self) -> Iterator[Item]:
        """Yield the items for the judge."""
        for answer, parts in self.reports():
            yield from (item for *_, item in self.windows(answer, parts))

    def statements(
        self, answer: Answer, parts: Parts, outcome: Callable[[Item], Outcome]
    ) -> Statements:
        """Return the sentences that state an answer, or may do so because they were not judged."""
        by_answer: dict[tuple[str, str], list[tuple[int, dict[str, Any]]]] = {}
        for sentence, window, item in self.windows(answer, parts):
            for each, row in zip(window, make_rows(outcome(item), item.n), strict=True):
                if row["label"] != "no":
                    of_answer = by_answer.setdefault((each.question.id, each.answer.id), [])
                    of_answer.append((sentence.id, row))
        return by_answer

    def windows(
        self, answer: Answer, parts: Parts
    ) -> Iterator[tuple[Sentence, Sequence[_Accepted], Item]]:
        """Yield each claim of a report with each window of its topic's answers."""
        from .judge import question_with_answer  # with which DSPy comes

        topic_id = answer.topic_id
        wanted = self._accepted.get(topic_id, [])
        question = self._run.collection.topics[topic_id].question
        for sentence in parts.claims:
            ids = {"topic_id": topic_id, "run_id": answer.run_id, "sentence": sentence.id}
            for start in range(0, len(wanted), self._window):
                window = wanted[start : start + self._window]
                names = [f"{each.question.id}:{each.answer.id}" for each in window]
                texts = [
                    question_with_answer(each.question.text, each.answer.text) for each in window
                ]
                payload = (question, sentence.text, texts)
                yield sentence, window, Item({**ids, "answers": names}, payload, len(window))


def _find_supported(answer: Answer, parts: Parts, support: Labels) -> dict[int, Between]:
    """The standing of each claim of a report by its citations, by position."""
    of_answer = support.get((answer.run_id, answer.topic_id), {})
    return {
        claim.id: sentence_standing([label for _, label in of_answer.get(claim.id, ())])
        for claim in parts.claims
    }


def _question(
    answer: Answer, question: ListedQuestion, statements: Statements, carried: Mapping[int, Between]
) -> AnsweredQuestion:
    answers = []
    for wanted in question.answers:
        rows = statements.get((question.id, wanted.id), [])
        stands = take_best(
            answer_standing(True if row["label"] == "yes" else None, carried[at])
            for at, row in rows
        )
        sentences = tuple(JudgedSentence(sentence=at, **row) for at, row in rows)
        answers.append(
            JudgedAnswer(id=wanted.id, text=wanted.text, sentences=sentences, **stands._asdict())
        )
    fold = take_worst if question.aggregator == "AND" else take_best
    folded = fold(Between(each.low, each.high) for each in answers) if answers else NOT_SAID
    return AnsweredQuestion(
        run_id=answer.run_id,
        topic_id=answer.topic_id,
        question_id=question.id,
        question=question.text,
        aggregator=question.aggregator,
        importance=question.importance,
        answers=tuple(answers),
        **folded._asdict(),
    )


def _judge_report(answer: Answer, parts: Parts, carried: Mapping[int, Between]) -> JudgedReport:
    return JudgedReport(
        run_id=answer.run_id,
        topic_id=answer.topic_id,
        words=parts.words,
        characters=parts.characters,
        is_over=parts.is_over,
        n_units=len(answer.sentences),
        n_kept=len(parts.kept),
        headings=parts.headings,
        table_rows=parts.table_rows,
        claims=tuple((at, Open(**stands._asdict())) for at, stands in carried.items()),
    )


def _count(parts: Parts, run: Run) -> None:
    """Count facts about reports for the manifest and the summary of the run."""
    settings, results = run.config.section(ArgueConfig), run.results
    if parts.is_over:
        done = {"keep": "kept whole", "cut": "cut", "reject": "not judged, they score 0"}
        what = f"reports over {settings.limit:,} {settings.unit} ({done[settings.over]})"
        results.count(what)
    if parts.headings:
        results.count("headings of reports (make no claim)", parts.headings)
    if parts.table_rows:
        results.count("rows of tables in reports (claims like sentences)", parts.table_rows)
