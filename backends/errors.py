"""What can go wrong between a judge and its model; the type tells whether asking again can help."""

from __future__ import annotations

import re
from typing import Any

import orjson

from ..records.judgements import Reason

TOO_LONG = "prompt and reply are longer than the model's context"  # how such a detail begins
NOT_AS_ASKED = "it was not in the form that was asked for"
CONTEXT = "context"  # what is refused where a prompt and its reply do not fit
MAX_RAW, MAX_DETAIL = 10_000, 1_000  # characters kept of a reply and of what is wrong with it


class JudgeError(Exception):
    """A model gave no judgement. The item ends as `Unjudged(reason)`, never as a score.

    Attributes:
        reason: why. detail: the same in words.
        raw: the reply, cut to MAX_RAW characters.
    """

    def __init__(self, reason: Reason, detail: str, raw: str = "") -> None:
        self.reason = reason
        self.detail = _cut(detail, MAX_DETAIL)
        self.raw = _cut(raw, MAX_RAW)
        super().__init__(f"{reason.value}: {self.detail}")


class JudgeOutputError(JudgeError):
    """The model replied, but not with a judgement: truncated, unparseable, incomplete or refused.

    Attributes:
        complaint: what the model is told when it is asked again; it never quotes the reply. None
            if retrying will not help.
    """

    def __init__(
        self, reason: Reason, detail: str, raw: str = "", *, complaint: str | None = NOT_AS_ASKED
    ) -> None:
        super().__init__(reason, detail, raw)
        self.complaint = complaint


class EndpointFailed(JudgeError):
    """The endpoint gave no reply.

    `hint`: what a user may change, which `detail` ends with; "" if nobody can say. `refused`: see
    EndpointUnusable. `status`: of the last reply; 0: there was none.
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
    """The endpoint does not take the request, nor perhaps any other of its kind."""


class EndpointError(Exception):
    """One request failed on its way: a status, a broken connection, a silence.

    `retry_after_s`: what the server asked to wait, if it did. `reason`: how the judgement ends
    when asking again does not help. `billed`: of a request that may be paid for, the bytes of a
    reply that came; None: nothing is paid. `is_general`: others may fail in the same way; not so
    where it is the length or the content of this one. `hint`, `refused`: see EndpointFailed.
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
    """Every request to this endpoint will fail (wrong key, unknown model, schema not taken).

    Ends a run at once: what is finished stays in the journal. `refused`: the part of a request
    that it does not take, by its name there; "" if it is something else.
    """

    billed = None  # as that of EndpointError

    def __init__(self, detail: str, *, refused: str = "") -> None:
        super().__init__(detail)
        self.refused = refused


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]} [... cut: {len(text):,} characters]"


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


def find_refused_part(message: str, param: str = "") -> str:
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
