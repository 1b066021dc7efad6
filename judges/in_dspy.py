"""Judges inside DSPy: an LM, a step of a trace, a saved parameter, a metric, a signature."""

from __future__ import annotations

import asyncio
import datetime
import inspect
import uuid
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from inspect import Parameter, Signature
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Protocol, Self

import dspy
from dspy.clients.base_lm import record_history
from dspy.lm15 import Message, Request, Response, Usage
from dspy.predict.parameter import Parameter as DSPyParameter
from dspy.utils.exceptions import (
    AdapterParseError,
    ContextWindowExceededError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
)
from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_jsonable_python

from ..backends.adapter import JudgeAdapter, as_data, without
from ..backends.errors import JudgeError, JudgeOutputError
from ..backends.gateway import Backend, Reply
from ..backends.loop import run_async, run_sync
from ..backends.prompt import Prompt
from ..backends.replies.schema import ReplyFormat, Shape, get_key_source
from ..records.judgements import Provenance, Reason

if TYPE_CHECKING:
    from .fitted import JudgeFile

_OPEN = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class SignatureOfJudge:
    """`inspect.signature` of a class of judges, and of a judge, instead of `*args`."""

    def __get__(self, judge: Any, kind: type[Any]) -> Signature:
        return _of_class(kind) if judge is None else _of_judge(judge)


def _of_class(kind: type[Any]) -> Signature:
    by_name: dict[str, Parameter] = {}
    for base in kind.__mro__:
        made = vars(base).get("__init__")
        if made is None:
            continue
        parameters = list(inspect.signature(made).parameters.values())[1:]
        for parameter in parameters:
            if parameter.kind not in _OPEN:
                by_name.setdefault(parameter.name, parameter)
        if not any(parameter.kind in _OPEN for parameter in parameters):
            break
    # Parameters of a base class follow *args, so `model` keeps its place and options follow it.
    return Signature(sorted(by_name.values(), key=lambda parameter: parameter.kind))


def _of_judge(judge: Any) -> Signature:
    declared = inspect.signature(judge.decide)
    if all(parameter.kind not in _OPEN for parameter in declared.parameters.values()):
        return declared
    named = [each for each in declared.parameters.values() if each.kind not in _OPEN]
    inputs = [_input(name, Parameter.empty) for name in judge.inputs]
    optional = [_input(name, "") for name in getattr(type(judge), "optional", ())]
    return declared.replace(parameters=[*inputs, *optional, *named])


def _input(name: str, default: Any) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation="str")


class BackendLM(dspy.LM):  # type: ignore[misc]
    """An open backend as an LM, from `judge.get_lm()`; DSPy adds neither cache nor retries.

    A copy with a `rollout_id` gets its own replies, at the temperature of the copy. In
    `judge.set_lm`, its backend answers the judge's compiled prompts. Anywhere else it answers with
    free text, without the `max_tokens` of its entry, which is meant for labels.
    """

    def __init__(self, backend: Backend, replicate: int = 0) -> None:
        engine, async_engine = _Engine(backend, replicate), _AsyncEngine(backend, replicate)
        super().__init__(
            "backend",  # not a provider's name, so DSPy looks up neither abilities nor prices
            engine=engine,
            async_engine=async_engine,
            cache=False,
            num_retries=0,
        )
        self.model = backend.config.model
        self.backend = backend
        self.replicate = replicate

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self.copy()  # shares the backend, like a copy of a judge

    def copy(self, **changes: Any) -> Self:
        """See dspy.LM.copy."""
        changed: Self = super().copy(**changes)
        if (rollout := changes.get("rollout_id")) is not None:
            changed.replicate = rollout
            changed.backend = resample(self.backend, changes.get("temperature"))
            changed._engine_spec = _Engine(changed.backend, rollout)
            changed._async_engine_spec = _AsyncEngine(changed.backend, rollout)
        return changed


def resample(backend: Backend, temperature: float | None) -> Backend:
    """Return the backend for answers that should differ: without a seed.

    Args:
        temperature: None: unchanged. It is not sent to an endpoint that gets no temperature.
    """
    if temperature is None or backend.config.temperature is None:
        return backend.copy_with(seed=None)
    return backend.copy_with(seed=None, temperature=temperature)


class _Engine:
    """DSPy's interface for an LM's engine: a Request in, a Response out."""

    def __init__(self, backend: Backend, replicate: int) -> None:
        self._backend = backend
        self._replicate = replicate

    def complete(self, request: Request) -> Response:
        return _response(request, run_sync(self._ask(request)))

    async def _ask(self, request: Request) -> Reply:
        backend = resample(self._backend, request.config.temperature)
        free = backend.copy_with(reply_schema="none", logprobs=False, max_tokens=None)
        return await free.ask(FreeText(read_messages(request)), {}, self._replicate)


class _AsyncEngine(_Engine):
    async def complete(self, request: Request) -> Response:
        return _response(request, await run_async(self._ask(request)))


