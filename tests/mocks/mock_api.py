"""How an API puts it: what a request must look like, its refusals, and the token count."""

from __future__ import annotations

import math
import os
import re
import time
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
    `lengths`: of texts and lists in a schema. `usage`: whether tokens are told. `is_vague`: a 400
    has no word on what is not taken.
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
    lengths: bool | str = True  # False: refused as by OpenAI; a text: the refusal


# Of a parameter that is not supported: what is said of it, and what `param` says beside.
NOT_TAKEN = {
    "logprobs": ("'logprobs' is not supported with this model.", "logprobs"),
    "temperature": (
        "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) "
        "value is supported.",
        "temperature",
    ),
    "max_tokens": (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
        "'max_completion_tokens' instead.",
        "max_tokens",
    ),
    "max_completion_tokens": ("max_completion_tokens: Extra inputs are not permitted", None),
    "seed": ('Unknown name "seed": Cannot find field. seed is unknown.', None),
}


class Denied(Exception):
    """A request that is answered with an error in OpenAI's shape, its `body`."""

    def __init__(
        self, status: int, message: str, param: str | None = None, code: str | None = None
    ):
        super().__init__(message)
        kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
        kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
        error = {"message": message, "type": kind, "param": param, "code": code}
        self.status, self.body = status, {"error": error}


def check(body: Body, served: tuple[str, ...], supports: Supports, length: int | None) -> None:
    """Raise Denied for what this endpoint does not take: a model, a message, a parameter."""
    if body.get("model") not in served:
        text = f"The model {body.get('model')!r} does not exist."
        raise Denied(404, text, "model", "model_not_found")
    try:
        _check_parameters(body, supports)
        _check_format(body.get("response_format") or {"type": "text"}, body, supports)
    except Denied:
        if supports.is_vague:
            raise Denied(400, "The request is not valid.") from None
        raise
    n_asked = _n_tokens("".join(map(text_of, body["messages"]))) + (max_tokens_of(body) or 0)
    if length is not None and n_asked > length:
        text = f"This model's maximum context length is {length} tokens, "
        text += f"but the prompt and max_tokens take {n_asked}."
        raise Denied(400, text, "messages", "context_length_exceeded")


def _check_parameters(body: Body, supports: Supports) -> None:
    for name, (message, param) in NOT_TAKEN.items():
        if name in body and not getattr(supports, name):
            raise Denied(400, message, param, "unsupported_parameter")
    if (body.get("top_logprobs") or 0) > supports.most_logprobs:
        text = f"Invalid value for 'top_logprobs': must be at most {supports.most_logprobs}."
        raise Denied(400, text, "top_logprobs", "invalid_value")
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        raise Denied(400, "'top_logprobs' is only allowed with 'logprobs' true.", "top_logprobs")
    if not supports.system and any(m["role"] == "system" for m in body["messages"]):
        raise Denied(400, "System role not supported")


def _check_format(form: Body, body: Body, supports: Supports) -> None:
    param, kind = "response_format", form["type"]
    taken = {"text": True, "json_object": supports.json_object, "json_schema": supports.schema}
    if not taken.get(kind):
        raise Denied(400, f"'response_format' of type '{kind}' is not supported here.", param)
    if kind == "json_schema":
        asked = form["json_schema"]
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", asked["name"]):
            raise Denied(400, "Invalid 'response_format.json_schema.name'.", f"{param}.{kind}")
        if supports.openai_rules and asked.get("strict") and not _is_strict(asked["schema"]):
            text = "Invalid schema for response_format: every object must give "
            text += "'additionalProperties': false, and name all properties in 'required'."
            raise Denied(400, text, param, "invalid_json_schema")
        if supports.lengths is not True and re.search(r"(max|min)(Length|Items)", str(asked)):
            text = "Invalid schema for response_format: 'maxLength' is not permitted."
            raise Denied(400, supports.lengths or text)
    prompt = "".join(map(text_of, body["messages"])).lower()
    if kind == "json_object" and supports.openai_rules and "json" not in prompt:
        raise Denied(400, "The messages must contain the word JSON for json_object.", "messages")


def _is_strict(schema: Body, *, is_root: bool = True) -> bool:
    parts = schema.get("properties", {})
    is_object = schema.get("type") == "object"
    is_closed = schema.get("additionalProperties") is False
    if (is_root or is_object) and not (
        is_object and is_closed and set(schema.get("required", ())) == set(parts)
    ):
        return False
    inner = [*parts.values(), *schema.get("$defs", {}).values(), *schema.get("anyOf", ())]
    return all(_is_strict(part, is_root=False) for part in [*inner, schema.get("items")] if part)


def max_tokens_of(body: Body) -> int | None:
    """The limit on the reply, under either of its names."""
    newer, older = body.get("max_completion_tokens"), body.get("max_tokens")
    return older if newer is None else newer


def completion_of(reply: Reply, body: Body, supports: Supports) -> Body:
    """The reply as the body of a response, cut at the request's limit.

    Tokens are characters / 4. The system messages count as cached, in whole blocks.
    """
    content, finish, limit = reply.content, reply.finish_reason, max_tokens_of(body)
    if content and limit is not None and len(content) > limit * CHARS_PER_TOKEN:
        content, finish = content[: limit * CHARS_PER_TOKEN], "length"
    message = {"role": "assistant", "content": content, "refusal": reply.refusal, **reply.beside}
    weighed = logprobs_of(reply, content, body) if content and body.get("logprobs") else None
    choice = {"index": 0, "finish_reason": finish, "message": message, "logprobs": weighed}
    about = {"id": f"chatcmpl-{os.urandom(8).hex()}", "created": int(time.time())}
    about |= {"object": "chat.completion", "model": body["model"], "system_fingerprint": "fp_mock"}
    if not supports.usage:
        return about | {"choices": [choice]}
    n_prompt, n_completion = reply.n_prompt, reply.n_tokens
    if n_prompt is None:
        n_prompt = _n_tokens("".join(map(text_of, body["messages"])))
    if n_completion is None:
        n_completion = _n_tokens(content or "")
    fixed = "".join(text_of(m) for m in body["messages"] if m["role"] == "system")
    n_cached = len(fixed) // CHARS_PER_TOKEN // BLOCK_TOKENS * BLOCK_TOKENS
    usage: dict[str, Any] = {"prompt_tokens": n_prompt, "completion_tokens": n_completion}
    usage |= {"total_tokens": n_prompt + n_completion}
    usage |= {"prompt_tokens_details": {"cached_tokens": n_cached}}
    return about | {"choices": [choice], "usage": usage}


def _n_tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)
