"""An OpenAI-compatible chat server on 127.0.0.1 that behaves, and misbehaves, like real ones.

    with MockServer(faults=[Status(429, retry_after="1"), None]) as server:
        ask(server.base_url)
        assert [r.status for r in server.requests] == [429, 200]

Run as a process: python tests/mock_server.py --port 0 --latency-ms 20 --log finished.jsonl
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import email.utils
import hashlib
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from aiohttp import web

Body = dict[str, Any]
CHARS_PER_TOKEN = 4
BLOCK_TOKENS = 32  # prefix caches count whole blocks
MASKED = -9999.0  # what OpenAI and vLLM write for a token that cannot be sampled
MAX_TOP_LOGPROBS = 20  # OpenAI's limit and vLLM's default
CLIENT_GONE = 499  # status of a request whose client left before the reply was written
TOKEN = re.compile(r"\s?[A-Za-z]+|\d|\s+|.", re.DOTALL)
VALUE = re.compile(  # a string that may be a key, a number, or plain text from the start
    r'"(?P<text>(?:[^"\\]|\\.)*)"(?P<colon>\s*:)?|(?P<number>-?\d+(?:\.\d+)?)|\A(?P<plain>[^\s{["]\S*)'
)
WORDS = ("tide", "bridge", "naïve", "wind", '"quoted"', "harbour", "leaf", "42", "strike", "λ")
OPEN_DEPTH = 6  # a recursive schema is closed as soon as it can be below this depth


# --- what a model says ------------------------------------------------------------------


@dataclass(frozen=True)
class Reply:
    """One message. `probabilities` (label -> share, summing to 1) shape the logprobs of labels."""

    content: str | None
    finish_reason: str = "stop"
    refusal: str | None = None
    probabilities: Mapping[str, float] | None = None


Brain = Callable[[Body], "str | dict[str, Any] | list[Any] | Reply"]


def last_user_text(body: Body) -> str:
    """The text of the last user message, content parts joined."""
    users = [m for m in body["messages"] if m.get("role") == "user"]
    if not users:
        raise ValueError("no user message in the request")
    return _text(users[-1])


def input_of(body: Body) -> dict[str, Any]:
    """The JSON object between a line `<data>` and a line `</data>`, the last if there are several.

    Raises: ValueError if the last user message has no such block, or it is no JSON object.
    """
    text = last_user_text(body)
    blocks = re.findall(r"^<data>[ \t]*\n(.*?)\n</data>[ \t]*$", text, re.DOTALL | re.MULTILINE)
    if not blocks:
        raise ValueError(f"no <data> block in the last user message: {text[:200]!r}")
    found = json.loads(blocks[-1])
    if not isinstance(found, dict):
        raise ValueError(f"<data> holds a JSON {type(found).__name__}, wanted an object")
    return found


def default_brain(body: Body) -> Reply:
    """An instance of the schema asked for, chosen by a hash of the messages; else chatty prose.

    Understands `response_format` and vLLM's `structured_outputs` (`json`, `choice`). The removed
    `guided_*` parameters have no effect, as on a current vLLM.
    """
    rng = _rng(body)
    if choices := (body.get("structured_outputs") or {}).get("choice"):
        return Reply(rng.choice(choices))
    if (schema := schema_of(body)) is not None:
        return Reply(_json(instance(schema, rng)))
    found = _json({"answer": _words(rng, 8), "score": rng.randint(0, 5)})
    if (body.get("response_format") or {}).get("type") == "json_object":
        return Reply(found)
    return Reply(f"Happy to help! This is my answer:\n\n```json\n{found}\n```\n\nAnything else?")


def schema_of(body: Body) -> Any:
    """The JSON schema that constrains the reply, or None."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return form["json_schema"]["schema"]
    return (body.get("structured_outputs") or {}).get("json")


