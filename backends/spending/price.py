"""What tokens cost: by the price in a config, or by LiteLLM's table of providers' own prices."""

from __future__ import annotations

from typing import Any

from ..config import ModelConfig, Price
from .litellm_table import provider_of, row_of

FREE = Price(input=0, output=0)


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
    row = row_of(config.model, config.wire_name) or _row_without_provider(config.model)
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
    return row_of(name) if provider_of(name) == provider else None


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
