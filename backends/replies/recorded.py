"""Which replies an agent's step rests on, and which questions of an item got none."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from ...records.judgements import Provenance

if TYPE_CHECKING:
    from ..prompt import Prompt
    from .completion import Reply

_KEY_DIGITS = 16


class RecordedReply(NamedTuple):
    """One reply: its key in the reply cache (16 hex digits of it), its size, where it came from.

    The tokens are those of the reply itself, from the cache or not: 0 where nobody counted.
    """

    key: str
    prompt_tokens: int
    completion_tokens: int
    provenance: Provenance


_RECORDED: ContextVar[list[RecordedReply] | None] = ContextVar("recorded_replies", default=None)
_FAILED: ContextVar[set[bytes] | None] = ContextVar("failed_questions", default=None)


@contextmanager
def recorded_replies() -> Iterator[list[RecordedReply]]:
    """The replies that arrive within, in tasks that are started within too; in no fixed order."""
    replies: list[RecordedReply] = []
    token = _RECORDED.set(replies)
    try:
        yield replies
    finally:
        _RECORDED.reset(token)


def record(key: bytes, prompt_tokens: int, completion_tokens: int, where: Provenance) -> None:
    """A reply arrived; to be called by what asks a model, once for each question."""
    if (records := _RECORDED.get()) is not None:
        records.append(
            RecordedReply(key.hex()[:_KEY_DIGITS], prompt_tokens, completion_tokens, where)
        )


@contextmanager
def failed_questions() -> Iterator[set[bytes]]:
    """The keys of the questions within that got no valid reply, in tasks started within too."""
    failed: set[bytes] = set()
    token = _FAILED.set(failed)
    try:
        yield failed
    finally:
        _FAILED.reset(token)


def record_failure(key: bytes) -> None:
    """A question got no valid reply; to be called by what asks a model."""
    if (failed := _FAILED.get()) is not None:
        failed.add(key)


def recorded(key: bytes, reply: Reply) -> Reply:
    """The reply, which has arrived; its tokens are those that it was just sent with."""
    where = reply.provenance
    record(key, where.prompt_tokens, where.completion_tokens, where)
    return reply


def record_answer(
    prompt: Prompt,
    inputs: Mapping[str, Any],
    replicate: int,
    where: Provenance,
    tokens: tuple[int, int] = (0, 0),
) -> None:
    """The same of an answer that no reply cache holds: its key follows from the question.

    Args:
        tokens: of prompt and reply, where they were measured.
    """
    if _RECORDED.get() is not None:
        question = orjson.dumps(
            [prompt.prompt_hash(), inputs, replicate],
            default=str,
            option=orjson.OPT_SORT_KEYS,
        )
        record(hashlib.sha256(question).digest(), *tokens, where)
