"""Limits and spending of a run: calls, tokens and, where prices are known, money."""

from __future__ import annotations

import asyncio
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from ..records.judgements import Reason
from .config import ModelConfig, Price, find_price_row, find_provider
from .errors import JudgeError

FREE = Price(input=0, output=0)


def get_price(config: ModelConfig) -> Price | None:
    """Get the price from the config, or from LiteLLM's table for the provider's own endpoint.

    Returns None if it is unknown, for example for a model behind your own `api_base` or in this
    process. It reads LiteLLM's data file without importing LiteLLM.
    """
    if config.price is not None:
        return config.price
    if config.sends_nothing:
        return FREE
    if config.api_base is not None or config.way == "vllm":
        return None
    row = find_price_row(config.model, config.wire_name) or _row_without_provider(config.wire_name)
    each = [row.get(f"{way}_cost_per_token") for way in ("input", "output")] if row else [None]
    if row is None or None in each:
        return None
    cached = row.get("cache_read_input_token_cost")
    return Price(
        input=row["input_cost_per_token"] * 1e6,
        output=row["output_cost_per_token"] * 1e6,
        cached_input=None if cached is None else cached * 1e6,
    )


def _row_without_provider(model: str) -> dict[str, Any] | None:
    """The row of `claude-x` for `anthropic/claude-x`, where that row is this provider's."""
    provider, _, name = model.partition("/")
    return find_price_row(name) if find_provider(name) == provider else None


BATCH_SHARE = 0.5  # of the price, at every provider with a batch API


def get_batch_price(config: ModelConfig) -> Price | None:
    """The price of requests through an endpoint's batch API; None if unknown."""
    price = get_price(config)
    if price is None or config.way != "http":
        return price
    return Price(**{name: each and each * BATCH_SHARE for name, each in price})


def compute_cost(price: Price | None, prompt: int, cached: int, completion: int) -> float:
    """Compute the cost of one call in US dollars; 0 without a price.

    Args:
        prompt: tokens of the prompt.
        cached: tokens of the prompt that came from the endpoint's prefix cache.
        completion: tokens of the reply.

    >>> compute_cost(Price(input=2, output=10, cached_input=0.5), 1000, 400, 100)
    0.0024
    """
    if price is None:
        return 0.0
    cached_price = price.input if price.cached_input is None else price.cached_input
    cached = min(cached, prompt)
    fresh = prompt - cached
    return (fresh * price.input + cached * cached_price + completion * price.output) / 1e6


CHARS_PER_TOKEN = 4  # rule of thumb for English; used for estimates only
REPLY_TOKENS = 200  # assumed for a reply if max_tokens is not set and no reply was seen yet
ROOM = 128  # tokens of a reply outside its JSON: a fence, spaces
MAX_OWN = 8_192  # most tokens of a limit that follows from a judge's bounds
BYTES_PER_TOKEN = 2  # if an endpoint does not count: enough for Chinese and code


class Caution(NamedTuple):
    """Upper bounds for requests that are sent in parallel before their size is known.

    Attributes:
        few: replies that are requested one at a time.
        long: tokens of a reply that is still possible after these. After n replies, few / n of it
            is allowed: the chance that the next reply is longer than all n is 1 / (n + 1).
        per_byte: tokens of a prompt per byte.
    """

    few: int = 4
    long: int = 2**17  # the most that models write
    per_byte: float = 1.0  # a token has at least one byte


CAUTION = Caution()


@dataclass(slots=True)
class Seen:
    """Sizes of the requests of one kind so far.

    Attributes:
        n: requests that got a reply.
        longest: tokens of the longest reply.
        densest: largest number of prompt tokens per byte of the request.
    """

    n: int = 0
    longest: int = 0
    densest: float = 0.0

    def add(self, n_bytes: int, prompt: int, reply: int) -> None:
        """Add one reply to a request of `n_bytes` bytes."""
        self.n += 1
        if reply > self.longest:
            self.longest = reply
        if (density := prompt / n_bytes) > self.densest:
            self.densest = density

    def join(self, other: Seen) -> None:
        """Add the sizes that another process saw of the same kind."""
        self.n = max(self.n, other.n)
        self.longest = max(self.longest, other.longest)
        self.densest = max(self.densest, other.densest)


