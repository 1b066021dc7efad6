"""The kinds of fault that a storm's endpoint answers with, and how a judgement may end by each."""

from __future__ import annotations

import gzip
import random
from collections.abc import Mapping
from dataclasses import dataclass

from mock_faults import (
    BadJson,
    ContentFilter,
    Cut,
    EmptyContent,
    Fault,
    Fenced,
    Hang,
    HtmlBody,
    NotChatShape,
    OtherSpelling,
    QuotedString,
    Refusal,
    Says,
    Status,
    http_date,
)  # fmt: skip
from mock_replies import Body, as_json, label_sets

from .spoiling import (
    OK_HEAD,
    Make,
    around,
    bomb,
    choice,
    cut,
    drip,
    inner,
    labels,
    leaves,
    message,
    one_of,
    packed,
    sized,
    usage,
    wire,
)

KEY = "sk-storm-2f6e0d41c97b58aa"  # of the endpoint; may stand in no file
HANG_S = 60.0  # longer than any request waits
WORDS_OF_10_MB = 2_000_000
ABSURD = ("1e9", "-5", "soon", "inf", "nan", "9" * 400, "Thu, 99 Foo 2026 99:99:99 GMT", "")

Ends = frozenset[str]  # reasons of what is not judged when each try meets the fault; empty: judged
JUDGED: Ends = frozenset()
STOPPED: Ends = frozenset({"stopped"})  # the whole run, with exit code 2


@dataclass(frozen=True)
class Kind:
    """One kind of fault.

    Attributes:
        make: one such fault; where there is a choice it is drawn.
        ends: how a judgement may end that meets nothing else.
        is_of_labels: asks for labels alone; to texts it would be another, valid answer.
    """

    name: str
    make: Make
    ends: Ends
    is_of_labels: bool = False

    def fits(self, body: Body) -> bool:
        """Whether a reply to this request can have the fault."""
        return not self.is_of_labels or bool(label_sets(body))


def _waits(chance: random.Random) -> Fault:
    return Status(429, retry_after=f"{chance.uniform(0, 0.3):.2f}")


def _error(message: str, code: str) -> Fault:
    return Status(400, body={"error": {"message": message, "code": code}})


