"""What `judge agree --by` prints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..options import print_result
from ..stopping import list_problems
from ..tables import cell, figure, shown

_NAME, _CELL = 34, 28


def print_errors(
    human: Path, judged: Path, by: str, options: Mapping[str, Any], *, as_json: bool
) -> None:
    """Print what the judge's errors go with; `by` has names with commas between them."""
    from ...programs.analysis.bias.errors import judge_errors
    from ...records.reading.problems import Problems

    problems = Problems()
    names = [name.strip() for name in by.split(",")]
    errors = judge_errors(human, judged, names, problems, **options)
    print_result([errors], lambda: shown(errors_text(errors)), as_json=as_json)
    list_problems(problems)


def errors_text(errors: Mapping[str, Any]) -> str:
    """The judge less people, over all items and by each covariate, in 100 columns."""
    worth = ", ".join(f"{cell(label)} {gain:.3g}" for label, gain in errors["gains"].items())
    counts = f"{errors['n']:,} items on {errors['n_topics']:,} topics"
    title = f"[{errors['level']:.0%} interval, by topic]"
    head = f"{title:<{_NAME}}{'n':>6}  {'judge less human':<{_CELL}}"
    lines = [
        cell(f"judge less human, {counts}, unjudged {errors['n_unjudged']:,}; {worth}", 100),
        "",
        head + ("beside the others" if len(errors["by"]) > 1 else ""),
        _row("all", errors["n"], errors["error"]),
    ]
    for row in errors["by"]:
        unknown = f", not known of {row['n_unknown']:,}" if row["n_unknown"] else ""
        lines += ["", f"{cell(row['by'])}: {row['what']}{unknown}"]
        if row["alone"] is not None:
            lines.append(_row(_slope(row), row["n"], row["alone"], row["together"]))
        lines += [
            _row(f"  {cell(each['group'])}", each["n"], each["error"]) for each in row["groups"]
        ]
    if errors["is_told_apart"] is False:
        lines += ["", "These go together so closely that none has an effect beside the others."]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _slope(row: Mapping[str, Any]) -> str:
    if row["unit"] is None:
        return f"  {cell(row['groups'][0]['group'], 12)} less the others"
    return f"  per {row['unit']:g} more" if row["unit"] > 1 else "  per one more"


def _row(
    name: str, n: int, error: Mapping[str, Any], together: Mapping[str, Any] | None = None
) -> str:
    beside = f"  {_signed(together)}" if together is not None else ""
    return f"{cell(name, _NAME):<{_NAME}}{n:>6,}  {_signed(error):<{_CELL - 2}}{beside}"


def _signed(row: Mapping[str, Any]) -> str:
    if row["low"] is None:
        return figure(row["value"], sign="+")
    return f"{row['value']:+.3f} [{row['low']:+.3f}, {row['high']:+.3f}]"
