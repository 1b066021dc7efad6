"""What a run may spend and what it has spent: calls, tokens and, where prices are known, money."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from ..records.judgements import Provenance, Reason
from .config import ModelConfig, Price
from .errors import JudgeError

CHARS_PER_TOKEN = 4  # rule of thumb for English; only estimates rest on it


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

    @property
    def known_cost(self) -> float | None:
        """Dollars spent, or None as soon as one reply had no known price: unknown is not 0."""
        return None if self.n_unpriced else self.cost


@dataclass
class Budget:
    """Limits that are checked before a request leaves; None is no limit.

    What is in flight counts with its estimate until the reply tells the real figure, so that
    many requests at once cannot overshoot together.
    """

    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    usage: Usage = field(default_factory=Usage)
    reached: str = ""
    _tokens_in_flight: int = 0
    _cost_in_flight: float = 0.0

    def reserve(self, tokens: int, price: Price | None) -> None:
        """Claim one request of about `tokens`.

        Raises: JudgeError(budget) if a limit would be passed; nothing is claimed then.
        """
        use = self.usage
        cost = _cost(price, tokens, 0, 0) if price else 0.0
        if self.max_calls is not None and use.requests + 1 > self.max_calls:
            self._refuse(f"max_calls {self.max_calls}")
        if self.max_tokens is not None and (
            use.tokens + self._tokens_in_flight + tokens > self.max_tokens
        ):
            self._refuse(f"max_tokens {self.max_tokens}")
        if self.max_cost is not None and use.cost + self._cost_in_flight + cost > self.max_cost:
            self._refuse(f"max_cost {self.max_cost:g}")
        use.requests += 1
        self._tokens_in_flight += tokens
        self._cost_in_flight += cost

    def settle(self, tokens: int, price: Price | None, reply: Provenance | None) -> None:
        """Replace the estimate by what the reply cost; None: there was no reply."""
        self._tokens_in_flight -= tokens
        self._cost_in_flight -= _cost(price, tokens, 0, 0) if price else 0.0
        if reply is None:
            return
        use = self.usage
        use.replies += 1
        use.prompt_tokens += reply.prompt_tokens
        use.cached_tokens += reply.cached_tokens
        use.completion_tokens += reply.completion_tokens
        if price is None:
            use.n_unpriced += 1
        else:
            use.cost += _cost(
                price, reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens
            )

    def _refuse(self, limit: str) -> None:
        self.reached = self.reached or limit
        raise JudgeError(Reason.BUDGET, f"{limit} reached, not asked")


def price_of(config: ModelConfig) -> Price | None:
    """The price a config names, else LiteLLM's dated table for the provider's own endpoint.

    None when unknown, as for any model behind an `api_base` of one's own. Reads LiteLLM's data
    file without importing LiteLLM.
    """
    if config.price is not None:
        return config.price
    if config.way in ("lexical", "recorded"):
        return Price(input=0, output=0)
    if config.api_base is not None:
        return None
    row = _litellm_prices().get(config.model) or _litellm_prices().get(config.wire_name)
    if not row or row.get("input_cost_per_token") is None:
        return None
    cached = row.get("cache_read_input_token_cost")
    return Price(
        input=row["input_cost_per_token"] * 1e6,
        output=(row.get("output_cost_per_token") or 0.0) * 1e6,
        cached_input=None if cached is None else cached * 1e6,
    )


def _cost(price: Price, prompt: int, cached: int, completion: int) -> float:
    cached_price = price.input if price.cached_input is None else price.cached_input
    fresh = prompt - cached
    return (fresh * price.input + cached * cached_price + completion * price.output) / 1e6


@lru_cache(maxsize=1)
def _litellm_prices() -> dict[str, Any]:
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return {}
    table = Path(spec.origin).parent / "model_prices_and_context_window_backup.json"
    if not table.is_file():
        return {}
    prices: dict[str, Any] = orjson.loads(table.read_bytes())
    return prices
