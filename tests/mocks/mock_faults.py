"""What goes wrong with a request to the mock server: each fault is one thing, once."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from mock_api import Denied
from mock_replies import Body, Reply, as_json, label_sets

NO_CHAT = {"status": "ok"}


@dataclass(frozen=True, repr=False)
class Fault:
    """What of a response is another than it would be.

    Attributes:
        spoil: makes another message of the brain's. change: another completion around it.
        body: sent instead of a completion, before anything is looked at. None: there is one.
        parts: gets the body and gives what is written after each other in place of a response,
            bytes or seconds of silence, before the connection ends. is_reset: by a reset.
        wait_s: before the reply.
    """

    name: str
    spoil: Callable[[Reply, Body], Reply] = lambda reply, body: reply
    change: Callable[[Body], Any] = lambda made: made
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    parts: Callable[[bytes], Iterable[bytes | float]] | None = None
    is_reset: bool = False
    wait_s: float = 0.0

    def __repr__(self) -> str:
        return self.name


Faults = Iterable[Fault | None] | Callable[[int, Body], Fault | None] | None


# --- instead of a completion


def Status(code: int, retry_after: str | None = None, body: Any = None, **headers: str) -> Fault:
    """An error. `retry_after`: seconds or an HTTP date. `body`: a text, or JSON; None: OpenAI's."""
    known = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
    if body is None:
        body = Denied(code, f"The request failed with {code}.", code=known.get(code)).body
    if retry_after is not None:
        headers["Retry-After"] = retry_after
    sent = body if isinstance(body, str) else json.dumps(body)
    return Fault(f"{code}", status=code, headers=headers, body=sent.encode())


def HtmlBody(html: str = "<!doctype html><h1>Please sign in</h1>", code: int = 200) -> Fault:
    """A proxy's page."""
    return Status(code, body=html, **{"Content-Type": "text/html"})


def NotChatShape(body: Any = NO_CHAT) -> Fault:
    """Status 200 and JSON that is no chat completion."""
    return Fault(f"shape {body!r:.60}", body=json.dumps(body).encode())


# --- on the wire


def Cut(in_body: bool = False) -> Fault:
    """The connection is closed before the reply, or in the middle of its body."""

    def half(body: bytes) -> Iterable[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        yield b"Content-Length: %d\r\n\r\n" % len(body) + body[: len(body) // 2]

    return Fault(f"cut, in body: {in_body}", parts=half if in_body else lambda body: [])


def Hang(seconds: float) -> Fault:
    """Nothing for so many seconds, then the normal reply."""
    return Fault("hang", wait_s=seconds)


# --- in the message


def Says(content: str | None = "", finish_reason: str = "stop") -> Fault:
    """Whatever the brain would have said, this is the content: nothing, white space, null."""
    return Fault(f"says {content!r:.60}", lambda reply, body: Reply(content, finish_reason))


def Refusal(text: str = "I cannot help with that.") -> Fault:
    """The model declines: content null, `refusal` set, finish_reason stop."""
    return Fault("refusal", lambda reply, body: Reply(None, refusal=text))


def Respelt(name: str, change: Callable[[str], str], finish: str = "stop") -> Fault:
    """The content changed as a text: single quotes, a trailing comma, numbers as strings."""
    return Fault(
        name,
        lambda reply, _: replace(reply, content=change(reply.content or ""), finish_reason=finish),
    )


def Written(template: str) -> Fault:
    """The right JSON as some models write it: it stands in the place of `@`."""
    return Respelt(f"written {template!r}", lambda text: template.replace("@", text))


def Reshaped(name: str, change: Callable[[Any], Any]) -> Fault:
    """The first inner map or list of the content changed, or the whole where there is none."""

    def changed(text: str) -> str:
        outer = json.loads(text)
        for key, part in outer.items():
            if isinstance(part, dict | list) and part:
                return as_json(outer | {key: change(part)})
        return as_json(change(outer))

    return Respelt(name, changed)


def Relabelled(name: str, spell: Callable[[str], str]) -> Fault:
    """Each label spelt otherwise."""

    def how(reply: Reply, body: Body) -> Reply:
        offered = {label for labels in label_sets(body) for label in labels}

        def walk(part: Any) -> Any:
            if isinstance(part, dict):
                return {key: walk(value) for key, value in part.items()}
            if isinstance(part, list):
                return [walk(value) for value in part]
            is_label = isinstance(part, str) and (part in offered or not offered)
            return spell(part) if is_label else part

        return replace(reply, content=as_json(walk(json.loads(reply.content or "null"))))

    return Fault(name, how)


def OtherSpelling(style: Literal["title", "upper"] = "title") -> Fault:
    """Labels as people write them: `Partial Support` (title) or `PARTIAL_SUPPORT` (upper)."""
    return Relabelled(
        style, lambda label: label.upper() if style == "upper" else label.replace("_", " ").title()
    )


def OtherLabel(label: str = "undecided") -> Fault:
    """Every label is one that was not offered."""
    return Relabelled("other label", lambda _: label)


def ExtraKey(key: str = "unasked") -> Fault:
    """One key (or list item) more than asked for, with the value of the last one."""
    return Reshaped(
        "extra key", lambda p: p | {key: [*p.values()][-1]} if isinstance(p, dict) else [*p, p[-1]]
    )


EmptyContent = Says
ContentFilter = partial(Says, finish_reason="content_filter")
Truncated = partial(Respelt, "truncated", lambda text: text[: len(text) // 2], "length")
BadJson = partial(Respelt, "bad JSON", lambda text: text.rstrip()[:-1])
Prose = partial(Written, "It is hard to say. The sentence follows from the passage, more or less.")
Fenced = partial(Written, "Sure, here you go:\n```json\n@\n```\nDone!")
QuotedString = partial(Reshaped, "quoted", as_json)  # a map written as a string of JSON
OneShort = partial(  # the last key or item is missing
    Reshaped, "one short", lambda p: dict([*p.items()][:-1]) if isinstance(p, dict) else p[:-1]
)


def http_date(seconds_from_now: float) -> str:
    """A Retry-After value of the second kind, such as `Wed, 21 Oct 2026 07:28:00 GMT`."""
    return email.utils.formatdate(time.time() + seconds_from_now, usegmt=True)