STATUS: Mapping[str, Make | Fault] = {
    "429 with seconds": _waits,
    "429 with a date": lambda _: Status(429, retry_after=http_date(1)),
    "429 with an absurd wait": one_of(*(Status(429, text) for text in ABSURD)),
    **{f"{code}": Status(code) for code in (500, 503, 529, 408, 400)},
    "400 with a page": Status(400, body="<h1>Bad \x1b[31mrequest</h1>"),
    "400, too long": _error("maximum context length is 4096", "context_length_exceeded"),
    "400 that quotes the key": Status(400, body=f"Key {KEY} cannot do that"),
}
WIRE: Mapping[str, Make | Fault] = {
    "hang": Hang(HANG_S),
    "slow drip": wire(drip),
    "reset in the head": wire(lambda _: [OK_HEAD[:20]], is_reset=True),
    "reset in the body": wire(cut, is_reset=True),
    "closed without a reply": Cut(),
    "truncated body": Cut(in_body=True),
    "Content-Length too large": wire(sized(100)),
    "Content-Length too small": wire(sized(-30)),
    "broken chunks": wire(
        lambda body: [OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + body]
    ),
    "a head of 1 MB": wire(
        lambda body: [OK_HEAD + b"X-Long: " + b"x" * 2**20 + b"\r\n\r\n" + body]
    ),
    "no HTTP": wire(lambda _: [b"\x00\xff\x16\x03\x01 hello\r\n\r\n"]),
    "broken gzip": packed(lambda body: gzip.compress(body)[:99]),
}
BODY: Mapping[str, Make | Fault] = {
    "200 with an error": NotChatShape({"error": {"message": "No.", "code": 1}}),
    "empty body": Status(200, body=""),
    "HTML": HtmlBody(),
    "malformed JSON": Status(200, body='{"choices": [{"message": '),
    "JSON of another shape": one_of(*map(NotChatShape, ({}, [], 1, None, "x"))),
    "choices empty": around(lambda made: made | {"choices": []}),
    "no message": one_of(choice(message=None), choice(message=[])),
    "content no text": one_of(
        choice(message={"content": 1}), choice(message={"content": [{"text": "full"}]})
    ),
    "finish_reason no text": choice(finish_reason=7),
}
CONTENT: Mapping[str, Make | Fault] = {
    "content null": EmptyContent(None),
    "content empty": one_of(EmptyContent(""), EmptyContent(" \n\t")),
    "extra key": inner(lambda part: part | {"unasked": [*part.values()][-1]}),
    "duplicate key": message(lambda text: f"{text[:-1]}, {text[1:]}"),
    "list for map": inner(lambda part: [*part.values()]),
    "text for map": QuotedString(),
    "number for text": leaves(lambda part: 7 if isinstance(part, str) else f"{part}x"),
    "null for text": leaves(lambda _: None),
    "two objects": message(lambda text: f"{text}\n{text}"),
    "prose around it": message(lambda text: f"Sure: {text} Done!"),
    "fence in prose": Fenced(),
    "JSON cut off": BadJson(),
    "half a pair in its JSON": message(lambda text: text.replace('"', '"\\ud83d', 1)),
    "NaN for a value": leaves(lambda _: float("nan")),
    "100,000 brackets": Says('{"verdict": ' + "[" * 100_000),
    "control characters": Says("\x00\x1b]0;owned\x07\x1b[2J\u202e\r"),
    "the key in prose": Says(f"Your key is {KEY}."),
}
REFUSED: Mapping[str, Make | Fault] = {
    "400, content policy": _error("Filtered.", "content_policy_violation"),
    "refusal": Refusal(),
    "content_filter": ContentFilter(),
    "the key in a refusal": Refusal(f"{KEY} may not."),
}
TOO_LONG: Mapping[str, Make | Fault] = {
    "finish_reason length": message(str, "length"),
    "10 MB reply": Says("word " * WORDS_OF_10_MB),
    "gzip of 80 MB": packed(lambda _: bomb()),
}
HARMLESS: Mapping[str, Make | Fault] = {
    "gzip unasked": packed(gzip.compress),
    "fence alone": message(lambda text: f"```json\n{text}\n```"),
    "Infinity beside it": usage(float("inf"), 1),
    "negative usage": usage(-5, -(10**9)),
    "huge usage": usage(10**18, 10**15),
    "usage in words": usage("many", [1]),
}


def _all(makers: Mapping[str, Make | Fault], *ends: str) -> list[Kind]:
    return [
        Kind(name, one_of(make) if isinstance(make, Fault) else make, frozenset(ends))
        for name, make in makers.items()
    ]


KINDS = [
    *_all(STATUS, "error"),
    Kind("401 in the middle", one_of(Status(401)), STOPPED),
    *_all(WIRE, "error"),
    *_all(BODY, "error"),
    *_all(CONTENT, "unparseable"),
    *_all(REFUSED, "refused"),
    *_all({"missing key": inner(lambda part: dict([*part.items()][:-1]))}, "incomplete"),
    *_all({"half a surrogate pair": message(lambda t: f"{t[:-1]}\ud83d")}, "error", "unparseable"),
    *_all(TOO_LONG, "truncated"),
    *_all({"the key for a label": Says(as_json({"verdict": KEY}))}, "unparseable", "incomplete"),
    Kind("wrong label", one_of(labels(lambda _: "undecided")), frozenset({"unparseable"}), True),
    Kind("label with a control character", one_of(labels(lambda label: f"{label}\x1b[2J\x07")),
         frozenset({"unparseable"}), True),
    Kind("label in other case", one_of(OtherSpelling("upper")), JUDGED, True),
    *_all(HARMLESS),
]  # fmt: skip
