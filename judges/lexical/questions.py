"""The rule-based twins of the judges of questions: scores, new questions, parts; no model.

They let a whole pipeline run and stand in for a model in tests. What they read and write is
English; the rules were not fitted to anything.
"""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ..labels import SearchKind, YesNo
from .answers import subject_words
from .nuggets_and_citations import STOP_WORDS, WORD

FEWEST_WORDS = 2  # that carry meaning, for a question to be about something
UNCOMMON_WORDS = 4  # of them, from which a question is about something particular
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
_VIEW = re.compile(
    r"\b(?:best|worst|better|favou?rite|worth|should|do you|your|opinions?|thoughts?|views?)\b",
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
    """Points by words that open, point back or ask for a view, and by how much is asked about."""
    question = inputs["question"]
    n = len(_subject(question))
    is_open = bool(_OPEN.search(question))
    points_back = _POINTING.intersection(question.lower().split()[:2])
    met = {
        "uncommon": n + is_open >= UNCOMMON_WORDS,
        "clear": n >= FEWEST_WORDS,
        "unambiguous": not points_back,
        "complex": is_open,
        "opinion": bool(_VIEW.search(question)),
    }
    return {name: YesNo.YES if is_met else YesNo.NO for name, is_met in met.items()}


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

    A question about too few words is vague; one of several parts, with words that combine, or
    about many, is complex.
    """
    whole = " ".join(inputs["question"].split()).strip(" ?.,;")
    parts = [part.strip(" ?.,;") for part in _PARTS.split(whole)]
    if len(parts) > MOST_PARTS or any(len(_subject(part)) < FEWEST_WORDS for part in parts):
        parts = [whole]
    n, kind = len(_subject(whole)), SearchKind.SIMPLE
    if n < FEWEST_WORDS:
        kind = SearchKind.VAGUE
    elif len(parts) > 1 or n > MANY_WORDS or _COMBINING.search(whole):
        kind = SearchKind.COMPLEX
    return {"kind": kind, "subquestions": [f"{part[:1].upper()}{part[1:]}?" for part in parts]}


def _subject(question: str) -> list[str]:
    """The words that say what the question is about, in lower case; maybe none."""
    return [word for word in WORD.findall(subject_words(question).lower()) if word not in _SMALL]
