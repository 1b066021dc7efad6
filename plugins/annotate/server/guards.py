"""Guards that every request passes before the app reads or does anything.

Any page in a browser can send requests to 127.0.0.1, also through a host name of its own. So a
request must name our host, come from our own page, and have the cookie that our links give.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import PlainTextResponse

from .people import ENTER, People, Person

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

MAX_BYTES = 64 * 1024  # of a request's body
HEADER = "x-judge"  # names the person for whom the page was opened
NAMES = ("127.0.0.1", "localhost", "[::1]")
POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
)
HEADERS = {
    "content-security-policy": POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


class Refusal(NamedTuple):
    """The reason for a refusal: the status, and what the person can do."""

    status: int
    what: str


@dataclass(frozen=True)
class GuardedRequest:
    """A request as guards see it; `person` is the owner of its cookie, if any."""

    method: str
    path: str
    headers: Headers
    port: int
    person: Person | None

    @property
    def writes(self) -> bool:
        """Whether the request may change something: any method except GET and HEAD."""
        return self.method not in ("GET", "HEAD")


Guard = Callable[[GuardedRequest], Refusal | None]


def names_us(request: GuardedRequest) -> Refusal | None:
    """The Host is this machine with our port; other names that resolve to it are refused."""
    if request.headers.getlist("host") in [[f"{name}:{request.port}"] for name in NAMES]:
        return None
    return Refusal(421, f"wanted 127.0.0.1:{request.port} or localhost:{request.port} as the host")


def is_from_our_page(request: GuardedRequest) -> Refusal | None:
    """The Origin is our own; only a request that does not write may lack one."""
    origins = request.headers.getlist("origin")
    if origins == [f"http://{request.headers.get('host')}"] or (not origins and not request.writes):
        return None
    return Refusal(403, "wanted a request from the page of this server")


def is_same_site(request: GuardedRequest) -> Refusal | None:
    """The browser says that our page sent the request, or that a person opened the address."""
    sites = request.headers.getlist("sec-fetch-site")
    allowed = ["same-origin"] if request.writes else ["same-origin", "none"]
    if not sites or (len(sites) == 1 and sites[0] in allowed):
        return None
    return Refusal(403, "another page linked here: paste the link into the address bar")


def is_known(request: GuardedRequest) -> Refusal | None:
    """The request has the cookie that our link gave; the app checks the link itself."""
    if request.person is not None or request.path == ENTER:
        return None
    return Refusal(401, "open the link that `judge annotate` printed when it was last started")


def is_json(request: GuardedRequest) -> Refusal | None:
    """A request that writes is JSON, which no form can send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not request.writes or kind == "application/json":
        return None
    return Refusal(415, "wanted application/json")


def has_our_header(request: GuardedRequest) -> Refusal | None:
    """A request that writes has our header, which no other page can send without permission."""
    if not request.writes or request.headers.get(HEADER):
        return None
    return Refusal(403, f"wanted the header {HEADER}")


def is_of_this_person(request: GuardedRequest) -> Refusal | None:
    """The page belongs to the person of the cookie: two people may share a browser."""
    page_person = request.headers.get(HEADER)
    if not page_person or request.person is None or page_person == request.person.id:
        return None
    what = f"this page was opened for {page_person}; since then a link for {request.person.id}"
    return Refusal(
        409, f"{what} was opened in this browser. Use one browser profile for each person"
    )


def is_short(request: GuardedRequest) -> Refusal | None:
    """The declared length is at most MAX_BYTES; `Guarded` counts the bytes that arrive."""
    length = request.headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and int(length) <= MAX_BYTES:
        return None
    return Refusal(413, f"wanted at most {MAX_BYTES:,} bytes")


GUARDS: tuple[Guard, ...] = (
    names_us,
    is_from_our_page,
    is_same_site,
    is_known,
    has_our_header,
    is_of_this_person,
    is_json,
    is_short,
)


class Guarded:
    """An app behind guards, in order; all answers, also refusals, have HEADERS."""

    def __init__(
        self, app: ASGIApp, people: People, port: int, guards: Sequence[Guard] = GUARDS
    ) -> None:
        self.app, self.people, self.port, self.guards = app, people, port, guards

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] != "http":  # no websocket, and nothing that may come later
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name, value) for name, value in message["headers"] if name != b"server"]
                more = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message = {**message, "headers": [*own, *more]}
            await send(message)

        headers = Headers(scope=scope)
        person = self.people.of_cookies(headers.getlist("cookie"))
        request = GuardedRequest(scope["method"], scope["path"], headers, self.port, person)
        for guard in self.guards:
            if refusal := guard(request):
                answer = PlainTextResponse(f"{refusal.what}\n", refusal.status)
                return await answer(scope, receive, send_with_headers)
        scope["state"] = {"person": person}
        if is_short not in self.guards:
            return await self.app(scope, receive, send_with_headers)
        await self.app(scope, _limit_body(receive), send_with_headers)


def _limit_body(receive: Receive) -> Receive:
    """The body as it comes, which ends the request where it is longer than declared."""
    n = 0

    async def receive_counted() -> Message:
        nonlocal n
        message = await receive()
        n += len(message.get("body", b""))
        if n > MAX_BYTES:
            raise HTTPException(413, f"wanted at most {MAX_BYTES:,} bytes")
        return message

    return receive_counted
