"""What a request may take, in tokens: by itself, and beside others that nobody has measured yet."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..config import ModelConfig, Price

CHARS_PER_TOKEN = 4  # rule of thumb for English; only estimates rest on it
REPLY_TOKENS = 200  # of a reply, where max_tokens is not set and none was seen
ROOM = 128  # tokens of a reply besides its JSON: a fence, spaces
MOST_OWN = 8_192  # of a limit that follows from a judge's bounds
BYTES_PER_TOKEN = 2  # of what an endpoint does not count: enough for Chinese and code, too


class Caution(NamedTuple):
    """What is allowed for requests that go out beside others before their size is known.

    Attributes:
        few: replies that come one at a time.
        long: tokens of a reply that is still possible after these; after n of them a share of it,
            few / n, as the chance that the next is longer than all of n is 1 / (n + 1).
        per_byte: tokens of a prompt.
    """

    few: int = 4
    long: int = 2**17  # what models write at most
    per_byte: float = 1.0  # a token is a byte at least


CAUTION = Caution()


@dataclass(slots=True)
class Seen:
    """What requests of one kind took so far.

    Attributes:
        n: how many were replied to.
        longest: tokens of the longest reply.
        densest: prompt tokens for a byte of the request, at most.
    """

    n: int = 0
    longest: int = 0
    densest: float = 0.0

    def add(self, n_bytes: int, prompt: int, reply: int) -> None:
        """One more reply, to a request of so many bytes."""
        self.n += 1
        if reply > self.longest:
            self.longest = reply
        if (density := prompt / n_bytes) > self.densest:
            self.densest = density

    def join(self, other: Seen) -> None:
        """What another process saw of the same."""
        self.n = max(self.n, other.n)
        self.longest = max(self.longest, other.longest)
        self.densest = max(self.densest, other.densest)


@dataclass(slots=True, eq=False)
class Kind:
    """Requests that ask one model one question: what each may take, and what is under way.

    Attributes:
        max_reply: the limit of tokens that the endpoint is sent; None: none is sent.
    """

    seen: Seen = field(default_factory=Seen)
    price: Price | None = None
    max_reply: int | None = None
    caution: Caution = CAUTION
    n_out: int = 0
    bytes_out: int = 0

    @property
    def is_known(self) -> bool:
        """Whether there is a bound for what a request may take."""
        return self.max_reply is not None or self.seen.n >= self.caution.few

    def alone(self, n_bytes: int) -> tuple[int, int]:
        """Tokens of a prompt and its reply that take no more than any before, or English does."""
        prompt = math.ceil(n_bytes * max(self.seen.densest, 1 / CHARS_PER_TOKEN))
        if self.max_reply is None:
            return prompt, self.seen.longest or REPLY_TOKENS
        return prompt, max(self.max_reply, self.seen.longest)

    def beside(self, n_bytes: int, n: int = 1) -> tuple[int, int]:
        """Bound for the tokens of `n` prompts and replies, of so many bytes together.

        A reply takes its limit, or else the longest so far and the share of a
        long one. Of a kind that is not known: see `alone`.
        """
        if not self.is_known:
            return self.alone(n_bytes)
        if self.max_reply is None:
            share = self.caution.few / self.seen.n
            reply = self.seen.longest + math.ceil(self.caution.long * share)
        else:
            reply = max(self.max_reply, self.seen.longest)
        prompt = math.ceil(n_bytes * max(self.caution.per_byte, self.seen.densest))
        return prompt, n * reply


def reply_limit(config: ModelConfig) -> int | None:
    """Tokens of a reply that a request of this entry allows; None: it does not say."""
    further = (config.extra_body.get(name) for name in ("max_tokens", "max_completion_tokens"))
    limits = [n for n in (config.max_tokens, *further) if type(n) is int]
    return max(limits, default=None)


def longest_reply(schema: Mapping[str, Any]) -> int:
    """Tokens for the longest reply that a JSON schema allows, with room for spaces around it."""
    return min(MOST_OWN, ROOM + _longest(schema) // BYTES_PER_TOKEN)


def _longest(schema: Mapping[str, Any]) -> int:
    """Characters of the longest JSON."""
    if "enum" in schema:
        return max(len(str(value)) for value in schema["enum"]) + 4
    if "anyOf" in schema:
        return max(map(_longest, schema["anyOf"]))
    match schema.get("type"):
        case "object":
            parts = schema.get("properties", {}).items()
            return 2 + sum(len(name) + 6 + _longest(part) for name, part in parts)
        case "array":
            return 2 + int(schema["maxItems"]) * (2 + _longest(schema["items"]))
        case "string":
            return 2 + int(schema["maxLength"])
    return 20


def tokens_of(text: str) -> int:
    """Tokens that a text may be, where nobody counted them."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)
