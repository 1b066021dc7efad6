"""What commands print: tables for people, rows for machines."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..records.writing.printed import aligned as aligned
from ..records.writing.printed import cell as cell
from ..records.writing.printed import estimate as estimate
from ..records.writing.printed import figure as figure
from ..records.writing.printed import interval as interval
from ..records.writing.printed import shown as shown
from ..records.writing.printed import write_note as write_note

if TYPE_CHECKING:
    from ..programs.config.sections import Config
    from ..programs.engine.forecasting.forecast import Forecast
    from ..records.rows import ScoreRow


def plan_table(estimates: Sequence[Any], gpus: int | None = None) -> str:
    """Calls, tokens and money of a dry run, with a total, and hours where a speed is known.

    Args:
        gpus: that share the work, for their hours beside those of one; None: one.
    """
    shown = [(e.judge, e.model, *(getattr(e, name) for name in _COUNTED)) for e in estimates]
    shown.append(("all", "", *(_sum([row[i] for row in shown]) for i in range(2, 8))))
    rows = [["judge", "model", "calls", "prompt tokens", "cached", "reply tokens", "cost"]]
    rows += [[*row[:2], *(f"{n:,}" for n in row[2:6]), money(row[6])] for row in shown]
    if gpus is not None or any(row[7] for row in shown[:-1]):
        for n in dict.fromkeys((1, gpus or 1)):
            hours = [_hours(row[7], n) for row in shown]
            for row, cell in zip(rows, [f"hours, {n} GPU{'s' * (n > 1)}", *hours], strict=True):
                row.append(cell)
    return aligned(rows)


def print_agents(forecast: Forecast, config: Config, *, as_json: bool) -> None:
    """The least, the expected and the most that agents of a dry run may take; nothing without."""
    rows = forecast.rows()
    if as_json:
        write_objects(rows)
    elif rows:
        table = [["agent", "items", *(f"{what}, {n}" for what in _TAKEN for n in _BOUNDS)]]
        for row in rows:
            numbers = (f"{row[n][what]:,}" for what in _TAKEN for n in _BOUNDS)
            table.append([cell(row["agent"]), f"{row['items']:,}", *numbers])
        sys.stdout.write("\n" + aligned(table))
    for line in forecast.short_of(config):
        write_note(f"{line}.\n")


_TAKEN, _BOUNDS = ("calls", "tokens"), ("least", "expected", "most")


def worked_lines(manifest: Mapping[str, Any]) -> list[str]:
    """What agents took in a run, beside what was expected and the most that their limits allow."""
    expected = {row["agent"]: row["expected"] for row in manifest.get("forecast", ())}
    lines = []
    for stage, of in manifest.get("agents", {}).items():
        parts = []
        for what in _TAKEN if of["tokens"] else ("calls",):  # the lexical judge's are not counted
            foreseen = f"expected {expected[stage][what]:,}, " if stage in expected else ""
            parts.append(f"{of[what]:,} {what} ({foreseen}at most {of['most'][what]:,})")
        lines.append(f"{cell(stage)}: {', '.join(parts)} for {of['items']:,} items")
    return lines


_COUNTED = (
    "calls", "prompt_tokens", "cached_tokens", "completion_tokens", "cost", "gpu_hours"
)  # fmt: skip


def _sum(numbers: Sequence[Any]) -> Any:
    return None if None in numbers else sum(numbers)


def _hours(gpu_hours: float | None, gpus: int) -> str:
    if gpu_hours is None:
        return "unknown"
    hours = gpu_hours / gpus
    if 0 < hours < 0.01:
        return "<0.01"
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}"


def spent_line(spent: Mapping[str, Any]) -> str:
    """What was asked and what it took, of a manifest's `this_time`."""
    return (
        f"{spent['requests']:,} requests, {spent['cache_hits']:,} from the cache, "
        f"{spent['tokens']:,} tokens, cost {money(spent['cost'])}"
    )


def write_rows(rows: Iterable[ScoreRow]) -> None:
    """Score rows to stdout, one JSON object a line."""
    from ..records.scores import score_row

    write_objects(score_row(row) for row in rows)


def write_objects(objects: Iterable[Any]) -> None:
    """Objects to stdout, one a line; a terminal gets control characters as JSON's escapes."""
    import orjson

    is_seen = sys.stdout.isatty()
    for row in objects:
        text = orjson.dumps(row).decode()
        sys.stdout.write((_harmless(text) if is_seen else text) + "\n")


def _harmless(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def bounds(row: Mapping[str, Any], sign: str = "") -> str:
    """The interval of a figure with `low` and `high`; - where it has none."""
    return interval(row.get("low"), row.get("high"), sign=sign)


def percent(share: float | None) -> str:
    """A share; - where it is not known."""
    return "-" if share is None else f"{share:.1%}"


def money(cost: float | None) -> str:
    """Dollars; None: not known."""
    return "unknown" if cost is None else f"${cost:.4f}"
