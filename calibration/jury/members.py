"""What each member does to a jury's labels, and how many judges the members are worth together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...metrics.jury import EffectiveVotes, effective_votes
from ...metrics.label_coefficients import cohen_kappa, confusion_of
from ..threshold import objective_named
from .ballots import NONE, Ballots, Codes


@dataclass(frozen=True)
class MemberRow:
    """One member of a jury.

    Attributes:
        n, n_unjudged: items that it labelled, and that it gave no label.
        changes: share of the jury's labels that would be others without it, in [0, 1].
        differs: share of its labels that are not the jury's.
        kappa, value: agreement with people, unweighted and by the objective; None without labels.
        cost: dollars of its replies; None: not known.
    """

    member: str
    n: int
    n_unjudged: int
    changes: float | None
    differs: float | None
    kappa: float | None = None
    value: float | None = None
    cost: float | None = None


@dataclass(frozen=True)
class Together:
    """The members together.

    Attributes:
        worth: effective votes, by errors against labels of people; without those against the
            jury's own labels, which errors that all share are not seen by.
        by_people: which of the two. n: items that count.
        unanimous: share of the items on which all who labelled it agree.
        n_adjudicated, n_overturned: items that an adjudicator decided, and of those where it did
            not give the label of the vote.
    """

    worth: EffectiveVotes
    by_people: bool
    n: int
    unanimous: float | None
    n_adjudicated: int = 0
    n_overturned: int = 0


def members_of(ballots: Ballots, objective: str) -> list[MemberRow]:
    """Each member, in the order of the jury."""
    whole, m = ballots.decided(), len(ballots.members)
    rows = []
    for j, name in enumerate(ballots.members):
        own = ballots.votes[:, j]
        others = [i for i in range(m) if i != j]
        without = ballots.decided(members=others) if others else whole
        there = own != NONE
        both = there & (ballots.truth != NONE)
        counts = confusion_of(
            [ballots.scale[i] for i in ballots.truth[both]],
            [ballots.scale[i] for i in own[both]],
            ballots.scale,
            may_miss=False,
        )
        rows.append(
            MemberRow(
                member=name,
                n=int(there.sum()),
                n_unjudged=int((~there).sum()),
                changes=_share(without != whole, whole != NONE),
                differs=_share(own != whole, there & (whole != NONE)),
                kappa=_or_none(cohen_kappa(counts)),
                value=_or_none(objective_named(objective, len(ballots.scale))(counts)),
                cost=ballots.costs.get(name),
            )
        )
    return rows


def together(ballots: Ballots) -> Together:
    """How many independent judges they are worth, and where they agree."""
    by_people = bool((ballots.truth != NONE).any())
    truth = ballots.truth if by_people else ballots.decided()
    has_truth = truth != NONE
    votes = ballots.votes[has_truth]
    errors = np.where(votes == NONE, np.nan, votes != truth[has_truth][:, None])
    low = np.where(ballots.votes == NONE, len(ballots.scale), ballots.votes).min(1)
    several = (ballots.votes != NONE).sum(1) > 1
    decided = ballots.adjudicated if ballots.adjudicated is not None else np.zeros(len(low), bool)
    overturned = 0
    if ballots.labels is not None:
        overturned = int((decided & (ballots.decided("vote") != ballots.labels)).sum())
    return Together(
        worth=effective_votes(errors.astype(np.float64)),
        by_people=by_people,
        n=int(has_truth.sum()),
        unanimous=_share(low == ballots.votes.max(1), several),
        n_adjudicated=int(decided.sum()),
        n_overturned=overturned,
    )


def _share(of: Codes | np.ndarray, where: np.ndarray) -> float | None:
    return float(np.asarray(of)[where].mean()) if where.any() else None


def _or_none(value: np.ndarray) -> float | None:
    return None if np.isnan(value) else float(value)
