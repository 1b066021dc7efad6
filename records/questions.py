"""The sub-questions of a topic: what its reference report answers, one per column of ratings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .reading.fields import Line, as_int, read_lines, show
from .reading.problems import Problems
from .rows import QuestionSet, SubQuestion

TOPIC_FIELDS = ("id", "example_id", "qid", "topic_id")
LIST_FIELDS = ("subquestions", "sub_questions", "questions")
COLUMN_FIELDS = ("idx", "question_id", "id")
MOST_COLUMNS = 1000  # of a topic; a column further on is a mistake in the file


def read_question_sets(path: Path, problems: Problems) -> dict[str, QuestionSet]:
    """Read sub-questions by topic, in file order: CRUX's layouts, new and old.

    A topic has a list under `subquestions`, `sub_questions` or `questions`: of texts, whose
    columns are their indexes, or of objects with `text` (or `question`) and `idx` (or
    `question_id`, `id`), the 0-based column of their ratings; columns that no object names have
    no question. An empty text is a column without a question, listed as `empty_question`.

    Errors reported: no topic id, no question in a topic, a column twice, a topic with two lists, a
    file without topics. A text that occurs twice is kept and mentioned.
    """
    sets = question_sets(read_lines(path, problems))
    if not sets:
        problems.error(path, 1, "empty_file", "no sub-questions, wanted those of a topic")
    return sets


def question_sets(lines: Iterable[Line]) -> dict[str, QuestionSet]:
    """The sub-questions in these objects, as `read_question_sets`."""
    sets: dict[str, QuestionSet] = {}
    for line in lines:
        topic_id, texts = line.id(*TOPIC_FIELDS), _by_column(line)
        if topic_id is None or texts is None:
            continue
        listed = [SubQuestion(id=str(c), text=text) for c, text in texts.items() if text.strip()]
        if not listed:
            line.error("no_questions", f"topic {topic_id!r} has no questions, wanted at least one")
            continue
        listed.sort(key=lambda question: question.column)
        _mention(line, texts)
        question_set = QuestionSet(
            topic_id=topic_id, questions=tuple(listed), n_columns=max(texts) + 1
        )
        earlier = sets.setdefault(topic_id, question_set)
        if earlier is question_set:
            continue
        if earlier == question_set:
            line.keep("duplicate_topic", f"topic {topic_id!r} occurs twice with the same questions")
        else:
            what = f"topic {topic_id!r} has other questions than before, wanted one list"
            line.error("duplicate_topic", what)
    return sets


def question_set_row(questions: QuestionSet) -> dict[str, Any]:
    """A line of CRUX's layout: a text for each column, empty where it has no question."""
    texts = [""] * questions.n_columns
    for question in questions.questions:
        texts[question.column] = question.text
    return {"id": questions.topic_id, "subquestions": texts}


def _by_column(line: Line) -> dict[int, str] | None:
    """The text of each column that the list names; what is wrong with one is a problem."""
    if (items := line.objects(*LIST_FIELDS, text_as="text")) is None:
        return None
    texts: dict[int, str] = {}
    for index, item in enumerate(items):
        column, text = _column(item, index), item.text("text", "question")
        if column is None or text is None:
            continue
        if column in texts:
            what = f"{item.prefix.removesuffix('.')} is column {column}, which one before it is too"
            item.error("duplicate_column", f"{what}, wanted a column for each question")
        texts[column] = text
    return texts


def _column(item: Line, index: int) -> int | None:
    """The column an object names, or its index; None, and a problem, if it names none there is."""
    field, written = item.first(*COLUMN_FIELDS) or ("", index)
    column = as_int(written)
    if column is None or not 0 <= column < MOST_COLUMNS:
        item.bad(field, written, f"the column of its ratings, 0 to {MOST_COLUMNS - 1}")
        return None
    return column


def _mention(line: Line, texts: dict[int, str]) -> None:
    """Mention columns without a text, and texts that stand in two columns."""
    first: dict[str, int] = {}
    for column, text in texts.items():
        plain = " ".join(text.split())
        if not plain:
            line.keep("empty_question", f"column {column} has no question, for its text is empty")
        elif first.setdefault(plain, column) != column:
            what = f"question {column} has the text of question {first[plain]}: {show(plain)}"
            line.keep("duplicate_question", what)
