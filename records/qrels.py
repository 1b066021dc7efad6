"""Relevance judgements in the TREC layouts: `topic iteration document grade`, and with confidence.

The second has six columns, `topic Q0 document grade confidence run`: the relevance judgments that
teams submit to the TREC RAG track (guidelines of 2025, "Relevance Judgment", output format).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from .passages import natural_order
from .reading.fields import A_GRADE, as_grade
from .reading.lines import text_lines
from .reading.problems import Problems
from .writing.files import write_file

Of = TypeVar("Of")
Confident = tuple[str, str, int, float]  # topic, document, grade, and how sure the judge is of it
COLUMNS = (4, 6)
_TRUTH = {"true": 1, "false": 0}


def read_qrels(path: Path, problems: Problems) -> dict[str, dict[str, int]]:
    """Read grades by topic and document, in file order.

    A grade, -100 to 100, may be written as a whole number, as a float that is one (`2.0`), or True
    or False. The iteration column is not used, nor are confidence and run of six columns, but a
    confidence that is no number is an error.

    Errors reported: other than 4 or 6 columns, other grades, one pair with two grades.
    """
    qrels: dict[str, dict[str, int]] = {}
    for number, line in text_lines(path):
        columns = line.split()
        if len(columns) not in COLUMNS:
            what = f"{len(columns)} columns, wanted 4: topic iteration document grade"
            problems.error(path, number, "bad_qrels", f"{what}, or 6: and confidence run")
            continue
        topic_id, _, passage_id, written = columns[:4]
        if len(columns) == 6 and not _is_finite(columns[4]):
            what = f"confidence {columns[4][:40]!r}, wanted a number"
            problems.error(path, number, "bad_confidence", what)
            continue
        grade = _TRUTH.get(written.lower(), as_grade(written))
        if grade is None:
            what = f"grade {written[:40]!r}, wanted {A_GRADE}, True or False"
            problems.error(path, number, "bad_grade", what)
            continue
        grades = qrels.setdefault(topic_id, {})
        pair, earlier = f"{passage_id!r} of topic {topic_id!r}", grades.get(passage_id)
        if earlier is None:
            grades[passage_id] = grade
        elif earlier == grade:
            what = f"{pair} occurs twice with grade {grade}"
            problems.keep(path, number, "duplicate_grade", what)
        else:
            what = f"{pair} has grade {grade} here and {earlier} before, wanted one"
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


def write_confident_qrels(path: Path, rows: Iterable[Confident], run_id: str) -> int:
    """Write `topic Q0 document grade confidence run`, sorted by topic and document; the number.

    Raises: ValueError for an id as `write_qrels`, also of the run, and a confidence that is no
        finite number.
    Source: guidelines of the TREC 2025 RAG track; "assign all 1 if not applicable".
    """
    lines = []
    for topic_id, passage_id, grade, confidence in sorted(rows):
        if not math.isfinite(confidence):
            raise ValueError(f"confidence {confidence!r} of {passage_id!r}, wanted a finite number")
        _check_ids(run_id)
        written = _written(topic_id, "Q0", passage_id, grade).rstrip("\n")
        lines.append(f"{written} {confidence:.6g} {run_id}\n")
    write_file(path, "".join(lines))
    return len(lines)


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
    _check_ids(topic_id, passage_id, iteration)
    return f"{topic_id} {iteration} {passage_id} {grade}\n"


def _check_ids(*names: str) -> None:
    for name in names:
        if len(name.split()) != 1 or name.split()[0] != name:
            raise ValueError(f"id {name!r} is empty or has white space: no qrels for it")


def _is_finite(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
