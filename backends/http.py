"""The light path: any OpenAI-compatible endpoint, over a few kept connections."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import orjson
from pydantic import SecretStr

from ..records.judgements import Reason
from .config import ModelConfig
from .errors import CONTEXT, TOO_LONG, EndpointError, EndpointUnusable
from .gateway import Completion
from .logprobs import read_tokens
from .replies.objects import THINK
from .replies.refused import SETTINGS, error_of, refused_part
from .secrecy import Secrets, check_keys, secrets_of
from .sessions import CONNECT_S, FAULTS, Deadline, Session

BUSY = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
_UNSENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
)
PATH = "/chat/completions"
_FILTERED = ("content_filter", "content_policy_violation")
MOST_TOKENS = 10**8  # of one reply, ten times the longest context sold; more is no count


class HttpTransport:
    """POSTs to `{api_base}/chat/completions`; what a Session takes from the environment, no more.

    The key goes into one header and nowhere else; it is blanked in error texts that quote it,
    unless it is shorter than `secrecy.SHORTEST`. Replies are read as they came.
    """

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._secrets = secrets_of(config)
        headers = {"Content-Type": "application/json", **headers_of(config)}
        timeout_s = min(config.timeout_s, config.deadline_s)
        self._deadline = Deadline(timeout_s)
        timeout = aiohttp.ClientTimeout(total=None, connect=min(CONNECT_S, timeout_s))
        self._session = Session(str(config.base_url), headers, timeout)

    async def send(self, body: bytes) -> Completion:
        """One request. Raises: EndpointError, EndpointUnusable."""
        task, is_late = self._deadline.begin(), False
        try:
            try:
                response = await self._session.request("POST", PATH, data=body)
                try:
                    raw, is_whole = await start_of(response, self._config.max_reply_bytes)
                finally:
                    response.release()
            finally:
                is_late = self._deadline.end(task)
        except asyncio.CancelledError:
            if is_late:
                raise self._too_late(0) from None
            raise
        except TimeoutError as error:
            raise self._too_late(_billed(error)) from None
        except FAULTS as error:
            raise lost(error, self._secrets) from None
        if response.status != 200:
            retry_after = response.headers.get("Retry-After")
            raise failure_of(self._config, self._secrets, response.status, raw, retry_after)
        if not is_whole:
            raise cut_off(self._config, len(raw))
        return read_completion(raw, self._secrets)

    def _too_late(self, billed: int | None) -> EndpointError:
        detail = f"no reply within {self._config.timeout_s:g} s"
        hint = "Check the model's api_base, and raise the model's timeout_s"
        return EndpointError(detail, retryable=True, billed=billed, hint=hint)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.aclose()


async def start_of(response: aiohttp.ClientResponse, most: int) -> tuple[bytes, bool]:
    """The first `most` bytes of a reply, and whether that is all; the rest is not read.

    Unpacked, where a proxy packed it unasked.
    """
    content, raw = response.content, bytearray()
    while not content.at_eof():
        raw += await content.readany()
        if len(raw) > most:
            return bytes(raw[:most]), False
    return bytes(raw), True


def cut_off(config: ModelConfig, n_bytes: int) -> EndpointError:
    """Of a reply that is longer than allowed, `n_bytes` of which came; it is not asked again."""
    most = f"{config.max_reply_bytes:,} bytes (the model's max_reply_bytes)"
    detail = f"a reply of more than {most} was cut off"
    why = Reason.TRUNCATED
    return EndpointError(detail, retryable=False, reason=why, billed=n_bytes, is_general=False)


def within(config: ModelConfig, completion: Completion) -> Completion:
    """The same reply, which a library gives when all of it is there. Raises: EndpointError."""
    n_bytes = len(completion.text.encode("utf-8", "replace"))
    if n_bytes > config.max_reply_bytes:
        raise cut_off(config, n_bytes)
    return completion


def lost(error: Exception, secrets: Secrets) -> EndpointError:
    """One of FAULTS: no reply came, or no whole one."""
    detail = secrets.blank(f"{type(error).__name__}: {error}")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        retryable, hint = error.status in BUSY, "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
        return EndpointError(detail, retryable=retryable, status=error.status, hint=hint)
    hint = "Check the model's api_base, and that the server runs"
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        hint = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY: the proxy does not answer"
    elif isinstance(error, aiohttp.ClientConnectorDNSError):
        hint = "Check the model's api_base: nobody knows its host"
    elif isinstance(error, aiohttp.ClientSSLError):
        hint = "Check the model's api_base (http or https) and SSL_CERT_FILE"
    return EndpointError(detail, retryable=True, billed=_billed(error), hint=hint)


def _billed(error: Exception) -> int | None:
    """See EndpointError: a request that found no connection was never sent."""
    return None if isinstance(error, _UNSENT) else 0


def headers_of(config: ModelConfig) -> dict[str, str]:
    """What every request to an endpoint carries. Raises: EndpointUnusable if its key is not set."""
    check_keys([config])
    key = config.api_key()
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "User-Agent": "nuggetjudge",
    }
    if key:
        headers["Authorization"] = f"Bearer {_header(key, config)}"
    return headers


def failure_of(
    config: ModelConfig, secrets: Secrets, status: int, raw: bytes, retry_after: str | None = None
) -> EndpointError | EndpointUnusable:
    """What a status other than 200 means: for this request, or for all of them."""
    code, text, param = error_of(raw)
    text = secrets.blank(text)
    excerpt = text[:300]
    where = f"HTTP {status} from {config.endpoint_id}: {excerpt}"
    if config.logprobs and status in (400, 403, 422) and "logprobs" in excerpt:
        refused = "top_logprobs" if "top_logprobs" in (param or excerpt) else "logprobs"
        return EndpointUnusable(f"{where}\nSet {SETTINGS[refused]}", refused=refused)
    if status in (401, 402, 403) or code == "insufficient_quota":
        return EndpointUnusable(
            f"{where}\nCheck the key: the model's api_key_env names its variable"
        )
    if status == 404 or 300 <= status < 400:
        return EndpointUnusable(f"{where}\nCheck the model's name and the model's api_base")
    if status in (400, 422) and "response_format" in excerpt:
        refused = "response_format"
        hint = f"Set {SETTINGS[refused]}; `judge doctor` tells which"
        return EndpointUnusable(f"{where}\n{hint}", refused=refused)
    if status in (400, 413, 422) and is_too_long(code, text):
        return too_long(where, status)
    if status == 400 and code in _FILTERED:
        why = Reason.REFUSED
        return EndpointError(where, retryable=False, status=status, reason=why, is_general=False)
    refused = refused_part(excerpt, param) if status in (400, 422) else ""
    return EndpointError(
        where,
        retryable=status in BUSY,
        status=status,
        retry_after_s=seconds_of(retry_after),
        hint=_hint(status, refused),
        refused=refused,
    )


def _hint(status: int, refused: str) -> str:
    if refused:
        return f"Set {SETTINGS[refused]}; `judge doctor` prints the lines"
    if status == 429:
        allowed = "the model's concurrency, the model's rpm or the model's tpm"
        return f"Lower {allowed} to what the endpoint allows"
    if status >= 500:
        return "The endpoint fails by itself: its own log may tell why"
    return "`judge doctor` tells what the endpoint does not take"


def read_completion(raw: bytes, secrets: Secrets) -> Completion:
    """A reply as it came. Raises: EndpointError if it is no chat completion."""
    try:
        reply = loaded(raw)
        choice = reply["choices"][0]
        message = choice["message"]
        usage = reply.get("usage") or {}
        details = usage.get("prompt_tokens_details") or {}
        return Completion(
            _text(message.get("content")) or _thoughts(message),
            _text(choice.get("finish_reason")),
            _text(message.get("refusal")),
            _text(reply.get("model")),
            count_of(usage.get("prompt_tokens")),
            count_of(details.get("cached_tokens")),
            count_of(usage.get("completion_tokens")),
            read_tokens(logprobs) if (logprobs := choice.get("logprobs")) else (),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        start = secrets.blank(raw.decode("utf-8", "replace"))[:80]
        detail = f"not a chat completion: {start!r}"
        hint = "Check the model's api_base, which ends in /v1 as a rule"
        raise EndpointError(detail, retryable=True, billed=0, hint=hint) from None


def _thoughts(message: dict[str, Any]) -> str:
    """What a model thought that said nothing else: no reply, but it shows why there is none."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(text := message.get(name), str) and text.strip():
            return f"{THINK}{text}"
    return ""


