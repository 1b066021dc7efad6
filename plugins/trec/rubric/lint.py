"""Rules that find unclear criteria, for their authors to check."""

from __future__ import annotations

import re
from typing import NamedTuple

COMPOUND, IMPLICIT = "compound_criterion", "implicit_criterion"
UNCHECKABLE, SIGN = "uncheckable_criterion", "criterion_sign"

# Two demands in one: a second sentence, a semicolon, or "and" before another verb of what an
# answer does. "and" between nouns ("cost and risk") is one demand often enough to be let be.
_VERBS = (
    "addresses|analyses|analyzes|argues|avoids|cites|compares|concludes|contrasts|defines|"
    "describes|discusses|does|evaluates|explains|gives|has|identifies|includes|is|lists|mentions|"
    "names|notes|offers|outlines|presents|proposes|provides|quantifies|recommends|references|"
    "shows|specifies|states|suggests|summarises|summarizes|supports|uses"
)
_SECOND_VERB = re.compile(rf"\b(?:and|but)(?: also)? (?:{_VERBS})\b|\bas well as\b", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?]\s+(?=[A-Z])|;\s")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|U\.S|Dr|Mr|Mrs|No|Fig)\.$")
# Refers to something that is not in the criterion.
_ELSEWHERE = re.compile(
    r"\b(?:as (?:above|mentioned|described|expected|required|discussed)|(?:mentioned|listed|given) "
    r"(?:above|below|earlier)|the (?:above|aforementioned|same|correct|right|expected) "
    r"(?:answer|facts?|points?|information|figures?|values?|result|conclusion|criterion)|"
    r"the (?:reference|gold|ideal|model) (?:answer|report|response)|previous criterion)\b",
    re.IGNORECASE,
)
_BARE_START = re.compile(r"^(?:it|this|that|these|those|they|he|she)\b", re.IGNORECASE)
# A quality that two readers would judge differently, without anything to check.
_VAGUE = re.compile(
    r"\b(?:adequate(?:ly)?|appropriate(?:ly)?|clear(?:ly)?|coherent(?:ly)?|comprehensive(?:ly)?|"
    r"deep(?:ly)?|effective(?:ly)?|engaging|excellent|good|helpful(?:ly)?|high[- ]quality|"
    r"insightful|interesting|nuanced|professional(?:ly)?|proper(?:ly)?|reasonabl[ey]|relevant|"
    r"satisfactor(?:y|ily)|sufficient(?:ly)?|suitabl[ey]|thorough(?:ly)?|useful|"
    r"well(?:[- ]\w+)?)\b",
    re.IGNORECASE,
)
# Details that make a vague word checkable: a number, a name, a quotation, an example.
_CHECKABLE = re.compile(
    r"\d|[\"“«]|\b(?:at least|at most|no more than|e\.g|for example|such as|including|that is|"
    r"one|two|three|four|five|each|every)\b|(?<=\s)[A-Z][a-z]+"
)
_GOOD_WHEN_NEGATED = re.compile(
    r"(?:the )?(?:answer|report|response)?\s*(?:avoids?|does not|doesn't|is free of)\b",
    re.IGNORECASE,
)


class Fault(NamedTuple):
    """A problem of a criterion: a short name to count by, and a text for people."""

    kind: str
    what: str


def lint(text: str, weight: float = 1.0) -> list[Fault]:
    """Return the problems that the author of a criterion should check; [] if no rule finds any.

    compound_criterion: two demands in one, so that an answer can meet half of it.
    implicit_criterion: it refers to words that are not in it.
    uncheckable_criterion: a quality without anything to check.
    criterion_sign: a penalty for something that an answer avoids, so that met would punish it.

    The rules are for English and miss many problems. They never change a criterion or leave it out.

    >>> [fault.kind for fault in lint("Names the year and explains why the dam failed.")]
    ['compound_criterion']
    """
    faults = []
    if len(_sentences(text)) > 1 or _SECOND_VERB.search(text):
        faults.append(Fault(COMPOUND, "asks for two things in one; make it two criteria"))
    if _ELSEWHERE.search(text) or _BARE_START.search(text.strip()):
        faults.append(Fault(IMPLICIT, "rests on what does not stand in it; say it there"))
    if (vague := _VAGUE.search(text)) and not _CHECKABLE.search(text):
        what = f"has nothing to check {vague[0].lower()!r} by; say what is to be there"
        faults.append(Fault(UNCHECKABLE, what))
    if weight < 0 and _GOOD_WHEN_NEGATED.match(text.strip()):
        faults.append(Fault(SIGN, "has a weight below 0 and seems to say what is good"))
    return faults


def _sentences(text: str) -> list[str]:
    """The text cut after each sentence, but not after abbreviations."""
    parts, start = [], 0
    for end in _SENTENCE_END.finditer(text):
        if not _ABBREVIATION.search(text[: end.start() + 1]):
            parts.append(text[start : end.start()])
            start = end.end()
    return [part for part in (*parts, text[start:]) if part.strip()]
