"""How an API puts it: what a request must look like, its refusals, and the token count."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from mock_logprobs import logprobs_of
from mock_replies import Body, Reply, text_of

CHARS_PER_TOKEN = 4
BLOCK_TOKENS = 32  # prefix caches count whole blocks
MAX_TOP_LOGPROBS = 20  # OpenAI's limit and vLLM's default


@dataclass(frozen=True)
class Supports:
    """What the endpoint can take; what it cannot is refused with 400, as older servers do.

    `openai_rules`: a strict schema must close every object and require every property (no maps),
    and json_object needs the word JSON in the messages, as on OpenAI's own endpoint.
    `temperature`, `max_tokens`, `max_completion_tokens`, `seed`, `system`: whether such a parameter
    or role is taken. `is_vague`: what is not taken is answered with 400 and no word on what it is.
    """

    schema: bool = True
    json_object: bool = True
    logprobs: bool = True
    usage: bool = True
    openai_rules: bool = False
    temperature: bool = True
    max_tokens: bool = True
    max_completion_tokens: bool = True
    seed: bool = True
    system: bool = True
    most_logprobs: int = MAX_TOP_LOGPROBS
    is_vague: bool = False


class Denied(Exception):
    """A request that is answered with an error in OpenAI's shape."""

    def __init__(
        self, status: int, message: str, param: str | None = None, code: str | None = None
    ):
        super().__init__(message)
        self.status, self.param, self.code = status, param, code


def error_body(
    status: int, message: str, param: str | None = None, code: str | None = None
) -> Body:
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def check_model(body: Body, served: Iterable[str]) -> None:
    """Raise Denied unless there is a body and it names a model that is served."""
    if not body:
        raise Denied(400, "We could not parse the JSON body of your request.")
    if not isinstance(body.get("model"), str):
        raise Denied(400, "You must provide a model parameter.", "model")
    if body["model"] not in served:
        text = f"The model '{body['model']}' does not exist."
        raise Denied(404, text, "model", "model_not_found")


def check_body(body: Body, supports: Supports) -> None:
    """Raise Denied for messages, numbers or formats that this endpoint does not take."""
    _check_messages(body)
    _check_numbers(body)
    try:
        _check_parameters(body, supports)
        _check_format(body, supports)
    except Denied:
        if supports.is_vague:
            raise Denied(400, "The request is not valid.") from None
        raise


def _check_parameters(body: Body, supports: Supports) -> None:
    if body.get("logprobs") and not supports.logprobs:
        text = "'logprobs' is not supported with this model."
        raise Denied(400, text, "logprobs", "unsupported_parameter")
    if (body.get("top_logprobs") or 0) > supports.most_logprobs:
        text = f"Invalid value for 'top_logprobs': must be at most {supports.most_logprobs}."
        raise Denied(400, text, "top_logprobs", "invalid_value")
    if "temperature" in body and not supports.temperature:
        text = "Unsupported value: 'temperature' does not support 0 with this model. Only the "
        text += "default (1) value is supported."
        raise Denied(400, text, "temperature", "unsupported_value")
    if "max_tokens" in body and not supports.max_tokens:
        text = "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        text += "'max_completion_tokens' instead."
        raise Denied(400, text, "max_tokens", "unsupported_parameter")
    if "max_completion_tokens" in body and not supports.max_completion_tokens:  # as by pydantic
        raise Denied(400, "max_completion_tokens: Extra inputs are not permitted")
    if "seed" in body and not supports.seed:
        raise Denied(400, 'Unknown name "seed": Cannot find field. seed is unknown.')
    if not supports.system and any(m["role"] == "system" for m in body["messages"]):
        raise Denied(400, "System role not supported")


def check_length(body: Body, context_length: int | None) -> None:
    """Raise Denied if the prompt and max_tokens together are longer than the context."""
    n_asked = _n_tokens("".join(map(text_of, body["messages"]))) + (max_tokens_of(body) or 0)
    if context_length is not None and n_asked > context_length:
        text = f"This model's maximum context length is {context_length} tokens, "
        text += f"but the prompt and max_tokens take {n_asked}."
        raise Denied(400, text, "messages", "context_length_exceeded")


def max_tokens_of(body: Body) -> int | None:
    """The limit on the reply, under either of its names."""
    newer, older = body.get("max_completion_tokens"), body.get("max_tokens")
    return older if newer is None else newer


