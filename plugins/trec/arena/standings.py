"""The standings of runs from battles: strengths, ratings and wins, with intervals by topic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack

import numpy as np

from ....metrics.answer_scores import Value
from ....metrics.inference import Draws, Interval
from ....programs.engine.spending import cost_in_all, read_spending
from ....records.reading.problems import Problems
from .battles import BATTLE_GAINS, TURNED, Battle, BattleLabel
from .judging import STAGE, get_score
from .kind import read_battles
from .position import PositionEffect, position_effect
from .ratings import Ratings, ratings

FILE = "battles.jsonl"
WIN_RATE, TIES, SPLITS = "win_rate", "battle_ties", "battle_splits"
STRENGTH, ELO = "strength", "elo"
MEASURES = (WIN_RATE, STRENGTH, ELO, TIES, SPLITS)


@dataclass(frozen=True)
class Standing:
    """The standing of one run.

    Attributes:
        strength, elo: ratings with mean 1000; see `Ratings`.
        win_rate: wins plus half of the ties, divided by all judged battles.
        wins, ties, losses: the numbers of judged battles with this result.
        splits: the number of ties because the two orders disagree.
        forfeits: the number of losses because the run gave no answer.
        unjudged: the number of battles that were not judged.
    """

    run_id: str
    strength: Interval
    elo: Interval
    win_rate: float | None
    wins: int
    ties: int
    losses: int
    splits: int
    forfeits: int
    unjudged: int

    @property
    def battles(self) -> int:
        """Return the number of judged battles."""
        return self.wins + self.ties + self.losses


@dataclass(frozen=True)
class Cost:
    """The mean cost of a battle for which a judge was asked; `dollars` None: unknown."""

    requests: float
    prompt_tokens: float
    completion_tokens: float
    dollars: float | None


@dataclass(frozen=True)
class Standings:
    """All runs, best first.

    Attributes:
        won: run -> other run -> wins plus half of the ties, and judged battles.
        has_prior, n_prior_draws: see `Ratings`; the samples are `resamples`.
        position: the effect of position; None if no order of any battle was judged.
        n_both: the number of verdicts that both answers are bad.
        cost: the mean cost of a battle; None if no model was asked.
    """

    runs: Sequence[Standing]
    won: Mapping[str, Mapping[str, tuple[float, int]]] = field(repr=False)
    n_battles: int
    n_unjudged: int
    n_splits: int
    n_both: int
    has_prior: bool
    n_prior_draws: int
    position: PositionEffect | None
    cost: Cost | None


def standings_in(path: Path, **draws: Unpack[Draws]) -> Standings | None:
    """Return the standings of a results folder or a file of battles; None without battles.

    Raises: InputError for a broken file.
    """
    file = path / FILE if path.is_dir() else path
    if not file.is_file():
        return None
    problems = Problems()
    battles = list(read_battles(file, problems))
    problems.raise_errors()
    n_asked = sum(battle.first is not None or battle.second is not None for battle in battles)
    cost = _cost(path, n_asked) if path.is_dir() else None
    return standings(battles, cost, **draws) if battles else None


def standings(
    battles: Sequence[Battle], cost: Cost | None = None, **draws: Unpack[Draws]
) -> Standings:
    """Compute the standings from battles; intervals come from a bootstrap of topics."""
    fitted_ratings, names = fit_ratings(battles, **draws)
    order = sorted(
        range(len(names)), key=lambda i: (-(fitted_ratings.strengths[i].value or 0.0), names[i])
    )
    counts = {name: Counter[str]() for name in names}
    won: dict[str, dict[str, tuple[float, int]]] = {name: {} for name in names}
    for battle in battles:
        for run, opponent, label in sides(battle):
            own = counts[run]
            own[label or "unjudged"] += 1
            own["splits"] += battle.is_split
            own["forfeits"] += battle.is_forfeit and label == "loss"
            if label is not None:
                before, n = won[run].get(opponent, (0.0, 0))
                won[run][opponent] = before + BATTLE_GAINS[label], n + 1
    verdicts = [
        ((s.label, 1 if s is battle.first else -1), battle.topic_id)
        for battle in battles
        for s in (battle.first, battle.second)
        if s is not None and s.label is not None
    ]
    sign = {"win": 1, "loss": -1}
    preferred = [sign.get(label, 0) * side for (label, side), _ in verdicts]
    return Standings(
        [_standing(names[i], fitted_ratings, i, counts[names[i]]) for i in order],
        won,
        len(battles),
        sum(battle.label is None for battle in battles),
        sum(battle.is_split for battle in battles),
        sum(label == "both_bad" for (label, _), _ in verdicts),
        fitted_ratings.has_prior,
        fitted_ratings.n_prior_draws,
        position_effect(preferred, [topic for _, topic in verdicts], **draws) if verdicts else None,
        cost,
    )


def fit_ratings(battles: Sequence[Battle], **draws: Unpack[Draws]) -> tuple[Ratings, list[str]]:
    """Return the ratings of the runs of these battles, and the sorted names of the runs."""
    names = sorted({run for battle in battles for run in (battle.run_id, battle.opponent_id)})
    at = {name: i for i, name in enumerate(names)}
    judged = [(b, gain) for b in battles if (gain := get_score(b)) is not None]
    fitted_ratings = ratings(
        np.array([at[b.run_id] for b, _ in judged], np.int64),
        np.array([at[b.opponent_id] for b, _ in judged], np.int64),
        np.array([gain for _, gain in judged], float),
        [b.topic_id for b, _ in judged],
        len(names),
        **draws,
    )
    return fitted_ratings, names


def sides(battle: Battle) -> Iterable[tuple[str, str, BattleLabel | None]]:
    """Yield a battle from the view of each of its runs: run, opponent, label."""
    label = battle.label
    yield battle.run_id, battle.opponent_id, label
    yield battle.opponent_id, battle.run_id, None if label is None else TURNED[label]


def topic_values(battles: Iterable[Battle]) -> dict[tuple[str, str], dict[str, Value]]:
    """Return, by run and topic, the share of wins (ties as half), of ties, and of split orders."""
    cells: dict[tuple[str, str], Counter[str]] = {}
    for battle in battles:
        for run, _, label in sides(battle):
            counts = cells.setdefault((run, battle.topic_id), Counter())
            counts[label or "unjudged"] += 1
            counts["splits"] += battle.is_split
    return {cell: _values(counts) for cell, counts in cells.items()}


def _values(counts: Counter[str]) -> dict[str, Value]:
    n = counts["win"] + counts["tie"] + counts["loss"]
    earned = {WIN_RATE: counts["win"] + counts["tie"] / 2, TIES: counts["tie"]}
    earned[SPLITS] = counts["splits"]
    lost = counts["unjudged"]
    return {
        name: Value(x / n if n else None, n, lost, x / (n + lost), (x + lost) / (n + lost))
        for name, x in earned.items()
    }


def _standing(name: str, fitted_ratings: Ratings, i: int, counts: Counter[str]) -> Standing:
    wins, ties, losses = counts["win"], counts["tie"], counts["loss"]
    n = wins + ties + losses
    rate = (wins + ties / 2) / n if n else None
    more = (counts[name] for name in ("splits", "forfeits", "unjudged"))
    return Standing(
        name, fitted_ratings.strengths[i], fitted_ratings.elo[i], rate, wins, ties, losses, *more
    )


def _cost(folder: Path, n: int) -> Cost | None:
    rows = [row for row in read_spending(folder) if row["stage"] == STAGE]
    if not rows or not n:
        return None
    dollars = cost_in_all(rows)
    return Cost(
        sum(row["requests"] for row in rows) / n,
        sum(row["prompt_tokens"] for row in rows) / n,
        sum(row["completion_tokens"] for row in rows) / n,
        None if dollars is None else dollars / n,
    )