def loaded(raw: bytes) -> dict[str, Any]:
    """The reply's JSON, also where log-probabilities hold -Infinity or half a surrogate pair."""
    try:
        return orjson.loads(raw)  # type: ignore[no-any-return]
    except ValueError:
        if b'"logprobs"' not in raw:
            raise
        lenient = json.loads(raw, parse_constant=lambda _: None)
        text = json.dumps(lenient, ensure_ascii=False)
        return orjson.loads(text.encode("utf-8", "replace"))  # type: ignore[no-any-return]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise TypeError
    return value


def count_of(value: Any) -> int:
    """A number of tokens as an endpoint tells it; 0, not known, for what is no plausible count."""
    return value if type(value) is int and 0 < value <= MOST_TOKENS else 0


def _header(key: SecretStr, config: ModelConfig) -> str:
    value = key.get_secret_value()
    if not (value.isascii() and value.isprintable()):
        raise EndpointUnusable(
            f"model {config.model!r}: its key holds a character that no header can carry"
        )
    return value


def too_long(detail: str, status: int = 0) -> EndpointError:
    """Of a request whose prompt and reply do not fit the model's context."""
    return EndpointError(
        f"{TOO_LONG}: {detail}", retryable=False, status=status, is_general=False, refused=CONTEXT
    )


def is_too_long(code: str, text: str) -> bool:
    """Whether an error says that prompt and reply do not fit the model's context."""
    return code == "context_length_exceeded" or "maximum context length" in text


def seconds_of(retry_after: str | None) -> float | None:
    """Retry-After as seconds from now: a number or an HTTP date (RFC 9110, 10.2.3)."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(retry_after)
    except (ValueError, TypeError, OverflowError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