def instance(schema: Any, rng: random.Random, *, root: Any = None, depth: int = 0) -> Any:
    """A value valid for the schema: the same `rng` state, the same value.

    Raises: NotImplementedError for a string `pattern`.
    """
    root = schema if root is None else root
    deep = depth > OPEN_DEPTH

    def inner(part: Any) -> Any:
        return instance(part, rng, root=root, depth=depth + 1)

    if not isinstance(schema, dict) or not schema:
        return {}
    if "$ref" in schema:
        target = root
        for step in schema["$ref"].removeprefix("#").strip("/").split("/"):
            target = target[step] if step else target
        return inner(target | {k: v for k, v in schema.items() if k != "$ref"})
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return rng.choice(schema["enum"])
    if parts := schema.get("allOf"):
        rest = {k: v for k, v in schema.items() if k != "allOf"}
        return inner(_merged([rest, *parts], root))
    if options := schema.get("anyOf") or schema.get("oneOf"):
        null = {"type": "null"}
        return None if deep and null in options else inner(rng.choice(options))
    kind = schema.get("type", "object" if "properties" in schema else None)
    if isinstance(kind, list):
        kind = "null" if deep and "null" in kind else rng.choice(kind)
    match kind:
        case "object":
            return _object(schema, rng, inner, deep)
        case "array":
            return _array(schema, rng, inner, deep)
        case "string":
            return _string(schema, rng)
        case "integer":
            low, high = _range(schema, 1)
            step = schema.get("multipleOf", 1)
            return rng.randint(math.ceil(low / step), math.floor(high / step)) * step
        case "number":
            low, high = _range(schema, 1e-3)
            return min(high, max(low, round(rng.uniform(low, high), 3)))
        case "boolean":
            return rng.random() < 0.5
        case _:
            return None


def _object(schema: Any, rng: random.Random, inner: Callable[[Any], Any], deep: bool) -> Any:
    names = schema.get("required", []) if deep else schema.get("properties", {})
    made = {name: inner(schema["properties"][name]) for name in names}
    extra = schema.get("additionalProperties", False)
    if isinstance(extra, dict):
        keys = schema.get("propertyNames", {}).get("enum")
        if keys is None:
            few = schema.get("minProperties", 0 if deep else 2)
            keys = [f"key{i + 1}" for i in range(min(few, schema.get("maxProperties", few)))]
        made |= {key: inner(extra) for key in keys if key not in made}
    return made


def _array(schema: Any, rng: random.Random, inner: Callable[[Any], Any], deep: bool) -> Any:
    made = [inner(part) for part in schema.get("prefixItems", [])]
    low = schema.get("minItems", 0 if deep else min(1, schema.get("maxItems", 1)))
    high = low if deep else schema.get("maxItems", max(low, 3))
    n = rng.randint(low, min(high, low + 10))
    for _ in range(20 * n):
        if len(made) >= n or "items" not in schema:
            break
        item = inner(schema["items"])
        if not schema.get("uniqueItems") or item not in made:
            made.append(item)
    return made


def _string(schema: Any, rng: random.Random) -> str:
    if "pattern" in schema:
        raise NotImplementedError("the default brain makes no strings for a pattern; pass a brain")
    low, high = schema.get("minLength", 0), schema.get("maxLength", 60)
    text = _words(rng, rng.randint(1, 6))
    return text.ljust(low, "x")[: max(low, high)]


def _range(schema: Any, step: float) -> tuple[Any, Any]:
    low, high = schema.get("minimum"), schema.get("maximum")
    if "exclusiveMinimum" in schema:
        low = schema["exclusiveMinimum"] + step
    if "exclusiveMaximum" in schema:
        high = schema["exclusiveMaximum"] - step
    if low is None:
        low = 0 if high is None or high >= 0 else high - 10
    return low, low + 10 if high is None else high


def _merged(parts: Iterable[Any], root: Any) -> Body:
    whole: Body = {}
    for part in parts:
        if "$ref" in part:
            name = part["$ref"].rpartition("/")[2]
            part = root["$defs"][name]
        whole["properties"] = whole.get("properties", {}) | part.get("properties", {})
        whole["required"] = [*whole.get("required", []), *part.get("required", [])]
        whole |= {k: v for k, v in part.items() if k not in ("properties", "required")}
    return {k: v for k, v in whole.items() if v or k not in ("properties", "required")}


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _words(rng: random.Random, n: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(n))


def _rng(body: Body) -> random.Random:
    told = json.dumps(body["messages"], sort_keys=True)
    return random.Random(hashlib.blake2b(told.encode(), digest_size=8).digest())


def _text(message: Body) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(p.get("text", "") for p in content)


# --- what goes wrong --------------------------------------------------------------------


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
        return _reshaped(reply, lambda part: _json(part))


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
    return replace(reply, content=_json(outer))


