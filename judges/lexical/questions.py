"""The rule-based twins of the judges of questions: scores, new questions, parts; no model.

They let a whole pipeline run and stand in for a model in tests. What they read and write is
English; the rules were not fitted to anything.
"""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..labels import SearchKind
from .answers import asked_about
from .nuggets_and_citations import STOP_WORDS, WORD

FEWEST_WORDS = 2  # that carry meaning, for a question to be about something
MANY_WORDS = 8  # of them, beyond which it takes several passages
MOST_PARTS = 6

_OPEN = re.compile(
    r"\b(?:why|explain|describe|discuss|compare|what (?:are|were|made|makes|led)|how"
    r"(?! (?:many|much|long|often|old|far|tall|big)\b))\b",
    re.IGNORECASE,
)
_COMBINING = re.compile(r"\b(?:why|compare|differ\w*|between|effects?|affect\w*)\b", re.IGNORECASE)
_POINTING = frozenset("it its this that these those they their he she his her such".split())
_SMALL = STOP_WORDS | _POINTING
_TASTE = re.compile(
    r"\b(?:best|worst|favou?rite|should (?:i|we)|do you|your opinion|beautiful|boring)\b",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[;?]\s+|,?\s+and\s+(?=(?:how|what|when|where|which|who|why)\b)|,\s+and\s+")
_DEEPER = (
    "which conditions does that depend on",
    "what are the reasons behind it",
    "how does a concrete case show it",
    "where do the sources disagree about it",
)
_WIDER = (
    "What else is known about",
    "What came before",
    "What has been tried instead of",
    "What is disputed about",
)


def score_question(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Scores by words that open, point back or ask for taste, and by how much is asked about."""
    question = inputs["question"]
    n = len(_subject(question))
    is_open = bool(_OPEN.search(question))
    points_back = _POINTING.intersection(question.lower().split()[:2])
    return {
        "clarity": 1 if n < FEWEST_WORDS else 3 if points_back else 5,
        "depth": 5 if is_open else 2,
        "expertise": max(1, min(5, n)),
        "sources": max(1, min(5, n - 1 + is_open)),
        "objectivity": 1 if _TASTE.search(question) else 5,
    }


def deepen_question(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The question with a further one behind it; there are four."""
    first = inputs["question"].strip().rstrip("?.! ")
    return {"questions": [f"{first}, and {more}?" for more in _DEEPER[: inputs["wanted"]]]}


def widen_question(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Four questions about what the question is about: the twin knows no other subjects."""
    subject = " ".join(_subject(inputs["question"])) or inputs["question"].strip("? ")
    return {"questions": [f"{ask} {subject}?" for ask in _WIDER[: inputs["wanted"]]]}


def split_question(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The parts around `and`, a semicolon or a question mark, if each is about something.

    A part with words that combine, or about many, is complex; one about too few words, or that
    points back at a part before it, is vague.
    """
    whole = " ".join(inputs["question"].split()).strip(" ?.,;")
    parts = [part.strip(" ?.,;") for part in _PARTS.split(whole)]
    if len(parts) > MOST_PARTS or any(len(_subject(part)) < FEWEST_WORDS for part in parts):
        parts = [whole]
    return {
        "subquestions": [
            {"text": f"{part[:1].upper()}{part[1:]}?", "kind": _kind(part, is_first=index == 0)}
            for index, part in enumerate(parts)
        ]
    }


def _kind(part: str, *, is_first: bool) -> SearchKind:
    n, words = len(_subject(part)), part.lower().split()
    if n < FEWEST_WORDS or not (is_first or _POINTING.isdisjoint(words)):
        return SearchKind.VAGUE
    return SearchKind.COMPLEX if n > MANY_WORDS or _COMBINING.search(part) else SearchKind.SIMPLE


def _subject(question: str) -> list[str]:
    """The words that say what the question is about, in lower case; maybe none."""
    return [word for word in WORD.findall(asked_about(question).lower()) if word not in _SMALL]
