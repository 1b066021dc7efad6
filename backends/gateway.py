"""The gateway to a model: cache, single flight, budget, limits, retries, and a checked reply."""

from __future__ import annotations

import asyncio
import copy
import random
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import orjson

from ..records.judgements import Provenance, Reason
from .budget import (
    CAUTION,
    CHARS_PER_TOKEN,
    REPLY_TOKENS,
    Budget,
    Caution,
    Kind,
    Need,
    get_price,
    get_reply_limit,
)
from .cache import ReplyCache
from .config import ModelConfig
from .errors import (
    CONTEXT,
    TOO_LONG,
    EndpointError,
    EndpointLost,
    EndpointRefused,
    EndpointUnusable,
    JudgeError,
    JudgeOutputError,
    TooLong,
)
from .limits import Limiter
from .prompt import Optional, Prompt, Wire
from .replies.completion import Completion as Completion  # re-exported
from .replies.completion import Reply as Reply
from .replies.completion import (
    pack_reply,
    read_values,
    record,
    record_failure,
    record_reply,
    write_complaint,
)
from .replies.logprobs import MIN_FORCED, MIN_ON_LABELS, weigh_labels
from .replies.schema import Shape
from .replies.text import find_loop
from .secrecy import find_secrets

FIRST_BACKOFF_S, LONGEST_BACKOFF_S = 0.5, 30.0
MAX_RETRY_AFTER_S = 60.0  # if a server asks for a longer wait, the request fails
MAX_WIRES = 1000  # request templates kept; one for each set of keys
_ASK_AGAIN = (Reason.UNPARSEABLE, Reason.INCOMPLETE)  # a cut or refused reply would be so again


@dataclass(slots=True)
class _Job:
    """One question in progress: its request and its state."""

    wire: Wire
    user: bytes
    body: bytes = b""
    need: Need = field(init=False)  # reserved in the budget
    tokens: int = 0  # approximate, for the endpoint's rate limit
    requests: int = 0
    deadline: float = 0.0  # of time.monotonic(); set when the first request leaves


class _NoRoomError(JudgeError):
    """A request would be longer than the context."""


class Transport(Protocol):
    """Sends one request body (JSON of OpenAI's chat completions) to an endpoint."""

    async def send(self, body: bytes) -> Completion:
        """Return the reply. Raises: EndpointError; EndpointUnusable if no request can succeed."""
        ...

    async def aclose(self) -> None:
        """Close connections."""
        ...


class Backend(Protocol):
    """Answers a judge's questions: a model, or the lexical baseline."""

    config: ModelConfig
    budget: Budget

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """Answer one question.

        Args:
            prompt: the compiled question.
            inputs: a value for each input field of the prompt.
            replicate: 0, 1, ...; each number is a separate sample.

        Raises: JudgeError with a reason if there is no judgement; EndpointUnusable if no request
            can succeed.
        """
        ...

    def copy_with(self, **settings: Any) -> Backend:
        """Return a backend with other settings: the fields of ModelConfig in a request."""
        ...

    async def aclose(self) -> None:
        """Write pending data and close connections."""
        ...