def _relabelled(reply: Reply, body: Body, spell: Callable[[str], str]) -> Reply:
    offered = {label for labels in _label_sets(body) for label in labels}

    def walk(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: walk(value) for key, value in part.items()}
        if isinstance(part, list):
            return [walk(value) for value in part]
        is_label = isinstance(part, str) and (part in offered or not offered)
        return spell(part) if is_label else part

    return replace(reply, content=_json(walk(json.loads(reply.content or "null"))))


# --- how an API puts it -----------------------------------------------------------------


@dataclass(frozen=True)
class Supports:
    """What the endpoint can take; what it cannot is refused with 400, as older servers do.

    `openai_rules`: a strict schema must close every object and require every property (no maps),
    and json_object needs the word JSON in the messages, as on OpenAI's own endpoint.
    """

    schema: bool = True
    json_object: bool = True
    logprobs: bool = True
    usage: bool = True
    openai_rules: bool = False


@dataclass
class Received:
    """One request as it arrived, and what became of it. Times are of time.monotonic()."""

    index: int
    body: Body
    headers: dict[str, str]  # names in lower case
    started_s: float
    finished: bool = False  # the whole reply was written, whatever its status
    status: int | None = None
    finished_s: float | None = None


class _Denied(Exception):
    """A request that is answered with an error in OpenAI's shape."""

    def __init__(
        self, status: int, message: str, param: str | None = None, code: str | None = None
    ):
        super().__init__(message)
        self.status, self.param, self.code = status, param, code


def _error(status: int, message: str, param: str | None = None, code: str | None = None) -> Body:
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    kind = kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _check_messages(body: Body) -> None:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise _Denied(400, "'messages' must be a list with at least one message.", "messages")
    for i, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise _Denied(400, "Each message is an object with a role.", f"messages[{i}].role")
        if not isinstance(message.get("content"), str | list | None):
            raise _Denied(400, "Content is text or a list of parts.", f"messages[{i}].content")


def _check_numbers(body: Body) -> None:
    whole = {"max_tokens": (1, None), "max_completion_tokens": (1, None), "n": (1, 128)}
    limits = {
        **whole,
        "top_logprobs": (0, MAX_TOP_LOGPROBS),
        "temperature": (0, 2),
        "top_p": (0, 1),
    }
    for name, (low, high) in limits.items():
        value = body.get(name)
        if value is None:
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        wants_whole = name in whole or name == "top_logprobs"
        if not is_number or (wants_whole and not isinstance(value, int)):
            raise _Denied(400, f"Invalid type for '{name}': {value!r}.", name, "invalid_type")
        if value < low or (high is not None and value > high):
            wanted = f"at least {low}" if high is None else f"from {low} to {high}"
            raise _Denied(
                400, f"Invalid '{name}': {value}, wanted {wanted}.", name, "invalid_value"
            )
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        raise _Denied(400, "'top_logprobs' is only allowed with 'logprobs' true.", "top_logprobs")
    if body.get("stream"):
        raise _Denied(400, "This server does not stream.", "stream", "unsupported_parameter")


def _check_format(body: Body, supports: Supports) -> None:
    form = body.get("response_format")
    if form is None:
        return
    param = "response_format"
    kind = form.get("type") if isinstance(form, dict) else None
    if kind not in ("text", "json_object", "json_schema"):
        raise _Denied(400, f"Invalid value for 'response_format.type': {kind!r}.", f"{param}.type")
    if kind == "json_schema":
        if not supports.schema:
            raise _Denied(
                400, "'response_format' of type 'json_schema' is not supported here.", param
            )
        asked = form.get("json_schema")
        if not isinstance(asked, dict) or not isinstance(asked.get("schema"), dict):
            raise _Denied(
                400, "Missing 'response_format.json_schema.schema'.", f"{param}.json_schema"
            )
        if not re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", str(asked.get("name", ""))):
            raise _Denied(
                400, "Invalid 'response_format.json_schema.name'.", f"{param}.json_schema"
            )
        if supports.openai_rules and asked.get("strict"):
            _check_strict(asked["schema"], asked["name"])
    if kind == "json_object":
        if not supports.json_object:
            raise _Denied(
                400, "'response_format' of type 'json_object' is not supported here.", param
            )
        told = " ".join(map(_text, body["messages"])).lower()
        if supports.openai_rules and "json" not in told:
            raise _Denied(
                400, "The messages must contain the word JSON for json_object.", "messages"
            )


