"""Tables of battles: strengths with intervals, wins by pair of runs, the effect of order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ....metrics.inference import Interval
from ....records.kinds import file_kind
from ....views.numbers import format_bounds, format_money, format_share
from ....views.table import Column, Kind, Row, Table
from .standings import Cost, Standings, standings_in

MAX_RUNS = 10  # in the table of wins by pair of runs


def standings_tables(path: Path) -> list[Table]:
    """Return the tables of a results folder or a file of battles; [] without battles."""
    if path.is_dir() and not (path / "battles.jsonl").is_file():
        return []
    if path.is_file() and file_kind(path) != "battles":
        return []
    standings = standings_in(path)
    return [] if standings is None else list(_tables(standings))


def _tables(standings: Standings) -> Iterator[Table]:
    columns = [
        Column("run", Kind.NAME), Column("strength", Kind.NUMBER),
        Column("interval", Kind.INTERVAL),
        *(Column(name, Kind.COUNT, optional=1) for name in ("battles", "won", "tied", "lost")),
        Column("splits", Kind.COUNT, optional=1),
        Column("elo", Kind.NUMBER, optional=3), Column("elo_interval", Kind.INTERVAL, optional=2),
    ]  # fmt: skip
    rows = [
        Row([
            one.run_id, one.strength.value, _bounds(one.strength),
            one.battles, one.wins, one.ties, one.losses, one.splits,
            one.elo.value, _bounds(one.elo),
        ])
        for one in standings.runs
    ]  # fmt: skip
    yield Table("Battles", columns, rows, notes=list(_notes(standings)), has_all=True)
    if 2 < len(standings.runs) <= MAX_RUNS:
        yield _matrix(standings)


def _bounds(interval: Interval) -> tuple[float, float] | None:
    return None if interval.low is None or interval.high is None else (interval.low, interval.high)


def _notes(standings: Standings) -> Iterator[str]:
    yield "strength: Bradley-Terry, 400 points are odds of 10 to 1; 95% intervals by topic"
    if standings.has_prior:
        yield "Some runs never lost to the others: each is given one tie with an average run"
    elif standings.n_prior_draws:
        n = f"{standings.n_prior_draws:,}"
        yield f"In {n} of the drawn samples some runs never lost: each was given one tie there"
    yield _count(standings)
    if (bias := standings.position) is not None and bias.effect.value is not None:
        effect = format_share(bias.effect.value, signed=True)
        bounds = format_bounds(bias.effect.low, bias.effect.high, signed=True)
        n = f"{bias.n_first:,} verdicts for the answer shown first, {bias.n_second:,} for the other"
        yield f"Effect of position: {effect} {bounds}; {n}"
    if standings.cost is not None:
        yield _cost(standings.cost)


def _count(standings: Standings) -> str:
    parts = [f"{standings.n_battles:,} battles"]
    parts += [f"{standings.n_splits:,} tied as their orders disagree (splits)"] * bool(
        standings.n_splits
    )
    parts += [f"{standings.n_both:,} verdicts that both are bad (ties)"] * bool(standings.n_both)
    parts += [f"{standings.n_unjudged:,} not judged, in no count"] * bool(standings.n_unjudged)
    return ", ".join(parts)


def _cost(cost: Cost) -> str:
    tokens = f"{cost.prompt_tokens:,.0f} + {cost.completion_tokens:,.0f} tokens"
    return f"A battle took {cost.requests:.2g} requests, {tokens}, {format_money(cost.dollars)}"


def _matrix(standings: Standings) -> Table:
    """Wins of the row's run plus half of the ties, out of its battles with the column's run."""
    runs = [one.run_id for one in standings.runs]
    columns = [Column("#", Kind.NAME), Column("run", Kind.NAME)]
    columns += [Column(str(n), Kind.RATIO, optional=1) for n in range(1, len(runs) + 1)]
    rows = []
    for n, run in enumerate(runs, 1):
        won = [standings.won[run].get(other) for other in runs]
        rows.append(Row([str(n), run, *(None if x is None else f"{x[0]:g}/{x[1]}" for x in won)]))
    title = "Battles won against run 1, 2, ... (a tie counts a half)"
    return Table(title, columns, rows, has_all=True)
