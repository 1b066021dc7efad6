"""A question asked by DSPy's own means, and any call recorded as DSPy records its own."""

from __future__ import annotations

import asyncio
import datetime
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import dspy
from dspy.clients.base_lm import record_history
from dspy.utils.exceptions import (
    AdapterParseError,
    ContextWindowExceededError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
)
from pydantic_core import to_jsonable_python

from ...backends.adapter import JudgeAdapter, as_data
from ...backends.errors import JudgeError, JudgeOutputError
from ...backends.gateway import Backend, Reply
from ...backends.prompt import Prompt
from ...records.judgements import Provenance, Reason
from .backend_lm import resampled

_OF_ONE_CALL = (
    ContextWindowExceededError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
)


async def ask_lm(
    module: dspy.Module,
    prompt: Prompt,
    inputs: Mapping[str, Any],
    lm: Any,
    options: Mapping[str, Any] | None = None,
) -> Reply:
    """What a module answers with an LM of DSPy, under the same checks as any other reply.

    The adapter is the caller's (`dspy.context(adapter=...)`), else the one that a DummyLM writes
    for, else ours. What it reads out of a reply is parsed once more as JSON, so that keys, ranges
    and labels are checked whichever adapter it was.

    Args:
        options: what the module takes besides the inputs.

    Raises: JudgeError; LMError of DSPy where no request can succeed.
    """
    adapter = dspy.settings.adapter or getattr(lm, "adapter", None) or JudgeAdapter()
    try:
        # Tokens of a judge are not streamed: the caller's stream belongs to another event loop.
        with dspy.context(lm=lm, adapter=adapter, send_stream=None):
            if _is_sync(module, adapter):
                prediction = await asyncio.to_thread(module, **inputs, **(options or {}))
            else:
                prediction = await module.acall(**inputs, **(options or {}))
    except AdapterParseError as error:
        raise _unread(error, prompt, inputs, adapter) from None
    except _OF_ONE_CALL as error:
        raise JudgeError(Reason.ERROR, str(error)) from error
    if prediction is None:  # as dspy.BestOfN returns where every attempt failed
        raise JudgeOutputError(Reason.UNPARSEABLE, f"{type(module).__name__} found no reply")
    outputs = {name: prediction[name] for name in prompt.output_names if name in prediction}
    values = prompt.parse(as_data(outputs, default=to_jsonable_python), inputs)
    return Reply(values, Provenance(model=str(lm.model)))


def _is_sync(module: dspy.Module, adapter: dspy.Adapter) -> bool:
    """Whether the module, or an adapter that changes calls, has only a way that waits."""
    is_changed = "__call__" in vars(type(adapter)) and "acall" not in vars(type(adapter))
    return is_changed or not hasattr(module, "aforward")


def _unread(
    error: AdapterParseError, prompt: Prompt, inputs: Mapping[str, Any], adapter: dspy.Adapter
) -> JudgeOutputError:
    """What is wrong with a reply that the adapter could not read."""
    raw = str(error.lm_response or "")
    if isinstance(adapter, JudgeAdapter):
        try:
            prompt.parse(raw, inputs)  # says it as for any other model
        except JudgeOutputError as fault:
            return fault
    missing = [name for name in prompt.output_names if name not in (error.parsed_result or ())]
    if error.parsed_result and missing:
        return JudgeOutputError(Reason.INCOMPLETE, f"field {missing[0]!r} is missing", raw)
    return JudgeOutputError(Reason.UNPARSEABLE, str(error).split("\n")[0], raw)


# The reasoning of each question of the call under way, in the order asked; None: the judge was not
# called as a DSPy module, and nothing is recorded.
REASONS: ContextVar[list[str | None] | None] = ContextVar("nuggetjudge_reasons", default=None)


async def ask_recorded(
    predict: dspy.Predict,
    prompt: Prompt,
    inputs: Mapping[str, Any],
    backend: Backend,
    replicate: int,
) -> Reply:
    """What a backend answers, recorded as if the predictor had asked an LM of DSPy.

    A judge keeps its model where a whole program is given another LM; of that one it takes the
    `rollout_id` and its temperature, by which optimisers ask for answers that differ.

    Raises: JudgeError.
    """
    settings = getattr(predict.lm or dspy.settings.lm, "kwargs", {})
    if (rollout := settings.get("rollout_id")) is not None:
        backend, replicate = resampled(backend, settings.get("temperature")), rollout
    reply = await backend.ask(prompt, inputs, replicate)
    _record_step(predict, inputs, reply)
    _note_call(prompt, inputs, reply, backend.config.model)
    return reply


def _record_step(predict: dspy.Predict, inputs: Mapping[str, Any], reply: Reply) -> None:
    trace, most = dspy.settings.trace, dspy.settings.max_trace_size
    if trace is None or most <= 0:
        return
    if len(trace) >= most:
        trace.pop(0)
    prediction = dspy.Prediction.from_completions([dict(reply.values)], signature=predict.signature)
    trace.append((predict, dict(inputs), prediction))


def _note_call(prompt: Prompt, inputs: Mapping[str, Any], reply: Reply, model: str) -> None:
    call = reply.provenance
    usage = {
        "prompt_tokens": call.prompt_tokens,
        "completion_tokens": call.completion_tokens,
        "total_tokens": call.prompt_tokens + call.completion_tokens,
    }
    if not call.cache_hit and (tracker := dspy.settings.usage_tracker) is not None:
        tracker.add_usage(model, usage)
    if dspy.settings.disable_history:
        return
    entry = {
        "prompt": None,
        "messages": prompt.messages(inputs),
        "kwargs": {},
        "response": None,
        "outputs": [as_data(reply.values, default=str)],
        "usage": {} if call.cache_hit else usage,
        "cost": None,
        "timestamp": datetime.datetime.now().isoformat(),
        "uuid": str(uuid.uuid4()),
        "model": model,
        "response_model": call.model,
        "model_type": "chat",
    }
    record_history(SimpleNamespace(history=[]), entry)  # and in the modules that called
