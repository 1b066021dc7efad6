"""Answers without a model: the lexical baseline, and replies that were recorded."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import orjson

from ..records.judgements import Provenance, Reason
from ..records.reading.lines import json_lines
from ..records.reading.problems import InputError, Problems
from .budget import Budget
from .config import ModelConfig
from .errors import EndpointError, JudgeError
from .gateway import Completion, Reply
from .prompt import Prompt
from .replies.completion import record_answer
from .replies.logprobs import Token, read_tokens

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
                completion = _check_completion(Completion(**row))._replace(tokens=tokens)
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


def _check_completion(completion: Completion) -> Completion:
    for name, value in completion._asdict().items():
        wanted = tuple if name == "tokens" else str if name in _TEXTS else int
        if type(value) is not wanted:
            got = type(value).__name__
            raise TypeError(f"{name}: wanted {wanted.__name__}, got {got}")
    return completion


WHERE = Provenance(model="lexical", finish_reason="stop")


class LexicalBackend:
    """Answers with the lexical baseline of a question (`prompt.baseline`), without a model."""

    def __init__(self, config: ModelConfig, budget: Budget | None = None) -> None:
        self.config = config
        self.budget = budget or Budget()

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend.ask. Raises: JudgeError(abstained) for a question without a baseline."""
        if prompt.baseline is None:
            raise JudgeError(
                Reason.ABSTAINED, f"{prompt.name} has no lexical baseline; name a model"
            )
        record_answer(prompt, inputs, replicate, WHERE)
        scores = prompt.scorer(inputs) if prompt.scorer is not None else {}
        return Reply(prompt.baseline(inputs), WHERE, scores)

    def copy_with(self, **settings: Any) -> Self:
        """See Backend.copy_with; it answers as before."""
        changed = copy.copy(self)
        changed.config = self.config.model_copy(update=settings)
        return changed

    async def aclose(self) -> None:
        """Nothing is open."""
