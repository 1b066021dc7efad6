"""Whether another judge orders the runs in the same way, as tables: the verdict first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....views.numbers import format_given, format_money, format_short_share
from ....views.table import Column, Kind, Row, Style, Styled, Table, View
from .words import FEW_AUDITED_TOPICS, choose_tau_word, count, write_estimate

_SHOWN = 3  # pairs of runs named
_Audited = Mapping[str, Any]
Families = tuple[Sequence[str], Sequence[str]]


def audit_view(audited: Sequence[_Audited], families: Families, n_of: int, level: float) -> View:
    """What `judge audit` shows of what it returned.

    Args:
        families: of the first judge and of the other one. n_of: topics of the results.
    """
    tables = [table for row in audited for table in (_runs(row, n_of), _tops(row, level))]
    return View(audit_verdict(audited[0], families), tables, [*_notes(audited)])


def audit_verdict(row: _Audited, families: Families) -> str:
    """How far both judges order the runs alike, and how many pairs change places."""
    other = ", ".join(families[1]) or "unknown"
    if row["tau_b"] is None:
        return f"The order of runs by {row['measure']} cannot be compared: tau-b is undefined."
    top = row["top"][-1] if row["top"] else None
    pairs = ""
    if top is not None:
        pairs = f"; {top['n_swapped']:,} of {count(top['n_pairs'], 'pair')} change order"
        pairs += f", {top['n_beyond_chance']:,} significantly" if top["n_swapped"] else ""
    return (
        f"The other judge ({other}) orders the runs by {row['measure']} "
        f"{choose_tau_word(row['tau_b'])} the first does: tau-b "
        f"{format_short_share(row['tau_b'])} over {count(len(row['runs']), 'run')}{pairs}."
    )


def _runs(row: _Audited, n_of: int) -> Table:
    has_moved = any(run["rank"] != run["other_rank"] for run in row["runs"])
    columns = [
        Column("run", Kind.NAME),
        Column("rank", Kind.COUNT),
        Column("other_rank", Kind.COUNT, "other rank"),
        *[Column("moved", Kind.TEXT)] * has_moved,
        Column("mean", Kind.SHARE, row["measure"].replace("_", " ")),
        Column("interval", Kind.INTERVAL, optional=3),
        Column("other_mean", Kind.SHARE, "by other judge"),
        Column("other_interval", Kind.INTERVAL, "interval", optional=3),
        Column("labels", Kind.COUNT, optional=2),
        Column("alike", Kind.SHARE, "labels alike", optional=1),
        Column("kappa", Kind.SHARE, optional=1),
    ]
    rows = []
    for run in row["runs"]:
        moved = run["rank"] - run["other_rank"]
        cells = [run["run_id"], run["rank"], run["other_rank"]]
        cells += [Styled(f"{moved:+d}", Style.WARNING) if moved else ""] * has_moved
        for side in ("", "other_"):
            low, high = run[f"{side}low"], run[f"{side}high"]
            cells += [run[f"{side}mean"], None if low is None or high is None else (low, high)]
        rows.append(Row([*cells, run["n"] or 0, run["accuracy"], run["kappa"]]))
    title = f"{row['program']}: ranks by the first judge and by the other"
    aside = f"{row['n_topics']:,} of {count(n_of, 'topic')}"
    agreed = row["agreement"]
    kappa = write_estimate(agreed["intervals"]["cohen_kappa"]["unweighted"])
    notes = [
        f"{count(agreed['n'], 'judgement')} by both judges: {agreed['accuracy']:.1%} alike, kappa "
        f"{kappa}."
    ]
    return Table(title, columns, rows, aside, notes=notes)


def _tops(row: _Audited, level: float) -> Table:
    columns = [
        Column("top", Kind.COUNT),
        Column("leave", Kind.COUNT),
        Column("most_places", Kind.COUNT, "most places moved"),
        Column("pairs", Kind.COUNT),
        Column("swapped", Kind.COUNT, "change order"),
        Column("beyond_chance", Kind.COUNT, "significantly"),
    ]
    names = ("most_places", "n_pairs", "n_swapped", "n_beyond_chance")
    tops = row["top"]
    rows = [Row([top["k"], len(top["leave"]), *(top[name] for name in names)]) for top in tops]
    notes = [
        "significantly: one of the judges has a significant difference between the two "
        f"(p < {format_given(round(1 - level, 4))})."
    ]
    pairs = tops[-1]["beyond_chance"] if tops else []
    notes += [
        f"{one} before {other} by the first judge, after it by the other."
        for one, other in pairs[:_SHOWN]
    ]
    notes += [f"... and {len(pairs) - _SHOWN:,} more pairs."] * (len(pairs) > _SHOWN)
    if row["n_topics"] < FEW_AUDITED_TOPICS:
        n = row["n_topics"]
        notes.append(f"{n} topics are few: no significant change of order says little.")
    return Table("", columns, rows, notes=notes)


def _notes(audited: Sequence[_Audited]) -> Iterator[str]:
    if (cost := audited[0]["cost"]) is None:  # of all programs
        return
    amounts = []
    for name in ("one", "other"):
        calls, dollars = cost[name]["calls"], cost[name]["dollars"]
        n = "unknown calls" if calls is None else count(calls, "call")
        amounts.append(f"{n}, {format_money(dollars)}" if dollars is not None else n)
    yield f"Cost: {amounts[0]} at first, {amounts[1]} for the audit."
