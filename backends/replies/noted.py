"""Which replies a step of an agent rests on: their keys and sizes, noted as they arrive."""

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

_KEY_DIGITS = 16


class NotedReply(NamedTuple):
    """One reply: its key in the reply cache (16 hex digits of it), its size, where it came from.

    The tokens are those of the reply itself, from the cache or not: 0 where nobody counted.
    """

    key: str
    prompt_tokens: int
    completion_tokens: int
    provenance: Provenance


_NOTED: ContextVar[list[NotedReply] | None] = ContextVar("noted_replies", default=None)


@contextmanager
def noted_replies() -> Iterator[list[NotedReply]]:
    """The replies that arrive within, in tasks that are started within too; in no fixed order."""
    found: list[NotedReply] = []
    token = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(token)


def note(key: bytes, prompt_tokens: int, completion_tokens: int, where: Provenance) -> None:
    """A reply arrived; to be called by what asks a model, once for each question."""
    if (noted := _NOTED.get()) is not None:
        noted.append(NotedReply(key.hex()[:_KEY_DIGITS], prompt_tokens, completion_tokens, where))


def note_of(
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
    if _NOTED.get() is not None:
        asked = orjson.dumps(
            [prompt.prompt_hash(), inputs, replicate],
            default=str,
            option=orjson.OPT_SORT_KEYS,
        )
        note(hashlib.sha256(asked).digest(), *tokens, where)
