"""The labels of a narrative and of its parts, and the grade that follows from the parts."""

from __future__ import annotations

import re

from ....records.rows import Label
from ..settings import BEST_GRADE

_GRADES = (1, 2, 3, 3, BEST_GRADE)  # by how many parts are answered, from 0 on
_NUMBER = re.compile(r"^\d+\. ", re.MULTILINE)


class NarrativeGrade(Label):
    """How many parts of a narrative a passage answers (TREC 2025 RAG); by grade."""

    UNRELATED = "0", "the passage has nothing to do with the narrative"
    RELATED = "1", "the passage is about the topic but answers no part in detail"
    ONE = "2", "the passage answers one part in detail"
    SOME = "3", "the passage answers two or three parts in detail"
    MANY = "4", "the passage answers four or more parts in detail"


class PartAnswer(Label):
    """How a passage answers one part of a narrative."""

    NONE = "none", "the passage has nothing to do with the part or the topic of the narrative"
    RELATED = (
        "related",
        "the passage is about the subject of the part or the topic of the narrative, but does not "
        "answer the part in detail",
    )
    DETAILED = (
        "detailed",
        "the passage answers the part in detail, with facts, reasons or examples",
    )


def narrative_grade(n_answered: int, n_related: int) -> int:
    """Return the grade of a passage, 0-4, from the number of parts that it answers in detail.

    4: four or more; 3: two or three; 2: one; 1: none, but it is on the topic; 0: none.

    Args:
        n_answered: the number of parts that it answers in detail, >= 0.
        n_related: the number of parts that it is about without answering them, >= 0.

    Raises: ValueError for a negative number.
    Source: guidelines of the TREC 2025 RAG track, relevance assessments.

    >>> [narrative_grade(n, 1) for n in range(6)], narrative_grade(0, 0)
    ([1, 2, 3, 3, 4, 4], 0)
    """
    if n_answered < 0 or n_related < 0:
        raise ValueError(f"wanted numbers >= 0, got {n_answered} and {n_related}")
    if not n_answered and not n_related:
        return 0
    return _GRADES[min(n_answered, len(_GRADES) - 1)]


def split_parts(text: str) -> list[str]:
    """The sub-narratives in one text, one a line, with numbers (`number_texts`) or without.

    >>> split_parts("1. what it costs\\n2. how it works"), split_parts("")
    (['what it costs', 'how it works'], [])
    """
    lines = (_NUMBER.sub("", line).strip() for line in text.splitlines())
    return [line for line in lines if line]
