"""What a run may spend and what it has spent: calls, tokens and, where prices are known, money."""

from __future__ import annotations

import asyncio
import importlib.util
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import orjson

from ..records.judgements import Reason
from .config import ModelConfig, Price
from .errors import JudgeError

CHARS_PER_TOKEN = 4  # rule of thumb for English; only estimates rest on it
FREE = Price(input=0, output=0)


@dataclass
class Usage:
    """What was asked of the models. `cost` counts priced replies; `n_unpriced` the others."""

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
        """What came on top of an earlier state of this."""
        earlier = vars(before)
        return Usage(**{name: value - earlier[name] for name, value in vars(self).items()})

    @property
    def known_cost(self) -> float | None:
        """Dollars spent, or None as soon as one reply had no known price: unknown is not 0."""
        return None if self.n_unpriced else self.cost


class Tokens(Protocol):
    """What a reply says that it took; all 0 where the endpoint does not say."""

    @property
    def prompt_tokens(self) -> int: ...
    @property
    def cached_tokens(self) -> int: ...
    @property
    def completion_tokens(self) -> int: ...


@dataclass
class Budget:
    """Limits that are checked before a request leaves; None is no limit.

    What is in flight counts with its estimate until the reply tells the real figure, so that
    many requests at once cannot overshoot together; replies that are on their way may turn out
    cheaper, and `room` waits for them. Where an endpoint reports no tokens the estimate goes on
    counting towards the limits, and the cost is unknown.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    usage: Usage = field(default_factory=Usage)
    reached: str = ""
    _in_flight: int = 0
    _tokens_claimed: int = 0  # for what is in flight
    _cost_claimed: float = 0.0
    _tokens_assumed: int = 0  # for replies that did not tell
    _cost_assumed: float = 0.0
    _turn: asyncio.Lock = field(default_factory=asyncio.Lock, compare=False)
    _settled: asyncio.Event = field(default_factory=asyncio.Event, compare=False)

    def check(self, prompt: int, reply: int, price: Price | None) -> None:
        """Raise JudgeError(budget) if such a request would pass a limit, whatever is in flight."""
        if limit := self._passed(prompt, reply, price, 0, 0.0):
            self._refuse(limit)

    async def room(self, prompt: int, reply: int, price: Price | None) -> None:
        """Wait for as long as replies in flight may still make room for such a request.

        Those that wait do so in the order in which they came.
        """
        if self._has_room(prompt, reply, price) and not self._turn.locked():
            return
        async with self._turn:
            while not self._has_room(prompt, reply, price):
                if self._passed(prompt, reply, price, 0, 0.0):
                    return
                self._settled.clear()
                await self._settled.wait()

    def reserve(self, prompt: int, reply: int, price: Price | None) -> None:
        """Claim one request of about `prompt` + `reply` tokens.

        Raises: JudgeError(budget) if a limit would be passed; nothing is claimed then.
        """
        claimed = self._tokens_claimed, self._cost_claimed
        if limit := self._passed(prompt, reply, price, *claimed):
            self._refuse(limit)
        self.usage.requests += 1
        self._in_flight += 1
        self._tokens_claimed += prompt + reply
        self._cost_claimed += cost_of(price, prompt, 0, reply)

    def settle(self, prompt: int, expected: int, price: Price | None, reply: Tokens | None) -> None:
        """Replace the estimate by what the reply took; None: there was no reply."""
        use, tokens, cost = self.usage, prompt + expected, cost_of(price, prompt, 0, expected)
        self._in_flight -= 1
        self._tokens_claimed -= tokens
        # Of sums and differences of floats a little may be left over, for which nobody must wait.
        self._cost_claimed = self._cost_claimed - cost if self._in_flight else 0.0
        self._settled.set()
        if reply is None:
            return
        use.replies += 1
        if not reply.prompt_tokens and not reply.completion_tokens:
            use.n_unpriced += price != FREE
            self._tokens_assumed += tokens
            self._cost_assumed += cost
            return
        use.prompt_tokens += reply.prompt_tokens
        use.cached_tokens += reply.cached_tokens
        use.completion_tokens += reply.completion_tokens
        if price is None:
            use.n_unpriced += 1
        else:
            use.cost += cost_of(
                price, reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens
            )

    def counted(self) -> dict[str, float]:
        """What counts towards each limit, by its name: what was spent and what is claimed."""
        use = self.usage
        return {
            "max_calls": use.requests,
            "max_tokens": use.tokens + self._tokens_assumed + self._tokens_claimed,
            "max_cost": use.cost + self._cost_assumed + self._cost_claimed,
        }

    def _has_room(self, prompt: int, reply: int, price: Price | None) -> bool:
        claimed = self._tokens_claimed, self._cost_claimed
        return not self._passed(prompt, reply, price, *claimed)

    def _passed(
        self, prompt: int, reply: int, price: Price | None, tokens: int, cost: float
    ) -> str:
        """The limit that such a request would pass with `tokens` and `cost` claimed; "": none."""
        use = self.usage
        if self.max_calls is not None and use.requests + 1 > self.max_calls:
            return f"max_calls {self.max_calls}"
        if self.max_tokens is not None:
            tokens += use.tokens + self._tokens_assumed + prompt + reply
            if tokens > self.max_tokens:
                return f"max_tokens {self.max_tokens}"
        if self.max_cost is not None:
            cost += use.cost + self._cost_assumed + cost_of(price, prompt, 0, reply)
            if cost > self.max_cost:
                return f"max_cost {self.max_cost:g}"
        return ""

    def _refuse(self, limit: str) -> None:
        self.reached = self.reached or limit
        raise JudgeError(Reason.BUDGET, f"{limit} reached, not asked")


def price_of(config: ModelConfig) -> Price | None:
    """The price a config names, else LiteLLM's dated table for the provider's own endpoint.

    None when unknown, as for any model behind an `api_base` of one's own or in this process. Reads
    LiteLLM's data file without importing LiteLLM.
    """
    if config.price is not None:
        return config.price
    if config.way in ("lexical", "recorded"):
        return FREE
    if config.api_base is not None or config.way == "vllm":
        return None
    row = _litellm_price(config.model, config.wire_name)
    each = [row.get(f"{way}_cost_per_token") for way in ("input", "output")] if row else [None]
    if row is None or None in each:
        return None
    cached = row.get("cache_read_input_token_cost")
    return Price(
        input=row["input_cost_per_token"] * 1e6,
        output=row["output_cost_per_token"] * 1e6,
        cached_input=None if cached is None else cached * 1e6,
    )


def price_in_batches(config: ModelConfig) -> Price | None:
    """The price of what is asked through the batch API of an endpoint, where there is one."""
    price = price_of(config)
    if price is None or config.way != "http":
        return price
    share = 1 - config.batch_discount
    return Price(**{name: each and each * share for name, each in price})


def cost_of(price: Price | None, prompt: int, cached: int, completion: int) -> float:
    """Dollars for tokens of a prompt, `cached` of them from a prefix cache, and its reply.

    0 without a price.
    """
    if price is None:
        return 0.0
    cached_price = price.input if price.cached_input is None else price.cached_input
    cached = min(cached, prompt)
    fresh = prompt - cached
    return (fresh * price.input + cached * cached_price + completion * price.output) / 1e6


@lru_cache(maxsize=64)
def _litellm_price(*names: str) -> dict[str, Any] | None:
    """The row of the first name that LiteLLM's table lists; the table itself is let go again."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    table = Path(spec.origin).parent / "model_prices_and_context_window_backup.json"
    if not table.is_file():
        return None
    prices: dict[str, dict[str, Any]] = orjson.loads(table.read_bytes())
    return next((prices[name] for name in names if name in prices), None)
