"""Requests to one endpoint, by aiohttp, with the proxy and certificates of the environment."""

from __future__ import annotations

import asyncio
import base64
import logging
import os
import ssl
import weakref
from contextlib import suppress
from ipaddress import ip_address
from socket import inet_aton, inet_ntoa
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp

from .config import ModelConfig
from .errors import EndpointUnusable

log = logging.getLogger("nuggetjudge")

CONNECT_S = 30.0
FAULTS = (aiohttp.ClientError, TimeoutError, OSError)  # what a request may meet on its way


class Deadline:
    """Ends requests that take too long, by one timer for all that are under way.

    A timer of its own for each is a tenth of what a request costs, and hardly one is ever needed.

    Args:
        seconds: for each, from `begin` to `end`.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._due: dict[asyncio.Task[Any], float] = {}  # of loop.time(), the next first
        self._late: set[asyncio.Task[Any]] = set()
        self._timer: asyncio.TimerHandle | None = None

    def begin(self) -> asyncio.Task[Any]:
        """The task that runs begins a request; each has one at a time."""
        task = asyncio.current_task()
        assert task is not None
        loop = task.get_loop()
        self._due[task] = loop.time() + self._seconds
        if self._timer is None:
            self._timer = loop.call_later(self._seconds, self._end_late, loop)
        return task

    def end(self, task: asyncio.Task[Any]) -> bool:
        """The request has ended; whether that was because its time was up, and nothing else."""
        self._due.pop(task, None)
        if not self._due and self._timer is not None:
            self._timer.cancel()  # the next one may run on another loop
            self._timer = None
        if task not in self._late:
            return False
        self._late.remove(task)
        return task.uncancel() == 0

    def _end_late(self, loop: asyncio.AbstractEventLoop) -> None:
        now, self._timer = loop.time(), None
        for task, due in [*self._due.items()]:
            if due > now:
                self._timer = loop.call_at(due, self._end_late, loop)
                return
            del self._due[task]
            self._late.add(task)
            task.cancel()


class Session:
    """Requests to one base URL, over as many kept connections as requests are under way.

    Of the environment it takes `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` (or in small letters),
    read when it is made, and `SSL_CERT_FILE` and `SSL_CERT_DIR`, which OpenSSL reads. Redirects
    are not followed, cookies not kept. No proxy gets what is for this machine.

    Args:
        base_url: http or https, without user, query and fragment.
        headers: sent with each request.
        timeout: of a request.

    Raises: EndpointUnusable if the proxy is of a kind that is not known.
    """

    def __init__(
        self, base_url: str, headers: dict[str, str], timeout: aiohttp.ClientTimeout
    ) -> None:
        self._base_url = base_url
        self._timeout = timeout
        self._defaults = headers
        self._options: dict[str, Any] = {"allow_redirects": False}
        proxy, for_proxy = proxy_of(base_url)
        if proxy is not None:
            # aiohttp shows a session's default headers to the proxy, the key among them.
            self._defaults = {}
            self._options |= {"proxy": proxy, "proxy_headers": for_proxy}
            if base_url.startswith("https:"):
                self._options["headers"] = headers
            else:  # there is no tunnel: the proxy reads the request itself
                self._options["headers"] = headers | for_proxy
        self._open: aiohttp.ClientSession | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def request(
        self, method: str, path: str, **options: Any
    ) -> aiohttp.client._RequestContextManager:
        """A context manager with the response, once its head is there. Raises: FAULTS."""
        session, loop = self._open, asyncio.get_running_loop()
        if session is None or session.closed or loop is not self._loop:
            session = self._opened(loop)
        return session.request(method, self._base_url + path, **self._options, **options)

    async def aclose(self) -> None:
        """Close all connections; a request opens new ones."""
        if self._open is not None:
            await self._open.close()
            await asyncio.sleep(0)  # lets the transports close before the loop does

    def _opened(self, loop: asyncio.AbstractEventLoop) -> aiohttp.ClientSession:
        is_tls = self._base_url.startswith("https:")
        # aiohttp's own context is made when it is imported, and keeps to the variables of then.
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
        # A judge that a user simply drops would leave its connections open.
        weakref.finalize(self, _let_go, self._open, loop).atexit = False
        return self._open


def proxy_of(url: str) -> tuple[str | None, dict[str, str]]:
    """The proxy that the environment names for a URL, or None, and what to say to it.

    Raises: EndpointUnusable if it is no HTTP proxy.
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
    """Whether a host is localhost, or an address of the loopback (127.0.0.0/8, ::1)."""
    host = host.rstrip(".").lower()
    with suppress(OSError):  # as 127.1
        host = inet_ntoa(inet_aton(host))
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return address.is_loopback or address.is_unspecified


def announce_proxy(config: ModelConfig) -> None:
    """Say which proxy gets the requests of a model, once for each in this process."""
    url = url_of(config)
    name, address = _proxy_variable(url, is_litellm=config.way == "litellm")
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


def spare_this_machine(url: str) -> None:
    """Have libraries send nothing that is for this machine to a proxy: its host joins `NO_PROXY`.

    Args:
        url: of an endpoint that a library asks, which takes proxies of the environment.
    """
    host, proxies = urlsplit(url).hostname or "", getproxies()
    is_caught = proxies.keys() & {"http", "https", "all"} and not proxy_bypass(host)
    if is_caught and is_this_machine(host):
        hosts = ",".join(filter(None, (proxies.get("no"), host)))
        os.environ["NO_PROXY"] = os.environ["no_proxy"] = hosts


def url_of(config: ModelConfig) -> str:
    """Where requests go; of a provider whose host LiteLLM alone knows, https and its name."""
    return config.base_url or _LOCAL.get(config.provider) or f"https://{config.provider}"


_LOCAL = {
    "OLLAMA": "http://localhost:11434",
    "OLLAMA_CHAT": "http://localhost:11434",
    "LLAMAFILE": "http://127.0.0.1:8080",
}  # where LiteLLM asks providers that are servers of this machine


def _proxy_variable(url: str, *, is_litellm: bool = False) -> tuple[str, str]:
    """The variable that names the proxy for a URL, and what it says; "" where none is used."""
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
    """Close it on the loop that it lives on, whatever thread the collector runs in."""
    if not session.closed and loop.is_running():
        asyncio.run_coroutine_threadsafe(session.close(), loop)
