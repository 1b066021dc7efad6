"""A sample by the names that people use for its parts: question, answer, contexts and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from ...records.reading.problems import InputError

QUESTION = ("question", "user_input", "input", "query", "topic")
ANSWER = ("answer", "response", "actual_output", "output")
CONTEXTS = ("contexts", "retrieved_contexts", "retrieval_context")
NUGGETS = ("nuggets",)
KEY_POINTS = ("key_points", "keypoints")
ID = ("id", "topic_id", "qid")


@dataclass(frozen=True)
class Context:
    """A passage that the system read, best first among its sample's."""

    id: str
    text: str


@dataclass(frozen=True)
class Sample:
    """One question and what a system made of it.

    `topic_id` is the sample's id, or one made of its question, so that another system's answer to
    the same question is of the same topic.
    """

    topic_id: str
    question: str
    answer: str
    contexts: tuple[Context, ...] = ()
    nuggets: tuple[str, ...] = ()
    key_points: tuple[str, ...] = ()


def sample_of(fields: Mapping[str, Any], place: int) -> Sample:
    """A sample of a mapping.

    Args:
        place: of the sample among all, from 0, for messages.

    Raises: InputError naming the place, what is missing or wrong, and the fields that are there.
    """

    def text(names: Sequence[str]) -> str:
        for name in names:
            if isinstance(found := fields.get(name), str):
                return found
        there = ", ".join(map(str, fields))
        raise InputError(f"samples[{place}]: no {names[0]} ({', '.join(names)}); fields: {there}")

    def several(names: Sequence[str]) -> Sequence[Any]:
        return next((fields[name] for name in names if fields.get(name) is not None), ())

    question = text(QUESTION)
    ids = [str(fields[name]) for name in ID if fields.get(name) is not None]
    return Sample(
        topic_id=ids[0] if ids else f"q{_digest(question)}",
        question=question,
        answer=text(ANSWER),
        contexts=tuple(map(_context, several(CONTEXTS))),
        nuggets=tuple(several(NUGGETS)),
        key_points=tuple(several(KEY_POINTS)),
    )


def _context(given: Any) -> Context:
    if isinstance(given, str):
        return Context(f"p{_digest(given)}", given)
    return Context(str(given["id"]), given["text"])


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:16]
