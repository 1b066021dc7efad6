"""What battles make of runs, as text: strengths with intervals, who beat whom, what place did."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...views.terminal import cut_names
from ..tables import aligned, cell, figure, interval, money, shown

if TYPE_CHECKING:
    from ...programs.protocols.arena.standings import Cost, Standings

MOST_RUNS = 10  # in the table of who beat whom
_NAME = 24  # characters of a run


def standings_text(path: Path) -> str:
    """The standings of a results folder, or of a file of battles; "" where there are none."""
    if path.is_dir() and not (path / "battles.jsonl").is_file():
        return ""
    from ...programs.protocols.arena.standings import standings_in
    from ...records.labels.kinds import file_kind

    if path.is_file() and file_kind(path) != "battles":
        return ""
    standings = standings_in(path)
    return "" if standings is None else "\n" + "\n".join(_blocks(standings))


def _blocks(standings: Standings) -> list[str]:
    runs = [one.run_id for one in standings.runs]
    names = dict(zip(runs, cut_names([*map(cell, runs)], _NAME), strict=True))
    header = ["run", "strength", "", "elo", "", "battles", "won", "tied", "lost", "splits"]
    table = [header]
    for one in standings.runs:
        table.append([
            names[one.run_id],
            figure(one.strength.value, 0), interval(one.strength.low, one.strength.high, 0),
            figure(one.elo.value, 0), interval(one.elo.low, one.elo.high, 0),
            *(f"{n:,}" for n in (one.battles, one.wins, one.ties, one.losses, one.splits)),
        ])  # fmt: skip
    blocks = [aligned(table) + _notes(standings)]
    if 2 < len(standings.runs) <= MOST_RUNS:
        blocks.append(_matrix(standings, names))
    return blocks


def _notes(standings: Standings) -> str:
    lines = ["strength: Bradley-Terry, 400 points are odds of 10 to 1; [ ] 95% interval by topic"]
    if standings.has_prior:
        what = "some runs never lost to the others: each is taken to have tied one battle with a"
        lines.append(f"Strengths rest on a prior: {what} mean run")
    elif standings.n_prior_draws:
        what = f"in {standings.n_prior_draws:,} of the drawn samples some runs never lost"
        lines.append(f"{what}, and a prior took part in them")
    lines.append(_counted(standings))
    if (bias := standings.position) is not None and bias.effect.value is not None:
        bounds = interval(bias.effect.low, bias.effect.high)
        first, second = f"{bias.n_first:,}", f"{bias.n_second:,}"
        verdicts = f"{first} verdicts for the answer shown first, {second} for the second"
        lines.append(f"Position: {bias.effect.value:+.3f} {bounds}, {verdicts}")
    if standings.cost is not None:
        lines.append(_cost(standings.cost))
    return "".join(f"{shown(line)}\n" for line in lines)


def _counted(standings: Standings) -> str:
    parts = [f"{standings.n_battles:,} battles"]
    parts += [f"{standings.n_splits:,} tied as their orders disagree (splits)"] * bool(
        standings.n_splits
    )
    parts += [f"{standings.n_both:,} verdicts that both are bad (ties)"] * bool(standings.n_both)
    parts += [f"{standings.n_unjudged:,} not judged, in no count"] * bool(standings.n_unjudged)
    return ", ".join(parts)


def _cost(cost: Cost) -> str:
    tokens = f"{cost.prompt_tokens:,.0f} + {cost.completion_tokens:,.0f} tokens"
    return f"A battle took {cost.requests:.2g} requests, {tokens}, {money(cost.dollars)}"


def _matrix(standings: Standings, names: dict[str, str]) -> str:
    """Who beat whom: wins of the row with half of the ties, of the battles between the two."""
    runs = [one.run_id for one in standings.runs]
    heads = [f"({n})" for n in range(1, len(runs) + 1)]
    table = [["won of battles against", *heads]]
    for head, run in zip(heads, runs, strict=True):
        row = [standings.won[run].get(other) for other in runs]
        cells = ["-" if x is None else f"{x[0]:g}/{x[1]}" for x in row]
        table.append([f"{head} {names[run]}", *cells])
    return aligned(table)
