"""What a user should know of the models before anything is asked of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from ..config import ModelConfig
from .price import price_of

_ENDPOINTS = ("OPENAI_BASE_URL", "OPENAI_API_BASE")  # which other tools read


def notes_on(models: Iterable[tuple[str, ModelConfig]]) -> list[str]:
    """A line for each endpoint of the environment that is not used, and each unknown price.

    Args:
        models: entries of a config, each with its name there.

    Models on one's own endpoint, or in this process, have no price to report.
    """
    return list(dict.fromkeys(line for entry in models for line in _notes_on(*entry)))


def _notes_on(alias: str, model: ModelConfig) -> Iterator[str]:
    if model.way not in ("http", "litellm") or model.api_base is not None:
        return
    if model.way == "http" and (ignored := [name for name in _ENDPOINTS if os.environ.get(name)]):
        yield (
            f"{ignored[0]} is set and not used: {model.model} is asked at {model.base_url}. "
            f"Another endpoint is named by --api-base, or models.{alias}.api_base."
        )
    if price_of(model) is None:
        yield (
            f"The price of {model.model} is not known, so no cost can be given: "
            f"set models.{alias}.price, or limit the run by --max-tokens."
        )
