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
    """One thing that goes wrong with one request. Subclasses below `Hang` spoil the message."""

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
class Says(Fault):
    """Whatever the brain would have said, this is the content."""

    content: str | None
    finish_reason: str = "stop"

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return Reply(self.content, self.finish_reason)


@dataclass(frozen=True)
class Truncated(Fault):
    """The first `share` of the content, finish_reason length."""

    share: float = 0.5

    def spoil(self, reply: Reply, body: Body) -> Reply:
        content = reply.content or ""
        return replace(
            reply, content=content[: int(len(content) * self.share)], finish_reason="length"
        )


@dataclass(frozen=True)
class BadJson(Fault):
    """The content without its last bracket, though finish_reason is stop."""

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return replace(reply, content=(reply.content or "").rstrip()[:-1])


@dataclass(frozen=True)
class Prose(Fault):
    """Sentences, no JSON at all."""

    text: str = "It is hard to say. The sentence seems to follow from the passage, more or less."

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return replace(reply, content=self.text)


@dataclass(frozen=True)
class Fenced(Fault):
    """The right JSON, inside a fenced block of chatty prose."""

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return replace(reply, content=f"Sure, here you go:\n```json\n{reply.content}\n```\nDone!")


@dataclass(frozen=True)
class EmptyContent(Fault):
    """Nothing said: "", white space, or null."""

    content: str | None = ""

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return Reply(self.content)


@dataclass(frozen=True)
class Refusal(Fault):
    """The model declines: content null, `refusal` set, finish_reason stop."""

    text: str = "I cannot help with that."

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return Reply(None, refusal=self.text)


@dataclass(frozen=True)
class ContentFilter(Fault):
    """The provider's filter stopped the reply: finish_reason content_filter."""

    content: str | None = ""

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return Reply(self.content, "content_filter")


@dataclass(frozen=True)
class OneShort(Fault):
    """The last key of the first inner map, or the last item of the first inner list, is missing."""

    def spoil(self, reply: Reply, body: Body) -> Reply:
        def drop_last(part: Any) -> Any:
            return dict(list(part.items())[:-1]) if isinstance(part, dict) else part[:-1]

        return _reshaped(reply, drop_last)


@dataclass(frozen=True)
class ExtraKey(Fault):
    """One key (or list item) more than asked for, with the value of the last one."""

    key: str = "unasked"

    def spoil(self, reply: Reply, body: Body) -> Reply:
        def add(part: Any) -> Any:
            last = list(part.values() if isinstance(part, dict) else part)[-1]
            return part | {self.key: last} if isinstance(part, dict) else [*part, last]

        return _reshaped(reply, add)


@dataclass(frozen=True)
class QuotedString(Fault):
    """The first inner map or list written as a string of JSON; without one, the whole content."""

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return _reshaped(reply, lambda part: as_json(part))


@dataclass(frozen=True)
class OtherSpelling(Fault):
    """Labels as people write them: `Partial Support` (title) or `PARTIAL_SUPPORT` (upper)."""

    style: Literal["title", "upper"] = "title"

    def spoil(self, reply: Reply, body: Body) -> Reply:
        def spell(label: str) -> str:
            return label.upper() if self.style == "upper" else label.replace("_", " ").title()

        return _relabelled(reply, body, spell)


@dataclass(frozen=True)
class OtherLabel(Fault):
    """Every label is one that was not offered."""

    label: str = "undecided"

    def spoil(self, reply: Reply, body: Body) -> Reply:
        return _relabelled(reply, body, lambda _: self.label)


Faults = Iterable[Fault | None] | Callable[[int, Body], Fault | None] | None


def http_date(seconds_from_now: float) -> str:
    """A Retry-After value of the second kind, such as `Wed, 21 Oct 2026 07:28:00 GMT`."""
    return email.utils.formatdate(time.time() + seconds_from_now, usegmt=True)


def _reshaped(reply: Reply, change: Callable[[Any], Any]) -> Reply:
    outer = json.loads(reply.content or "null")
    for key, part in list(outer.items() if isinstance(outer, dict) else enumerate(outer)):
        if isinstance(part, dict | list) and part:
            outer[key] = change(part)
            break
    else:
        outer = change(outer)
    return replace(reply, content=as_json(outer))


def _relabelled(reply: Reply, body: Body, spell: Callable[[str], str]) -> Reply:
    offered = {label for labels in label_sets(body) for label in labels}

    def walk(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: walk(value) for key, value in part.items()}
        if isinstance(part, list):
            return [walk(value) for value in part]
        is_label = isinstance(part, str) and (part in offered or not offered)
        return spell(part) if is_label else part

    return replace(reply, content=as_json(walk(json.loads(reply.content or "null"))))
