"""What a dry run says: calls, tokens and money by judge, and the bounds of agents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...views.numbers import format_money
from ...views.table import Column, Kind, Row, Table, View

if TYPE_CHECKING:
    from ...programs.engine.spending import Estimate

_COUNTS = ("calls", "prompt_tokens", "cached_tokens", "completion_tokens")
_BOUNDS = ("least", "expected", "most")


def plan_view(estimates: Sequence[Estimate], notes: Sequence[str] = ()) -> View:
    """The total in a sentence, then a row for each judge."""
    columns = [
        Column("judge", Kind.NAME), Column("model", Kind.NAME),
        Column("calls", Kind.COUNT), Column("prompt_tokens", Kind.COUNT, "prompt"),
        Column("cached_tokens", Kind.COUNT, "cached", optional=1),
        Column("completion_tokens", Kind.COUNT, "reply"), Column("cost", Kind.MONEY),
    ]  # fmt: skip
    rows = [
        Row([each.judge, each.model, *(getattr(each, name) for name in _COUNTS), each.cost])
        for each in estimates
    ]
    counts = [sum(getattr(each, name) for each in estimates) for name in _COUNTS]
    calls, prompt, _, reply = counts
    cost = _sum([each.cost for each in estimates])
    if len(estimates) > 1:
        rows.append(Row(["all", "", *counts, cost]))
    paid = "cost unknown" if cost is None else format_money(cost)
    verdict = f"Up to {calls:,} calls, {prompt:,} prompt and {reply:,} reply tokens, {paid}."
    return View(verdict, [Table("", columns, rows, has_all=True)], notes)


def agents_table(rows: Sequence[dict[str, Any]]) -> Table:
    """The least, the expected and the most that agents may take."""
    columns = [Column("agent", Kind.NAME), Column("items", Kind.COUNT)]
    columns += [
        Column(f"{what}_{bound}", Kind.COUNT, f"{what}, {bound}", optional=1)
        for what in ("calls", "tokens")
        for bound in _BOUNDS
    ]
    return Table("", columns, [Row(list(_agent_cells(row))) for row in rows], has_all=True)


def _agent_cells(row: dict[str, Any]) -> Iterator[Any]:
    yield from (row["agent"], row["items"])
    yield from (row[bound][what] for what in ("calls", "tokens") for bound in _BOUNDS)


def _sum(numbers: Sequence[float | None]) -> float | None:
    known = [n for n in numbers if n is not None]
    return sum(known) if len(known) == len(numbers) else None
