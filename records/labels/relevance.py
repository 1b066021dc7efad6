"""Relevance judgements of passages, as judges write them: with what was not judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from ..reading.fields import A_GRADE, Line, as_grade, as_int, read_lines, show
from ..reading.problems import Problems
from ..rows import Label, Leaning
from .declared import Kind, Labelled

TOPIC_FIELDS = ("topic_id", "qid")
PASSAGE_FIELDS = ("passage_id", "docid")
GRADE_FIELDS = ("grade", "judgment", "relevance")


class RelevanceGrade(Label):
    """How well a passage answers a question (arXiv:2406.06519); its values are the grades."""

    UNRELATED = "0", "the passage has nothing to do with the question"
    RELATED = "1", "the passage is related to the question but does not answer it"
    PARTLY = (
        "2",
        "the passage answers the question, but the answer is incomplete, unclear or hard to find "
        "among unrelated content",
    )
    FULLY = "3", "the passage is mainly about the question and contains a clear and complete answer"


class RelevanceLabel(Leaning):
    """The grade of a passage for a topic; None: not judged."""

    topic_id: str
    passage_id: str
    grade: int | None


def read_relevance(path: Path, problems: Problems) -> Iterator[RelevanceLabel]:
    """Read our `relevance.jsonl` or UMBRELA's JSONL with `qid` and `docid` added, lazily.

    The grade stands under `grade`, `judgment` or `relevance`. Where UMBRELA could not parse a
    reply it wrote 0 and `result_status` 0, RAGDoll -1 and `status` failed: that is not judged, and
    listed as `unparsed`. A
    grade that is no whole number from -100 to 100 is not judged and listed as `grade`; null is
    not judged.

    Errors reported: no topic or passage id, one pair with two grades.
    """
    for _, label in relevance_with_lines(read_lines(path, problems)):
        yield label


def relevance_with_lines(lines: Iterable[Line]) -> Iterator[tuple[Line, RelevanceLabel]]:
    """The labels in these objects, as `read_relevance`, each with its object."""
    seen: dict[tuple[str, str], int | None] = {}
    for line in lines:
        topic_id, passage_id = line.id(*TOPIC_FIELDS), line.id(*PASSAGE_FIELDS)
        if topic_id is None or passage_id is None:
            continue
        grade, pair = _grade(line), (topic_id, passage_id)
        if pair not in seen:
            seen[pair] = grade
            ids = {"topic_id": topic_id, "passage_id": passage_id}
            yield line, RelevanceLabel(**ids, grade=grade, **line.leaning())
        elif seen[pair] == grade:
            what = f"{passage_id!r} of topic {topic_id!r} occurs twice with one grade"
            line.keep("duplicate_grade", what)
        else:
            what = f"{passage_id!r} of topic {topic_id!r} has {show(grade)} here"
            line.error("duplicate_grade", f"{what} and {show(seen[pair])} before, wanted one grade")


def relevance_row(label: RelevanceLabel) -> dict[str, Any]:
    """A line of `relevance.jsonl`."""
    ids = {"topic_id": label.topic_id, "passage_id": label.passage_id}
    return {**ids, "grade": label.grade, **label.as_fields()}


def _grade(line: Line) -> int | None:
    field = next((f for f in GRADE_FIELDS if f in line.row), None)
    if field is None:
        line.missing(*GRADE_FIELDS)
        return None
    if as_int(line.row.get("result_status")) == 0:
        line.keep("unparsed", f"{line.name('result_status')} is 0: the grade is no judgement")
        return None
    if line.row.get("status") == "failed":
        line.keep("unparsed", f"{line.name('status')} is failed: the grade is no judgement")
        return None
    written = line.row[field]
    grade = as_grade(written)
    if grade is None and written is not None:
        what = f"{line.name(field)} is {show(written)}, wanted {A_GRADE}; not judged"
        line.keep("grade", what)
    return grade


def _labelled(lines: Iterable[Line]) -> Iterator[Labelled]:
    for line, label in relevance_with_lines(lines):
        grade = None if label.grade is None else str(label.grade)
        yield line, (label.topic_id, label.passage_id), grade, label.sure()


RELEVANCE_KIND = Kind(
    name="relevance",
    key=("topic_id", "passage_id"),
    scale=RelevanceGrade,
    gains={grade.value: int(grade) / 3 for grade in RelevanceGrade},
    judge="relevance",
    rows="relevance",
    read=_labelled,
    has_more_grades=True,
)