def completion_of(reply: Reply, body: Body, supports: Supports) -> Body:
    """The reply as the body of a response."""
    choice: Body = {"index": 0, "finish_reason": reply.finish_reason, "logprobs": None}
    message = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
    choice["message"] = message | dict(reply.beside)
    if body.get("logprobs") and reply.content:
        choice["logprobs"] = logprobs_of(reply, reply.content, body)
    made: Body = {
        "id": f"chatcmpl-{os.urandom(8).hex()}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [choice],
        "system_fingerprint": "fp_mock",
    }
    if supports.usage:
        made["usage"] = _usage(body, reply)
    return made


def _check_messages(body: Body) -> None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Denied(400, "'messages' must be a list with at least one message.", "messages")
    for i, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise Denied(400, "Each message is an object with a role.", f"messages[{i}].role")
        if not isinstance(message.get("content"), str | list | None):
            raise Denied(400, "Content is text or a list of parts.", f"messages[{i}].content")


def _check_numbers(body: Body) -> None:
    limits = {
        **{"max_tokens": (int, 1, math.inf), "max_completion_tokens": (int, 1, math.inf)},
        **{"top_logprobs": (int, 0, MAX_TOP_LOGPROBS), "temperature": (int | float, 0, 2)},
    }
    for name, (kind, low, high) in limits.items():
        value = body.get(name)
        if value is not None and not (isinstance(value, kind) and low <= value <= high):
            text = f"Invalid '{name}': {value!r}, wanted {kind} from {low} to {high}."
            raise Denied(400, text, name, "invalid_value")
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        raise Denied(400, "'top_logprobs' is only allowed with 'logprobs' true.", "top_logprobs")
    if body.get("stream"):
        raise Denied(400, "This server does not stream.", "stream", "unsupported_parameter")


def _check_format(body: Body, supports: Supports) -> None:
    form = body.get("response_format")
    if form is None:
        return
    param = "response_format"
    kind = form.get("type") if isinstance(form, dict) else None
    if kind not in ("text", "json_object", "json_schema"):
        raise Denied(400, f"Invalid value for 'response_format.type': {kind!r}.", f"{param}.type")
    if kind == "json_schema":
        if not supports.schema:
            raise Denied(
                400, "'response_format' of type 'json_schema' is not supported here.", param
            )
        asked = form.get("json_schema")
        if not isinstance(asked, dict) or not isinstance(asked.get("schema"), dict):
            raise Denied(
                400, "Missing 'response_format.json_schema.schema'.", f"{param}.json_schema"
            )
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", str(asked.get("name", ""))):
            raise Denied(400, "Invalid 'response_format.json_schema.name'.", f"{param}.json_schema")
        if supports.openai_rules and asked.get("strict"):
            _check_strict(asked["schema"], asked["name"])
    if kind == "json_object":
        if not supports.json_object:
            raise Denied(
                400, "'response_format' of type 'json_object' is not supported here.", param
            )
        told = " ".join(map(text_of, body["messages"])).lower()
        if supports.openai_rules and "json" not in told:
            raise Denied(
                400, "The messages must contain the word JSON for json_object.", "messages"
            )


def _check_strict(schema: Any, name: str, where: tuple[str, ...] = ()) -> None:
    def deny(why: str) -> None:
        text = f"Invalid schema for response_format '{name}': In context={where}, {why}"
        raise Denied(400, text, "response_format", "invalid_json_schema")

    if not where and schema.get("type") != "object":
        deny("the schema must be of type 'object'.")
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            deny("'additionalProperties' must be given and false.")
        if set(schema.get("required", [])) != set(schema.get("properties", {})):
            deny("'required' must name every property.")
    for key in ("properties", "$defs"):
        for child, part in schema.get(key, {}).items():
            _check_strict(part, name, (*where, key, child))
    for i, part in enumerate(schema.get("anyOf", [])):
        _check_strict(part, name, (*where, "anyOf", str(i)))
    if isinstance(schema.get("items"), dict):
        _check_strict(schema["items"], name, (*where, "items"))


def _n_tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def _usage(body: Body, reply: Reply) -> Body:
    """Tokens as characters / 4. The system messages count as cached, in whole blocks."""
    n_prompt, n_completion = reply.n_prompt, reply.n_tokens
    if n_prompt is None:
        n_prompt = _n_tokens("".join(map(text_of, body["messages"])))
    if n_completion is None:
        n_completion = _n_tokens(reply.content or "")
    fixed = "".join(text_of(m) for m in body["messages"] if m["role"] == "system")
    n_cached = len(fixed) // CHARS_PER_TOKEN // BLOCK_TOKENS * BLOCK_TOKENS
    return {
        "prompt_tokens": n_prompt,
        "completion_tokens": n_completion,
        "total_tokens": n_prompt + n_completion,
        "prompt_tokens_details": {"cached_tokens": n_cached},
    }
