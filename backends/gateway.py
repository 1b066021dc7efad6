"""The one way to a model: cache, single flight, budget, limits, retries, and a checked reply."""

from __future__ import annotations

import asyncio
import hashlib
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from ..records.judgements import Provenance, Reason
from .budget import CHARS_PER_TOKEN, Budget, price_of
from .cache import ReplyCache
from .config import ModelConfig
from .errors import EndpointError, EndpointLost, JudgeError, JudgeOutputError
from .limits import Limiter
from .prompt import Prompt

FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 0.5, 30.0
REPLY_TOKENS = 200  # assumed length of a reply, for reservations, where max_tokens is not set
_ASK_AGAIN = (Reason.UNPARSEABLE, Reason.INCOMPLETE)


@dataclass(frozen=True, slots=True)
class Completion:
    """One reply as an endpoint gave it."""

    text: str
    finish_reason: str = "stop"
    refusal: str = ""
    model: str = ""
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """A judgement's checked values by output field, and where they came from."""

    values: dict[str, Any]
    provenance: Provenance


class Transport(Protocol):
    """Carries one request body (OpenAI chat completions, JSON bytes) to an endpoint."""

    async def send(self, body: bytes) -> Completion:
        """Raises: EndpointError, or EndpointUnusable when no request can succeed."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


class Backend(Protocol):
    """What a judge asks: any model, or the lexical twin."""

    config: ModelConfig
    budget: Budget

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """Answer one question.

        Raises: JudgeError with the reason when there is no judgement.
        """
        ...

    async def aclose(self) -> None:
        """Write what is pending and let go of connections."""
        ...


class Gateway:
    """A Backend for any Transport.

    Args:
        cache: where valid replies are kept; None keeps nothing.
        budget: shared by all models of a run.
        offline: answer from the cache alone; what is not there is `Unjudged(error)`.
    """

    def __init__(
        self,
        config: ModelConfig,
        transport: Transport,
        *,
        cache: ReplyCache | None = None,
        budget: Budget | None = None,
        offline: bool = False,
    ) -> None:
        self.config = config
        self.budget = budget or Budget()
        self._transport = transport
        self._cache = cache
        self._offline = offline
        self._price = price_of(config)
        self._limiter = Limiter(config)
        self._flying: dict[bytes, asyncio.Future[Reply]] = {}
        self._wires: dict[tuple[int, tuple[tuple[str, ...], ...]], _Wire] = {}

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend.ask. A question that is already on its way is not sent a second time."""
        wire = self._wire(prompt, inputs)
        user = orjson.dumps(prompt.user(inputs))[1:-1]
        key = wire.key(user, replicate)
        kept = self._kept(key, prompt, inputs)
        if kept is not None:
            return kept
        while (flying := self._flying.get(key)) is not None:
            try:
                return await asyncio.shield(flying)
            except asyncio.CancelledError:
                if not flying.cancelled():
                    raise  # this task was cancelled, not the one that carries the question
        if self._offline:
            raise JudgeError(Reason.ERROR, "offline, and the reply is not in the cache")
        return await self._lead(key, wire.body(user), prompt, inputs)

    async def aclose(self) -> None:
        """See Backend.aclose."""
        await self._transport.aclose()

    def prompt_tokens(self, prompt: Prompt, inputs: Mapping[str, Any]) -> int:
        """Estimated tokens of one request's messages."""
        size = sum(len(message["content"]) for message in prompt.messages(inputs))
        return size // CHARS_PER_TOKEN

    async def _lead(
        self, key: bytes, body: bytes, prompt: Prompt, inputs: Mapping[str, Any]
    ) -> Reply:
        flying: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._flying[key] = flying
        try:
            reply, line = await self._ask_until_valid(body, prompt, inputs)
        except JudgeError as error:
            self._limiter.judgement_ended(lost=isinstance(error, EndpointLost))
            flying.set_exception(error)
            flying.exception()  # nobody has to be waiting for it
            raise
        except BaseException:
            flying.cancel()
            raise
        else:
            self._limiter.judgement_ended(lost=False)
            if self._cache is not None:
                self._cache.put(key, line, self.config.model)
            flying.set_result(reply)
            return reply
        finally:
            del self._flying[key]

    async def _ask_until_valid(
        self, body: bytes, prompt: Prompt, inputs: Mapping[str, Any]
    ) -> tuple[Reply, bytes]:
        deadline = time.monotonic() + self.config.deadline_s
        attempts = 0
        for left in range(self.config.reasks, -1, -1):
            completion, sent = await self._fetch(body, deadline)
            attempts += sent
            try:
                values = _read(completion, prompt, inputs)
            except JudgeOutputError as error:
                if left and error.reason in _ASK_AGAIN and time.monotonic() < deadline:
                    continue
                raise
            where = Provenance(
                completion.model,
                completion.finish_reason,
                completion.prompt_tokens,
                completion.cached_tokens,
                completion.completion_tokens,
                attempts,
            )
            return Reply(values, where), _line(completion)
        raise AssertionError("unreachable: the last round returns or raises")

    async def _fetch(self, body: bytes, deadline: float) -> tuple[Completion, int]:
        """Send until there is a reply; returns it with the number of requests it took."""
        tokens = len(body) // CHARS_PER_TOKEN + (self.config.max_tokens or REPLY_TOKENS)
        for attempt in range(1, self.config.retries + 2):
            await self._limiter.enter(tokens)
            where: Provenance | None = None
            try:
                self.budget.reserve(tokens, self._price)
                try:
                    completion = await self._transport.send(body)
                    where = Provenance(
                        prompt_tokens=completion.prompt_tokens,
                        cached_tokens=completion.cached_tokens,
                        completion_tokens=completion.completion_tokens,
                    )
                    return completion, attempt
                finally:
                    self.budget.settle(tokens, self._price, where)
            except EndpointError as error:
                wait = self._wait(error, attempt, deadline)
            finally:
                self._limiter.leave()
            await asyncio.sleep(wait)
        raise AssertionError("unreachable: _wait raises on the last attempt")

    def _wait(self, error: EndpointError, attempt: int, deadline: float) -> float:
        """Seconds until the next attempt; raises JudgeError when there will be none."""
        wait: float = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2 ** (attempt - 1)) * random.uniform(
            0.5, 1
        )
        why = ""
        if not error.retryable:
            why = "will not get better"
        elif attempt > self.config.retries:
            why = f"{attempt} attempts"
        elif error.retry_after_s is not None:
            if error.retry_after_s > self.config.max_retry_after_s:
                why = f"asked to wait {error.retry_after_s:g} s"
            else:
                wait = error.retry_after_s * random.uniform(1.0, 1.1)
                self._limiter.pause(wait)
        if not why and time.monotonic() + wait > deadline:
            why = f"deadline of {self.config.deadline_s:g} s"
        if why:
            kind = EndpointLost if error.retryable else JudgeError
            raise kind(Reason.ERROR, f"{error} ({why})") from None
        return wait

    def _kept(self, key: bytes, prompt: Prompt, inputs: Mapping[str, Any]) -> Reply | None:
        line = self._cache.get(key) if self._cache is not None else None
        if line is None:
            return None
        try:
            completion = Completion(*orjson.loads(line))
            values = _read(completion, prompt, inputs)
        except (ValueError, TypeError, JudgeOutputError):
            return None  # not one of ours: ask instead
        self.budget.usage.cache_hits += 1
        where = Provenance(completion.model, completion.finish_reason, cache_hit=True)
        return Reply(values, where)

    def _wire(self, prompt: Prompt, inputs: Mapping[str, Any]) -> _Wire:
        name = (id(prompt), prompt.map_keys(inputs))
        wire = self._wires.get(name)
        if wire is None:
            wire = self._wires[name] = _Wire(self.config, prompt, name[1])
        return wire


