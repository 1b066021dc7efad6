"""LiteLLM's table of models, read without importing LiteLLM: providers and their prices."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson


def provider_of(model: str) -> str | None:
    """Whose model LiteLLM's table has under this name, as its names begin; None: nobody's."""
    row = row_of(model)
    return row["litellm_provider"].partition("-")[0] if row else None


@lru_cache(maxsize=64)
def row_of(*names: str) -> dict[str, Any] | None:
    """The row of the first name that LiteLLM's table lists; the table itself is let go again."""
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    table = Path(spec.origin).parent / "model_prices_and_context_window_backup.json"
    if not table.is_file():
        return None
    prices: dict[str, dict[str, Any]] = orjson.loads(table.read_bytes())
    return next((prices[name] for name in names if name in prices), None)
