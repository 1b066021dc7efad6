"""Replies from a file instead of a model: for tests, and to judge again with recorded answers."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import orjson

from ..records.reading.lines import json_lines
from ..records.reading.problems import InputError, Problems
from .errors import EndpointError
from .gateway import Completion
from .logprobs import Token, read_tokens

_TEXTS = ("text", "finish_reason", "refusal", "model")  # the other fields are counts


class RecordedTransport:
    """Answers a request with the reply recorded for the same messages.

    The file is JSONL, one object a line: `messages` (as sent) and `text`; optional
    `finish_reason`, `refusal`, `model`, `prompt_tokens`, `cached_tokens`, `completion_tokens`, and
    `logprobs`, as it stands in the `choices` of an OpenAI-compatible endpoint.

    Raises: InputError if the file is broken or holds two replies for the same messages.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[bytes, Completion] = {}
        problems = Problems()
        for number, row in json_lines(path, problems):
            try:
                key = _key(row.pop("messages"))
                tokens = _tokens(row.pop("logprobs", None))
                completion = _checked(Completion(**row))._replace(tokens=tokens)
            except (KeyError, TypeError) as error:
                raise InputError(f"{path}:{number}: not a recorded reply ({error})") from None
            if self._replies.setdefault(key, completion) != completion:
                raise InputError(f"{path}:{number}: a second reply to the same messages")
        problems.raise_errors()

    async def send(self, body: bytes) -> Completion:
        """The recorded reply. Raises: EndpointError if there is none."""
        completion = self._replies.get(_key(orjson.loads(body)["messages"]))
        if completion is None:
            raise EndpointError(f"{self._path} has no reply to these messages", retryable=False)
        return completion

    async def aclose(self) -> None:
        """Nothing is open."""


def _key(messages: Any) -> bytes:
    return hashlib.sha256(orjson.dumps(messages, option=orjson.OPT_SORT_KEYS)).digest()


def _tokens(logprobs: Any) -> list[Token]:
    tokens = read_tokens(logprobs)
    is_empty = logprobs is None or (isinstance(logprobs, dict) and not logprobs.get("content"))
    if not tokens and not is_empty:
        raise TypeError("logprobs: wanted an object with content, a list of tokens")
    return tokens


def _checked(completion: Completion) -> Completion:
    for name, value in completion._asdict().items():
        wanted = tuple if name == "tokens" else str if name in _TEXTS else int
        if type(value) is not wanted:
            got = type(value).__name__
            raise TypeError(f"{name}: wanted {wanted.__name__}, got {got}")
    return completion
