"""Lists of questions with accepted answers, to compare reports with (ARGUE, RAGTIME)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ....records.reading.fields import Line, as_id, read_lines, show, stem
from ....records.reading.problems import Problems
from ....records.rows import Importance, Row, hash_ids

Aggregator = Literal["AND", "OR"]
OPEN_ENDED = "OPEN_ENDED_ANSWER"  # what collaborators write if any answer is accepted
_TOPIC_FIELDS = ("query_id", "qid", "topic_id")
_COLLABORATOR = "nuggets_"  # before the topic, in names of their files
_FORMAT = "v3"


class AcceptedAnswer(Row):
    """An accepted answer; `text` "": any answer. `sources`: ids of documents that give it."""

    id: str
    text: str
    sources: tuple[str, ...] = ()


class ListedQuestion(Row):
    """A question. With AND a report must give all of its `answers`, with OR one of them."""

    id: str
    text: str
    aggregator: Aggregator
    answers: tuple[AcceptedAnswer, ...]
    importance: Importance | None = None


class QuestionList(Row):
    """The questions that a report on one topic should answer."""

    topic_id: str
    query: str
    questions: tuple[ListedQuestion, ...]


def read_question_lists(paths: Iterable[Path], problems: Problems) -> dict[str, QuestionList]:
    """Read the lists of topics, in the order of the files.

    It reads auto-judge's NuggetBank v3 (`nugget_bank` by question), the bank of RAGTIME 2026 (a
    list, with `metadata.topic_id`), and collaborators' files `nuggets_<topic>.json` (question ->
    [AND or OR, {answer: documents}]). For a question without accepted answers, any answer is
    accepted. The id of a question is its own or, as in auto-judge, the MD5 of its text.

    Errors reported: no topic or questions, a repeated topic or id, a field of the wrong type.
    Skipped and listed: questions with another aggregator than AND and OR, sub-nuggets, and claims,
    which the nuggets task reads. A missing aggregator becomes OR, and an importance other than
    vital and okay becomes None; both are listed if they matter.
    """
    lists: dict[str, QuestionList] = {}
    for path in paths:
        for line in read_lines(path, problems):
            questions = _question_list(line)
            if questions is None:
                continue
            if questions.topic_id in lists:
                what = f"topic {questions.topic_id!r} has a question list already, wanted one"
                line.error("duplicate_bank", what)
                continue
            if not questions.questions:
                what = f"the list of topic {questions.topic_id!r} has no questions"
                line.keep("empty_bank", what)
            lists[questions.topic_id] = questions
    return lists


def question_list_row(questions: QuestionList) -> dict[str, Any]:
    """Return a list as a line of auto-judge's NuggetBank v3."""
    bank = {
        question.text: {
            "question": question.text,
            "question_id": question.id,
            "query_id": questions.topic_id,
            "aggregator_type": question.aggregator,
            **({"importance": question.importance.value} if question.importance else {}),
            "answers": {
                answer.text or OPEN_ENDED: {
                    "answer": answer.text or OPEN_ENDED,
                    "references": [{"doc_id": name} for name in answer.sources],
                }
                for answer in question.answers
            },
        }
        for question in questions.questions
    }
    return {
        "query_id": questions.topic_id,
        "title_query": questions.query,
        "format_version": _FORMAT,
        "nugget_bank": bank,
    }


def _question_list(line: Line) -> QuestionList | None:
    holder = line.child("metadata") or line
    if "nugget_bank" not in line.row and "claim_bank" not in line.row:
        if not _is_collaborators(line):
            line.missing("nugget_bank")
            return None
        topic_id = stem(line.path).removeprefix(_COLLABORATOR)
        items = list(_of_collaborator(line))
    else:
        topic_id = (line if line.first(*_TOPIC_FIELDS) else holder).id(*_TOPIC_FIELDS) or ""
        items = list(_of_bank(line))
    if not topic_id:
        return None
    query = line.optional_text("title_query", "full_query")
    return QuestionList(topic_id=topic_id, query=query, questions=tuple(_name_questions(items)))


def _is_collaborators(line: Line) -> bool:
    """Whether each value is a pair of an aggregator and answers, in a file named by its topic."""
    is_named = line.path.name.startswith(_COLLABORATOR)
    return is_named and all(isinstance(value, list) for value in line.row.values())


def _of_collaborator(line: Line) -> Iterator[Line]:
    for text, pair in line.row.items():
        if len(pair) == 2 and isinstance(pair[1], Mapping):
            answers = {key: {"answer": key, "references": docs} for key, docs in pair[1].items()}
            row = {"question": text, "aggregator_type": pair[0], "answers": answers}
            yield replace(line, row=row, prefix=f"[{show(text)}].")
        else:
            line.bad(text, pair, "AND or OR, and an object of answers")


