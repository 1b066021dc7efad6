"""Which part of a request does an endpoint not take? Read from its error."""

from __future__ import annotations

import re
from typing import Any

import orjson

# By what endpoints call it: what a config says instead.
SETTINGS = {
    "temperature": "the model's temperature to null",
    "top_p": "the model's top_p to null",
    "seed": "the model's seed to null",
    "max_tokens": "the model's max_tokens_name to max_completion_tokens",
    "max_completion_tokens": "the model's max_tokens_name to max_tokens",
    "top_logprobs": "the model's logprobs to false, or a smaller number",
    "logprobs": "the model's logprobs to false, or a smaller number",
    "response_format": "the model's schema to json_object or none",
    "system": "the model's system_role to user",
}
# Longer names first: `max_tokens` stands in many an error about `max_completion_tokens`.
_NAME = re.compile(rf"(?<![\w-])({'|'.join(n for n in SETTINGS if n != 'system')})(?![\w-])")
_NOT_TAKEN = re.compile(
    r"n[o']t (?:support|allow|permit|recogni[sz]|accept|available|compatible)|unsupported|unknown"
    r"|unrecogni[sz]ed|failed to parse|unexpected|invalid|extra inputs?|only the default|must be"
    r"|deprecated|use '",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"json[ _-]?schema|grammar|guided|structured[ _]outputs?|m(?:ax|in)(?:Length|Items)",
    re.IGNORECASE,
)
_SYSTEM = re.compile(
    r"system[ _](?:role|message|prompt|instruction)s?|role[\"'`: ]+system|developer instruction",
    re.IGNORECASE,
)
_VALUE = re.compile(r"context|too long|content[_ ]?(?:filter|policy)", re.IGNORECASE)


def refused_part(message: str, param: str = "") -> str:
    """The part of a request that an error with status 400 or 422 complains of; "" if of another.

    Args:
        message: the error's text. param: the parameter that it names in a field of its own.
    """
    if (named := param.split(".")[0]) in SETTINGS:
        return named
    if not _NOT_TAKEN.search(message) or _VALUE.search(message):
        return ""
    if (match := _NAME.search(message)) is not None:
        return match[1]
    if _FORM.search(message):
        return "response_format"
    return "system" if _SYSTEM.search(message) else ""


def error_of(raw: bytes) -> tuple[str, str, str]:
    """Code, text and parameter of an error body, in OpenAI's shape or any other."""
    try:
        error: dict[str, Any] = orjson.loads(raw)["error"]
        code = str(error.get("code") or error.get("type") or "")
        param = error.get("param")
        text = str(error.get("message") or error)
        return code, text, param if isinstance(param, str) else ""
    except (ValueError, LookupError, TypeError, AttributeError):
        return "", raw.decode("utf-8", "replace"), ""
