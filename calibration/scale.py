"""From a score to the probability of each human label: Platt, cumulative logit, isotonic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..judges.fitted.correction import NEAREST, Correction, IsotonicCurve, OrdinalCurve
from .isotonic import fit_rising
from .ordinal import Codes, Floats, OrdinalFit, fit_ordinal
from .threshold import checked, fit_cuts

ScaleMethod = Literal["platt", "ordinal", "isotonic"]
FAR = 1000.0  # logits, or positions times the slope: where thresholds of labels nobody gave lie
SAME = 1e-12  # scores and shares that differ by less are equal, but for rounding
FLAT = 1e-6  # logits per standard deviation of the scores; a slope below is none
NO_USE = "scores do not rise with labels ({}): the judge is no better than chance here"


def fit_scale(
    scores: Sequence[float] | Floats,
    labels: Sequence[int] | Codes,
    k: int,
    method: ScaleMethod = "ordinal",
    *,
    objective: str | None = None,
) -> Correction:
    """The curve from a judge's score to the probabilities of the k labels.

    Args:
        scores: (n,) in [0, 1]. A judge that gives labels alone scores their position on its scale,
            j / (k - 1).
        labels: (n,) codes 0..k-1, the lowest first, 2 or more of which occur.
        method: "platt": the sigmoid, for k = 2, with Platt's targets, which leave room for labels
            of the other kind; "ordinal": cumulative logit, one slope for all labels; "isotonic":
            any curves that do not fall, one for each P(label >= j), which wants more labels
            (some hundreds). Sigmoids take the score as log-odds where that is likelier.
        objective: as `fit_cuts`: which cuts to choose on the score. None: the median label.

    Raises: ValueError for lengths that differ, no items, a score outside [0, 1], a label that is
        not a code, labels or scores that are all equal, "platt" for other than two labels, and
        where the scores do not rise with the labels.
    Source: Platt, "Probabilistic outputs for support vector machines" (1999); McCullagh (1980);
        Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability
        estimates" (2002).

    >>> found = fit_scale([0.1, 0.3, 0.5, 0.9], [0, 1, 0, 1], 2, "isotonic")
    >>> found.curve.places, found.curve.shares
    ((0.1, 0.3, 0.5, 0.9), ((0.0, 0.5, 0.5, 1.0),))
    """
    x, codes = checked_shares(scores, labels, k)
    position, log_odds = x, False
    if method == "isotonic":
        curve: OrdinalCurve | IsotonicCurve = _isotonic(x, codes, k)
    else:
        if method == "platt" and k != 2:
            raise ValueError(f"platt is for two labels, got {k}; take ordinal")
        fit = _platt if method == "platt" else fit_present
        fits = [(fit(tried, codes), tried, is_odds) for tried, is_odds in positions_of(x)]
        fitted, position, log_odds = max(fits, key=lambda each: each[0].evidence)
        check_rises(fitted, position)
        curve = ordinal_curve(fitted, codes, k)
    cuts = None if objective is None else fit_cuts(position, codes, k, objective=objective)[0]
    return Correction(cuts=cuts, curve=curve, log_odds=log_odds)


def checked_shares(
    scores: Sequence[float] | Floats, labels: Sequence[int] | Codes, k: int
) -> tuple[Floats, Codes]:
    """Scores and labels as arrays. Raises: ValueError as `fit_scale` says."""
    x, codes = checked(scores, labels, k)
    for i in np.flatnonzero((x < 0) | (x > 1)):
        raise ValueError(f"scores[{i}] is {x[i]}, wanted 0 to 1")
    if len(np.unique(codes)) < 2:
        raise ValueError(f"all {len(codes)} labels are {codes[0]}: nothing to tell apart")
    if np.ptp(x) <= SAME:
        raise ValueError(f"all {len(x)} scores are {x[0]}: they tell no item from another")
    return x, codes


def as_log_odds(scores: Floats) -> Floats:
    """The positions of a correction with `log_odds`."""
    inside = np.clip(scores, NEAREST, 1 - NEAREST)
    odds: Floats = np.log(inside / (1 - inside))
    return odds


def positions_of(scores: Floats) -> list[tuple[Floats, bool]]:
    """What a curve may be fitted on: the scores, and their log-odds unless all clip alike.

    True: these are log-odds.
    """
    odds = as_log_odds(scores)
    return [(scores, False), *([(odds, True)] if np.ptp(odds) > SAME else [])]


def fit_present(
    x: Floats, codes: Codes, topics: Codes | None = None, *, spread: float = 1.0
) -> OrdinalFit:
    """`fit_ordinal` over the labels that occur."""
    _, ranks = np.unique(codes, return_inverse=True)
    return fit_ordinal(x, ranks, topics, spread=spread)


def check_rises(fit: OrdinalFit, x: Floats) -> None:
    """Raise ValueError unless labels are the higher, the higher the score."""
    if fit.slope * x.std() < FLAT:
        raise ValueError(NO_USE.format(f"slope {fit.slope:.3g}"))


def ordinal_curve(fit: OrdinalFit, codes: Codes, k: int) -> OrdinalCurve:
    """The curve of `fit_present` for all k labels; one that nobody gave has probability 0."""
    far = FAR * max(1.0, fit.slope)  # positions, as log-odds too, are a few units apart
    padded = np.concatenate([[fit.thresholds[0] - far], fit.thresholds, [fit.thresholds[-1] + far]])
    thresholds = padded[np.searchsorted(np.unique(codes), np.arange(1, k))]
    return OrdinalCurve(slope=fit.slope, thresholds=tuple(thresholds.tolist()))


def _platt(x: Floats, codes: Codes) -> OrdinalFit:
    """Platt's sigmoid: each item counts a little as one of the other kind."""
    n_low, n_high = np.bincount(codes)
    target = np.where(codes == 1, (n_high + 1) / (n_high + 2), 1 / (n_low + 2))
    return fit_ordinal(
        np.tile(x, 2), np.repeat([1, 0], len(x)), weights=np.concatenate([target, 1 - target])
    )


def _isotonic(x: Floats, codes: Codes, k: int) -> IsotonicCurve:
    fits = [fit_rising(x, codes >= j) for j in range(1, k)]
    # Each is straight between its own knots, so the knots of all give all of them exactly.
    positions = np.unique(np.concatenate([fit.knots for fit in fits]))
    shares = np.clip([fit.at(positions) for fit in fits], 0, 1)
    shares = np.maximum.accumulate(np.minimum.accumulate(shares, axis=0), axis=1)  # last bits
    if np.ptp(shares, axis=1).max() <= SAME:
        raise ValueError(NO_USE.format("the isotonic curve is flat"))
    return IsotonicCurve(
        places=tuple(positions.tolist()), shares=tuple(tuple(row.tolist()) for row in shares)
    )