@dataclass(slots=True, eq=False)
class Kind:
    """Requests that ask one model one question: their upper bounds, and how many are in flight.

    Attributes:
        max_reply: the token limit that is sent to the endpoint, or None.
    """

    seen: Seen = field(default_factory=Seen)
    price: Price | None = None
    max_reply: int | None = None
    caution: Caution = CAUTION
    n_out: int = 0
    bytes_out: int = 0

    @property
    def is_known(self) -> bool:
        """Whether the tokens of a request have a known upper bound."""
        return self.max_reply is not None or self.seen.n >= self.caution.few

    def alone(self, n_bytes: int) -> tuple[int, int]:
        """Tokens of a prompt and its reply, by the largest so far or estimated for English."""
        prompt = math.ceil(n_bytes * max(self.seen.densest, 1 / CHARS_PER_TOKEN))
        if self.max_reply is None:
            return prompt, self.seen.longest or REPLY_TOKENS
        return prompt, max(self.max_reply, self.seen.longest)

    def beside(self, n_bytes: int, n: int = 1) -> tuple[int, int]:
        """Bound the tokens of `n` prompts and replies, of `n_bytes` bytes together.

        A reply counts with its limit or, without one, with the longest so far and the share of a
        long one. For an unknown kind, see `alone`.
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


def get_reply_limit(config: ModelConfig) -> int | None:
    """The most tokens that this entry allows a reply; None: not set.

    A decision model writes no reply.
    """
    if config.way == "decision":
        return 0
    further = (config.extra_body.get(name) for name in ("max_tokens", "max_completion_tokens"))
    limits = [n for n in (config.max_tokens, *further) if type(n) is int]
    return max(limits, default=None)


def count_longest_reply(schema: Mapping[str, Any]) -> int:
    """Tokens of the longest reply that a JSON schema allows, with room for spaces around it."""
    return min(MAX_OWN, ROOM + _longest(schema) // BYTES_PER_TOKEN)


def _longest(schema: Mapping[str, Any]) -> int:
    """Characters of the longest JSON that the schema allows."""
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


def estimate_tokens(text: str) -> int:
    """Estimate the tokens of a text that no tokenizer counted."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


@dataclass
class Usage:
    """Requests, replies and tokens of a run. `cost` (US dollars) covers priced replies only;
    `n_unpriced` counts the others."""

    requests: int = 0
    replies: int = 0
    cache_hits: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0
    n_unpriced: int = 0

    @property
    def tokens(self) -> int:
        """Prompt and reply tokens together."""
        return self.prompt_tokens + self.completion_tokens

    def since(self, before: Usage) -> Usage:
        """The difference to an earlier state."""
        earlier = vars(before)
        return Usage(**{name: value - earlier[name] for name, value in vars(self).items()})

    @property
    def known_cost(self) -> float | None:
        """Dollars spent; None if any reply had no known price: unknown is not 0."""
        return None if self.n_unpriced else self.cost


class Need(NamedTuple):
    """A request to send: its kind and its size in bytes."""

    kind: Kind
    n_bytes: int


class Answer(Protocol):
    """A reply with its token counts; 0 where the endpoint does not report them."""

    @property
    def text(self) -> str: ...
    @property
    def refusal(self) -> str: ...
    @property
    def prompt_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...


