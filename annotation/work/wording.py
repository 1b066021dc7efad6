"""The words in which people meet a kind of label: what is asked, and what each label means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..store.events import Kind

CANNOT_TELL = "cannot tell"
_GRADED = 6  # from so many whole grades on, the digits are the grades
_MOST_KEYS = 9


class ShownLabel(NamedTuple):
    """A label as people see it: its word, the key that gives it ("": none), its mark."""

    label: str
    word: str
    key: str
    mark: str


class ShownText(NamedTuple):
    """A text as people see it.

    Attributes:
        of: the input of the judge that it is, as spans and the judges' quotes have it.
        name: what it is called. sha256: the start of its hash, see `text_hash`.
    """

    of: str
    name: str
    text: str
    sha256: str


QUESTIONS: dict[Kind, str] = {
    "nuggets": "How much of the fact does the answer state?",
    "support": "How much of the sentence does the passage carry?",
    "relevance": "How well does the passage answer the question?",
    "ratings": "How well does the text answer the question?",
    "keypoints": "Does the answer state the key point?",
    "rubric": "How far does the answer meet the criterion?",
    "items": "Which label fits?",
    "bank": "Which facts should a good answer state?",
    "verify": "Is this key point right, and does it help?",
}
VERIFY_QUESTIONS = {
    "grounded": "Do the quoted words carry this key point?",
    "key_point": "Does this key point help to answer the question?",
}
_WORDS: dict[Kind, dict[str, str]] = {
    "nuggets": {
        "not_support": "none of it",
        "partial_support": "part of it",
        "support": "all of it",
    },
    "support": {"none": "none of it", "partial": "part of it", "full": "all of it"},
    "relevance": {
        "0": "nothing to do with it",
        "1": "on the topic, no answer",
        "2": "an answer, in part or unclear",
        "3": "the whole answer",
    },
    "ratings": {
        "0": "not at all",
        "1": "hardly",
        "2": "a little",
        "3": "in part",
        "4": "nearly all",
        "5": "all of it",
    },
    "keypoints": {"no": "it says otherwise", "neutral": "it does not say", "yes": "it states it"},
    "rubric": {"not_met": "none of it", "partly": "part of it", "met": "all of it"},
}
_OF_NARRATIVES = {
    "0": "nothing to do with it",
    "1": "on the subject, no part",
    "2": "one part",
    "3": "two or three parts",
    "4": "four parts or more",
}
_NAMES: dict[Kind, dict[str, str]] = {
    "nuggets": {"answer_text": "Answer", "nugget": "Fact"},
    "support": {"sentence": "Sentence of an answer", "passage": "The passage it cites"},
    "ratings": {"context": "Text"},
    "keypoints": {"response": "Answer"},
    "rubric": {"response": "Answer", "criterion": "Criterion"},
    "verify": {"text": "Key point", "spans": "Words of the documents"},
}
_ANY_NAMES = {
    "key_point": "Key point",
    "answer_text": "Answer",
    "title": "Title of the page",
    "sub_narratives": "Parts of the question",
}
# Where a judge has another name for an input than files of texts have.
_INPUTS: dict[Kind, dict[str, str]] = {"nuggets": {"answer_text": "answer"}}


def question_of(kind: Kind, part: str = "") -> str:
    """What people are asked about each item; of `verify`, about one of its parts."""
    return VERIFY_QUESTIONS.get(part, QUESTIONS[kind]) if kind == "verify" else QUESTIONS[kind]


def shown_labels(kind: Kind, scale: Sequence[str]) -> list[ShownLabel]:
    """The labels, worst to best. Keys are 1, 2, 3 ..., or the grades where these are 0 to 5.

    >>> [tuple(one[1:]) for one in shown_labels("support", ["none", "partial", "full"])]
    [('none of it', '1', '✗'), ('part of it', '2', '◐'), ('all of it', '3', '✓')]
    """
    words = _WORDS.get(kind, {})
    if kind == "relevance" and is_of_narratives(scale):
        words = _OF_NARRATIVES
    is_graded = _is_graded(scale)
    found = []
    for at, label in enumerate(scale):
        key = label if is_graded else str(at + 1) if at < _MOST_KEYS else ""
        mark = "✗" if at == 0 else "✓" if at == len(scale) - 1 else "◐"
        found.append(ShownLabel(label, words.get(label, label.replace("_", " ")), key, mark))
    return found


def is_of_narratives(scale: Sequence[str]) -> bool:
    """Whether grades of relevance count the parts of a narrative: they go from 0 to 4."""
    return list(scale) == list(_OF_NARRATIVES)


def cannot_tell_key(scale: Sequence[str]) -> str:
    """The key of *cannot tell*: 0, or - where 0 is a grade."""
    return "-" if _is_graded(scale) else "0"


def shown_name(kind: Kind, name: str) -> str:
    """What people read over a text that files call so."""
    plain = name.replace("_", " ").capitalize()
    return _NAMES.get(kind, {}).get(name) or _ANY_NAMES.get(name, plain)


def judge_input(kind: Kind, name: str) -> str:
    """The input of the judge that files of texts call so."""
    return _INPUTS.get(kind, {}).get(name, name)


def _is_graded(scale: Sequence[str]) -> bool:
    digits = [str(grade) for grade in range(len(scale))]
    return _GRADED <= len(scale) <= _MOST_KEYS + 1 and list(scale) == digits
