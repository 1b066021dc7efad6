"""Battles of answers: strengths with intervals, who beat whom, what place did to verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ...metrics.bootstrap import Interval
from ...programs.protocols.arena.standings import Standing, Standings, standings_in
from ..source import Source


def data(source: Source) -> Mapping[str, Any] | None:
    """The standings of each folder with battles; None where there are none."""
    given = [(path, standings_in(path)) for path in source.paths]
    found = [_folder(source, path, one) for path, one in given if one is not None]
    return {"folders": found, "count": sum(one["n"] for one in found)} if found else None


def _folder(source: Source, path: Path, found: Standings) -> dict[str, Any]:
    """One folder; `won` has for each run, against each in the same order, wins and battles."""
    names = [one.run_id for one in found.runs]
    return {
        "folder": str(source.named(path)),
        "n": found.n_battles,
        **{name: getattr(found, name) for name in ("n_unjudged", "n_splits", "n_both")},
        "has_prior": found.has_prior,
        "position": None if found.position is None else asdict(found.position),
        "cost": None if found.cost is None else asdict(found.cost),
        "runs": [_run(source.shown_run(path, one.run_id), one) for one in found.runs],
        "won": [[found.won[run].get(other) for other in names] for run in names],
    }


def _run(name: str, one: Standing) -> dict[str, Any]:
    counts = ("battles", "wins", "ties", "losses", "splits", "forfeits", "unjudged", "win_rate")
    ratings = {"strength": _bounds(one.strength), "elo": _bounds(one.elo)}
    return {"run": name, **ratings, **{key: getattr(one, key) for key in counts}}


def _bounds(found: Interval) -> list[float | None]:
    return [found.value, found.low, found.high]
