"""What helps where judgements did not arrive: another start, or something else first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_AGAIN = "the same command asks again"
_OFFLINE = "the same command without --offline asks for them"
_LONGER = "longer than the context: a smaller window, or a model with a larger context"
# By reason; of those that are not here, asking again is what can help.
_HELPS = {
    "abstained": "the judge could not tell: another judge may, or people (judge next)",
    "budget": "the same command goes on from here",
    "no_passage": "asking again cannot help: their texts are missing (data.passages)",
    "refused": "the model or its filter declined: another model may answer",
    "steps": "the agent met its limits: the same command with higher ones",
    "truncated": "the reply met its end: raise models.*.max_tokens, or take a smaller window",
}


def unjudged_lines(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Where what is unjudged stands, and a line for each reason on what helps; [] without any."""
    reasons = Counter(manifest["unjudged_by_reason"])
    if not reasons.total():
        return []
    lines = [f"Unjudged ones are in {folder / 'unjudged.jsonl'}."]
    n_long = _too_long(folder) if reasons["error"] else 0
    reasons["error"] -= n_long
    is_offline = manifest.get("config", {}).get("run", {}).get("offline", False)
    for reason, n in (+reasons).items():
        helps = _OFFLINE if is_offline and reason == "error" else _HELPS.get(reason, _AGAIN)
        lines.append(f"  {reason} {n:,}: {helps}")
    return [*lines, *([f"  error {n_long:,}: {_LONGER}"] if n_long else [])]


def _too_long(folder: Path) -> int:
    """How many ended because question and reply do not fit into the model's context."""
    from ...backends.http import TOO_LONG
    from ...records.reading.lines import json_lines
    from ...records.reading.problems import Problems

    rows = json_lines(folder / "unjudged.jsonl", Problems())
    return sum(row["detail"].startswith(TOO_LONG) for _, row in rows)
