"""The cumulative logit model, with intercepts that differ by topic and are partially pooled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

RIDGE = 1e-6  # on the slope of the standardised score; keeps it finite when the labels separate
MOST_STEPS = 100
PRECISION = 1e-8  # of the last step


@dataclass(frozen=True)
class OrdinalFit:
    """P(label >= j) = 1 / (1 + exp(thresholds[j-1] - slope * score - shifts[topic])).

    Attributes:
        slope: per unit of the score.
        thresholds: (k-1,) ascending.
        shifts: (n_topics,) added to the logit; empty without topics.
        log_likelihood: of the labels, natural log, given all of the above.
        evidence: log-likelihood with slope, thresholds and shifts integrated out (Laplace), up
            to a constant that depends on neither the spread nor the unit of the scores.
    """

    slope: float
    thresholds: Floats
    shifts: Floats
    log_likelihood: float
    evidence: float


def fit_ordinal(
    scores: Floats,
    labels: Codes,
    topics: Codes | None = None,
    *,
    spread: float = 1.0,
    weights: Floats | None = None,
) -> OrdinalFit:
    """Fit slope, thresholds and one shift per topic by Newton's method.

    Args:
        scores: (n,) finite, not all equal.
        labels: (n,) codes 0..k-1, k >= 2, each of which occurs.
        topics: (n,) codes 0..n_topics-1; None: no shifts.
        spread: standard deviation of the shifts' normal prior, > 0, in logits.
        weights: (n,) how much each item counts; None: 1.

    Source: McCullagh, "Regression models for ordinal data" (1980), proportional odds; the shifts
        are a normal random intercept at its posterior mode. The log-likelihood is concave (Pratt,
        "Concavity of the log likelihood", 1981), so there is one maximum.
    """
    centre, unit = float(scores.mean()), float(scores.std())
    model = _Model((scores - centre) / unit, labels, topics, spread, weights)
    at = model.start()
    value, gradient, curvature = model.at(at)
    for _ in range(MOST_STEPS):
        step = np.linalg.solve(curvature, gradient)
        moved = model.at(at + step)
        while not moved[0] >= value and np.abs(step).max() > PRECISION:  # nan: thresholds crossed
            step = step / 2
            moved = model.at(at + step)
        if np.abs(step).max() <= PRECISION:
            break
        at, (value, gradient, curvature) = at + step, moved
    slope, thresholds, shifts = at[0] / unit, *model.split(at)
    return OrdinalFit(
        slope=float(slope),
        thresholds=thresholds + slope * centre,
        shifts=shifts,
        log_likelihood=value + model.penalty(at),
        evidence=float(value - len(shifts) * np.log(spread) - np.linalg.slogdet(curvature)[1] / 2),
    )


class _Model:
    """Penalised log-likelihood over (slope, k-1 thresholds, shifts).

    A label lies between the threshold that it reached and the one that it missed, so
    log P = log F(reached) + log(1 - F(missed)) + log(1 - exp(missed - reached)), with one of
    them infinite at either end of the scale.
    """

    def __init__(
        self,
        x: Floats,
        labels: Codes,
        topics: Codes | None,
        spread: float,
        weights: Floats | None,
    ) -> None:
        from scipy.sparse import csr_matrix

        n, k = len(x), int(labels.max()) + 1
        cuts = np.vstack([np.zeros(k - 1), -np.eye(k - 1), np.zeros(k - 1)])
        self.labels, self.n_cuts = labels, k - 1
        self.weights = np.ones(n) if weights is None else weights
        # (n, k): how slope and thresholds move the logit of reaching, and that of missing.
        self.reach = np.column_stack([x, cuts[labels]])
        self.miss = np.column_stack([x, cuts[labels + 1]])
        n_topics = 0 if topics is None else int(topics.max()) + 1
        belongs = ([], ([], [])) if topics is None else (np.ones(n), (np.arange(n), topics))
        self.topics = csr_matrix(belongs, shape=(n, n_topics), dtype=np.float64)
        self.by_topic = self.topics.T
        self.prior = np.concatenate([[RIDGE], np.zeros(k - 1), np.full(n_topics, spread**-2.0)])

    def start(self) -> Floats:
        """No slope, no shifts, and the thresholds that give each label its share."""
        below = np.cumsum(np.bincount(self.labels, self.weights))[:-1]
        at = np.zeros(len(self.prior))
        at[1 : 1 + self.n_cuts] = np.log(below / (self.weights.sum() - below))
        return at

    def split(self, at: Floats) -> tuple[Floats, Floats]:
        """Thresholds and shifts."""
        return at[1 : 1 + self.n_cuts], at[1 + self.n_cuts :]

    def penalty(self, at: Floats) -> float:
        """What the priors take off the log-likelihood."""
        return float(self.prior @ at**2) / 2

    def at(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and negative Hessian; the value is nan where thresholds cross."""
        from scipy.special import expit

        thresholds, shifts = self.split(at)
        ends = np.concatenate([[-np.inf], thresholds, [np.inf]])
        if (np.diff(ends) <= 0).any():
            return np.nan, at, np.eye(len(at))
        fixed, moved = at[: 1 + self.n_cuts], self.topics @ shifts
        reached = np.where(self.labels > 0, self.reach @ fixed + moved, np.inf)
        missed = np.where(self.labels < self.n_cuts, self.miss @ fixed + moved, -np.inf)
        gaps = np.diff(ends)
        of_gap = np.log(-np.expm1(-gaps))[self.labels]
        logs = np.logaddexp(0, -reached) + np.logaddexp(0, missed) - of_gap
        # First and second derivatives by the two logits; `rest` and `both` are those of the gap.
        w, up, down = self.weights, expit(-reached), expit(missed)
        with np.errstate(over="ignore"):
            rest = (1 / np.expm1(gaps))[self.labels]
        up2, down2, both = w * up * (1 - up), w * down * (1 - down), w * rest * (1 + rest)
        gradient = np.concatenate(
            [
                self.reach.T @ (w * (up + rest)) - self.miss.T @ (w * (down + rest)),
                self.by_topic @ (w * (up - down)),
            ]
        )
        cross = self.reach.T @ (self.miss * both[:, None])
        of_fixed = (
            self.reach.T @ (self.reach * (up2 + both)[:, None])
            + self.miss.T @ (self.miss * (down2 + both)[:, None])
            - (cross + cross.T)
        )
        mixed = self.by_topic @ (self.reach * up2[:, None] + self.miss * down2[:, None])
        of_shifts = np.diag(self.by_topic @ (up2 + down2))
        curvature = np.block([[of_fixed, mixed.T], [mixed, of_shifts]]) + np.diag(self.prior)
        return -float(w @ logs) - self.penalty(at), gradient - self.prior * at, curvature