class Gateway:
    """Asks a model through a Transport, with cache, budget, limits, retries and a strict parser.

    Equal questions at the same time are sent once. A judgement counts even if its reply repeats the
    endpoint's key, but such a reply is not cached. Errors never show the key.

    Args:
        config: the model's entry in `models:`.
        transport: sends the requests; None (offline): answer only from the cache.
        cache: keeps valid replies; None: keep nothing.
        budget: limits of the run, shared by all its models.
        limiter: waits before each request; None: make one with the limits of `config`.
        caution: bounds for requests whose size is not known yet.
    """

    def __init__(
        self,
        config: ModelConfig,
        transport: Transport | None,
        *,
        cache: ReplyCache | None = None,
        budget: Budget | None = None,
        limiter: Limiter | None = None,
        caution: Caution = CAUTION,
    ) -> None:
        self.config = config
        self.budget = budget or Budget()
        self._transport = transport
        self._cache = cache
        self._price = get_price(config)
        self._secrets = find_secrets(config)
        self._limiter = limiter or Limiter(config)
        self._caution = caution
        self._in_flight: dict[bytes, asyncio.Future[Reply]] = {}
        self._wires: dict[tuple[int, Shape], Wire] = {}
        self.omitted: set[Optional] = set()  # fields that the endpoint rejected
        self._knows_limit = False  # whether it accepted our limit, or rejected a larger one
        self._kinds: dict[tuple[str, int | None], Kind] = {}

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Backend.ask. A question that is already in flight is not sent a second time."""
        prompt = prompt.of(inputs)
        wire = self._wire(prompt, inputs)
        user = prompt.escape_last_message(inputs)
        key = wire.key(user, replicate)
        cached = self._find_cached(key, prompt, inputs)
        if cached is not None:
            return cached
        try:
            while (in_flight := self._in_flight.get(key)) is not None:
                try:
                    return record_reply(key, await asyncio.shield(in_flight))
                except asyncio.CancelledError:
                    task = asyncio.current_task()
                    if not in_flight.cancelled() or (task is not None and task.cancelling()):
                        raise  # this task was cancelled, not only the one that sends the question
                    if (cached := self._find_cached(key, prompt, inputs)) is not None:
                        return cached
            if self._transport is None:
                raise EndpointLost(Reason.ERROR, "offline, and the reply is not in the cache")
            reply = await self._lead(self._transport, key, _Job(wire, user), prompt, inputs)
            return record_reply(key, reply)
        except JudgeError:
            record_failure(key)
            raise

    def trust(self) -> None:
        """Skip the trial of a new model: it gave judgements elsewhere."""
        self._limiter.probation.note_success()

    async def aclose(self) -> None:
        """See Backend.aclose."""
        if self._transport is not None:
            await self._transport.aclose()

    def copy_with(self, **settings: Any) -> Gateway:
        """Return a gateway with the same endpoint, cache, budget and limits, but other settings.

        Args:
            settings: fields of ModelConfig that are part of a request, such as `temperature=1.0`.
        """
        changed = copy.copy(self)
        changed.config = self.config.model_copy(update=settings)
        changed._in_flight, changed._wires, changed._kinds = {}, {}, {}
        return changed

    async def _lead(
        self,
        transport: Transport,
        key: bytes,
        job: _Job,
        prompt: Prompt,
        inputs: Mapping[str, Any],
    ) -> Reply:
        in_flight: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._in_flight[key] = in_flight
        probation = self._limiter.probation
        try:
            reply, line = await self._ask_until_valid(transport, job, prompt, inputs)
        except JudgeError as error:
            self._limiter.judgement_ended(lost=isinstance(error, EndpointLost))
            probation.note_failure(error)
            in_flight.set_exception(error)
            in_flight.exception()  # perhaps no task waits for it
            raise
        except Exception as error:  # EndpointUnusable: an equal request would fail too
            in_flight.set_exception(error)
            in_flight.exception()
            raise
        except BaseException:
            in_flight.cancel()
            raise
        else:
            self._limiter.judgement_ended(lost=False)
            probation.note_success()
            in_flight.set_result(reply)  # first: after a full disk no equal request may wait
            if self._cache is not None and not self._secrets.show_in(line.decode()):
                self._cache.put(key, line, self.config.model)
            return reply
        finally:
            del self._in_flight[key]
            probation.left(job)

    async def _ask_until_valid(
        self, transport: Transport, job: _Job, prompt: Prompt, inputs: Mapping[str, Any]
    ) -> tuple[Reply, bytes]:
        """Ask; if a reply cannot be read, say so in the same conversation and ask again."""
        completion = await self._fetch_taken(transport, job, prompt)
        for left in range(self.config.reasks, -1, -1):
            try:
                values = read_values(completion, prompt, inputs)
            except JudgeOutputError as error:
                fault = error
            else:
                return self._reply(values, completion, prompt, inputs, job.requests)
            complaint = fault.complaint if fault.reason in _ASK_AGAIN else None
            if not left or complaint is None or time.monotonic() > job.deadline:
                break
            turns = write_complaint(completion, complaint)
            try:
                completion = await self._fetch_taken(transport, job, prompt, turns)
            except (_NoRoomError, EndpointRefused):
                break  # the endpoint rejects a longer conversation, so this reply is final
        raise self._blank_key(fault, completion, prompt, inputs)

    def _reply(
        self,
        values: dict[str, Any],
        completion: Completion,
        prompt: Prompt,
        inputs: Mapping[str, Any],
        attempts: int,
    ) -> tuple[Reply, bytes]:
        """A reply with a valid judgement, and its line for the cache."""
        where = Provenance(
            self._secrets.blank(completion.model),
            self._secrets.blank(completion.finish_reason),
            completion.prompt_tokens,
            completion.cached_tokens,
            completion.completion_tokens,
            attempts,
        )
        chances, outside, completion = self._weigh_labels(completion, prompt, inputs)
        return Reply(values, where, {}, chances, outside), pack_reply(completion)

    def _blank_key(
        self,
        fault: JudgeOutputError,
        completion: Completion,
        prompt: Prompt,
        inputs: Mapping[str, Any],
    ) -> JudgeOutputError:
        """The fault, read again from the reply without the key: details may quote half the key."""
        text, refusal = map(self._secrets.blank, (completion.text, completion.refusal))
        if (text, refusal) == (completion.text, completion.refusal):
            return fault
        detail = "the reply repeats the key"
        try:
            read_values(completion._replace(text=text, refusal=refusal), prompt, inputs)
        except JudgeOutputError as again:
            detail = again.detail
        return JudgeOutputError(fault.reason, detail, text or refusal)

    async def _fetch_taken(
        self,
        transport: Transport,
        job: _Job,
        prompt: Prompt,
        turns: Sequence[dict[str, str]] = (),
    ) -> Completion:
        """Fetch a reply; if the endpoint rejects an optional part of the request, retry without it.

        A limit that is too short for the model, such as one that thinks first, is left out too.
        Some endpoints reject a limit without naming it: until one reply came, a 400 without a
        known cause is tried once more without the limit.
        """
        wire, unlimited = job.wire, False
        is_guess = False
        while True:
            omitted = frozenset({*self.omitted, *(("limit",) if unlimited else ())})
            limit = None if "limit" in omitted else wire.limit
            self._size(job, prompt, wire.body(job.user, omitted, turns), limit)
            try:
                completion = await self._fetch(transport, job)
            except TooLong:  # some servers add the limit to the length
                if limit is None:
                    raise
                unlimited = True
                continue
            except (EndpointUnusable, EndpointRefused) as error:
                is_limit = error.refused in ("max_tokens", "max_completion_tokens")
                is_vague = isinstance(error, EndpointRefused) and (
                    error.status == 400 and not error.refused
                )
                if is_limit and limit is not None:
                    self.omitted.add("limit")
                elif is_vague and limit is not None and not self._knows_limit:
                    is_guess = unlimited = True
                elif error.refused == "response_format" and (
                    wire.has_bounds and "bounds" not in omitted
                ):
                    self.omitted.add("bounds")
                else:
                    self._knows_limit |= is_guess
                    raise
                continue
            if limit is not None:
                self._knows_limit = True
            elif is_guess:
                self.omitted.add("limit")
            if limit is None or completion.finish_reason != "length":
                return completion
            if 0 < completion.completion_tokens < limit or find_loop(completion.text):
                return completion  # the context is full, or the model repeats itself without end
            self.omitted.add("limit")

    async def _fetch(self, transport: Transport, job: _Job) -> Completion:
        """Send until a reply comes."""
        for attempt in range(1, self.config.retries + 2):
            if self.budget.reached:  # fail now instead of after the queue
                self.budget.check(job.need)
            if not self._limiter.probation.is_over:
                await self._limiter.probation.admit(job, is_first=not job.requests)
            await self._limiter.enter(job.tokens)
            completion: Completion | None = None
            billed: int | None = 0  # a cancelled request may be charged
            try:
                if self.budget.is_limited:
                    await self.budget.room(job.need)
                if job.requests and time.monotonic() > job.deadline:
                    raise EndpointError("not sent again", retryable=True)
                self.budget.reserve(job.need)
                job.requests += 1
                try:
                    if job.requests == 1:  # the deadline starts here, not while waiting
                        job.deadline = time.monotonic() + self.config.deadline_s
                        completion = await transport.send(job.body)
                    else:
                        completion = await _send_again(transport, job)
                    return completion
                except (EndpointError, EndpointUnusable) as error:
                    billed = error.billed
                    raise
                finally:
                    self.budget.settle(job.need, completion, billed)
            except EndpointError as error:
                wait = self._wait(error, attempt, job.deadline)
            finally:
                self._limiter.leave()
            await asyncio.sleep(wait)
        raise AssertionError("unreachable: _wait raises on the last attempt")

    def _size(self, job: _Job, prompt: Prompt, body: bytes, limit: int | None) -> None:
        """Set the request that is sent. Raises: _NoRoomError if it is longer than the context.

        Args:
            limit: of the reply, if the config has none.
        """
        prompt_tokens = len(body) // CHARS_PER_TOKEN
        most = self.config.context_length
        needed = prompt_tokens + (self.config.max_tokens or 0)
        if most is not None and needed > most:
            detail = f"{TOO_LONG}: about {needed:,} tokens, context_length is {most:,}; not sent"
            hint = "; try a smaller window" if job.wire.n_items > 1 else ""
            raise _NoRoomError(Reason.ERROR, detail + hint)
        job.body, job.need = body, Need(self._kind(prompt, limit), len(body))
        job.tokens = prompt_tokens + (self.config.max_tokens or REPLY_TOKENS)

    def _wait(self, error: EndpointError, attempt: int, deadline: float) -> float:
        """Seconds until the next attempt; raises JudgeError if there is none."""
        retry_after_s = error.retry_after_s if error.retryable else None
        is_too_long = retry_after_s is not None and retry_after_s > MAX_RETRY_AFTER_S
        wait: float = min(LONGEST_BACKOFF_S, FIRST_BACKOFF_S * 2 ** (attempt - 1))
        wait *= random.uniform(0.5, 1)
        if retry_after_s is not None and not is_too_long:
            retry_after_s *= random.uniform(1.0, 1.1)
            self._limiter.pause(retry_after_s)
            wait = max(wait, retry_after_s)
        why = ""
        if not error.retryable:
            why = "retrying will not help"
        elif is_too_long:
            why = f"the server asked to wait {retry_after_s:g} s"
        elif attempt > self.config.retries:
            why = f"{attempt} attempts"
        elif time.monotonic() + wait > deadline:
            why = f"deadline of {self.config.deadline_s:g} s"
        if why:
            detail = f"{error} ({why})"
            if not error.is_general:
                fault = TooLong if error.refused == CONTEXT else JudgeError
                raise fault(error.reason, detail) from None
            kind = EndpointLost if error.retryable else EndpointRefused
            about = {"hint": error.hint, "refused": error.refused}
            raise kind(error.reason, detail, status=error.status, **about) from None
        return wait

    def _find_cached(self, key: bytes, prompt: Prompt, inputs: Mapping[str, Any]) -> Reply | None:
        line = self._cache.get(key) if self._cache is not None else None
        if line is None:
            return None
        try:
            completion = Completion(*orjson.loads(line))
            values = read_values(completion, prompt, inputs)
            chances, outside, _ = self._weigh_labels(completion, prompt, inputs)
        except (ValueError, TypeError, AttributeError, LookupError, JudgeOutputError):
            return None  # not a valid reply: ask the model
        self.budget.usage.cache_hits += 1
        where = Provenance(completion.model, completion.finish_reason, cache_hit=True)
        record(key, completion.prompt_tokens, completion.completion_tokens, where)
        return Reply(values, where, {}, chances, outside)

    def _weigh_labels(
        self, completion: Completion, prompt: Prompt, inputs: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any], Completion]:
        """Probabilities on labels and outside them; the reply keeps only the tokens they need."""
        if not completion.tokens:
            return {}, {}, completion
        paths, text = self._wire(prompt, inputs).paths, prompt.object_in(completion.text)
        is_forced = self.config.forces_labels
        least = MIN_FORCED if is_forced else MIN_ON_LABELS
        chances, outside, tokens = weigh_labels(text, completion.tokens, paths, least)
        return chances, outside, completion._replace(tokens=tokens)

    def _kind(self, prompt: Prompt, limit: int | None) -> Kind:
        most = limit if limit is not None else get_reply_limit(self.config)
        kind = self._kinds.get((prompt.name, most))
        if kind is None:
            name = f"{self.config.endpoint_id} {self.config.wire_name} {prompt.name}"
            kind = self.budget.kind(name, self._price, most, self._caution)
            self._kinds[prompt.name, most] = kind
        return kind

    def _wire(self, prompt: Prompt, inputs: Mapping[str, Any]) -> Wire:
        name: tuple[int, Shape] = (id(prompt), prompt.shape(inputs))
        wire = self._wires.get(name)
        if wire is None:
            if len(self._wires) >= MAX_WIRES:
                self._wires.clear()
            wire = self._wires[name] = _make_wire(self.config, prompt, name[1])
        return wire


def _make_wire(config: ModelConfig, prompt: Prompt, shape: Shape) -> Wire:
    if config.way != "decision":
        return Wire(config, prompt, shape)
    from .decisions import DecisionWire

    return DecisionWire(config, prompt, shape)


async def _send_again(transport: Transport, job: _Job) -> Completion:
    try:
        async with asyncio.timeout(job.deadline - time.monotonic()):
            return await transport.send(job.body)
    except TimeoutError:
        raise EndpointError("no reply in the time left", retryable=True, billed=0) from None
