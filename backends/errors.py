"""Errors between a judge and its model; the type says whether retrying can help."""

from __future__ import annotations

import re
from typing import Any

import orjson

from ..records.judgements import Reason

TOO_LONG = "prompt and reply are longer than the model's context"  # start of such a detail
NOT_AS_ASKED = "it was not in the form that was asked for"
CONTEXT = "context"  # the refused part if prompt and reply do not fit
MAX_RAW, MAX_DETAIL = 10_000, 1_000  # characters kept of a reply and of its fault


class JudgeError(Exception):
    """A model gave no judgement. The item ends as `Unjudged(reason)`, never as a score.

    Attributes:
        reason: why, as a code. detail: why, in words.
        raw: the reply, cut to MAX_RAW characters.
    """

    def __init__(self, reason: Reason, detail: str, raw: str = "") -> None:
        self.reason = reason
        self.detail = _cut(detail, MAX_DETAIL)
        self.raw = _cut(raw, MAX_RAW)
        super().__init__(f"{reason.value}: {self.detail}")


class JudgeOutputError(JudgeError):
    """The model replied, but without a judgement: truncated, unparseable, incomplete or refused.

    Attributes:
        complaint: the correction that is sent to the model; it never quotes the reply. None
            if retrying will not help.
    """

    def __init__(
        self, reason: Reason, detail: str, raw: str = "", *, complaint: str | None = NOT_AS_ASKED
    ) -> None:
        super().__init__(reason, detail, raw)
        self.complaint = complaint


class EndpointFailed(JudgeError):
    """The endpoint gave no reply.

    `hint`: what you can change; `detail` ends with it; "" if unknown. `refused`: see
    EndpointUnusable. `status`: HTTP status of the last reply; 0: there was none.
    """

    def __init__(
        self,
        reason: Reason,
        detail: str,
        raw: str = "",
        *,
        hint: str = "",
        refused: str = "",
        status: int = 0,
    ) -> None:
        super().__init__(reason, f"{detail}. {hint}" if hint else detail, raw)
        self.hint = hint
        self.refused = refused
        self.status = status


class TooLong(JudgeError):
    """A prompt and its reply do not fit the model's context."""


class EndpointLost(EndpointFailed):
    """No reply after all retries. Many in a row mean that the endpoint is down."""


class EndpointRefused(EndpointFailed):
    """The endpoint rejects the request, and perhaps every request of its kind."""


class EndpointError(Exception):
    """One request failed: a bad status, a broken connection, no answer.

    `retry_after_s`: the wait that the server asked for, if any. `reason`: how the judgement ends
    if retrying does not help. `billed`: if the request may be charged, the bytes of the reply
    that came; None: nothing is charged. `is_general`: other requests may fail in the same way;
    False if the length or content of this request is the cause. `hint` and `refused`: see
    EndpointFailed.
    """

    def __init__(
        self,
        detail: str,
        *,
        retryable: bool,
        status: int = 0,
        retry_after_s: float | None = None,
        reason: Reason = Reason.ERROR,
        billed: int | None = None,
        is_general: bool = True,
        hint: str = "",
        refused: str = "",
    ) -> None:
        super().__init__(detail)
        self.retryable = retryable
        self.status = status
        self.retry_after_s = retry_after_s
        self.reason = reason
        self.billed = billed
        self.is_general = is_general
        self.hint = hint
        self.refused = refused


class EndpointUnusable(Exception):
    """Every request to this endpoint will fail (wrong key, unknown model, rejected schema).

    Ends a run at once; finished judgements stay in the journal. `refused`: the part of a request
    that the endpoint rejects, by its name there; "" for other causes.
    """

    billed = None  # as in EndpointError

    def __init__(self, detail: str, *, refused: str = "") -> None:
        super().__init__(detail)
        self.refused = refused


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} [... cut: {len(text):,} characters]"


# The endpoint's name of a part of a request: what a config says instead.
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
# Longer names first: `max_tokens` occurs in many errors about `max_completion_tokens`.
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


def find_refused_part(message: str, param: str = "") -> str:
    """The part of a request that an error with status 400 or 422 rejects; "" for other causes.

    Args:
        message: the error's text. param: the error's field that names a parameter.
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


def read_error(raw: bytes) -> tuple[str, str, str]:
    """Code, text and parameter of an error body, in OpenAI's shape or any other."""
    try:
        error: dict[str, Any] = orjson.loads(raw)["error"]
        code = str(error.get("code") or error.get("type") or "")
        param = error.get("param")
        text = str(error.get("message") or error)
        return code, text, param if isinstance(param, str) else ""
    except (ValueError, LookupError, TypeError, AttributeError):
        return "", raw.decode("utf-8", "replace"), ""