def _check_strict(schema: Any, name: str, where: tuple[str, ...] = ()) -> None:
    def deny(why: str) -> None:
        text = f"Invalid schema for response_format '{name}': In context={where}, {why}"
        raise _Denied(400, text, "response_format", "invalid_json_schema")

    if not where and schema.get("type") != "object":
        deny("the schema must be of type 'object'.")
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            deny("'additionalProperties' must be given and false.")
        if set(schema.get("required", [])) != set(schema.get("properties", {})):
            deny("'required' must name every property.")
    for key in ("properties", "$defs"):
        for child, part in schema.get(key, {}).items():
            _check_strict(part, name, (*where, key, child))
    for i, part in enumerate(schema.get("anyOf", [])):
        _check_strict(part, name, (*where, "anyOf", str(i)))
    if isinstance(schema.get("items"), dict):
        _check_strict(schema["items"], name, (*where, "items"))


def _n_tokens(text: str) -> int:
    return math.ceil(len(text) / CHARS_PER_TOKEN)


def _label_sets(body: Body) -> list[list[str]]:
    """The labels a schema offers, a list per place: enums, and integer ranges up to 21 wide."""
    found: list[list[str]] = []

    def walk(part: Any) -> None:
        if isinstance(part, list):
            for item in part:
                walk(item)
        elif isinstance(part, dict):
            if isinstance(part.get("enum"), list):
                found.append([str(label) for label in part["enum"] if label is not None])
            elif part.get("type") == "integer" and {"minimum", "maximum"} <= part.keys():
                low, high = part["minimum"], part["maximum"]
                if high - low <= 20:
                    found.append([str(i) for i in range(low, high + 1)])
            for value in part.values():
                walk(value)

    walk(schema_of(body))
    if choices := (body.get("structured_outputs") or {}).get("choice"):
        found.append(list(choices))
    return found


def _logprobs(reply: Reply, content: str, body: Body) -> Body:
    """Token logprobs in OpenAI's shape, after the grammar mask as vLLM gives them.

    Where a label starts, each offered label's first token shares the probability; a tenth of it
    sits on the label's first letter, as tokenisers allow, so readers must sum by prefix.
    """
    n_top = body.get("top_logprobs") or 0
    sets = _label_sets(body)
    is_masked = schema_of(body) is not None or bool(body.get("structured_outputs"))
    if reply.probabilities:
        sets.insert(0, list(reply.probabilities))
    starts: dict[int, tuple[str, list[str]]] = {}
    for match in VALUE.finditer(content):
        told = match["text"] or match["number"] or match["plain"]
        labels = next((labels for labels in sets if told in labels), None)
        if labels and not match["colon"]:
            starts[match.start(match.lastgroup or 0)] = (told, labels)
    rng = _rng(body)
    tokens = []
    for match in TOKEN.finditer(content):
        told = match.group()
        shares = {told: 0.999}
        if match.start() in starts:
            label, labels = starts[match.start()]
            shares = _first_tokens(reply.probabilities or _spread(label, labels, rng))
        best = sorted(shares.items(), key=lambda pair: -pair[1])
        top = [(token, math.log(share)) for token, share in best if share > 0]
        others = [f" {word}" for word in WORDS * 2]
        if is_masked:
            top += [(token, MASKED) for token in others]
        else:
            top += [(token, -8.0 - i) for i, token in enumerate(others)]
        own = next((lp for token, lp in top if token == told), MASKED)
        shown = [_token(token, lp) for token, lp in top[:n_top]]
        tokens.append({**_token(told, own), "top_logprobs": shown})
    return {"content": tokens, "refusal": None}


def _spread(label: str, labels: list[str], rng: random.Random) -> dict[str, float]:
    others = {other: rng.random() + 0.1 for other in labels if other != label}
    own = rng.uniform(0.5, 0.9) if others else 1.0
    total = sum(others.values())
    return {label: own} | {other: (1 - own) * w / total for other, w in others.items()}


