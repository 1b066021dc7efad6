"""What helps where judgements did not arrive: another start, or something else first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...backends.errors import TOO_LONG
from ..hints import fit_hint

_AGAIN = "the same command asks again"
_OFFLINE = "the same command without --offline asks for them"
_LONGER = "longer than the context: a model with a larger one may answer"
_WINDOW = ", or a smaller window fit (judges.NAME.window)"
# By reason; of those that are not here, asking again is what can help.
_HELPS = {
    "abstained": "the judge could not tell: another judge may, or people (judge next)",
    "budget": "the same command goes on from here",
    "no_passage": "asking again cannot help: their texts are missing (data.passages)",
    "refused": "the model or its filter declined: another model may answer",
    "steps": "the agent met its limits: the same command with higher ones",
    "truncated": "the reply met its end: raise the model's max_tokens",
}


def unjudged_lines(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Where what is unjudged stands, and a line for each reason on what helps; [] without any."""
    reasons = Counter(manifest["unjudged_by_reason"])
    if not reasons.total():
        return []
    lines = [f"Unjudged ones are in {folder / 'unjudged.jsonl'}."]
    n_long, windows = _too_long(folder) if {"error", "truncated"} & reasons.keys() else (0, set())
    reasons["error"] -= n_long
    is_offline = manifest.get("config", {}).get("run", {}).get("offline", False)
    for reason, n in (+reasons).items():
        helps = _OFFLINE if is_offline and reason == "error" else _HELPS.get(reason, _AGAIN)
        lines.append(f"  {reason} {n:,}: {helps}{_WINDOW if reason in windows else ''}")
    if n_long:
        lines.append(f"  error {n_long:,}: {_LONGER}{_WINDOW if TOO_LONG in windows else ''}")
    return [fit_hint(line) for line in lines]


def _too_long(folder: Path) -> tuple[int, set[str]]:
    """How many are beyond the model's context; where several items of a call may be the cause.

    Returns: the number; of "truncated" and TOO_LONG those that windows of several items met.
    """
    from ...records.reading.lines import json_lines
    from ...records.reading.problems import Problems

    n_long, windows = 0, set()
    for _, row in json_lines(folder / "unjudged.jsonl", Problems()):
        is_long = row["detail"].startswith(TOO_LONG)
        n_long += is_long
        if row["n"] > 1 and (is_long or row["reason"] == "truncated"):
            windows.add(TOO_LONG if is_long else "truncated")
    return n_long, windows
