"""A sample by the names that people use for its parts: question, answer, contexts and the rest."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ...records.judgements import NOT_MADE, Reason
from ...records.reading.fields import shorten
from ...records.reading.problems import InputError, did_you_mean
from .cells import is_missing, list_in, plain
from .contexts import CONTEXTS, Context, contexts_of
from .sentences import Sentence, sentence_of

QUESTION = ("question", "user_input", "input", "query", "topic")
ANSWER = ("answer", "response", "actual_output", "output")
NUGGETS = ("nuggets",)
KEY_POINTS = ("key_points", "keypoints")
QUESTIONS = ("questions", "sub_questions", "subquestions")
REFERENCE = ("reference", "expected_output", "ground_truth", "reference_answer")
ID = ("id", "topic_id", "qid", "question_id", "query_id")
KNOWN = (*QUESTION, *ANSWER, *CONTEXTS, *NUGGETS, *KEY_POINTS, *QUESTIONS, *REFERENCE, *ID)

VITAL, OKAY = "vital", "okay"
_ALIKE = 0.85  # of the letters of a field that is taken for a slip of the pen


@dataclass(frozen=True)
class Nugget:
    """A fact that a good answer states; `importance` is vital or okay."""

    text: str
    importance: str = VITAL


@dataclass(frozen=True)
class Sample:
    """One question and what a system made of it.

    Attributes:
        topic_id: the sample's id, or one made of its question, so that another system's answer to
            the same question is of the same topic.
        answer: with its citations as they stand in it: `[1]` is the first context.
        sentences: of an answer that was given by sentence; empty: `answer` is split.
        nuggets: those given as texts are vital. questions: sub-questions of the topic.
        reference: a good answer, "" where there is none.
        not_made: why there is no answer, where that is no doing of the system; "": there is one.
        location: among the samples, for messages.
    """

    topic_id: str
    question: str
    answer: str
    contexts: tuple[Context, ...] = ()
    nuggets: tuple[Nugget | str, ...] = ()
    key_points: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    reference: str = ""
    sentences: tuple[Sentence, ...] = ()
    not_made: str = ""
    location: str = "sample"


def sample_of(fields: Mapping[str, Any], location: int | str) -> Sample:
    """A sample of a mapping; a field that is None or NaN is one that is not there.

    Args:
        location: the index of the sample, from 0, or its name in messages.

    Raises: InputError naming the location, what is missing or wrong, and the fields that are there.
    """
    at = location if isinstance(location, str) else f"samples[{location}]"
    there = {str(name): plain(value) for name, value in fields.items() if not is_missing(value)}
    _check_names(there, at)
    question, not_made = text_of(there, QUESTION, at), _not_made(there, at)
    contexts = contexts_of(_first(there, CONTEXTS)[1], at)
    answer, sentences = ("", ()) if not_made else _answer(there, at)
    name, reference = _first(there, REFERENCE)
    if reference is not None and not isinstance(reference, str):
        raise InputError(f"{at}: {name} is {_shown(reference)}, wanted text")
    return Sample(
        topic_id=topic_of(there, question, at),
        question=question,
        answer=answer,
        contexts=contexts,
        nuggets=tuple(_nugget(each, where) for where, each in _each(there, NUGGETS, at)),
        key_points=tuple(_text(each, where) for where, each in _each(there, KEY_POINTS, at)),
        questions=tuple(_text(each, where) for where, each in _each(there, QUESTIONS, at)),
        reference=reference or "",
        sentences=sentences,
        not_made=not_made,
        location=at,
    )


def text_of(there: Mapping[str, Any], names: Sequence[str], at: str) -> str:
    """The text under the first of these names. Raises: InputError if there is none, or no text."""
    name, text = _first(there, names)
    if text is None:
        raise InputError(f"{at}: no {names[0]} ({', '.join(names)}); {having(there, names)}")
    if not isinstance(text, str):
        raise InputError(f"{at}: {name} is {_shown(text)}, wanted text")
    if names is QUESTION and not text.strip():
        raise InputError(f"{at}: {name} is empty, wanted a question")
    return text


def topic_of(there: Mapping[str, Any], question: str, at: str) -> str:
    """The id of the topic: the sample's own, or one of its question.

    Raises: InputError for an id with white space, or 'all', which names the means.
    """
    name, value = _first(there, ID)
    if value is None:
        return _named_by(question)
    topic = str(value).strip()
    if isinstance(value, float) and value.is_integer():  # of a frame's column with gaps
        topic = str(int(value))
    if topic.split() != [topic] or topic == "all":
        what = "wanted an id without white space that is not 'all', which names the means"
        raise InputError(f"{at}: {name} is {_shown(value)}, {what}")
    return topic


def having(there: Mapping[str, Any], wanted: Iterable[str]) -> str:
    """What is there, and which of it may have been meant as something that is wanted."""
    names = ", ".join(there) or "nothing"
    wanted = tuple(wanted)
    slips = (slip for name in there if (slip := did_you_mean(name, wanted)))
    return f"it has {shorten(names, 200)}{next(slips, '')}"


def digest(text: str) -> str:
    """16 hex digits that stand for a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _named_by(question: str) -> str:
    """An id that says what it is of: its first words, and a hash of all of it.

    >>> _named_by("Why do bridges sway, and when?")
    'why-do-bridges-sway-and-when-aeb826e0'
    """
    words = "-".join(re.findall(r"\w+", question.lower())[:6])[:40].rstrip("-")
    return f"{words}-{digest(question)[:8]}".lstrip("-")


