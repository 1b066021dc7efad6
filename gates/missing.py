"""Whether enough was judged for a gate to say anything."""

from __future__ import annotations

from collections import Counter

from ..programs.scoring.result import Result
from .checks import ROUNDING, Check, Question


def judged(result: Result, allow_missing: float = 0.0, of: str = "") -> Check:
    """Check that no more than this share of the judgements is missing, and nothing ended it early.

    Args:
        allow_missing: in [0, 1]; what is missing counts as worst in every other check.
        of: put before the message, as "baseline".
    """
    share: float = result.manifest["share_missing"]
    limit: str | None = result.manifest["limit_reached"]
    if result.manifest.get("partial"):
        limit = "its end: a run that goes on, or was killed"
    n = result.n_judged + result.n_unjudged
    lost: dict[str, Counter[str]] = {}
    for row in result.unjudged if share else ():
        at = "/".join(str(row[name]) for name in ("run_id", "topic_id") if row.get(name))
        lost.setdefault(at, Counter())[row["reason"]] += 1
    reasons = sum(lost.values(), Counter[str]())
    why = f": {_by_reason(reasons)}" if reasons else ""
    stopped = f"; stopped at {limit}" if limit else ""
    whose = f"{of} " if of else ""
    if limit:
        at = "is not finished" if result.manifest.get("partial") else f"stopped at {limit}"
        sentence = f"the {whose}run {at}"
    else:
        sentence = (
            f"{result.n_unjudged:,} of {n:,} {whose}judgements are missing ({share:.1%}), "
            f"at most {100 * allow_missing:.4g}% may be"
        )
    return Check(
        run_id="",
        measure="",
        wanted=f"{whose}unjudged <= {allow_missing:.4g}",
        is_passed=share <= allow_missing + ROUNDING and not limit,
        found=f"{result.n_unjudged:,} of {n:,} judgements missing ({share:.1%}){why}{stopped}",
        value=share,
        n=len(result.manifest["data"]["topic_ids"]),
        n_unjudged=result.n_unjudged,
        sentence=sentence,
        is_inconclusive=True,
        questions=[Question(at, why=_by_reason(reasons)) for at, reasons in lost.items()],
    )


def _by_reason(reasons: Counter[str]) -> str:
    return ", ".join(f"{reason} {n:,}" for reason, n in reasons.most_common())
