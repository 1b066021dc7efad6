"""Relevance judgements in the TREC layout: `topic iteration document grade`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from .passages import natural_order
from .reading.fields import A_GRADE, as_grade
from .reading.lines import text_lines
from .reading.problems import Problems
from .writing.files import write_file

Of = TypeVar("Of")
_TRUTH = {"true": 1, "false": 0}


def read_qrels(path: Path, problems: Problems) -> dict[str, dict[str, int]]:
    """Read grades by topic and document, in file order; the iteration column is not used.

    A grade, -100 to 100, may be written as a whole number, as a float that is one (`2.0`), or True
    or False.

    Errors noted: other than 4 columns, other grades, one pair with two grades.
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) != 4:
            what = f"{len(columns)} columns, wanted 4: topic iteration document grade"
            problems.error(path, number, "bad_qrels", what)
            continue
        topic_id, _, passage_id, written = columns
        grade = _TRUTH.get(written.lower(), as_grade(written))
        if grade is None:
            what = f"grade {written[:40]!r}, wanted {A_GRADE}, True or False"
            problems.error(path, number, "bad_grade", what)
            continue
        grades = qrels.setdefault(topic_id, {})
        pair, known = f"{passage_id!r} of topic {topic_id!r}", grades.get(passage_id)
        if known is None:
            grades[passage_id] = grade
        elif known == grade:
            what = f"{pair} occurs twice with grade {grade}"
            problems.keep(path, number, "duplicate_grade", what)
        else:
            what = f"{pair} has grade {grade} here and {known} before, wanted one"
            problems.error(path, number, "duplicate_grade", what)
    return qrels


def write_qrels(path: Path, qrels: Mapping[str, Mapping[str, int]], iteration: str = "0") -> None:
    """Write sorted by topic and document, as auto-judge tools do.

    Raises: ValueError if an id is empty or holds white space, which the layout cannot carry.
    """
    lines = []
    for topic_id, grades in sorted(qrels.items()):
        for passage_id, grade in sorted(grades.items()):
            lines.append(_written(topic_id, iteration, passage_id, grade))
    write_file(path, "".join(lines))


def write_diversity_qrels(
    path: Path, grades: Mapping[str, Mapping[str, Mapping[str, int]]]
) -> None:
    """Write `topic question passage grade`, as ir-measures reads it for alpha-nDCG.

    Sorted by all three ids, digits as numbers.

    Args:
        grades: topic -> sub-question -> passage -> 1 where it answers the question, else 0.

    Raises: ValueError for an id as `write_qrels`, and for another grade.
    """
    lines = []
    for topic_id, questions in _sorted(grades):
        for question_id, passages in _sorted(questions):
            for passage_id, grade in _sorted(passages):
                if grade not in (0, 1):
                    what = f"grade {grade} of {passage_id!r}, question {question_id!r}"
                    raise ValueError(f"topic {topic_id!r}: {what}, wanted 0 or 1")
                lines.append(_written(topic_id, question_id, passage_id, grade))
    write_file(path, "".join(lines))


def _sorted(by_id: Mapping[str, Of]) -> list[tuple[str, Of]]:
    return sorted(by_id.items(), key=lambda item: natural_order(item[0]))


def _written(topic_id: str, iteration: str, passage_id: str, grade: int) -> str:
    for name in (topic_id, passage_id, iteration):
        if len(name.split()) != 1 or name.split()[0] != name:
            raise ValueError(f"id {name!r} is empty or has white space: no qrels for it")
    return f"{topic_id} {iteration} {passage_id} {grade}\n"
