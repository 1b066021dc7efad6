"""What goes wrong with a request to the mock server: each fault is one thing, once."""

from __future__ import annotations

import email.utils
import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from mock_replies import Body, Reply, as_json, label_sets


class Fault:
    """One thing that goes wrong with one request. `Spoilt` ones change the message."""

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return reply


@dataclass(frozen=True)
class Status(Fault):
    """An error status before anything else is looked at. `retry_after`: seconds or an HTTP date."""

    code: int
    retry_after: str | None = None
    body: Any = None  # a str is sent as it is, else JSON; None: an error in OpenAI's shape


@dataclass(frozen=True)
class HtmlBody(Fault):
    """A proxy's page instead of the reply."""

    html: str = "<!doctype html><html><body><h1>Please sign in</h1></body></html>"
    code: int = 200


@dataclass(frozen=True)
class NotChatShape(Fault):
    """Status 200 and JSON that is no chat completion."""

    body: Any = field(default_factory=lambda: {"status": "ok"})


@dataclass(frozen=True)
class Cut(Fault):
    """The connection is closed before the reply, or in the middle of its body."""

    in_body: bool = False


@dataclass(frozen=True)
class Hang(Fault):
    """Nothing for so many seconds, then the normal reply."""

    seconds: float


@dataclass(frozen=True)
class Envelope(Fault):
    """The completion around the message is another; where `change` gives bytes, these are sent."""

    name: str
    change: Callable[[Body], Any] = field(repr=False)


@dataclass(frozen=True)
class OnWire(Fault):
    """The response is written otherwise than HTTP wants it, and the connection ends.

    `parts` gets the body and gives what is written after each other: bytes, or seconds of silence.
    `is_reset`: the end is a reset.
    """

    name: str
    parts: Callable[[bytes], Iterable[bytes | float]] = field(repr=False)
    is_reset: bool = False


@dataclass(frozen=True)
class Spoilt(Fault):
    """The message is another than the brain's; the functions below make them."""

    name: str
    how: Callable[[Reply, Body], Reply] = field(repr=False)

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return self.how(reply, body)


def Says(content: str | None, finish_reason: str = "stop") -> Fault:
    """Whatever the brain would have said, this is the content."""
    return Spoilt(f"says {content!r}", lambda reply, body: Reply(content, finish_reason))


def EmptyContent(content: str | None = "") -> Fault:
    """Nothing said: "", white space, or null."""
    return Says(content)


def ContentFilter(content: str | None = "") -> Fault:
    """The provider's filter stopped the reply."""
    return Says(content, "content_filter")


def Refusal(text: str = "I cannot help with that.") -> Fault:
    """The model declines: content null, `refusal` set, finish_reason stop."""
    return Spoilt("refusal", lambda reply, body: Reply(None, refusal=text))


def Truncated(share: float = 0.5) -> Fault:
    """The first `share` of the content, finish_reason length."""
    return _rewritten("truncated", lambda text: text[: int(len(text) * share)], "length")


def BadJson() -> Fault:
    """The content without its last bracket, though finish_reason is stop."""
    return _rewritten("bad JSON", lambda text: text.rstrip()[:-1])


def Prose(
    text: str = "It is hard to say. The sentence seems to follow from the passage, more or less.",
) -> Fault:
    """Sentences, no JSON at all."""
    return _rewritten("prose", lambda _: text)


def Fenced() -> Fault:
    """The right JSON, inside a fenced block of chatty prose."""
    return _rewritten("fenced", lambda text: f"Sure, here you go:\n```json\n{text}\n```\nDone!")


def OneShort() -> Fault:
    """The last key of the first inner map, or the last item of the first inner list, is missing."""
    return _reshaped("one short", lambda p: dict([*p.items()][:-1]) if type(p) is dict else p[:-1])


def ExtraKey(key: str = "unasked") -> Fault:
    """One key (or list item) more than asked for, with the value of the last one."""
    return _reshaped(
        "extra key", lambda p: p | {key: [*p.values()][-1]} if type(p) is dict else [*p, p[-1]]
    )


def QuotedString() -> Fault:
    """The first inner map or list written as a string of JSON; without one, the whole content."""
    return _reshaped("quoted", as_json)


def Written(template: str) -> Fault:
    """The right JSON as some models write it: it stands in the place of `@`."""
    return _rewritten(f"written {template!r}", lambda text: template.replace("@", text))


def Reasoned(name: str = "reasoning_content", *, replies: bool = True) -> Fault:
    """What the model thought in a field of its own, beside the reply, or instead of one."""

    def how(reply: Reply, body: Body) -> Reply:
        beside = {name: f"It says so. Perhaps {other_verdict(reply.content or '')}? No."}
        return replace(reply, content=reply.content if replies else None, beside=beside)

    return Spoilt(f"{name}, replies: {replies}", how)


def TwoObjects(*, differ: bool) -> Fault:
    """The right JSON twice, or with another label the second time."""
    return _rewritten(
        f"two objects, differ: {differ}",
        lambda text: f"First:\n{text}\nThen:\n{other_verdict(text) if differ else text}",
    )


def Respelt(name: str, change: Callable[[str], str]) -> Fault:
    """The content with its letters changed: single quotes, a trailing comma, numbers as strings."""
    return _rewritten(name, change)


def other_verdict(text: str) -> str:
    """The same reply to a support question with another label."""
    return '{"verdict": "none"}' if "full" in text else '{"verdict": "full"}'


def OtherSpelling(style: Literal["title", "upper"] = "title") -> Fault:
    """Labels as people write them: `Partial Support` (title) or `PARTIAL_SUPPORT` (upper)."""
    return _relabelled(
        style, lambda label: label.upper() if style == "upper" else label.replace("_", " ").title()
    )


def OtherLabel(label: str = "undecided") -> Fault:
    """Every label is one that was not offered."""
    return _relabelled("other label", lambda _: label)


Faults = Iterable[Fault | None] | Callable[[int, Body], Fault | None] | None


def http_date(seconds_from_now: float) -> str:
    """A Retry-After value of the second kind, such as `Wed, 21 Oct 2026 07:28:00 GMT`."""
    return email.utils.formatdate(time.time() + seconds_from_now, usegmt=True)


def _rewritten(name: str, change: Callable[[str], str], finish: str = "stop") -> Fault:
    return Spoilt(
        name,
        lambda reply, _: replace(reply, content=change(reply.content or ""), finish_reason=finish),
    )


def _reshaped(name: str, change: Callable[[Any], Any]) -> Fault:
    def how(reply: Reply, body: Body) -> Reply:
        outer = json.loads(reply.content or "null")
        for key, part in list(outer.items() if isinstance(outer, dict) else enumerate(outer)):
            if isinstance(part, dict | list) and part:
                outer[key] = change(part)
                break
        else:
            outer = change(outer)
        return replace(reply, content=as_json(outer))

    return Spoilt(name, how)


def _relabelled(name: str, spell: Callable[[str], str]) -> Fault:
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

    return Spoilt(name, how)
