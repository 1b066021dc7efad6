"""The groundedness task: does the context of an answer support what the answer says?"""

from __future__ import annotations

from collections.abc import Collection as Names
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from ...metrics.answer_scores import (
    FAITHFULNESS,
    GROUNDEDNESS,
    GROUNDEDNESS_GAINS,
    SUFFIX,
    Chances,
    Value,
    chances_of_label,
    groundedness_scores,
)
from ...records.groundedness import (
    GROUNDEDNESS_KIND,
    Statement,
    claim_ids,
    join_context,
    read_statements,
    statement_row,
    statements_with_lines,
)
from ...records.judgements import Reason
from ...records.kinds import Cell
from ...records.reading.problems import InputError, Problems
from ...records.rows import Answer, Passage
from ..config.base import JudgeName
from ..config.sections import Config
from ..engine.stage import Item, labels, make_rows
from ..inputs import Collection, load_collection
from .claims import JUDGE as CLAIM_EXTRACTOR
from .claims import AnswerId, extract_claims
from .judged_items import JudgedItems, by_own_topics, equal_items
from .judgements import AGAINST, MISSED, STATED, Answers, FileLines, Judgement, Words, explanation
from .program import CellTexts, Folder, Meaning, Meanings, Program, Run, need_answers
from .scoreboard import Scoreboard

if TYPE_CHECKING:
    from ...judges import ItemJudge

FILE, UNIT = "groundedness.jsonl", "statement"
NO_CONTEXT = "the answer has no context: add `references` in a run file, `contexts` in a sample"


