"""Lexical baselines of the judges of sub-questions.

They let a whole pipeline run and stand in for a model in tests. They read and write English; the
rules were not fitted to anything, except where a comment says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from ...records.questions import AnswerGrade
from ..labels import SearchKind
from .clauses import statements
from .overlap import PRONOUNS, STOP_WORDS, WORD, update_nuggets, weigh_overlap
from .segments import TITLES, n_words, sentences

# ruff: noqa: SIM905  a list of words reads best as words


# Lowest overlap of a question's subject with a text for each grade from 1 to 5.
ANSWER_CUTS = (0.30, 0.35, 0.50, 0.52, 0.67)
_ASKING = STOP_WORDS | frozenset(
    """
    according describe far kind long many much name often old passage report text type whom whose
    """.split()
)


def answer_overlap(question: str, text: str, weights: Mapping[str, float]) -> float:
    """Measure how much of a question's subject a text contains, in [0, 1].

    weights: see `weigh_overlap`.
    """
    return weigh_overlap(subject_words(question), text, weights)


@lru_cache(maxsize=4096)
def subject_words(question: str) -> str:
    """Reduce a question to the words of its subject; the whole question if none is left.

    >>> subject_words("According to the text, who named the task force?")
    'named task force'
    """
    words = (match.lower() for match in WORD.findall(question))
    return " ".join(word for word in words if word not in _ASKING) or question


def grade_answer(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """0-5 by the overlap of the question and the text."""
    return {"grade": _answer_grade(answer_overlap(inputs["question"], inputs["context"], {}))}


def grade_answers(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Grade each question of a list like `grade_answer`."""
    grades = {
        key: _answer_grade(answer_overlap(question, inputs["context"], {}))
        for key, question in inputs["questions"].items()
    }
    return {"grades": {key: AnswerGrade(str(grade)) for key, grade in grades.items()}}


def _answer_grade(overlap: float) -> int:
    return sum(overlap >= cut for cut in ANSWER_CUTS)


# ruff: noqa: SIM905  a list of words reads best as words


MIN_WORDS = 2  # content words of a question with a subject
MANY_WORDS = 8  # content words beyond which a question needs several passages
MAX_PARTS = 6

_COMBINING = re.compile(r"\b(?:why|compare|differ\w*|between|effects?|affect\w*)\b", re.IGNORECASE)
POINTING = frozenset("it its this that these those they their he she his her such".split())
_SMALL = STOP_WORDS | POINTING
_PARTS = re.compile(r"[;?]\s+|,?\s+and\s+(?=(?:how|what|when|where|which|who|why)\b)|,\s+and\s+")


def split_question(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The parts around `and`, a semicolon or a question mark, if each has a subject.

    A question with too few content words is vague. A question with several parts, with words that
    combine, or with many content words is complex.
    """
    whole = " ".join(inputs["question"].split()).strip(" ?.,;")
    parts = [part.strip(" ?.,;") for part in _PARTS.split(whole)]
    if len(parts) > MAX_PARTS or any(len(find_subject(part)) < MIN_WORDS for part in parts):
        parts = [whole]
    n, kind = len(find_subject(whole)), SearchKind.SIMPLE
    if n < MIN_WORDS:
        kind = SearchKind.VAGUE
    elif len(parts) > 1 or n > MANY_WORDS or _COMBINING.search(whole):
        kind = SearchKind.COMPLEX
    return {"kind": kind, "subquestions": [f"{part[:1].upper()}{part[1:]}?" for part in parts]}


def find_subject(question: str) -> list[str]:
    """The words of the question's subject, in lower case; may be empty."""
    return [word for word in WORD.findall(subject_words(question).lower()) if word not in _SMALL]


MAX_QUESTION_WORDS = 25  # of a sentence that becomes a question as a whole
ABBREVIATED = re.compile(rf"\b([A-Z]|{'|'.join(TITLES)})\.")
_JOINED_ON = re.compile(r"^(?:also|and|but|however|meanwhile|or|so|yet)\b,?\s+", re.IGNORECASE)
_OMITTED = re.compile(r"[\"“”]|\s*(?:\[[^\]]*\]|\([^)]*\))")
_OUTER = " .!'’–—-*•"
_POINTING_BACK = PRONOUNS | {"her", "their"}


def write_questions(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Questions from the statements that say most, of the whole report.

    A sentence without a short statement counts as one, and a sentence that starts with a pronoun is
    left out. The words before a statement are stop words, so that the lexical grader uses only the
    words of the statement.
    """
    report = ABBREVIATED.sub(r"\1", inputs["report"])
    texts = [text for sentence in sentences(report) for text in _statements(sentence)]
    limit = len(inputs["known"]) + inputs["wanted"]
    best = update_nuggets({"question": "", "limit": limit, "nuggets": texts, "passages": {}})
    questions = [f"Is it so: {text}?" for text in best["updated"]]
    new = [question for question in questions if question not in inputs["known"]]
    return {"questions": new[: inputs["wanted"]]}


def _statements(sentence: str) -> Iterator[str]:
    """The statements of a sentence: its short statements, or the whole sentence."""
    whole = _JOINED_ON.sub("", _OMITTED.sub("", sentence)).strip(_OUTER)
    is_short = n_words(whole) <= MAX_QUESTION_WORDS and sentence[-1] not in "?:…"
    for text in statements(sentence) or ([whole] if whole and is_short else []):
        if re.split(r"\W", text, maxsplit=1)[0].lower() not in _POINTING_BACK:
            yield text
