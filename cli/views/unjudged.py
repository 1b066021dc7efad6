"""What helps where judgements are missing: run again, or something else first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...backends.errors import TOO_LONG
from ..hints import fit_hint

_AGAIN = "run the same command again to retry"
_OFFLINE = "run the same command without --offline"
_LONGER = "longer than the context of the model: use a model with a larger one"
_WINDOW = ", or set a smaller window (judges.NAME.window)"
# By reason; of those that are not here, asking again is what can help.
_HELPS = {
    "abstained": "the judge could not decide: use another judge, or ask people (judge next)",
    "budget": "run the same command again to go on",
    "no_passage": "retrying will not help: their texts are missing (data.passages)",
    "refused": "the model or its filter declined: use another model",
    "steps": "the agent reached its limits: raise them and run again",
    "truncated": "the reply was cut off: raise the model's max_tokens",
}


def unjudged_lines(folder: Path, manifest: Mapping[str, Any]) -> list[str]:
    """Which file lists missing judgements, and for each reason what helps; [] without any."""
    reasons = Counter(manifest["unjudged_by_reason"])
    if not reasons.total():
        return []
    lines = [f"Missing judgements are listed in {folder / 'unjudged.jsonl'}:"]
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