def read_messages(request: Request) -> list[dict[str, str]]:
    """Read the chat messages of a DSPy request."""
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
    """Messages whose reply is any text that is not empty."""

    sends_schema = False

    def __init__(self, messages: Sequence[Mapping[str, str]]) -> None:
        self.name, self.baseline, self.scorer = "free_text", None, None
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
    """Ask a module with a DSPy LM, with the same checks as for any other reply.

    The adapter is the caller's (`dspy.context(adapter=...)`), otherwise the adapter of a DummyLM,
    otherwise ours. The values that it reads from a reply are parsed again as JSON, so that keys,
    ranges and labels are checked with every adapter.

    Args:
        options: arguments of the module besides the inputs.

    Raises: JudgeError; LMError of DSPy if no request can succeed.
    """
    adapter = dspy.settings.adapter or getattr(lm, "adapter", None) or JudgeAdapter()
    try:
        # A judge's tokens are not streamed: the caller's stream belongs to another event loop.
        with dspy.context(lm=lm, adapter=adapter, send_stream=None):
            if _is_sync(module, adapter):
                prediction = await asyncio.to_thread(module, **inputs, **(options or {}))
            else:
                prediction = await module.acall(**inputs, **(options or {}))
    except AdapterParseError as error:
        raise _unread(error, prompt, inputs, adapter) from None
    except _OF_ONE_CALL as error:
        raise JudgeError(Reason.ERROR, str(error)) from error
    if prediction is None:  # dspy.BestOfN returns None if every attempt failed
        raise JudgeOutputError(Reason.UNPARSEABLE, f"{type(module).__name__} found no reply")
    outputs = {name: prediction[name] for name in prompt.output_names if name in prediction}
    values = prompt.parse(as_data(outputs, default=to_jsonable_python), inputs)
    return Reply(values, Provenance(model=str(lm.model)))


def _is_sync(module: dspy.Module, adapter: dspy.Adapter) -> bool:
    """Whether the module, or an adapter that changes calls, can only be called synchronously."""
    is_changed = "__call__" in vars(type(adapter)) and "acall" not in vars(type(adapter))
    return is_changed or not hasattr(module, "aforward")


def _unread(
    error: AdapterParseError, prompt: Prompt, inputs: Mapping[str, Any], adapter: dspy.Adapter
) -> JudgeOutputError:
    """The error for a reply that the adapter could not read."""
    raw = str(error.lm_response or "")
    if isinstance(adapter, JudgeAdapter):
        try:
            prompt.parse(raw, inputs)  # raises the usual error
        except JudgeOutputError as fault:
            return fault
    missing = [name for name in prompt.output_names if name not in (error.parsed_result or ())]
    if error.parsed_result and missing:
        return JudgeOutputError(Reason.INCOMPLETE, f"field {missing[0]!r} is missing", raw)
    return JudgeOutputError(Reason.UNPARSEABLE, str(error).split("\n")[0], raw)


# The reasoning of each question of the current call, in order; None: the judge was not called as
# a DSPy module, and nothing is recorded.
REASONS: ContextVar[list[str | None] | None] = ContextVar("nuggetjudge_reasons", default=None)


async def ask_recorded(
    predict: dspy.Predict,
    prompt: Prompt,
    inputs: Mapping[str, Any],
    backend: Backend,
    replicate: int,
) -> Reply:
    """Ask a backend, and record the call as if the predictor had asked a DSPy LM.

    A judge keeps its model if a whole program gets another LM. It uses that LM's `rollout_id` and
    temperature, with which optimisers request different answers.

    Raises: JudgeError.
    """
    settings = getattr(predict.lm or dspy.settings.lm, "kwargs", {})
    if (rollout := settings.get("rollout_id")) is not None:
        backend, replicate = resample(backend, settings.get("temperature")), rollout
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
    record_history(SimpleNamespace(history=[]), entry)  # and in the calling modules


def check_demos(
    name: str, signature: type[dspy.Signature], demos: Sequence[Mapping[str, Any]]
) -> None:
    """Raise ValueError for an example with a value of the wrong type for the signature.

    A map of labels must have the keys of its input map. Fields may be missing, as in DSPy, and
    unknown fields are not shown.
    """
    for i, demo in enumerate(demos):
        try:
            _check(signature, demo)
        except JudgeOutputError as error:
            raise ValueError(f"{name}.demos[{i}]: {error.detail}") from None
        except ValueError as error:
            raise ValueError(f"{name}.demos[{i}]: {error}") from None


def _check(signature: type[dspy.Signature], demo: Mapping[str, Any]) -> None:
    reply = {n: demo[n] for n in signature.output_fields if demo.get(n) is not None}
    if not reply:  # it belongs to the program around the judge, and is not shown
        return
    for name, field in signature.input_fields.items():
        if (value := demo.get(name)) is not None:
            check_type(name, field.annotation, value)
    for name in reply:
        source = get_key_source(signature.output_fields[name])
        if source is not None and demo.get(source) is None:
            raise ValueError(f"{name} has the keys of {source}, which is missing")
    shortened = without(signature, [name for name in signature.output_fields if name not in reply])
    form, text = ReplyFormat(shortened), as_data(reply, default=to_jsonable_python)
    form.check(form.parse(text, None), demo, text)


