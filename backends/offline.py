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
from ..records.writing import write_file
from .budget import Budget
from .cache import ReplyCache
from .config import ModelConfig
from .errors import EndpointError, JudgeError
from .gateway import Completion, Gateway, Reply
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


WHERE = Provenance(model="lexical", finish_reason="stop")


class LexicalBackend:
    """Answers with `prompt.twin(inputs)`; costs nothing and is never wrong twice differently."""

    def __init__(self, config: ModelConfig, budget: Budget | None = None) -> None:
        self.config = config
        self.budget = budget or Budget()

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend.ask. Raises: JudgeError(abstained) for a question without a twin."""
        if prompt.twin is None:
            raise JudgeError(Reason.ABSTAINED, f"{prompt.name} has no lexical twin; name a model")
        record_answer(prompt, inputs, replicate, WHERE)
        scores = prompt.scorer(inputs) if prompt.scorer is not None else {}
        return Reply(prompt.twin(inputs), WHERE, scores)

    def varied(self, **settings: Any) -> Self:
        """See Backend.varied; it answers as before."""
        twin = copy.copy(self)
        twin.config = self.config.model_copy(update=settings)
        return twin

    async def aclose(self) -> None:
        """Nothing is open."""


_DIGITS = 16  # of a reply's SHA-256


class StoredReplies(ReplyCache):
    """Replies of one endpoint by their keys, in memory; nothing of it is on the disk.

    Attributes:
        used: the keys that were asked for and are there. missed: those that are not.
    """

    def __init__(self, lines: Mapping[bytes, bytes] | None = None) -> None:
        self.lines: dict[bytes, bytes] = dict(lines or {})
        self.used: set[bytes] = set()
        self.missed: set[bytes] = set()

    def get(self, key: bytes) -> bytes | None:
        """The reply filed under this key, or None."""
        line = self.lines.get(key)
        (self.missed if line is None else self.used).add(key)
        return line

    def put(self, key: bytes, value: bytes, tag: str) -> None:
        """File a reply."""
        self.lines[key] = value

    def settle(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""


def write_replies(path: Path, replies: StoredReplies) -> None:
    """Write them in the order of their keys: `key` in hex, `sha256` (16 digits), `reply`.

    `reply` has, in this order: text, finish reason, refusal, model, tokens of the prompt, of it
    from the endpoint's cache, of the reply, and tokens with log-probabilities.
    """
    rows = (
        {"key": key.hex(), "sha256": _digest(line), "reply": orjson.loads(line)}
        for key, line in sorted(replies.lines.items())
    )
    write_file(path, b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))


def read_replies(path: Path, problems: Problems) -> StoredReplies:
    """The replies of a file. One that is not what was written is used, and reported.

    Errors reported: no key, a key twice, a reply that is not the one that was written (`changed`).
    """
    lines: dict[bytes, bytes] = {}
    for number, row in json_lines(path, problems):
        try:
            key = bytes.fromhex(row["key"])
            line = orjson.dumps(row["reply"])
            written = row["sha256"]
        except (KeyError, TypeError, ValueError) as error:
            what = f"not a held reply ({error}), wanted key, sha256 and reply"
            problems.error(path, number, "no_reply", what)
            continue
        if written != _digest(line):
            what = f"the reply is not what was written: its SHA-256 is {_digest(line)}"
            problems.error(path, number, "changed", f"{what}, wanted {written}")
        if key in lines:
            problems.error(path, number, "duplicate", "a second reply of this key, wanted one")
        lines[key] = line
    return StoredReplies(lines)


def _digest(line: bytes) -> str:
    return hashlib.sha256(line).hexdigest()[:_DIGITS]


class ReplayGateway(Gateway):
    """Asks nobody. What the endpoint once answered is found by the entry of then, whose key has its
    address, and held by the entry of now, whose key has another name for it.

    Args:
        config: the entry as it is now. then: the entry that the replies were asked by.
        kept: where they are. held: where those that are used go.
    """

    def __init__(
        self,
        config: ModelConfig,
        then: ModelConfig,
        *,
        earlier: ReplyCache,
        stored: StoredReplies,
        budget: Budget | None = None,
    ) -> None:
        super().__init__(config, None, cache=stored, budget=budget)
        self._then = Gateway(then, None)
        self._earlier, self._stored = earlier, stored

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Gateway.ask."""
        exact = prompt.of(inputs)
        user = exact.escaped(inputs)
        line = self._earlier.get(self._then._wire(exact, inputs).key(user, replicate))
        if line is not None:
            key = self._wire(exact, inputs).key(user, replicate)
            self._stored.put(key, line, self.config.model)
        return await super().ask(prompt, inputs, replicate)

    def varied(self, **settings: Any) -> ReplayGateway:
        """See Gateway.varied."""
        twin = super().varied(**settings)
        assert isinstance(twin, ReplayGateway)
        twin._then = self._then.varied(**settings)
        return twin