class _Wire:
    """The fixed bytes of a request around the user message, and the cache key's fixed part."""

    def __init__(
        self, config: ModelConfig, prompt: Prompt, keys: tuple[tuple[str, ...], ...]
    ) -> None:
        hole = "\ue000"
        body: dict[str, Any] = {
            "model": config.wire_name,
            "messages": [*prompt.fixed, {"role": "user", "content": hole}],
        }
        for name in ("temperature", "top_p", "max_tokens", "seed"):
            if (value := getattr(config, name)) is not None:
                body[name] = value
        if config.reply_schema == "json_schema":
            form = {"name": prompt.name, "strict": True, "schema": prompt.schema(keys)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif config.reply_schema == "json_object":
            body["response_format"] = {"type": "json_object"}
        body |= config.extra_body
        self._prefix, self._suffix = orjson.dumps(body).split(hole.encode())
        self._hash = hashlib.sha256(orjson.dumps([config.endpoint_id, config.way]))
        self._hash.update(self._prefix + b"\0" + self._suffix + b"\0")
        self._prompt = prompt  # keeps id(prompt) from being given to another

    def body(self, user: bytes) -> bytes:
        """The request as JSON; `user` is the last message, JSON-escaped."""
        return self._prefix + user + self._suffix

    def key(self, user: bytes, replicate: int) -> bytes:
        """20 bytes that name endpoint, model, parameters, schema, messages and replicate."""
        digest = self._hash.copy()
        digest.update(user)
        if replicate:
            digest.update(b"\0replicate %d" % replicate)
        return digest.digest()[:20]


def _read(completion: Completion, prompt: Prompt, inputs: Mapping[str, Any]) -> dict[str, Any]:
    text = completion.text
    if completion.refusal:
        raise JudgeOutputError(Reason.REFUSED, completion.refusal[:200], text or completion.refusal)
    if completion.finish_reason == "content_filter":
        raise JudgeOutputError(Reason.REFUSED, "stopped by the endpoint's content filter", text)
    if completion.finish_reason == "length":
        raise JudgeOutputError(Reason.TRUNCATED, "the reply ended at its length limit", text)
    return prompt.parse(text, inputs)


def _line(completion: Completion) -> bytes:
    return orjson.dumps(
        [
            completion.text,
            completion.finish_reason,
            completion.refusal,
            completion.model,
            completion.prompt_tokens,
            completion.cached_tokens,
            completion.completion_tokens,
        ]
    )
