"""`model: preset:NAME`, spelled out; any other line of the entry goes before the preset's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...records.reading.problems import did_you_mean
from .table import PRESETS, Preset

PREFIX = "preset:"


def expanded(entry: Any) -> Any:
    """An entry of `models:` with its preset spelled out; any other as it is.

    Raises: ValueError for a preset that there is not.

    >>> expanded({"model": "preset:qwen3-8b", "max_tokens": 512})["max_tokens"]
    512
    """
    named = entry.get("model") if isinstance(entry, Mapping) else None
    if not isinstance(named, str) or not named.startswith(PREFIX):
        return entry
    preset = preset_of(named.removeprefix(PREFIX)).entry()
    return {**preset, **entry, "model": preset["model"]}


def preset_of(name: str) -> Preset:
    """The preset of this name. Raises: ValueError, with what it may have been meant as."""
    if name not in PRESETS:
        meant = did_you_mean(name, PRESETS)
        raise ValueError(f"no preset {name!r}{meant or ', wanted one that judge models lists'}")
    return PRESETS[name]