class Groundedness(Program):
    """Judge each sentence or claim of an answer against all of its contexts.

    No citations are needed. Headings and sentences without text are left out. An answer without a
    context, or with a context without text, is `Unjudged(no_passage)`.
    """

    name = "groundedness"
    paper = ("RAGAS: Automated Evaluation of Retrieval Augmented Generation", "2309.15217")
    judges_answers = True
    needs = (("passages",), "contexts")
    judges = (CLAIM_EXTRACTOR, "groundedness")
    kind, judged, files = "groundedness", FILE, (FILE,)
    stages = ("groundedness", "groundedness_claims")
    besides = "statements"
    matrix = "sentences"
    words = Words(
        *("Groundedness", UNIT, "supported by the context"),
        labels={
            "supported": (*STATED, "supported"),
            "not_found": (*MISSED, "not found"),
            "contradicted": (*AGAINST, "contradicted"),
            "gap": ("", "o", "makes no claim"),
        },
    )
    meanings: ClassVar[Meanings] = {
        FAITHFULNESS: Meaning(
            "Share of an answer's statements that its context supports.",
            says="gets support from its context for {} of its statements",
            orders=5,
            is_of_answered=True,
        ),
        "share_contradicted": Meaning(
            "Share of an answer's statements that its context contradicts.",
            is_less_better=True,
            is_of_answered=True,
        ),
        "share_not_found": Meaning(
            "Share of an answer's statements that its context neither supports nor contradicts.",
            is_less_better=True,
            is_of_answered=True,
        ),
    }
    shown = tuple(meanings)
    reads = ("question", "statement", "context")
    file_kind, is_scored_alone = "statements", True

    def list_judges(self, config: Config) -> tuple[JudgeName, ...]:
        """See Program: claims need a judge that extracts them."""
        return self.judges if config.groundedness.unit == "claims" else self.judges[1:]

    def measures(self, config: Config) -> Names[str]:
        """See Program."""
        return (*self.shown, FAITHFULNESS + SUFFIX)

    def check(self, config: Config, collection: Collection) -> None:
        """See Program."""
        need_answers(collection)
        if config.groundedness.contexts == "candidates":
            if not collection.candidates:
                what = "add a file of candidates (data.candidates, --candidates)"
                raise InputError(f"groundedness.contexts: candidates: {what}")
        elif collection.n_answers and not collection.named:
            what = "list their ids in `references`, or set groundedness.contexts: candidates"
            raise InputError(f"groundedness: no answer has a context; {what}")
        if not (collection.passages or collection.files_with_documents or not collection.n_answers):
            what = "add passage files (data.passages, --passages)"
            raise InputError(f"groundedness: no context has a text; {what}")

    async def judge(self, run: Run) -> None:
        """See Program."""
        claims = None
        if run.config.groundedness.unit == "claims":
            held = {_key(answer) for answer, context in _with_contexts(run) if not context.missing}
            claims = await extract_claims(
                run, "groundedness_claims", lambda answer: _key(answer) in held
            )

        def items() -> Iterator[Item]:
            return (item for _, _, item in _calls(run, claims) if item is not None)

        stage = labels("groundedness", run.judge_set, "groundedness", items)
        async with run.session.judge_stage(stage, run.results) as outcome:
            with run.results.open(FILE) as rows:
                for answer, statements, item in _calls(run, claims):
                    verdicts = [{"label": None}]
                    if item is not None:
                        verdicts = make_rows(outcome(item), item.n)
                    for statement, verdict in zip(statements, verdicts, strict=True):
                        row = Statement(
                            run_id=answer.run_id,
                            topic_id=answer.topic_id,
                            statement_id=statement.id,
                            sentence=statement.sentence,
                            text=statement.text,
                            **verdict,
                        )
                        rows.write(statement_row(row))

    def score(self, folder: Folder, board: Scoreboard) -> None:
        """See Program."""
        answers: dict[tuple[str, str], list[tuple[Chances | None, Chances | None]]] = {}
        has_chances = False
        for row in read_statements(folder.need(FILE), folder.problems, folder.where):
            has_chances |= row.probabilities is not None
            certain = chances_of_label(row.label, None, GROUNDEDNESS)
            expected = chances_of_label(row.label, row.probabilities, GROUNDEDNESS)
            answers.setdefault((row.run_id, row.topic_id), []).append((certain, expected))
        for (run_id, topic_id), statements in answers.items():
            values = groundedness_scores([certain for certain, _ in statements])
            if has_chances:
                expected_values = groundedness_scores([expected for _, expected in statements])
                values[FAITHFULNESS + SUFFIX] = expected_values[FAITHFULNESS]
            board.add(run_id, topic_id, values)
        board.mark_failed((), self.shown)

    def values(self, answers: Answers) -> dict[tuple[str, str], dict[str, Value]]:
        """See Program."""
        return {
            at: groundedness_scores(
                [chances_of_label(one.label, None, GROUNDEDNESS) for one in judgements]
            )
            for at, judgements in answers.items()
        }

    def items(self, folder: Folder) -> JudgedItems:
        """Return each statement of an answer; unknown claims are one unjudged statement."""
        cells = [
            (
                (row.topic_id, row.run_id, row.statement_id or ""),
                row.run_id,
                row.label,
                row.probabilities,
            )
            for row in read_statements(folder.need(FILE), folder.problems)
        ]
        counted = folder.list_counted(cell[0] for cell, *_ in cells)
        kind = GROUNDEDNESS_KIND
        return by_own_topics(
            equal_items(cells, kind.name, kind.labels, kind.key, GROUNDEDNESS_GAINS, counted)
        )

    def judgements(self, lines: FileLines) -> Iterator[Judgement]:
        """Yield each statement of an answer."""
        for _, row in statements_with_lines(lines(FILE)):
            name = row.statement_id or ""
            yield Judgement(
                row.run_id,
                row.topic_id,
                (row.topic_id, row.run_id, name) if name else (),
                UNIT,
                name,
                row.text,
                row.label,
                sentence=row.sentence,
                asked={"run_id": row.run_id, **({"statement_id": name} if name else {})},
                **explanation(row),
            )

    def texts(self, config: Config, folder: Path, wanted: Names[Cell]) -> CellTexts:
        """See Program."""
        statements: dict[tuple[str, str], dict[Cell, str]] = {}
        for row in read_statements(folder / FILE, Problems()):
            cell: Cell = (row.topic_id, row.run_id, row.statement_id or "")
            if cell in wanted:
                statements.setdefault((row.topic_id, row.run_id), {})[cell] = row.text
        data = load_collection(config.data, config.run.limit, named=config.reads_named_passages)
        for answer, passages in data.read_cited_answers():
            if of_answer := statements.get((answer.topic_id, answer.run_id)):
                context = _find_context(answer, passages, data, config).text
                shared = {"question": data.topics[answer.topic_id].question, "context": context}
                for cell, text in of_answer.items():
                    yield cell, {**shared, "statement": text}


