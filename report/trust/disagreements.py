"""Disagreements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..source import Source


def data(source: Source) -> Mapping[str, Any] | None:
    """See sections.py."""
    return None
