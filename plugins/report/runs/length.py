"""Is a run only longer: score against words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....programs.analysis.lengths import score_by_length
from ....programs.protocols.glossary import meaning
from ....programs.protocols.scoreboard import LENGTH
from ..source import Source


def data(source: Source) -> Mapping[str, Any] | None:
    """By measure a point a run, the runs that no other beats in both, and the rank correlation."""
    if len(source.runs) < 2:
        return None
    if LENGTH not in source.measures:
        return {
            "missing": "How long the answers are stands with the nuggets, which were not judged.",
            "command": "judge run nuggets",
        }
    words = {row["run_id"]: row["mean"] for row in source.compared(LENGTH)["runs"]}
    others = [m for m in source.measures if m != LENGTH and meaning(m).is_quality]
    return {"measures": {m: score_by_length(m, source.compared(m), words) for m in others}}
