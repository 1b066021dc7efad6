"""The rule-based twins of the judges that write: questions, a request, passages; no model.

They let a whole pipeline run and stand in for a model in tests. What they write is English.
"""

# ruff: noqa: SIM905  a list of words reads best as words

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from .clauses import statements
from .nuggets_and_citations import PRONOUNS, content_words, update_nuggets
from .segments import MOST_PASSAGES, TITLES, n_words, segments, sentences

MOST_QUESTION_WORDS = 25  # of a sentence that becomes a question as a whole
PASSAGE_WORDS = 200
REQUEST_WORDS = 50

_ABBREVIATED = re.compile(rf"\b([A-Z]|{'|'.join(TITLES)})\.")
_JOINED_ON = re.compile(r"^(?:also|and|but|however|meanwhile|or|so|yet)\b,?\s+", re.IGNORECASE)
_LEFT_OUT = re.compile(r"[\"“”]|\s*(?:\[[^\]]*\]|\([^)]*\))")
_OUTER = " .!'’–—-*•"
_POINTING_BACK = PRONOUNS | {"her", "their"}
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


def write_questions(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Questions from the statements that say most, of the whole report.

    A sentence without a short statement stands for itself, and one that starts with a pronoun is
    left out. The words put before a statement carry no meaning, so that the lexical grader goes by
    those of the statement alone.
    """
    report = _ABBREVIATED.sub(r"\1", inputs["report"])
    texts = [text for sentence in sentences(report) for text in _statements(sentence)]
    limit = len(inputs["known"]) + inputs["wanted"]
    best = update_nuggets({"question": "", "limit": limit, "nuggets": texts, "passages": {}})
    questions = [f"Is it so: {text}?" for text in best["updated"]]
    new = [question for question in questions if question not in inputs["known"]]
    return {"questions": new[: inputs["wanted"]]}


def write_request(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """A request of about 50 words that names the report's names and commonest phrases."""
    report = _ABBREVIATED.sub(r"\1", inputs["report"])
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
    while len(passages := segments(inputs["part"], most)) > MOST_PASSAGES:
        most += PASSAGE_WORDS // 10
    return {"passages": passages}


def _statements(sentence: str) -> Iterator[str]:
    """What a sentence says: its short statements, or the whole of it."""
    whole = _JOINED_ON.sub("", _LEFT_OUT.sub("", sentence)).strip(_OUTER)
    is_short = n_words(whole) <= MOST_QUESTION_WORDS and sentence[-1] not in "?:…"
    for text in statements(sentence) or ([whole] if whole and is_short else []):
        if re.split(r"\W", text, maxsplit=1)[0].lower() not in _POINTING_BACK:
            yield text


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
