"""What DSPy records of a call, recorded of ours: step of the trace, usage, history."""

from __future__ import annotations

import datetime
import uuid
from collections.abc import Mapping
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any

import dspy
from dspy.clients.base_lm import record_history

from ...backends.adapter import as_data
from ...backends.gateway import Backend, Reply
from ...backends.prompt import Prompt
from .backend_lm import resampled

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