@dataclass
class Budget:
    """Limits of a run, checked before each request is sent.

    Requests in flight together stay within the limits: each reserves an upper bound
    (`Kind.beside`). While no bound is known, the first few requests of a kind go one at a time.
    `room` waits for replies that may turn out smaller than reserved. If an endpoint does not report
    token counts, an estimate counts towards the limits and the cost is unknown.

    Attributes:
        max_calls, max_tokens, max_cost: requests, tokens of prompts and replies, US dollars; None
            sets no limit.
        usage: what was spent so far.
        reached: the limit that refused a request; "" if none did.
        is_shared: other processes spend from the same limits at the same time.
        seen: sizes of requests so far, by the name of their kind.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    usage: Usage = field(default_factory=Usage)
    reached: str = ""
    is_shared: bool = False
    seen: dict[str, Seen] = field(default_factory=dict, compare=False)
    _kinds: dict[tuple[str, int | None, Price | None], Kind] = field(
        default_factory=dict, compare=False
    )
    _in_flight: int = 0
    _tokens_assumed: int = 0  # where endpoints did not report counts
    _cost_assumed: float = 0.0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False)
    _settled: asyncio.Event = field(default_factory=asyncio.Event, compare=False)

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit."""
        return not (self.max_calls is self.max_tokens is self.max_cost is None)

    def kind(
        self,
        name: str,
        price: Price | None,
        max_reply: int | None = None,
        caution: Caution = CAUTION,
    ) -> Kind:
        """Get the requests of this name, price and longest reply. Sizes are kept by the name."""
        kind = self._kinds.get((name, max_reply, price))
        if kind is None:
            seen = self.seen.setdefault(name, Seen())
            kind = self._kinds[name, max_reply, price] = Kind(seen, price, max_reply, caution)
        return kind

    def describe_in_flight(self) -> str:
        """Count the requests in flight to each model, and the failed ones so far."""
        counts: Counter[str] = Counter()
        for (name, _, _), kind in self._kinds.items():
            counts[name.rpartition(" ")[0]] += kind.n_out  # without the name of the prompt
        parts = [f"{n:,} requests to {name}" for name, n in (+counts).items()]
        n_failed = self.usage.requests - self.usage.replies - self._in_flight
        failed = f"; {n_failed:,} of {self.usage.requests:,} requests failed" if n_failed else ""
        return f"In flight: {', '.join(parts) or 'no request'}{failed}"

    def learn(self, seen: Mapping[str, Seen]) -> None:
        """Add the sizes that other processes saw."""
        for name, other in seen.items():
            self.seen.setdefault(name, Seen()).join(other)

    def check(self, need: Need) -> None:
        """Raise JudgeError(budget) if this request alone would pass a limit."""
        if limit := self._find_passed_limit(need, beside=False):
            self._refuse(limit, need)

    async def room(self, need: Need) -> None:
        """Wait while replies in flight may still make room for this request.

        Waiting requests proceed in the order in which they came.
        """
        if not self._turn.locked() and not self._find_passed_limit(need, beside=True):
            return
        async with self._turn:
            while self._find_passed_limit(need, beside=True):
                if not self._in_flight or self._find_passed_limit(need, beside=False):
                    return
                self._settled.clear()
                await self._settled.wait()

    def reserve(self, need: Need) -> None:
        """Claim room for one request.

        Raises: JudgeError(budget) if it would pass a limit; then nothing is claimed.
        """
        if limit := self._find_passed_limit(need, beside=True):
            self._refuse(limit, need)
        self.usage.requests += 1
        self._in_flight += 1
        need.kind.n_out += 1
        need.kind.bytes_out += need.n_bytes

    def settle(self, need: Need, reply: Answer | None, billed: int | None = None) -> None:
        """Replace a claim by the tokens that the reply used.

        Args:
            reply: None: no readable reply came.
            billed: if there is no reply but the request may be charged, the bytes that came; None:
                nothing is charged.
        """
        kind, n_bytes = need
        kind.n_out -= 1
        kind.bytes_out -= n_bytes
        self._in_flight -= 1
        self._settled.set()
        if reply is None:
            if billed is not None:
                prompt, expected = kind.alone(n_bytes)
                self._assume(kind, prompt, max(expected, billed // BYTES_PER_TOKEN))
                if billed:
                    kind.seen.add(n_bytes, 0, billed // BYTES_PER_TOKEN)
            return
        use, prompt, written = self.usage, reply.prompt_tokens, reply.completion_tokens
        use.replies += 1
        use.prompt_tokens += prompt
        use.cached_tokens += reply.cached_tokens
        use.completion_tokens += written
        is_counted = written or kind.max_reply == 0 or not (reply.text or reply.refusal)
        if prompt and is_counted:
            if kind.price is None:
                use.n_unpriced += 1
            else:
                use.cost += compute_cost(kind.price, prompt, reply.cached_tokens, written)
        else:
            use.n_unpriced += kind.price != FREE
            n_counted, prompt = prompt + written, prompt or n_bytes // BYTES_PER_TOKEN
            written = written or estimate_tokens(reply.text + reply.refusal)
            self._assume(kind, prompt, written, n_counted)
        kind.seen.add(n_bytes, prompt, written)

    def count_by_limit(self) -> dict[str, float]:
        """Amount that counts towards each limit, by its name: spent and claimed."""
        use = self.usage
        tokens, cost = self._sum_claims()
        return {
            "max_calls": use.requests,
            "max_tokens": use.tokens + self._tokens_assumed + tokens,
            "max_cost": use.cost + self._cost_assumed + cost,
        }

    def _assume(self, kind: Kind, prompt: int, reply: int, n_counted: int = 0) -> None:
        """Count an estimate towards the limits; `n_counted` tokens of it are in `usage`."""
        self._tokens_assumed += prompt + reply - n_counted
        self._cost_assumed += compute_cost(kind.price, prompt, 0, reply)

    def _sum_claims(self) -> tuple[int, float]:
        """Tokens and dollars claimed for requests in flight."""
        tokens, cost = 0, 0.0
        for kind in self._kinds.values():
            if kind.n_out:
                prompt, reply = kind.beside(kind.bytes_out, kind.n_out)
                tokens += prompt + reply
                cost += compute_cost(kind.price, prompt, 0, reply)
        return tokens, cost

    def _find_passed_limit(self, need: Need, *, beside: bool) -> str:
        """The limit that this request would pass, with requests in flight if `beside`; or ""."""
        use = self.usage
        if self.max_calls is not None and use.requests >= self.max_calls:
            return f"max_calls {self.max_calls}"
        if self.max_tokens is None and self.max_cost is None:
            return ""
        kind, n_bytes = need
        is_alone = not (self.is_shared or (beside and self._in_flight))
        tokens, cost = self._sum_claims() if beside else (0, 0.0)
        prompt, reply = kind.alone(n_bytes) if is_alone else kind.beside(n_bytes)
        is_open = not is_alone and not self._all_known(kind, beside=beside)
        if self.max_tokens is not None:
            tokens += use.tokens + self._tokens_assumed + prompt + reply
            if is_open or tokens > self.max_tokens:
                return f"max_tokens {self.max_tokens}"
        if self.max_cost is not None:
            cost += use.cost + self._cost_assumed + compute_cost(kind.price, prompt, 0, reply)
            if is_open or cost > self.max_cost:
                return f"max_cost {self.max_cost:g}"
        return ""

    def _all_known(self, kind: Kind, *, beside: bool) -> bool:
        """Whether this kind, and with `beside` each kind in flight, has a known bound."""
        out = (other for other in self._kinds.values() if other.n_out) if beside else ()
        return kind.is_known and all(other.is_known for other in out)

    def _refuse(self, limit: str, need: Need) -> None:
        self.reached = self.reached or limit
        prompt, reply = need.kind.alone(need.n_bytes)
        why = {
            "max_tokens": f": {self.usage.tokens:,} spent, the next may take {prompt + reply:,}",
            "max_cost": f": ${self.usage.cost:.4f} spent, the next may take "
            f"${compute_cost(need.kind.price, prompt, 0, reply):.4f}",
        }.get(limit.split()[0], "")
        raise JudgeError(Reason.BUDGET, f"{limit} reached, not asked{why}")


_ENDPOINTS = ("OPENAI_BASE_URL", "OPENAI_API_BASE")  # read by other tools


def notes_on(models: Iterable[tuple[str, ModelConfig]]) -> list[str]:
    """Describe each endpoint variable that is ignored, and each unknown price, in one line.

    Args:
        models: entries of a config, each with its name there.

    Models on your own endpoint, or in this process, have no price to report.
    """
    return list(dict.fromkeys(line for entry in models for line in _notes_on(*entry)))


def _notes_on(alias: str, model: ModelConfig) -> Iterator[str]:
    if model.way not in ("http", "litellm") or model.api_base is not None:
        return
    if model.way == "http" and (ignored := [name for name in _ENDPOINTS if os.environ.get(name)]):
        yield (
            f"{ignored[0]} is set but not used: requests for {model.model} go to {model.base_url}. "
            f"For another endpoint, set --api-base or models.{alias}.api_base."
        )
    if get_price(model) is None:
        yield (
            f"No price is known for {model.model}, so no cost can be shown: "
            f"set models.{alias}.price, or limit the run by run.max_tokens."
        )
