"""A Gateway whose questions are spans, by the conventions for generative AI."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson

from ..errors import EndpointError, JudgeError
from ..gateway import Completion, Gateway, Reply, Transport
from ..prompt import Prompt
from .tracer import failed, takes_content

if TYPE_CHECKING:
    from opentelemetry.trace import Span, Tracer

    from ..config import ModelConfig
    from ..gateway import _Job

# What the conventions call a provider, by LiteLLM's prefix; any other is called by its prefix.
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
    """A question on its way: its span, and the tokens of all replies to it, unusable ones too."""

    span: Span
    input: int = 0
    cached: int = 0
    output: int = 0


_CALL: ContextVar[_Call] = ContextVar("traced_call")


class TracedGateway(Gateway):
    """Each question is a span, a child of the judgement's; what was sent again, an event of it.

    Tokens stand on the span of the question that was sent, and on no other: not where the cache
    answered, nor where another question like it was on its way, so that sums are what was used.
    Set `tracer` before the first question.
    """

    tracer: Tracer

    async def ask(self, prompt: Prompt, inputs: Mapping[str, Any], replicate: int = 0) -> Reply:
        """See Gateway.ask."""
        from opentelemetry.trace import SpanKind

        with self.tracer.start_as_current_span(
            f"chat {self.config.wire_name}",
            kind=SpanKind.CLIENT,
            attributes=_request(self.config, prompt, replicate),
            record_exception=False,  # its text may quote a reply
            set_status_on_exception=False,
        ) as span:
            if takes_content() and span.is_recording():
                self._show_prompt(span, prompt.messages(inputs))
            token = _CALL.set(_Call(span))
            try:
                reply = await super().ask(prompt, inputs, replicate)
            except BaseException as error:
                self._failed(span, error)
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
        if call.input or call.output:  # 0: the endpoint does not tell
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

    def _failed(self, span: Span, error: BaseException) -> None:
        why = error.reason.value if isinstance(error, JudgeError) else type(error).__name__
        failed(span, why)
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
    """What is known before a question is asked; an endpoint's address has no user and no query."""
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
