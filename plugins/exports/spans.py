"""Spans of calls and judgements (OpenTelemetry), by the conventions for generative AI.

The core finds this module by an entry point when spans are wanted (`backends/tracing.py`).
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import urlsplit

import orjson

from ...backends.errors import EndpointError, JudgeError
from ...backends.gateway import Completion, Gateway, Reply, Transport
from ...backends.prompt import Prompt
from ...backends.tracing import ENDPOINTS
from ...records.judgements import Judged, Outcome, Reason
from ...records.reading.problems import pip_install

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

    from ...backends.config import ModelConfig
    from ...backends.gateway import _Job


CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
# The conventions whose names are used: docs/howto/exports.md.
SCHEMA = "https://opentelemetry.io/schemas/1.44.0"
_ON_SPANS = ("true", "span_only", "span_and_event")


def tracer() -> Tracer | None:
    """The tracer; None if nobody wants spans, and then OpenTelemetry is not imported.

    Spans go to the tracer provider of this process, if there is one. Otherwise, if OpenTelemetry's
    variables name an OTLP endpoint, they go to a provider that only this package uses.

    Warns: UserWarning, once, if an endpoint is named and the extra is not installed.
    """
    provider = _of_this_process()
    if provider is None and _is_wanted():
        provider = _to_endpoint(os.getpid())
    if provider is None:
        return None
    spans: Tracer = provider.get_tracer("nuggetjudge", version("nuggetjudge"), schema_url=SCHEMA)
    return spans


def takes_content() -> bool:
    """Whether spans may contain prompts, replies and reasons; by default they may not."""
    return os.environ.get(CONTENT, "").strip().lower() in _ON_SPANS


def mark_failed(span: Span, why: str) -> None:
    """Mark a span as failed; `why` is a reason or an error type, without quotes of texts."""
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", why)
    span.set_status(Status(StatusCode.ERROR, why))


def _of_this_process() -> Any | None:
    trace = sys.modules.get("opentelemetry.trace")  # otherwise no provider can be set
    if trace is None:
        return None
    provider = trace.get_tracer_provider()
    is_none = isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider)
    return None if is_none else provider


def _is_wanted() -> bool:
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true"
    exporter = os.environ.get("OTEL_TRACES_EXPORTER", "").strip().lower() or "otlp"
    is_named = any(os.environ.get(name, "").strip() for name in ENDPOINTS)
    return is_named and not is_off and exporter == "otlp"


@cache
def _to_endpoint(process: int) -> Any | None:
    """A provider for this process only; waiting spans are sent at its end."""
    try:
        sdk: Any = import_module("opentelemetry.sdk.trace")
        export: Any = import_module("opentelemetry.sdk.trace.export")
        resources: Any = import_module("opentelemetry.sdk.resources")
        otlp: Any = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    except ImportError:
        what = "an OTLP endpoint is named (OTEL_EXPORTER_OTLP_ENDPOINT), but no spans are sent"
        warnings.warn(f"{what}: {pip_install('opentelemetry')}", stacklevel=4)
        return None
    named = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": "nuggetjudge"}
    provider = sdk.TracerProvider(resource=resources.Resource.create(named))
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    return provider


# The name of a provider in the conventions, by LiteLLM's prefix; others keep their prefix.
_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "bedrock": "aws.bedrock",
    "gemini": "gcp.gemini",
    "hosted_vllm": "vllm",
    "mistral": "mistral_ai",
    "vertex_ai": "gcp.vertex_ai",
    "watsonx": "ibm.watsonx.ai",
    "xai": "x_ai",
}


@dataclass(slots=True)
class _Call:
    """A question in flight: its span, and the tokens of all its replies, also unusable ones."""

    span: Span
    input: int = 0
    cached: int = 0
    output: int = 0


_CALL: ContextVar[_Call] = ContextVar("traced_call")


class TracedGateway(Gateway):
    """Makes a span for each question, as a child of the judgement's span, with retries as events.

    Only the span of a sent question has tokens; a cached reply, or the reply to an equal question
    in flight, has none. So sums over spans give the real usage.
    """

    def __init__(self, config: ModelConfig, transport: Transport | None, **settings: Any) -> None:
        super().__init__(config, transport, **settings)
        spans = tracer()
        assert spans is not None  # the core checked before it chose this class
        self.tracer: Tracer = spans

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Gateway.ask."""
        from opentelemetry.trace import SpanKind

        with self.tracer.start_as_current_span(
            f"chat {self.config.wire_name}",
            kind=SpanKind.CLIENT,
            attributes=_request(self.config, prompt, replicate),
            record_exception=False,  # its message may quote a reply
            set_status_on_exception=False,
        ) as span:
            if takes_content() and span.is_recording():
                self._show_prompt(span, prompt.messages(inputs))
            token = _CALL.set(_Call(span))
            try:
                reply = await super().ask(prompt, inputs, replicate)
            except BaseException as error:
                self._mark_failure(span, error)
                raise
            finally:
                _CALL.reset(token)
            where = reply.provenance
            span.set_attribute("nuggetjudge.cache_hit", where.cache_hit)
            span.set_attribute("gen_ai.response.model", self._secrets.blank(where.model))
            finish = [self._secrets.blank(where.finish_reason)]
            span.set_attribute("gen_ai.response.finish_reasons", finish)
            if takes_content():
                values = orjson.dumps(reply.values, default=str).decode()
                self._show_reply(span, values, where.finish_reason)
            return reply

    async def _fetch(self, transport: Transport, job: _Job) -> Completion:
        call = _CALL.get()
        try:
            completion = await super()._fetch(transport, job)
        finally:
            call.span.set_attribute("nuggetjudge.requests", job.requests)
        call.input += completion.prompt_tokens
        call.cached += completion.cached_tokens
        call.output += completion.completion_tokens
        if call.input or call.output:  # 0: the endpoint does not report it
            call.span.set_attribute("gen_ai.usage.input_tokens", call.input)
            call.span.set_attribute("gen_ai.usage.cache_read.input_tokens", call.cached)
            call.span.set_attribute("gen_ai.usage.output_tokens", call.output)
        return completion

    def _wait(self, error: EndpointError, attempt: int, deadline: float) -> float:
        failed: dict[str, Any] = {"error.type": error.reason.value}
        if error.status:
            failed["http.response.status_code"] = error.status
        try:
            failed["nuggetjudge.wait_s"] = super()._wait(error, attempt, deadline)
        finally:
            _CALL.get().span.add_event("nuggetjudge.request_failed", failed)
        waiting: float = failed["nuggetjudge.wait_s"]
        return waiting

    def _mark_failure(self, span: Span, error: BaseException) -> None:
        why = error.reason.value if isinstance(error, JudgeError) else type(error).__name__
        mark_failed(span, why)
        if takes_content() and isinstance(error, JudgeError) and error.raw:
            self._show_reply(span, error.raw, "")

    def _show_prompt(self, span: Span, messages: list[dict[str, str]]) -> None:
        shown = [_message(m["role"], self._secrets.blank(m["content"])) for m in messages]
        instructions = [
            part for each in shown if each["role"] == "system" for part in each["parts"]
        ]
        others = [each for each in shown if each["role"] != "system"]
        if instructions:
            span.set_attribute("gen_ai.system_instructions", orjson.dumps(instructions).decode())
        span.set_attribute("gen_ai.input.messages", orjson.dumps(others).decode())

    def _show_reply(self, span: Span, text: str, finish_reason: str) -> None:
        message = _message("assistant", self._secrets.blank(text))
        message["finish_reason"] = self._secrets.blank(finish_reason)
        span.set_attribute("gen_ai.output.messages", orjson.dumps([message]).decode())


