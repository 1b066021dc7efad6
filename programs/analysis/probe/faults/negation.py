"""Negates a sentence where a rule can do so without doubt, and leaves all others alone."""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re
from collections.abc import Collection

from .....judges.lexical.nuggets_and_citations import STOP_WORDS, WORD
from .parts import leans

MOST_WORDS = 40
_FINITE = frozenset(
    """
    am are can could did do does had has have is may might must shall should was were will would
    """.split()
)
_TAKES_NOT = frozenset("are can is was were will".split())
# After these the opposite need not contradict: "some are" and "some are not" are both true.
_OPEN = frozenset(
    """
    all always any anyone anything as because believed both considered each either ever every few
    generally how if it likely mainly many maybe mostly often one ones only partly perhaps possible
    possibly probably reported said several since some something sometimes than that though
    although thought typically unless until usually various what when whenever where whether which
    while who whom whose why most
    """.split()
)
_NEGATIVE = frozenset(
    """
    barely cannot few hardly lack lacks little neither never no nobody none nor not nothing rarely
    seldom unable unlike without
    """.split()
)
_ADVERBS = frozenset("also even indeed just merely rather simply still thus yet".split())
_CONTRACTED = re.compile(r"n't$|'(?:re|ve|ll|d|m)$|^(?:he|here|it|she|that|there|what|who)'s$")
_MARKS = re.compile(r"[?:;()\[\]\"“”*#|–—\n]")
_ARTICLES = frozenset(("the", "a", "an"))
_REPORTED = (
    "accord",
    "argu",
    "assum",
    "belie",
    "claim",
    "report",
    "said",
    "say",
    "suggest",
    "think",
    "thought",
)
_CLAUSES = re.compile(r",|\b(?:and|but|or|so|yet)\b", re.IGNORECASE)


def negated(sentence: str) -> str | None:
    """The sentence with "not" behind its verb; None unless its opposite is certain to contradict.

    It has to be a statement of 4 to 40 words that ends with a full stop, with exactly one finite
    auxiliary or copula, which is one of are, can, is, was, were, will and stands between a subject
    and a word of the same clause. No other negative word, quantifier, hedge, relative or
    subordinate clause, quotation, list or bracket may stand in it.

    >>> negated("Yogurt is a low-fat dairy product.")
    'Yogurt is not a low-fat dairy product.'
    >>> negated("Some yogurts are sweet."), negated("It was said that he was late.")
    (None, None)
    """
    words = list(WORD.finditer(sentence))
    plain = [word.group().lower().replace("’", "'") for word in words]
    if not sentence.rstrip().endswith((".", "!")) or _MARKS.search(sentence):
        return None
    if not 4 <= len(words) <= MOST_WORDS or {*plain} & (_OPEN | _NEGATIVE):
        return None
    if any(_CONTRACTED.search(word) for word in plain):
        return None
    finite = [index for index, word in enumerate(plain) if word in _FINITE]
    if len(finite) != 1 or not 0 < (at := finite[0]) < len(words) - 1:
        return None
    verb, after = words[at], words[at + 1]
    if plain[at] not in _TAKES_NOT or plain[at + 1] in _ADVERBS:
        return None
    if sentence[verb.end() : after.start()] != " " or not verb.group().islower():
        return None
    if sentence[words[at - 1].end() : verb.start()] != " ":  # a comma: the end of an aside
        return None
    is_can = plain[at] == "can"
    return sentence[: verb.end()] + ("not" if is_can else " not") + sentence[verb.end() :]


def denied(sentence: str, lower: Collection[str]) -> str | None:
    """The sentence behind "It is not true that", so that nothing of it is stated any more.

    None unless it is a whole statement: it ends with a full stop behind a content word, begins with
    an article or has an auxiliary, leans on no sentence before it, denies nothing by itself, and
    reports nobody's view.

    Args:
        lower: words that are written small inside sentences.

    >>> denied("The old bridge fell, and two boats sank.", {"the"})
    'It is not true that the old bridge fell, and two boats sank.'
    """
    first = sentence.split(maxsplit=1)[0]
    words = [word.lower() for word in WORD.findall(sentence)]
    if not sentence.rstrip().endswith(".") or _MARKS.search(sentence) or is_negative(sentence):
        return None
    if not first.isalpha() or leans(sentence) or words[-1] in STOP_WORDS:
        return None
    if words[0] not in _ARTICLES and not _FINITE & {*words[1:]}:  # "Sign the petition."
        return None
    if any(word.startswith(_REPORTED) for word in words):
        return None
    is_small = first.lower() in lower
    return f"It is not true that {first.lower() if is_small else first}{sentence[len(first) :]}"


def is_one_clause(sentence: str) -> bool:
    """Whether nothing in it could begin a second clause."""
    return _CLAUSES.search(sentence) is None


def is_negative(text: str) -> bool:
    """Whether a word of it denies something."""
    words = (word.group().lower().replace("’", "'") for word in WORD.finditer(text))
    return any(word in _NEGATIVE or word.endswith("n't") for word in words)
