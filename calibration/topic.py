"""Strictness differs by topic: a few labels of a topic move its scores, partially pooled."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..judges.fitted.correction import Correction, OrdinalCurve
from .ordinal import Codes, Floats, OrdinalFit
from .scale import (
    as_log_odds,
    check_rises,
    checked_shares,
    fit_present,
    ordinal_curve,
    positions_of,
)
from .threshold import best_cuts, checked, objective_named

SPREADS = (0.05, 5.0)  # the range searched for the standard deviation between topics, in logits
WIDEST = 6.0  # shifts are looked for within so many standard deviations


def fit_topics(
    scores: Sequence[float] | Floats,
    labels: Sequence[int] | Codes,
    topics: Sequence[str],
    k: int,
    *,
    objective: str = "kappa",
) -> Correction:
    """A cumulative logit curve whose intercept differs by topic, and cuts on the moved scores.

    The shifts are normal around 0 with a standard deviation that is chosen with them, by the
    likelihood with everything else integrated out. So a topic with few labels stays near the
    mean, one with many goes where they say. The cuts are those with the best objective on the
    counts that the fitted probabilities expect, which wobble less than counts of the labels do.

    Args:
        scores: (n,) in [0, 1]. labels: (n,) codes 0..k-1. topics: (n,) ids, 2 or more of them.
        objective: as `fit_cuts`.

    Returns: a correction with the shifts of these topics; `add_topics` gives it those of others.
    Raises: ValueError as `fit_scale`, and for one topic only.
    Source: a proportional odds model with a random intercept (Hedeker and Gibbons, "A
        random-effects ordinal regression model for multilevel analysis", 1994), by Laplace.
    """
    x, codes = checked_shares(scores, labels, k)
    objective_named(objective, k)
    names, at = _topic_codes(topics, len(x))
    if len(names) < 2:
        raise ValueError(f"all labels are of topic {names[0]}: nothing says how topics differ")
    fits = [(*_pooled(tried, codes, at), tried, is_odds) for tried, is_odds in positions_of(x)]
    fit, spread, unmoved, log_odds = max(fits, key=lambda each: each[0].evidence)
    check_rises(fit, unmoved)
    curve = ordinal_curve(fit, codes, k)
    shifts = fit.shifts / fit.slope
    positions = unmoved + shifts[at]
    cuts, _ = best_cuts(positions, _chances(curve, positions), objective)
    return Correction(
        cuts=cuts,
        curve=curve,
        log_odds=log_odds,
        topics=dict(zip(names, shifts.tolist(), strict=True)),
        spread=spread / fit.slope,
    )


def add_topics(
    correction: Correction,
    scores: Sequence[float] | Floats,
    labels: Sequence[int] | Codes,
    topics: Sequence[str],
) -> Correction:
    """The correction with the shifts of more topics; slope, thresholds, spread and cuts stay.

    Each shift is the likeliest one under its topic's labels and the spread over topics. A topic
    that the correction has is fitted anew, from these labels alone.

    Args:
        correction: of `fit_topics`.
        scores: (n,) in [0, 1]. labels: (n,) codes. topics: (n,) ids. One label is enough.

    Raises: ValueError as `fit_topics`, and for a correction of another method.
    """
    curve, spread = correction.curve, correction.spread
    if not isinstance(curve, OrdinalCurve) or spread is None:
        raise ValueError("wanted a correction of the method topic, with a curve and a spread")
    x, codes = checked(scores, labels, curve.n_labels)
    names, at = _topic_codes(topics, len(x))
    positions = as_log_odds(x) if correction.log_odds else x
    shifts = {
        name: _likeliest_shift(curve, spread, positions[at == t], codes[at == t])
        for t, name in enumerate(names)
    }
    return correction.model_copy(update={"topics": correction.topics | shifts})


def _pooled(x: Floats, codes: Codes, at: Codes) -> tuple[OrdinalFit, float]:
    """The fit under the spread with the most evidence."""
    from scipy.optimize import minimize_scalar

    minimum = minimize_scalar(
        lambda log_spread: -fit_present(x, codes, at, spread=np.exp(log_spread)).evidence,
        bounds=np.log(SPREADS),
        method="bounded",
        options={"xatol": 0.01},
    )
    spread = float(np.exp(minimum.x))
    return fit_present(x, codes, at, spread=spread), spread


def _likeliest_shift(curve: OrdinalCurve, spread: float, positions: Floats, codes: Codes) -> float:
    from scipy.optimize import minimize_scalar

    def loss(shift: float) -> float:
        chances = _chances(curve, positions + shift)[np.arange(len(codes)), codes]
        return float((shift / spread) ** 2 / 2 - np.log(np.maximum(chances, 1e-300)).sum())

    reach = WIDEST * spread
    return float(minimize_scalar(loss, bounds=(-reach, reach), method="bounded").x)


def _chances(curve: OrdinalCurve, positions: Floats) -> Floats:
    """(n, k) probabilities of the labels at (n,) positions."""
    from scipy.special import expit

    reached = expit(curve.slope * positions[:, None] - np.array(curve.thresholds))
    ends = np.ones((len(positions), 1))
    chances: Floats = -np.diff(np.hstack([ends, reached, 0 * ends]), axis=1)
    return chances


def _topic_codes(topics: Sequence[str], n: int) -> tuple[list[str], Codes]:
    """The topic ids in alphabetical order, and the code of each item's."""
    if len(topics) != n:
        raise ValueError(f"wanted one topic for each score, got {len(topics)} for {n}")
    names, at = np.unique(np.asarray(topics, dtype=object).astype(str), return_inverse=True)
    return names.tolist(), at