def _check_names(there: Mapping[str, Any], at: str) -> None:
    """Raise InputError for a field that is spelled almost as one that is not there."""
    groups = (CONTEXTS, NUGGETS, KEY_POINTS, QUESTIONS, REFERENCE)
    open_names = [n for group in groups if not there.keys() & set(group) for n in group]
    for name in there.keys() - set(KNOWN):
        if alike := difflib.get_close_matches(name, open_names, 1, _ALIKE):
            raise InputError(f"{at}: field {name!r} is not known; did you mean {alike[0]}?")


def _not_made(there: Mapping[str, Any], at: str) -> str:
    if (value := there.get(NOT_MADE)) in (None, ""):
        return ""
    try:
        return Reason(value).value
    except ValueError:
        wanted = ", ".join(reason.value for reason in Reason)
        raise InputError(f"{at}: {NOT_MADE} is {_shown(value)}, wanted one of {wanted}") from None


def _answer(there: Mapping[str, Any], at: str) -> tuple[str, tuple[Sentence, ...]]:
    name, answer = _first(there, ANSWER)
    if isinstance(answer, list):
        by_sentence = tuple(sentence_of(s, f"{at}.{name}[{i}]") for i, s in enumerate(answer))
        return " ".join(sentence.text for sentence in by_sentence), by_sentence
    return text_of(there, ANSWER, at), ()


def _nugget(nugget: Any, at: str) -> Nugget:
    if not isinstance(nugget, Mapping):
        return Nugget(_text(nugget, at))
    importance = nugget.get("importance", VITAL)
    if importance not in (VITAL, OKAY):
        raise InputError(f"{at}: importance is {_shown(importance)}, wanted {VITAL} or {OKAY}")
    return Nugget(_text(nugget.get("text"), f"{at}.text"), importance)


def _each(there: Mapping[str, Any], names: Sequence[str], at: str) -> Iterable[tuple[str, Any]]:
    name, values = _first(there, names)
    if values is None:
        return []
    if isinstance(values, str) and (items := list_in(values)) is not None:
        values = items
    if not isinstance(values, list):
        raise InputError(f"{at}: {name} is {_shown(values)}, wanted a list")
    return [(f"{at}.{name}[{i}]", each) for i, each in enumerate(values)]


def _text(value: Any, at: str) -> str:
    if isinstance(value, Mapping) and "text" in value:  # a key point with its spans
        value = value["text"]
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{at}: is {_shown(value)}, wanted text")
    return value


def _first(there: Mapping[str, Any], names: Sequence[str]) -> tuple[str, Any]:
    return next(((name, there[name]) for name in names if name in there), (names[0], None))


def _shown(value: Any) -> str:
    return shorten(repr(value), 60)
