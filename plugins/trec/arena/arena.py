"""Battles in the report: strengths with intervals, wins by pair of runs, effect of position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ....metrics.inference import Interval
from ...report.sections import Section
from ...report.source import Source
from .standings import Standing, Standings, standings_in


def make_battles(source: Source) -> Mapping[str, Any] | None:
    """Return the standings of each folder with battles; None if no folder has any."""
    standings = [(path, standings_in(path)) for path in source.paths]
    folders = [_folder(source, path, one) for path, one in standings if one is not None]
    return {"folders": folders, "count": sum(one["n"] for one in folders)} if folders else None


def _folder(source: Source, path: Path, standings: Standings) -> dict[str, Any]:
    """The standings of one folder; `won` has, for each run against each other, wins and battles."""
    names = [one.run_id for one in standings.runs]
    return {
        "folder": str(source.name_path(path)),
        "n": standings.n_battles,
        **{name: getattr(standings, name) for name in ("n_unjudged", "n_splits", "n_both")},
        "has_prior": standings.has_prior,
        "position": None if standings.position is None else asdict(standings.position),
        "cost": None if standings.cost is None else asdict(standings.cost),
        "runs": [_run(source.name_run(path, one.run_id), one) for one in standings.runs],
        "won": [[standings.won[run].get(other) for other in names] for run in names],
    }


def _run(name: str, one: Standing) -> dict[str, Any]:
    counts = ("battles", "wins", "ties", "losses", "splits", "forfeits", "unjudged", "win_rate")
    ratings = {"strength": _bounds(one.strength), "elo": _bounds(one.elo)}
    return {"run": name, **ratings, **{key: getattr(one, key) for key in counts}}


def _bounds(interval: Interval) -> list[float | None]:
    return [interval.value, interval.low, interval.high]


SECTION = Section(Path(__file__).with_name("arena.js"), "Battles", make_battles, after="pairs")
