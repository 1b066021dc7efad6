"""Who is best, and is that known: a row a run, with three kinds of uncertainty."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..source import Source


def data(source: Source) -> Mapping[str, Any]:
    """By measure: mean, interval over topics, bounds for the unjudged."""
    found = {}
    for measure in source.measures[:1]:
        found[measure] = source.compared(measure)["runs"]
    return {"measures": found, "count": len(source.runs)}
