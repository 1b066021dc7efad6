"""Where one run loses: its topics, and what it misses that others state; drawn of what is there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..source import Source


def data(source: Source) -> Mapping[str, Any] | None:
    """`n_runs`. The scores are in the page's head, the labels in the data of `matrix`."""
    return {"n_runs": len(source.runs)} if source.topics and source.runs else None