def _first_tokens(probabilities: Mapping[str, float]) -> dict[str, float]:
    shares: dict[str, float] = {}
    for label, share in probabilities.items():
        first = TOKEN.match(label)
        piece = first.group() if first else label
        shares[piece] = shares.get(piece, 0.0) + share
    letters = [piece[0] for piece in shares]
    for piece in list(shares):
        if len(piece) > 1 and letters.count(piece[0]) == 1:
            shares[piece[0]] = 0.1 * shares[piece]
            shares[piece] *= 0.9
    return shares


def _token(token: str, logprob: float) -> Body:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


# --- the server -------------------------------------------------------------------------


class MockServer:
    """The server in a thread of its own, open from `__enter__` to `__exit__`.

    Args:
        brain: what the model says; a dict or list is dumped as JSON. Default: `default_brain`.
        faults: one per request in order of arrival (None, or past the end: normal), used up once;
            or a function of (index, body).
        latency_s: seconds before each reply, or a function of (index, body).
        api_key: the only key accepted, as `Authorization: Bearer KEY`; None: any or none.
        context_length: tokens (characters / 4) that prompt and max_tokens may take together.
        log: file that gets one JSON line per request whose reply was written whole.

    `brain`, `faults`, `latency_s` and `supports` can be replaced while it runs. An exception in
    one of them answers 500 and is raised again on leaving the `with`.
    """

    def __init__(
        self,
        brain: Brain | None = None,
        faults: Faults = None,
        latency_s: float | Callable[[int, Body], float] = 0.0,
        api_key: str | None = None,
        model_names: Iterable[str] = ("mock",),
        supports: Supports = Supports(),
        context_length: int | None = None,
        *,
        port: int = 0,
        log: Path | None = None,
    ) -> None:
        self.brain: Brain = brain or default_brain
        self.faults = faults
        self.latency_s = latency_s
        self.api_key = api_key
        self.model_names = tuple(model_names)
        self.supports = supports
        self.context_length = context_length
        self.port = port
        self.clear()
        self._brain_errors: list[Exception] = []
        self._log = log
        self._log_fd: int | None = None
        self._in_flight = 0

    @property
    def base_url(self) -> str:
        """Where clients point to, with `/v1`; the port is known once the server runs."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def n_finished(self) -> int:
        """Number of requests whose reply was written whole, whatever its status."""
        return sum(received.finished for received in self.requests)

    @property
    def faults(self) -> Faults:
        return self._faults

    @faults.setter
    def faults(self, faults: Faults) -> None:
        self._faults: Callable[[int, Body], Fault | None] | deque[Fault | None] = (
            faults if callable(faults) else deque(faults or ())
        )

    def clear(self) -> None:
        """Forget the requests; the next one has index 0. Faults that are used up stay so."""
        self.requests: list[Received] = []
        self.max_in_flight = 0

    def __enter__(self) -> MockServer:
        started = threading.Event()
        self._failure: BaseException | None = None

        def run() -> None:
            try:
                asyncio.run(self._serve(started))
            except BaseException as error:
                self._failure = error
                started.set()

        if self._log is not None:
            self._log_fd = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        self._thread = threading.Thread(target=run, name="mock-server", daemon=True)
        self._thread.start()
        started.wait()
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        if self._log_fd is not None:
            os.close(self._log_fd)
        if self._brain_errors and error is None:
            raise self._brain_errors[0]

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self._handle)
        app.router.add_post("/v1/completions", self._handle)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/health", self._health)
        runner = web.AppRunner(
            app, access_log=None, handler_cancellation=True, shutdown_timeout=0.05
        )
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", self.port, backlog=4096)
            await site.start()
            self.port = runner.addresses[0][1]
            started.set()
            await self._stop.wait()
        finally:
            await runner.cleanup()

    async def _health(self, request: web.Request) -> web.Response:
        return web.Response()

    async def _models(self, request: web.Request) -> web.Response:
        try:
            self._check_key(request)
        except _Denied as denied:
            return web.json_response(_error(401, str(denied), None, denied.code), status=401)
        shape = {"object": "model", "created": 0, "owned_by": "mock"}
        extra = {"max_model_len": self.context_length} if self.context_length else {}
        rows = [{"id": name, **shape, **extra} for name in self.model_names]
        return web.json_response({"object": "list", "data": rows})

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        received = Received(len(self.requests), {}, headers, time.monotonic())
        self.requests.append(received)
        self._in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self._in_flight)
        fault: Fault | None = None
        try:
            raw = await request.read()
            with contextlib.suppress(ValueError):
                body = json.loads(raw)
                received.body = body if isinstance(body, dict) else {}
            fault = self._next_fault(received)
            response = await self._response(request, received, fault)
        except asyncio.CancelledError:
            received.status = CLIENT_GONE
            raise
        except Exception as error:
            self._brain_errors.append(error)
            response = web.json_response(_error(500, f"brain or fault: {error!r}"), status=500)
        finally:
            self._in_flight -= 1  # before the reply: whoever reads it may ask again at once
        received.status = response.status
        return await self._send(request, received, response, fault)

    def _next_fault(self, received: Received) -> Fault | None:
        if callable(self._faults):
            return self._faults(received.index, received.body)
        return self._faults.popleft() if self._faults else None

    async def _response(
        self, request: web.Request, received: Received, fault: Fault | None
    ) -> web.Response:
        latency = self.latency_s
        wait_s = latency(received.index, received.body) if callable(latency) else latency
        wait_s += fault.seconds if isinstance(fault, Hang) else 0.0
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        match fault:
            case Status(code, retry_after, body):
                headers = {} if retry_after is None else {"Retry-After": retry_after}
                if isinstance(body, str):
                    return web.Response(text=body, status=code, headers=headers)
                known = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
                shape = _error(code, f"The request failed with {code}.", None, known.get(code))
                made = shape if body is None else body
                return web.json_response(made, status=code, headers=headers)
            case HtmlBody(html, code):
                return web.Response(text=html, status=code, content_type="text/html")
            case NotChatShape(body):
                return web.json_response(body)
        try:
            is_chat = request.path.endswith("/chat/completions")
            body = received.body
            if not is_chat and isinstance(body.get("prompt"), str):
                body = body | {"messages": [{"role": "user", "content": body["prompt"]}]}
            self._check(request, body, is_chat)
            return web.json_response(self._completion(body, fault or Fault(), is_chat))
        except _Denied as denied:
            shape = _error(denied.status, str(denied), denied.param, denied.code)
            return web.json_response(shape, status=denied.status)

    def _check(self, request: web.Request, body: Body, is_chat: bool) -> None:
        self._check_key(request)
        if not body:
            raise _Denied(400, "We could not parse the JSON body of your request.")
        if not isinstance(body.get("model"), str):
            raise _Denied(400, "You must provide a model parameter.", "model")
        if body["model"] not in self.model_names:
            text = f"The model '{body['model']}' does not exist."
            raise _Denied(404, text, "model", "model_not_found")
        if not is_chat and "messages" not in body:
            raise _Denied(400, "'prompt' must be a string.", "prompt")
        _check_messages(body)
        _check_numbers(body)
        _check_format(body, self.supports)
        if body.get("logprobs") and not (self.supports.logprobs and is_chat):
            text = "'logprobs' is not supported with this model."
            raise _Denied(400, text, "logprobs", "unsupported_parameter")
        n_asked = _n_tokens("".join(map(_text, body["messages"]))) + (_max_tokens(body) or 0)
        if self.context_length is not None and n_asked > self.context_length:
            text = f"This model's maximum context length is {self.context_length} tokens, "
            text += f"but the prompt and max_tokens take {n_asked}."
            raise _Denied(400, text, "messages", "context_length_exceeded")

    def _check_key(self, request: web.Request) -> None:
        given = request.headers.get("Authorization", "")
        if self.api_key is not None and given != f"Bearer {self.api_key}":
            raise _Denied(401, "Incorrect API key provided.", None, "invalid_api_key")

    def _completion(self, body: Body, fault: Fault, is_chat: bool) -> Body:
        said = self.brain(body)
        if isinstance(said, dict | list):
            said = _json(said)
        reply = fault.spoil(said if isinstance(said, Reply) else Reply(said), body)
        limit = _max_tokens(body)
        if limit is not None and len(reply.content or "") > limit * CHARS_PER_TOKEN:
            cut = (reply.content or "")[: limit * CHARS_PER_TOKEN]
            reply = replace(reply, content=cut, finish_reason="length")
        choice: Body = {"index": 0, "finish_reason": reply.finish_reason, "logprobs": None}
        if is_chat:
            told = {"role": "assistant", "content": reply.content, "refusal": reply.refusal}
            choice["message"] = told
            if body.get("logprobs") and reply.content:
                choice["logprobs"] = _logprobs(reply, reply.content, body)
        else:
            choice["text"] = reply.content or ""
        n = body.get("n") or 1
        made: Body = {
            "id": f"chatcmpl-{os.urandom(8).hex()}",
            "object": "chat.completion" if is_chat else "text_completion",
            "created": int(time.time()),
            "model": body["model"],
            "choices": [{**choice, "index": i} for i in range(n)],
            "system_fingerprint": "fp_mock",
        }
        if self.supports.usage:
            made["usage"] = _usage(body, n * _n_tokens(reply.content or ""))
        return made

    async def _send(
        self,
        request: web.Request,
        received: Received,
        response: web.Response,
        fault: Fault | None,
    ) -> web.StreamResponse:
        if isinstance(fault, Cut):
            if fault.in_body and isinstance(response.body, bytes):
                whole = response.body
                headers = {"Content-Length": str(len(whole)), "Content-Type": "application/json"}
                part = web.StreamResponse(status=response.status, headers=headers)
                await part.prepare(request)
                await part.write(whole[: len(whole) // 2])
            if request.transport is not None:
                request.transport.close()
            return response
        received.finished, received.finished_s = True, time.monotonic()
        try:  # marked first: a client in another thread may look as soon as it has the bytes
            await response.prepare(request)
            await response.write_eof()
        except (ConnectionError, asyncio.CancelledError):
            received.finished, received.status = False, CLIENT_GONE
            raise
        if self._log_fd is not None:
            os.write(self._log_fd, _log_line(received))
        return response


def _max_tokens(body: Body) -> int | None:
    newer, older = body.get("max_completion_tokens"), body.get("max_tokens")
    return older if newer is None else newer


def _usage(body: Body, n_completion: int) -> Body:
    """Tokens as characters / 4. The system messages count as cached, in whole blocks."""
    n_prompt = _n_tokens("".join(map(_text, body["messages"])))
    fixed = "".join(_text(m) for m in body["messages"] if m["role"] == "system")
    n_cached = len(fixed) // CHARS_PER_TOKEN // BLOCK_TOKENS * BLOCK_TOKENS
    return {
        "prompt_tokens": n_prompt,
        "completion_tokens": n_completion,
        "total_tokens": n_prompt + n_completion,
        "prompt_tokens_details": {"cached_tokens": n_cached},
    }


def _log_line(received: Received) -> bytes:
    body = json.dumps(received.body, sort_keys=True)
    row = {
        "index": received.index,
        "key": hashlib.blake2b(body.encode(), digest_size=16).hexdigest(),
        "status": received.status,
        "started_s": received.started_s,
        "finished_s": received.finished_s,
        "body": received.body,
    }
    return _json(row).encode() + b"\n"


# --- a process of its own ---------------------------------------------------------------


@contextlib.contextmanager
def mock_process(*arguments: str) -> Iterator[str]:
    """Run this file with the arguments, and yield the base URL: `mock_process("--port", "0")`."""
    command = [sys.executable, str(Path(__file__).resolve()), *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline().strip()
            assert line.startswith("http://"), f"the mock server did not start: {line!r}"
            yield line
        finally:
            process.terminate()


def main() -> None:
    """Serve until SIGTERM or SIGINT; the first line of stdout is the base URL."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0.0)
    parser.add_argument("--jitter-ms", type=float, default=0.0, help="up to so much more, by hash")
    parser.add_argument("--log", type=Path, help="one JSON line per finished request")
    parser.add_argument("--model", action="append", help="a model name served; default mock")
    given = parser.parse_args()

    def latency_s(index: int, body: Body) -> float:
        jitter = _rng(body).random() * given.jitter_ms if body.get("messages") else 0.0
        return float(given.latency_ms + jitter) / 1000

    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)
    names = given.model or ("mock",)
    with MockServer(latency_s=latency_s, model_names=names, port=given.port, log=given.log) as up:
        sys.stdout.write(up.base_url + "\n")
        sys.stdout.flush()
        signal.sigwait(ends)


if __name__ == "__main__":
    main()
