"""A question asked by DSPy's own means: the caller's LM, adapter and modules, our checks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import dspy
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
from ...backends.gateway import Reply
from ...backends.prompt import Prompt
from ...records.judgements import Provenance, Reason

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
