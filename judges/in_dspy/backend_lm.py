"""A judge's backend as an LM of DSPy, for whatever in a program asks one: its cache, its budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import dspy
from dspy.lm15 import Message, Request, Response, Usage

from ...backends.errors import JudgeOutputError
from ...backends.gateway import Backend, Reply
from ...backends.loop import run_async, run_sync
from ...backends.prompt import Prompt
from ...backends.replies.schema import Shape
from ...records.judgements import Reason


class BackendLM(dspy.LM):  # type: ignore[misc]
    """An open backend as `judge.get_lm()` gives it; DSPy adds neither cache nor retries.

    A copy with a `rollout_id` gets replies of its own, at the temperature of the copy. Given to
    `judge.set_lm`, its backend answers the judge's compiled prompts; anywhere else it is asked in
    free text, without the `max_tokens` of its entry, which is meant for labels.
    """

    def __init__(self, backend: Backend, replicate: int = 0) -> None:
        engine, async_engine = _Engine(backend, replicate), _AsyncEngine(backend, replicate)
        super().__init__(
            "backend",  # no provider's name, so that DSPy looks up neither abilities nor prices
            engine=engine,
            async_engine=async_engine,
            cache=False,
            num_retries=0,
        )
        self.model = backend.config.model
        self.backend = backend
        self.replicate = replicate

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()  # shares the backend, as a copy of a judge does

    def copy(self, **changes: Any) -> Self:
        """See dspy.LM.copy."""
        twin: Self = super().copy(**changes)
        if (rollout := changes.get("rollout_id")) is not None:
            twin.replicate = rollout
            twin.backend = resampled(self.backend, changes.get("temperature"))
            twin._engine_spec = _Engine(twin.backend, rollout)
            twin._async_engine_spec = _AsyncEngine(twin.backend, rollout)
        return twin


def resampled(backend: Backend, temperature: float | None) -> Backend:
    """The same for answers that are to differ, without the seed that would make them alike.

    Args:
        temperature: None: as it is; not sent either to an endpoint that is asked without one.
    """
    if temperature is None or backend.config.temperature is None:
        return backend.varied(seed=None)
    return backend.varied(seed=None, temperature=temperature)


class _Engine:
    """DSPy's contract for what answers an LM: a Request in, a Response out."""

    def __init__(self, backend: Backend, replicate: int) -> None:
        self._backend = backend
        self._replicate = replicate

    def complete(self, request: Request) -> Response:
        return _response(request, run_sync(self._ask(request)))

    async def _ask(self, request: Request) -> Reply:
        backend = resampled(self._backend, request.config.temperature)
        free = backend.varied(reply_schema="none", logprobs=False, max_tokens=None)
        return await free.ask(FreeText(messages_of(request)), {}, self._replicate)


class _AsyncEngine(_Engine):
    async def complete(self, request: Request) -> Response:
        return _response(request, await run_async(self._ask(request)))


def messages_of(request: Request) -> list[dict[str, str]]:
    """The chat messages of a request of DSPy."""
    system = request.system or ""
    if not isinstance(system, str):
        system = "".join(part.text for part in system)
    first = [{"role": "system", "content": system}] if system else []
    return [*first, *({"role": m.role, "content": m.text or ""} for m in request.messages)]


def _response(request: Request, reply: Reply) -> Response:
    call = reply.provenance
    usage = Usage(
        input_tokens=call.prompt_tokens,
        output_tokens=call.completion_tokens,
        total_tokens=call.prompt_tokens + call.completion_tokens,
    )
    return Response(None, request.model, Message.assistant(reply.values["text"]), "stop", usage)


class FreeText(Prompt):
    """Messages whose reply is any text but none."""

    sends_schema = False

    def __init__(self, messages: Sequence[Mapping[str, str]]) -> None:
        self.name, self.twin, self.scorer = "free_text", None, None
        self.fixed = [dict(message) for message in messages[:-1]]
        self._last = messages[-1]["content"]

    def user(self, inputs: Mapping[str, Any]) -> str:
        """See Prompt."""
        return self._last

    def shape(self, inputs: Mapping[str, Any]) -> Shape:
        """See ReplyFormat."""
        return ()

    def parse(self, text: str, inputs: Mapping[str, Any] | None) -> dict[str, Any]:
        """See ReplyFormat."""
        if not text.strip():
            raise JudgeOutputError(Reason.UNPARSEABLE, "the reply is empty", text)
        return {"text": text}