def _of_bank(line: Line) -> Iterator[Line]:
    if claims := line.row.get("claim_bank"):
        what = f"{len(claims)} claims in claim_bank; only questions are read"
        line.skip("claim_nuggets", what)
    bank = line.row.get("nugget_bank")
    if isinstance(bank, list):
        yield from line.objects("nugget_bank") or []
        return
    inner = line.child("nugget_bank")
    for text, question in inner.row.items() if inner else ():
        if isinstance(question, Mapping):
            row = {"question": text, **question}
            yield replace(line, row=row, prefix=f"nugget_bank[{show(text)}].")
        elif inner:
            inner.bad(text, question, "an object")


def _name_questions(items: list[Line]) -> Iterator[ListedQuestion]:
    first, texts = dict[str, str](), dict[str, str]()
    for item in items:
        text = item.text("question")
        if text is None:
            continue
        if not text.strip():
            item.skip("empty_question", f"{item.name('question')} is empty, wanted a question")
            continue
        name = item.optional_id("question_id") or hashlib.md5(text.encode()).hexdigest()
        if first.setdefault(name, item.prefix) != item.prefix:
            what = f"{item.name('question_id')} is {name!r}, which {first[name]} has too"
            item.error("duplicate_id", what)
            continue
        if texts.setdefault(text, item.prefix) != item.prefix:
            what = f"{item.name('question')} is that of {texts[text]}, wanted each once"
            item.error("duplicate_question", what)
            continue
        if subs := item.row.get("sub_nuggets"):
            n = len(subs) if isinstance(subs, list) else 1
            item.skip("sub_nuggets", f"{item.name('sub_nuggets')}: {n} of them are not read")
        answers = _answers(item)
        fold = _aggregator(item, len(answers))
        if fold is not None:
            yield ListedQuestion(
                id=name, text=text, aggregator=fold, answers=answers, importance=_importance(item)
            )


def _answers(item: Line) -> tuple[AcceptedAnswer, ...]:
    """The answers in the order of the file, without repetitions; none: any answer is accepted."""
    sources: dict[str, list[str]] = {}
    for answer in _answer_objects(item):
        text = answer.text("answer")
        if text is None:
            continue
        text = "" if text.strip() in (OPEN_ENDED, "") else text
        if text in sources:
            what = f"{answer.name('answer')} has the text of an answer before it"
            answer.keep("duplicate_answer_text", what)
        sources.setdefault(text, []).extend(_sources(answer))
    if not sources:
        sources[""] = _sources(item)
    ids = hash_ids("a", list(sources))
    return tuple(
        AcceptedAnswer(id=name, text=text, sources=tuple(dict.fromkeys(docs)))
        for name, (text, docs) in zip(ids, sources.items(), strict=True)
    )


def _answer_objects(item: Line) -> list[Line]:
    written = item.row.get("answers")
    if written is None:
        return []
    if isinstance(written, list):
        return item.objects("answers", text_as="answer") or []
    child = item.child("answers")
    objects = []
    for key, answer in child.row.items() if child else ():
        if child and not isinstance(answer, Mapping):
            child.bad(key, answer, "an object")
        else:
            row = {"answer": key, **answer}
            objects.append(replace(item, row=row, prefix=f"{item.name('answers')}[{show(key)}]."))
    return objects


def _sources(item: Line) -> list[str]:
    """The ids of documents; values of another type are listed and left out."""
    names = []
    written = item.row.get("references")
    if written is not None and not isinstance(written, list):
        item.keep("bad_sources", f"{item.name('references')} is {show(written)}, wanted a list")
        return []
    for each in written or ():
        name = as_id(each.get("doc_id") if isinstance(each, Mapping) else each)
        if name is None:
            what = f"{item.name('references')} has {show(each)}, wanted an id; left out"
            item.keep("bad_sources", what)
        else:
            names.append(name)
    return names


def _aggregator(item: Line, n_answers: int) -> Aggregator | None:
    written = item.row.get("aggregator_type")
    if written in (None, "Default"):
        if n_answers > 1:
            what = f"{item.name('aggregator_type')} is {show(written)}, wanted AND or OR"
            item.keep("aggregator", f"{what}; taken as OR")
        return "OR"
    name = written.strip().upper() if isinstance(written, str) else ""
    if name in ("AND", "OR"):
        return "AND" if name == "AND" else "OR"
    what = f"{item.name('aggregator_type')} is {show(written)}, wanted AND or OR"
    item.skip("aggregator", f"{what}; the question is left out")
    return None


def _importance(item: Line) -> Importance | None:
    written = item.row.get("importance")
    if isinstance(written, str) and written.strip().lower() in list(Importance):
        return Importance(written.strip().lower())
    if written is not None:
        what = f"{item.name('importance')} is {show(written)}, wanted vital or okay"
        item.keep("importance", f"{what}; counted once, as without one")
    return None
