"""The light path: any OpenAI-compatible endpoint over one aiohttp session."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp
import orjson
import yarl

from .config import ModelConfig
from .errors import EndpointError, EndpointUnusable
from .gateway import Completion

_BUSY = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})


class HttpTransport:
    """POSTs to `{api_base}/chat/completions`. Ignores proxies, `.env` and every ambient setting.

    The key goes into one header and nowhere else; error texts that quote it are blanked.
    """

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._url = yarl.URL(f"{config.base_url}/chat/completions")
        try:
            key = config.api_key()
        except KeyError as missing:
            raise EndpointUnusable(
                f"model {config.model!r}: environment variable {missing.args[0]} is not set"
            ) from None
        self._secret = key.get_secret_value() if key else ""
        self._headers = {"Content-Type": "application/json"}
        if self._secret:
            self._headers["Authorization"] = f"Bearer {self._secret}"
        self._session: aiohttp.ClientSession | None = None

    async def send(self, body: bytes) -> Completion:
        """One request. Raises: EndpointError, EndpointUnusable."""
        session = self._session or self._open()
        try:
            async with session.post(self._url, data=body, allow_redirects=False) as response:
                raw = await response.read()
                if response.status != 200:
                    raise self._failure(response.status, raw, response.headers.get("Retry-After"))
        except TimeoutError:
            detail = f"no reply within {self._config.timeout_s:g} s"
            raise EndpointError(detail, retryable=True) from None
        except aiohttp.ClientError as error:
            detail = f"{type(error).__name__}: {self._clean(str(error))}"
            raise EndpointError(detail, retryable=True) from None
        return _completion(raw)

    async def aclose(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self._session = None
            await asyncio.sleep(0)  # lets the transports close before the loop does

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=self._config.timeout_s),
            connector=aiohttp.TCPConnector(limit=0),  # the limiter counts what is in flight
            trust_env=False,
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self._session

    def _failure(
        self, status: int, raw: bytes, retry_after: str | None
    ) -> EndpointError | EndpointUnusable:
        code, text = _error_of(raw)
        said = self._clean(text)[:300]
        where = f"HTTP {status} from {self._config.endpoint_id}: {said}"
        if status in (401, 402, 403) or code == "insufficient_quota":
            return EndpointUnusable(
                f"{where}\nCheck the key: models.*.api_key_env names its variable"
            )
        if status == 404 or 300 <= status < 400:
            return EndpointUnusable(f"{where}\nCheck models.*.model and models.*.api_base")
        if status in (400, 422) and "response_format" in said:
            hint = "Set models.*.schema to json_object or none; `judge doctor` tells which"
            return EndpointUnusable(f"{where}\n{hint}")
        return EndpointError(
            where, retryable=status in _BUSY, status=status, retry_after_s=_seconds(retry_after)
        )

    def _clean(self, text: str) -> str:
        return text.replace(self._secret, "***") if self._secret else text


def _completion(raw: bytes) -> Completion:
    try:
        reply: dict[str, Any] = orjson.loads(raw)
        choice = reply["choices"][0]
        message = choice["message"]
        usage = reply.get("usage") or {}
        details = usage.get("prompt_tokens_details") or {}
        return Completion(
            message.get("content") or "",
            choice.get("finish_reason") or "",
            message.get("refusal") or "",
            reply.get("model") or "",
            usage.get("prompt_tokens") or 0,
            details.get("cached_tokens") or 0,
            usage.get("completion_tokens") or 0,
        )
    except (ValueError, LookupError, TypeError, AttributeError):
        start = raw[:80].decode("utf-8", "replace")
        raise EndpointError(f"not a chat completion: {start!r}", retryable=True) from None


def _error_of(raw: bytes) -> tuple[str, str]:
    """The error's code and text, in OpenAI's shape or any other."""
    try:
        error = orjson.loads(raw)["error"]
        return str(error.get("code") or ""), str(error.get("message") or error)
    except (ValueError, LookupError, TypeError, AttributeError):
        return "", raw.decode("utf-8", "replace")


def _seconds(retry_after: str | None) -> float | None:
    """Retry-After as seconds from now: a number or an HTTP date (RFC 9110, 10.2.3)."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        when = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
