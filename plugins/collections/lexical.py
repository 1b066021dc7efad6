"""The rule-based baselines of the judges here, without a model.

They let a whole build run and stand in for a model in tests. They read and write English; the
rules were not fitted to anything.
"""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ...judges.labels import YesNo
from ...judges.lexical.overlap import content_words
from ...judges.lexical.questions import ABBREVIATED, MIN_WORDS, POINTING, find_subject
from ...judges.lexical.segments import n_words, segments, sentences

MAX_PASSAGES = 6  # made of a segment; a model is asked for 3
PASSAGE_WORDS = 200
REQUEST_WORDS = 50

_SMALL = frozenset(
    """
    a about above after all an another as at before below between both by despite during each
    every few for from if in many most near nearly no on once one only other over several since some
    such the to under when while with
    """.split()
)
_NAME = re.compile(r"\b[A-Z][\w-]+(?: [A-Z][\w-]+)*")
_NO_NAME = frozenset(
    """
    January February March April May June July August September October November December
    Monday Tuesday Wednesday Thursday Friday Saturday Sunday
    """.split()
)
_PHRASE = re.compile(
    r"\b(?:[Tt]he|[Aa]n?) ((?:[a-z-]+ )?[a-z-]{3,}(?<!ed)(?<!ly))(?=[.,;:)]"
    r"| (?:about|and|as|between|for|in|is|of|on|over|was|were|which|with)\b)"
)
_NO_TOPIC = frozenset(
    """
    are can could end fact first had has have is last may might must number other rest same should
    third was way were will would
    """.split()
)


def write_request(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A request of about 50 words that names the report's names and commonest phrases."""
    report = ABBREVIATED.sub(r"\1", inputs["report"])
    names, phrases = _names(report), [f"the {phrase}" for phrase in _phrases(report)]
    topic = " and ".join(names[:2] or phrases[:1])
    if not topic:
        return {"request": ""}
    aspects = phrases if names else phrases[1:]
    for n in range(len(aspects), -1, -1):
        cover = ", ".join([*aspects[:n], "what led up to it"])
        request = (
            f"Write a report on {topic} for a reader who is new to the subject. Cover {cover}, who "
            "was involved, how others responded, and what followed."
        )
        if n_words(request) <= REQUEST_WORDS:
            break
    return {"request": request}


def write_passages(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The part's sentences as they are, in passages of even length up to about 200 words.

    Nothing is resolved: a pronoun that pointed at another passage still does.
    """
    most = PASSAGE_WORDS
    while len(passages := segments(inputs["part"], most)) > MAX_PASSAGES:
        most += PASSAGE_WORDS // 10
    return {"passages": passages}


def _names(report: str) -> list[str]:
    """Names, by how often their last word ends one; each as long as it is written anywhere."""
    by_last_word: dict[str, list[str]] = {}
    for sentence in sentences(report):
        for run in _NAME.finditer(sentence):
            words = run[0].split()
            if (run.start() == 0 and len(words) == 1) or words[0].lower() in _SMALL:
                words = words[1:]  # the capital is that of a sentence
            if words and not _NO_NAME.intersection(words):
                by_last_word.setdefault(words[-1], []).append(" ".join(words))
    chosen: list[str] = []
    for same in sorted(by_last_word.values(), key=len, reverse=True):
        name = max(same, key=len)
        if not any(content_words(name) & content_words(other) for other in chosen):
            chosen.append(name)
    return chosen


def _phrases(report: str) -> list[str]:
    """What follows an article, the commonest first, two words before one."""
    counts = Counter(_PHRASE.findall(report))
    chosen: list[str] = []
    for phrase in sorted(counts, key=lambda text: (-counts[text], -n_words(text))):
        words = content_words(phrase)
        is_new = not any(words & content_words(other) for other in chosen)
        if is_new and not _NO_TOPIC.intersection(phrase.split()):
            chosen.append(phrase)
    return chosen


UNCOMMON_WORDS = 4  # of them, from which a question is about something particular
_OPEN = re.compile(
    r"\b(?:why|explain|describe|discuss|compare|what (?:are|were|made|makes|led)|how"
    r"(?! (?:many|much|long|often|old|far|tall|big)\b))\b",
    re.IGNORECASE,
)
_VIEW = re.compile(
    r"\b(?:best|worst|better|favou?rite|worth|should|do you|your|opinions?|thoughts?|views?)\b",
    re.IGNORECASE,
)
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
    n = len(find_subject(question))
    is_open = bool(_OPEN.search(question))
    points_back = POINTING.intersection(question.lower().split()[:2])
    met = {
        "uncommon": n + is_open >= UNCOMMON_WORDS,
        "clear": n >= MIN_WORDS,
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
    """Four questions about what the question is about: the baseline knows no other subjects."""
    subject = " ".join(find_subject(inputs["question"])) or inputs["question"].strip("? ")
    return {"questions": [f"{ask} {subject}?" for ask in _WIDER[: inputs["wanted"]]]}