def check_type(name: str, kind: Any, value: Any, *, strict: bool | None = None) -> None:
    """Raise ValueError, with the name and the fault, for a value of another type."""
    try:
        TypeAdapter(kind).validate_python(value, strict=strict)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, (name, *first["loc"])))
        raise ValueError(f"{where}: {first['msg']}, got {str(first['input'])[:80]!r}") from None


class Fitted(Protocol):
    """A judge of items. For a judge that makes lists, only its prompt is fitted."""

    def identify(self) -> JudgeFile: ...
    def take_fit(self, state: JudgeFile | None) -> None: ...


class Fit(DSPyParameter):  # type: ignore[misc]
    """The correction, word weights and topics of a judge; DSPy saves the prompts itself.

    Loading raises ValueError if they belong to another judge, version, scale or model.
    """

    def __init__(self, judge: Fitted) -> None:
        self._judge = judge

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        """Return the data of a judge file; without a fit, only the identity of the judge."""
        return self._judge.identify().model_dump(mode="json", exclude_defaults=True)

    def load_state(self, state: dict[str, Any]) -> None:
        """See dump_state."""
        from .fitted import JudgeFile

        self._judge.take_fit(JudgeFile.model_validate(state) if state else None)

    def reset(self) -> None:
        """Drop the fit: DSPy drops the examples, and cut-offs belong to the old scores."""
        self._judge.take_fit(None)


Field = str | Callable[[Any, Any], Any] | None


class Judging(Protocol):
    """The part of a judge of items that a metric uses."""

    name: str
    output: str
    scale: tuple[str, ...]
    gains: Mapping[str, float]
    is_ordered: bool
    correction: Any

    def __call__(self, **inputs: Any) -> Any: ...


class JudgeMetric:
    """`metric(example, prediction)`: the gain of the label, in [0, 1]; the mean of several.

    Args:
        judge: a judge of items.
        fields: an input of the judge -> the field of prediction or example that holds it, a
            function of both, or None to leave it out. An unlisted input is read from the field of
            its own name, first in the prediction, then in the example.

    Attributes:
            unjudged: the errors of failed judgements.

    Raises, when called: JudgeError if there is no judgement, with a RuntimeWarning, because
        dspy.Evaluate logs it and counts its `failure_score`, 0 by default. Use
        `failure_score=float("nan")` so that a failed judgement never counts as a score.
        ValueError for a field that neither has.
    """

    def __init__(self, judge: Judging, fields: Mapping[str, Field]) -> None:
        self.judge = judge
        self._parameters = inspect.signature(judge).parameters
        for name in fields:
            if name not in self._parameters:
                wanted = ", ".join(self._parameters)
                raise ValueError(f"the {judge.name} judge has no input {name!r}; it has {wanted}")
        if not judge.gains and not judge.is_ordered:
            raise ValueError(f"the labels of the {judge.name} judge have neither gains nor order")
        self._fields = dict(fields)
        self.unjudged: list[JudgeError] = []

    def __call__(
        self,
        example: Any,
        prediction: Any,
        trace: Any = None,
        pred_name: str | None = None,
        pred_trace: Any = None,
    ) -> float:
        inputs = self._inputs(example, prediction)
        try:
            judgement = self.judge(**inputs)
        except JudgeError as error:
            self.unjudged.append(error)
            what = "the metric has no judgement, which dspy.Evaluate counts as its failure_score"
            warnings.warn(f"{what}: {error.reason.value}", RuntimeWarning, stacklevel=2)
            raise
        labels = self._labels(judgement)
        if not labels:
            raise ValueError(f"no items for the {self.judge.name} judge to label")
        return sum(map(self._gain, labels)) / len(labels)

    def _inputs(self, example: Any, prediction: Any) -> dict[str, Any]:
        inputs = {}
        for name, parameter in self._parameters.items():
            field = self._fields.get(name, name)
            if field is None:
                continue
            if callable(field):
                inputs[name] = field(example, prediction)
            elif (row := _holder(field, prediction, example)) is not None:
                inputs[name] = row[field]
            elif name in self._fields or parameter.default is parameter.empty:
                what = f"neither prediction nor example has a field {field!r}"
                raise ValueError(f"{what}; map it: judge.metric({name}=...)")
        return inputs

    def _labels(self, judgement: Any) -> list[str]:
        output = self.judge.output
        names = (output, output.removesuffix("s"), f"{output}s")  # for one item, or for a list
        labels = judgement[next(name for name in names if name in judgement)]
        return [str(label) for label in (labels if isinstance(labels, list) else [labels])]

    def _gain(self, label: str) -> float:
        """Its gain, otherwise its position on the scale: labels of a correction have no gain."""
        scale = (self.judge.correction and self.judge.correction.labels) or self.judge.scale
        if set(scale) <= set(self.judge.scale) and self.judge.gains:
            return self.judge.gains[label]
        return scale.index(label) / (len(scale) - 1)


def _holder(field: str, *rows: Any) -> Any:
    """The first of these objects that has the field."""
    return next((row for row in rows if hasattr(row, "keys") and field in row), None)
