"""Faults made for a storm: the message, the completion around it, or the bytes of the response."""

from __future__ import annotations

import functools
import gzip
import json
import random
from collections.abc import Callable
from typing import Any

from mock_faults import Fault, Respelt
from mock_replies import Body, as_json

OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"

Make = Callable[[random.Random], Fault]


def one_of(*faults: Fault) -> Make:
    """One of these, drawn."""
    return lambda chance: chance.choice(faults)


def message(change: Callable[[str], str], finish: str = "stop") -> Fault:
    """The content changed as text."""
    return Respelt("message", change, finish)


def values(change: Callable[[dict[str, Any]], Any]) -> Fault:
    """The content changed as the JSON object that it is."""
    return message(lambda text: as_json(change(json.loads(text))))


def leaves(change: Callable[[Any], Any]) -> Fault:
    """Each text and number of the content changed."""

    def walk(part: Any) -> Any:
        if isinstance(part, dict):
            return {key: walk(value) for key, value in part.items()}
        return [walk(value) for value in part] if isinstance(part, list) else change(part)

    return values(walk)


def labels(change: Callable[[str], Any]) -> Fault:
    """Each label changed; a grade becomes 97."""
    return leaves(lambda part: change(part) if isinstance(part, str) else 97)


def inner(change: Callable[[dict[str, Any]], Any]) -> Fault:
    """The first map within the content changed, or the whole where there is none."""

    def changed(row: dict[str, Any]) -> Any:
        for key, part in row.items():
            if isinstance(part, dict) and part:
                return row | {key: change(part)}
        return change(row)

    return values(changed)


def choice(**fields: Any) -> Fault:
    """The completion's one choice with other fields."""
    return around(lambda made: made | {"choices": [made["choices"][0] | fields]})


def usage(prompt: Any, completion: Any) -> Fault:
    """Counts of tokens that are none."""
    counts = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt}
    counts["prompt_tokens_details"] = {"cached_tokens": completion}
    return around(lambda made: made | {"usage": counts})


def around(change: Callable[[Body], Body]) -> Fault:
    """The completion around the message is another."""
    return Fault("around", change=change)


def wire(parts: Callable[[bytes], list[bytes | float]], *, is_reset: bool = False) -> Fault:
    """The response written in another way; see Fault."""
    return Fault("wire", parts=parts, is_reset=is_reset)


def sized(n_more: int) -> Callable[[bytes], list[bytes | float]]:
    """A Content-Length that is too large by so much."""
    return lambda body: [OK_HEAD + b"Content-Length: %d\r\n\r\n" % (len(body) + n_more) + body]


def cut(body: bytes) -> list[bytes | float]:
    """A sound response without its end."""
    return [OK_HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body[:-20]]


def drip(body: bytes) -> list[bytes | float]:
    """A byte each second."""
    parts: list[bytes | float] = [OK_HEAD + b"Content-Length: %d\r\n\r\n" % len(body)]
    for byte in body:
        parts += [bytes([byte]), 1.0]
    return parts


def packed(pack: Callable[[bytes], bytes]) -> Fault:
    """The body as gzip, which nobody asked for."""

    def parts(body: bytes) -> list[bytes | float]:
        raw = pack(body)
        return [OK_HEAD + b"Content-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(raw) + raw]

    return wire(parts)


@functools.cache
def bomb() -> bytes:
    """80 MB of nothing in 80 kB."""
    return gzip.compress(bytes(80 * 2**20), 1)
