"""Is one run better than another, tested by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..source import Source

_DIGITS = 4
_FIGURES = ("difference", "low", "high", "p", "p_holm", "p_hsd")
_COUNTS = ("wins", "ties", "losses")


def data(source: Source) -> Mapping[str, Any] | None:
    """By measure its runs, best first, and of each pair (first with second, with third, ...)
    a list for each figure; `is_told_apart` as text, 1, 0 or ? a pair; `test` says by which."""
    if len(source.runs) < 2:
        return None
    tested = [measure for measure in source.measures if source.is_tested(measure)]
    return {"measures": {measure: _pairs(source.compared(measure)) for measure in tested}}


def _pairs(compared: Mapping[str, Any]) -> dict[str, Any]:
    pairs: Sequence[Mapping[str, Any]] = compared["pairs"]
    marks = {None: "?", True: "1", False: "0"}
    return {
        "runs": [row["run_id"] for row in compared["runs"]],
        "n_topics": compared["n_topics"],
        "n_topics_all_judged": compared["n_topics_all_judged"],
        "test": compared["test"],
        "least_topics": compared["least_topics"],
        **{name: [_short(pair.get(name)) for pair in pairs] for name in _FIGURES},
        **{name: [pair[name] for pair in pairs] for name in _COUNTS},
        "is_told_apart": "".join(marks[pair["is_told_apart"]] for pair in pairs),
    }


def _short(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