class _Context(NamedTuple):
    """The context of an answer; `missing`: why there is none, "" if there is one."""

    text: str
    missing: str = ""
    reason: Reason = Reason.NO_PASSAGE


class _Unit(NamedTuple):
    """A statement: its id, its position if it is a sentence, and its text."""

    id: str | None
    sentence: int | None
    text: str


_UNKNOWN = _Unit(None, None, "")  # stands for claims that could not be extracted


def _find_context(
    answer: Answer, passages: Mapping[str, Passage], data: Collection, config: Config
) -> _Context:
    """Return the whole context of the answer as one text."""
    names: Sequence[str] = answer.references
    missing = NO_CONTEXT
    if config.groundedness.contexts == "candidates":
        topic = answer.topic_id
        if (why := data.failed_candidates.get(topic)) is not None:
            return _Context("", f"the candidates of topic {topic} were not made ({why})", why)
        ranking = data.candidates.get(topic)
        names = ranking.passage_ids if ranking else ()
        missing = f"topic {topic} has no candidates"
    if not names:
        return _Context("", missing)
    if absent := [name for name in names if name not in passages]:
        of = f"{len(absent):,} of {len(names):,} contexts have no text in the data"
        return _Context("", f"{of}, such as {absent[0]}")
    found = (passages[name] for name in names)
    text = join_context(f"{each.title}\n{each.text}" if each.title else each.text for each in found)
    return _Context(text) if text else _Context("", "its contexts are empty")


Claims = Mapping[AnswerId, Sequence[str] | None]


def _with_contexts(run: Run) -> Iterator[tuple[Answer, _Context]]:
    """Yield the answers in order, each with its context."""
    for answer, passages in run.collection.read_cited_answers():
        yield answer, _find_context(answer, passages, run.collection, run.config)


def _key(answer: Answer) -> AnswerId:
    return answer.topic_id, answer.run_id


def _calls(
    run: Run, claims: Claims | None
) -> Iterator[tuple[Answer, Sequence[_Unit], Item | None]]:
    """Yield windows of statements, answer by answer, with their calls.

    None instead of a call: the claims are unknown, as the stage of claims has noted.

    Args:
        claims: claims of answers with a context; None: judge sentences.
    """
    judge: ItemJudge = run.judge_set["groundedness"]
    for answer, context in _with_contexts(run):
        statements = _list_statements(answer, claims)
        if statements == [_UNKNOWN] and not context.missing:
            yield answer, statements, None
            continue
        shared: dict[str, str] = {"question": run.collection.topics[answer.topic_id].question}
        for start in range(0, len(statements), judge.window):
            window = statements[start : start + judge.window]
            ids = {
                "topic_id": answer.topic_id,
                "run_id": answer.run_id,
                "statement_id": [statement.id for statement in window],
            }
            if context.missing:
                item = Item(ids, None, len(window), context.missing, context.reason)
            else:
                texts_here = [statement.text for statement in window]
                item = Item(
                    ids, (texts_here, context.text, *judge.list_optional_texts(shared)), len(window)
                )
            yield answer, window, item


def _list_statements(answer: Answer, claims: Claims | None) -> Sequence[_Unit]:
    """Return the sentences or claims of an answer; _UNKNOWN for unknown claims."""
    sentences = [
        _Unit(str(sentence.id), sentence.id, sentence.text)
        for sentence in answer.sentences
        if sentence.makes_claim
    ]
    if claims is None or not sentences:
        return sentences
    if (texts := claims.get(_key(answer))) is None:
        return [_UNKNOWN]
    return [_Unit(name, None, text) for name, text in zip(claim_ids(texts), texts, strict=True)]
