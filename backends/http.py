"""Requests to any OpenAI-compatible endpoint by aiohttp, over a few kept connections.

Proxy and certificates come from the environment.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import os
import ssl
import weakref
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from socket import inet_aton, inet_ntoa
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import orjson
from pydantic import SecretStr

from ..records.judgements import Reason
from .config import ModelConfig
from .errors import (
    CONTEXT,
    SETTINGS,
    TOO_LONG,
    EndpointError,
    EndpointUnusable,
    find_refused_part,
    read_error,
)
from .gateway import Completion
from .replies.logprobs import read_tokens
from .replies.text import THINK
from .secrecy import Secrets, check_keys, find_secrets

log = logging.getLogger("nuggetjudge")

CONNECT_S = 30.0
MAX_REPLY_BYTES = 2**20  # including log-probabilities; a longer reply is cut off
FAULTS = (aiohttp.ClientError, TimeoutError, OSError)  # errors that a request may meet


class Session:
    """Requests to one base URL, over as many kept connections as there are requests in flight.

    It reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` (or in lower case) when it is created;
    OpenSSL reads `SSL_CERT_FILE` and `SSL_CERT_DIR`. Redirects are not followed, cookies not
    kept. Requests to this machine never use a proxy.

    Args:
        base_url: http or https, without user, query and fragment.
        headers: sent with each request.
        timeout: of a request.

    Raises: EndpointUnusable if the kind of proxy is unknown.
    """

    def __init__(
        self, base_url: str, headers: dict[str, str], timeout: aiohttp.ClientTimeout
    ) -> None:
        self._base_url = base_url
        self._timeout = timeout
        self._defaults = headers
        self._options: dict[str, Any] = {"allow_redirects": False}
        proxy, for_proxy = find_proxy(base_url)
        if proxy is not None:
            # aiohttp shows a session's default headers, with the key, to the proxy.
            self._defaults = {}
            self._options |= {"proxy": proxy, "proxy_headers": for_proxy}
            if base_url.startswith("https:"):
                self._options["headers"] = headers
            else:  # without a tunnel, the proxy reads the request itself
                self._options["headers"] = headers | for_proxy
        self._open: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def request(
        self, method: str, path: str, **options: Any
    ) -> aiohttp.client._RequestContextManager:
        """Return a context manager that gives the response after its head. Raises: FAULTS."""
        session, loop = self._open, asyncio.get_running_loop()
        if session is None or session.closed or loop is not self._loop:
            session = self._open_session(loop)
        return session.request(method, self._base_url + path, **self._options, **options)

    async def aclose(self) -> None:
        """Close all connections; a request opens new ones."""
        if self._open is not None:
            await self._open.close()
            await asyncio.sleep(0)  # lets the transports close before the loop does

    def _open_session(self, loop: asyncio.AbstractEventLoop) -> aiohttp.ClientSession:
        is_tls = self._base_url.startswith("https:")
        # aiohttp creates its own context at import, from the variables of that moment.
        connector = aiohttp.TCPConnector(
            limit=0, ssl=ssl.create_default_context() if is_tls else True
        )
        self._loop = loop
        self._open = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=self._defaults,
            timeout=self._timeout,
        )
        # Without this, a judge that a user drops would leave its connections open.
        weakref.finalize(self, _let_go, self._open, loop).atexit = False
        return self._open


def find_proxy(url: str) -> tuple[str | None, dict[str, str]]:
    """Find the proxy that the environment sets for a URL, and the headers for the proxy.

    Returns: the proxy's URL, or None; and the headers.
    Raises: EndpointUnusable unless it is an HTTP proxy.
    """
    name, address = _proxy_variable(url)
    if not address:
        return None, {}
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    if proxy.scheme != "http" or not proxy.hostname:
        raise EndpointUnusable(f"{name} in the environment: only http:// proxies can be used")
    headers = {}
    if proxy.username is not None:
        credentials = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        headers["Proxy-Authorization"] = f"Basic {base64.b64encode(credentials.encode()).decode()}"
    return _without_user(address), headers


def is_this_machine(host: str) -> bool:
    """Whether a host is localhost or a loopback address (127.0.0.0/8, ::1)."""
    host = host.rstrip(".").lower()
    with suppress(OSError):  # for example 127.1
        host = inet_ntoa(inet_aton(host))
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def announce_proxy(config: ModelConfig) -> None:
    """Announce the proxy for a model's requests, once per proxy in this process."""
    url = get_url(config)
    name, address = _proxy_variable(url, is_litellm=config.uses_litellm)
    if not address:
        return
    host = urlsplit(url).netloc if config.base_url else config.model
    line = f"Requests to {host} go through the proxy {_without_user(address)} ({name})"
    if not url.startswith("https:"):
        line += ", which can read them and the key: api_base is not https"
    if line not in _announced:
        _announced.add(line)
        log.warning("%s", line)


_announced: set[str] = set()


def bypass_proxy(url: str) -> None:
    """Add a URL's host to `NO_PROXY` if it is this machine, so that libraries use no proxy for it.

    Args:
        url: of an endpoint that a library calls with the proxies of the environment.
    """
    host, proxies = urlsplit(url).hostname or "", getproxies()
    is_caught = proxies.keys() & {"http", "https", "all"} and not proxy_bypass(host)
    if is_caught and is_this_machine(host):
        hosts = ",".join(filter(None, (proxies.get("no"), host)))
        os.environ["NO_PROXY"] = os.environ["no_proxy"] = hosts


def get_url(config: ModelConfig) -> str:
    """The URL of the requests; if only LiteLLM knows the host, https and the provider's name."""
    return config.base_url or _LOCAL.get(config.provider) or f"https://{config.provider}"


_LOCAL = {
    "OLLAMA": "http://localhost:11434",
    "OLLAMA_CHAT": "http://localhost:11434",
    "LLAMAFILE": "http://127.0.0.1:8080",
}  # LiteLLM's addresses of providers on this machine


def _proxy_variable(url: str, *, is_litellm: bool = False) -> tuple[str, str]:
    """The variable with the proxy for a URL, and its value; both "" if no proxy is used."""
    target, proxies = urlsplit(url), getproxies()
    if is_this_machine(target.hostname or "") or proxy_bypass(target.netloc):
        return "", ""
    for scheme in (target.scheme, *(["all"] if is_litellm else [])):
        if address := proxies.get(scheme):
            return f"{scheme.upper()}_PROXY", address
    return "", ""


def _without_user(address: str) -> str:
    """The address of a proxy without user and password."""
    proxy = urlsplit(address if "://" in address else f"http://{address}")
    return f"{proxy.scheme}://{proxy.netloc.rpartition('@')[2]}"


def _let_go(session: aiohttp.ClientSession, loop: asyncio.AbstractEventLoop) -> None:
    """Close it on its own loop, whatever thread the garbage collector runs in."""
    if not session.closed and loop.is_running():
        asyncio.run_coroutine_threadsafe(session.close(), loop)


BUSY = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
_UNSENT = (
    aiohttp.ClientConnectorError,
    aiohttp.ClientHttpProxyError,
    aiohttp.ConnectionTimeoutError,
)
PATH = "/chat/completions"
_FILTERED = ("content_filter", "content_policy_violation")
MAX_TOKENS = 10**8  # of one reply: ten times the longest context; more is implausible


class HttpTransport:
    """POSTs to `{api_base}/chat/completions`. Only Session reads the environment.

    The key is sent in one header only. Error texts that quote it show a blank, unless the key is
    shorter than `secrecy.SHORTEST`. Replies are read unchanged.
    """

    def __init__(self, config: ModelConfig) -> None:
        self._config = config
        self._secrets = find_secrets(config)
        headers = {"Content-Type": "application/json", **make_headers(config)}
        timeout_s = min(config.timeout_s, config.deadline_s)
        timeout = aiohttp.ClientTimeout(total=timeout_s, connect=min(CONNECT_S, timeout_s))
        self._session = Session(str(config.base_url), headers, timeout)

    async def send(self, body: bytes) -> Completion:
        """Send one request. Raises: EndpointError, EndpointUnusable."""
        try:
            response = await self._session.request("POST", PATH, data=body)
            try:
                raw, is_whole = await read_start(response, MAX_REPLY_BYTES)
            finally:
                response.release()
        except TimeoutError as error:
            raise self._too_late(_count_billed(error)) from None
        except FAULTS as error:
            raise make_connection_error(error, self._secrets) from None
        if response.status != 200:
            retry_after = response.headers.get("Retry-After")
            raise read_failure(self._config, self._secrets, response.status, raw, retry_after)
        if not is_whole:
            raise report_cut(len(raw))
        return read_completion(raw, self._secrets)

    def _too_late(self, billed: int | None) -> EndpointError:
        detail = f"no reply within {self._config.timeout_s:g} s"
        hint = "Check the model's api_base, and raise the model's timeout_s"
        return EndpointError(detail, retryable=True, billed=billed, hint=hint)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._session.aclose()


async def read_start(response: aiohttp.ClientResponse, most: int) -> tuple[bytes, bool]:
    """Read the first `most` bytes of a reply, and whether that is all; the rest is not read.

    A body that a proxy compressed is unpacked.
    """
    content, raw = response.content, bytearray()
    while not content.at_eof():
        raw += await content.readany()
        if len(raw) > most:
            return bytes(raw[:most]), False
    return bytes(raw), True


def report_cut(n_bytes: int) -> EndpointError:
    """An error for a reply that is too long: `n_bytes` of it came. It is not requested again."""
    detail = f"a reply of more than {MAX_REPLY_BYTES:,} bytes was cut off"
    why = Reason.TRUNCATED
    return EndpointError(detail, retryable=False, reason=why, billed=n_bytes, is_general=False)


def check_size(completion: Completion) -> Completion:
    """Check a reply that a library read as a whole. Raises: EndpointError if it is too long."""
    n_bytes = len(completion.text.encode("utf-8", "replace"))
    if n_bytes > MAX_REPLY_BYTES:
        raise report_cut(n_bytes)
    return completion


def make_connection_error(error: Exception, secrets: Secrets) -> EndpointError:
    """Explain one of FAULTS: the reply is missing or incomplete."""
    what = str(error).replace(" ssl:default", "")  # which aiohttp says of http, too
    detail = secrets.blank(f"{type(error).__name__}: {what}")
    if isinstance(error, aiohttp.ClientHttpProxyError):
        retryable, hint = error.status in BUSY, "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
        return EndpointError(detail, retryable=retryable, status=error.status, hint=hint)
    hint = "Check the model's api_base, and whether the server runs"
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        hint = "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY: the proxy did not answer"
    elif isinstance(error, aiohttp.ClientConnectorDNSError):
        hint = "Check the model's api_base: its host is unknown"
    elif isinstance(error, aiohttp.ClientSSLError):
        hint = "Check the model's api_base (http or https) and SSL_CERT_FILE"
    return EndpointError(detail, retryable=True, billed=_count_billed(error), hint=hint)


def _count_billed(error: Exception) -> int | None:
    """See EndpointError. A request that found no connection was never sent."""
    return None if isinstance(error, _UNSENT) else 0


def make_headers(config: ModelConfig) -> dict[str, str]:
    """Headers of every request to an endpoint. Raises: EndpointUnusable if its key is not set."""
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


def read_failure(
    config: ModelConfig, secrets: Secrets, status: int, raw: bytes, retry_after: str | None = None
) -> EndpointError | EndpointUnusable:
    """Explain a status other than 200: does it concern this request, or all requests?"""
    code, text, param = read_error(raw)
    text = secrets.blank(text)
    excerpt = text[:300]
    where = f"HTTP {status} from {config.endpoint_id}: {excerpt}"
    if config.logprobs and status in (400, 403, 422) and "logprobs" in excerpt:
        refused = "top_logprobs" if "top_logprobs" in (param or excerpt) else "logprobs"
        return EndpointUnusable(f"{where}\nSet {SETTINGS[refused]}", refused=refused)
    if status in (401, 402, 403) or code == "insufficient_quota":
        return EndpointUnusable(
            f"{where}\nCheck the key, in the variable that the model's api_key_env names"
        )
    if status == 404 or 300 <= status < 400:
        return EndpointUnusable(f"{where}\nCheck the model's name and the model's api_base")
    if status in (400, 422) and "response_format" in excerpt:
        refused = "response_format"
        hint = f"Set {SETTINGS[refused]}; `judge doctor` shows which"
        return EndpointUnusable(f"{where}\n{hint}", refused=refused)
    if status in (400, 413, 422) and is_too_long(code, text):
        return report_too_long(where, status)
    if status == 400 and code in _FILTERED:
        why = Reason.REFUSED
        return EndpointError(where, retryable=False, status=status, reason=why, is_general=False)
    refused = find_refused_part(excerpt, param) if status in (400, 422) else ""
    return EndpointError(
        where,
        retryable=status in BUSY,
        status=status,
        retry_after_s=read_seconds(retry_after),
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
        return "The fault is in the endpoint: its log may say why"
    return "Run `judge doctor` to see what the endpoint rejects"


def read_completion(raw: bytes, secrets: Secrets) -> Completion:
    """Read an unchanged reply. Raises: EndpointError if it is not a chat completion."""
    try:
        reply = parse_reply(raw)
        choice = reply["choices"][0]
        message = choice["message"]
        usage = reply.get("usage") or {}
        details = usage.get("prompt_tokens_details") or {}
        return Completion(
            _text(message.get("content")) or _thoughts(message),
            _text(choice.get("finish_reason")),
            _text(message.get("refusal")),
            _text(reply.get("model")),
            read_count(usage.get("prompt_tokens")),
            read_count(details.get("cached_tokens")),
            read_count(usage.get("completion_tokens")),
            read_tokens(logprobs) if (logprobs := choice.get("logprobs")) else (),
        )
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        start = secrets.blank(raw.decode("utf-8", "replace"))[:80]
        detail = f"not a chat completion: {start!r}"
        hint = "Check the model's api_base, which usually ends in /v1"
        raise EndpointError(detail, retryable=True, billed=0, hint=hint) from None


def _thoughts(message: dict[str, Any]) -> str:
    """The thoughts of a model that wrote nothing else: not a reply, but they show the cause."""
    for name in ("reasoning_content", "reasoning"):
        if isinstance(text := message.get(name), str) and text.strip():
            return f"{THINK}{text}"
    return ""


def parse_reply(raw: bytes) -> dict[str, Any]:
    """Parse a reply's JSON, even if it holds -Infinity or half a surrogate pair."""
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


def read_count(value: Any) -> int:
    """Read a token count that an endpoint reports; 0 (unknown) for an implausible count."""
    return value if type(value) is int and 0 < value <= MAX_TOKENS else 0


def _header(key: SecretStr, config: ModelConfig) -> str:
    value = key.get_secret_value()
    if not (value.isascii() and value.isprintable()):
        raise EndpointUnusable(
            f"model {config.model!r}: its key holds a character that is not allowed in a header"
        )
    return value


def report_too_long(detail: str, status: int = 0) -> EndpointError:
    """An error for a request whose prompt and reply do not fit the model's context."""
    return EndpointError(
        f"{TOO_LONG}: {detail}", retryable=False, status=status, is_general=False, refused=CONTEXT
    )


def is_too_long(code: str, text: str) -> bool:
    """Whether an error says that prompt and reply do not fit the model's context."""
    return code == "context_length_exceeded" or "maximum context length" in text


def read_seconds(retry_after: str | None) -> float | None:
    """Retry-After in seconds from now: a number or an HTTP date (RFC 9110, 10.2.3)."""
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