def _message(role: str, text: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"type": "text", "content": text}]}


def _request(config: ModelConfig, prompt: Prompt, replicate: int) -> dict[str, Any]:
    """The attributes known before the request; the address has no user and no query."""
    prefix = "vllm" if config.way == "vllm" else config.model.split("/")[0]
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": _PROVIDERS.get(prefix, prefix),
        "gen_ai.request.model": config.wire_name,
        "gen_ai.request.temperature": config.temperature,
        "gen_ai.request.top_p": config.top_p,
        "gen_ai.request.max_tokens": config.max_tokens,
        "gen_ai.request.seed": config.seed,
        "nuggetjudge.question": prompt.name,
        "nuggetjudge.replicate": replicate,
    }
    if prompt.sends_schema:
        attributes["gen_ai.output.type"] = "json"
    if config.base_url is not None:
        url = urlsplit(config.base_url)
        attributes["server.address"] = url.hostname
        attributes["server.port"] = url.port or (443 if url.scheme == "https" else 80)
    return {name: value for name, value in attributes.items() if value is not None}


_RESULT = "gen_ai.evaluation.result"


class _Named(Protocol):
    @property
    def ids(self) -> Mapping[str, Any]: ...


ItemT = TypeVar("ItemT", bound=_Named)
Ask = Callable[[ItemT], Awaitable[Outcome]]


