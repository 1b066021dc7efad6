"""The rule-based twin of the answerability judge: how much a text holds of what is asked.

docs/lexical.md says how the cuts were chosen and shows the fit.
"""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ...records.questions import AnswerGrade
from .nuggets_and_citations import STOP_WORDS, WORD
from .overlap import weighted_overlap

# Overlap of what a question is about and a text, from which the grades 1 to 5 begin.
ANSWER_CUTS = (0.30, 0.35, 0.50, 0.52, 0.67)
_ASKING = STOP_WORDS | frozenset(
    """
    according describe far kind long many much name often old passage report text type whom whose
    """.split()
)


def answer_overlap(question: str, text: str, weights: Mapping[str, float]) -> float:
    """How much of what a question is about a text holds, in [0, 1].

    weights: as for `weighted_overlap`.
    """
    return weighted_overlap(subject_words(question), text, weights)


@lru_cache(maxsize=4096)
def subject_words(question: str) -> str:
    """The words of a question that say what it is about; all of it if none does.

    >>> subject_words("According to the text, who named the task force?")
    'named task force'
    """
    words = (match.lower() for match in WORD.findall(question))
    return " ".join(word for word in words if word not in _ASKING) or question


def grade_answer(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """0-5 by the overlap of the question and the text."""
    return {"grade": _answer_grade(answer_overlap(inputs["question"], inputs["context"], {}))}


def grade_answers(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The same for each of a list of questions."""
    grades = {
        key: _answer_grade(answer_overlap(question, inputs["context"], {}))
        for key, question in inputs["questions"].items()
    }
    return {"grades": {key: AnswerGrade(str(grade)) for key, grade in grades.items()}}


def _answer_grade(overlap: float) -> int:
    return sum(overlap >= cut for cut in ANSWER_CUTS)
