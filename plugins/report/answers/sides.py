"""Two answers to one topic, side by side: how their labels are to be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..source import Source
from . import answer


def data(source: Source) -> Mapping[str, Any] | None:
    """As of an answer; the texts are packed by topic. None where there is only one run."""
    return answer.data(source) if len(source.runs) > 1 else None