@contextmanager
def trace_run(programs: Sequence[str]) -> Iterator[None]:
    """Group all requests within this block under one span, a child of the caller's span."""
    spans = tracer()
    assert spans is not None  # as above
    name = ", ".join(programs) or "judge"
    attributes = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": name}
    with spans.start_as_current_span(
        f"invoke_workflow {name}",
        attributes=attributes,
        record_exception=False,
        set_status_on_exception=False,
    ) as span:
        try:
            yield
        except BaseException as error:
            mark_failed(span, type(error).__name__)
            raise


def trace_items(ask: Ask[ItemT], stage: str, judges: Sequence[str]) -> Ask[ItemT]:
    """Wrap the function that asks about an item in a span."""
    spans = tracer()
    assert spans is not None  # as above
    of_all = {"nuggetjudge.stage": stage, "nuggetjudge.judges": list(judges)}
    name = judges[0] if judges else stage

    async def ask_in_span(item: ItemT) -> Outcome:
        ids = {f"nuggetjudge.{name}": _plain(value) for name, value in item.ids.items()}
        with spans.start_as_current_span(
            f"judge {stage}",
            attributes={**ids, **of_all},
            record_exception=False,  # its message may quote a reply
            set_status_on_exception=False,
        ) as span:
            try:
                outcome = await ask(item)
            except JudgeError as error:
                _mark_lost(span, name, error.reason)
                raise
            except BaseException as error:
                mark_failed(span, type(error).__name__)
                raise
            if isinstance(outcome, Judged):
                for row in outcome.values.get("verdicts", ()):
                    span.add_event(_RESULT, _result(name, row))
            else:
                _mark_lost(span, name, outcome.reason)
            return outcome

    return ask_in_span


def _result(name: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """One label; for a missing label of a window, the reason without a score."""
    attributes: dict[str, Any] = {"gen_ai.evaluation.name": name}
    if "unjudged" in row:
        return {**attributes, "error.type": Reason(row["unjudged"][0]).value}
    attributes["gen_ai.evaluation.score.label"] = str(row["label"])
    if row.get("score") is not None:
        attributes["gen_ai.evaluation.score.value"] = float(row["score"])
    if takes_content() and row.get("rationale"):
        attributes["gen_ai.evaluation.explanation"] = row["rationale"]
    return attributes


def _mark_lost(span: Span, name: str, reason: Reason) -> None:
    mark_failed(span, reason.value)
    span.add_event(_RESULT, {"gen_ai.evaluation.name": name, "error.type": reason.value})


def _plain(value: Any) -> str | int | float | bool | list[str]:
    if isinstance(value, list | tuple):
        return [str(each) for each in value]
    return value if isinstance(value, str | int | float | bool) else str(value)
