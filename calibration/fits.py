"""Fits of numbers: from scores and labels to a correction (cuts, curves, shifts of topics)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ..judges import Verdict
from ..judges.fitted import NEAREST, Correction, IsotonicCurve, OrdinalCurve
from .threshold import Codes, Floats, best_cuts, check_codes, fit_cuts, get_objective


@dataclass(frozen=True, eq=False)
class Rising:
    """A curve that never falls: linear between its knots, constant beyond them.

    Attributes:
        knots: (k,) rising x of the knots. values: (k,) the curve there, never falling.
    """

    knots: Floats
    values: Floats

    def at(self, x: Floats) -> Floats:
        """(n,) the curve at x."""
        return np.interp(x, self.knots, self.values)


def fit_rising(x: ArrayLike, y: ArrayLike) -> Rising:
    """Isotonic regression of y (n,) on x (n,), both finite; equal x count as one, with their mean.

    Knots inside a constant part are left out. Raises: ValueError for different lengths or no items.
    Source: Barlow et al. (1972), computed by scipy.optimize.isotonic_regression.

    >>> fit_rising([1, 2, 3, 4], [0, 1, 0, 1]).values.tolist()
    [0.0, 0.5, 0.5, 1.0]
    """
    from scipy.optimize import isotonic_regression

    positions, at, times = np.unique(
        np.asarray(x, np.float64), return_inverse=True, return_counts=True
    )
    sums = np.bincount(at, np.asarray(y, np.float64))
    values = isotonic_regression(sums / times, weights=times).x
    inside = np.zeros(len(values), np.bool_)
    inside[1:-1] = (values[1:-1] == values[:-2]) & (values[1:-1] == values[2:])
    return Rising(positions[~inside], values[~inside])


RIDGE = 1e-6  # on the slope of the standardised score; keeps it finite if labels separate
MAX_STEPS = 100
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
        labels: (n,) codes 0..k-1, k >= 2, each of which must occur.
        topics: (n,) codes 0..n_topics-1; None: no shifts.
        spread: standard deviation of the shifts' normal prior, > 0, in logits.
        weights: (n,) weight of each item; None: 1.

    Source: McCullagh, "Regression models for ordinal data" (1980), proportional odds; the shifts
        are a normal random intercept at its posterior mode. The log-likelihood is concave (Pratt,
        "Concavity of the log likelihood", 1981), so there is one maximum.
    """
    centre, unit = float(scores.mean()), float(scores.std())
    model = _Model((scores - centre) / unit, labels, topics, spread, weights)
    at = model.start()
    value, gradient, curvature = model.at(at)
    for _ in range(MAX_STEPS):
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
        # (n, k): how slope and thresholds move the logit of reaching, and of missing.
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
        """The penalty of the priors on the log-likelihood."""
        return float(self.prior @ at**2) / 2

    def at(self, at: Floats) -> tuple[float, Floats, Floats]:
        """Value, gradient and negative Hessian; the value is nan if thresholds cross."""
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
        # First and second derivatives by the two logits; `rest` and `both` belong to the gap.
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


ScaleMethod = Literal["platt", "ordinal", "isotonic"]
FAR = 1000.0  # logits, or positions times the slope: thresholds of labels that never occur
SAME = 1e-12  # scores and shares that differ by less count as equal
FLAT = 1e-6  # logits per standard deviation of the scores; a smaller slope counts as none
NO_USE = "scores do not rise with labels ({}): the judge is no better than chance here"


def fit_scale(
    scores: Sequence[float] | Floats,
    labels: Sequence[int] | Codes,
    k: int,
    method: ScaleMethod = "ordinal",
    *,
    objective: str | None = None,
) -> Correction:
    """Fit the curve from a judge's score to the probabilities of the k labels.

    Args:
        scores: (n,) in [0, 1]. For a judge that gives only labels, the score is the position on its
            scale, j / (k - 1).
        labels: (n,) codes 0..k-1, the lowest first; at least 2 different ones.
        method: "platt": the sigmoid, for k = 2, with Platt's targets, which leave room for labels
            of the other kind; "ordinal": cumulative logit, one slope for all labels; "isotonic":
            any curves that do not fall, one for each P(label >= j), which needs more labels
            (some hundreds). Sigmoids use the log-odds of the score if that fits better.
        objective: see `fit_cuts`: how to choose cuts on the score. None: the median label.

    Raises: ValueError for different lengths, no items, a score outside [0, 1], a label that is
        not a code, labels or scores that are all equal, "platt" for other than two labels, and
        scores that do not rise with the labels.
    Source: Platt, "Probabilistic outputs for support vector machines" (1999); McCullagh (1980);
        Zadrozny and Elkan, "Transforming classifier scores into accurate multiclass probability
        estimates" (2002).

    >>> found = fit_scale([0.1, 0.3, 0.5, 0.9], [0, 1, 0, 1], 2, "isotonic")
    >>> found.curve.places, found.curve.shares
    ((0.1, 0.3, 0.5, 0.9), ((0.0, 0.5, 0.5, 1.0),))
    """
    x, codes = check_shares(scores, labels, k)
    position, log_odds = x, False
    if method == "isotonic":
        curve: OrdinalCurve | IsotonicCurve = _isotonic(x, codes, k)
    else:
        if method == "platt" and k != 2:
            raise ValueError(f"platt is for two labels, got {k}; use ordinal")
        fit = _platt if method == "platt" else fit_present
        fits = [(fit(tried, codes), tried, is_odds) for tried, is_odds in list_positions(x)]
        fitted, position, log_odds = max(fits, key=lambda each: each[0].evidence)
        check_rises(fitted, position)
        curve = ordinal_curve(fitted, codes, k)
    cuts = None if objective is None else fit_cuts(position, codes, k, objective=objective)[0]
    return Correction(cuts=cuts, curve=curve, log_odds=log_odds)


def check_shares(
    scores: Sequence[float] | Floats, labels: Sequence[int] | Codes, k: int
) -> tuple[Floats, Codes]:
    """Return scores and labels as arrays. Raises: ValueError like `fit_scale`."""
    x, codes = check_codes(scores, labels, k)
    for i in np.flatnonzero((x < 0) | (x > 1)):
        raise ValueError(f"scores[{i}] is {x[i]}, wanted 0 to 1")
    if len(np.unique(codes)) < 2:
        raise ValueError(f"all {len(codes)} labels are {codes[0]}: nothing to distinguish")
    if np.ptp(x) <= SAME:
        raise ValueError(f"all {len(x)} scores are {x[0]}: they distinguish no items")
    return x, codes


def as_log_odds(scores: Floats) -> Floats:
    """Turn scores into positions of a correction with `log_odds`."""
    inside = np.clip(scores, NEAREST, 1 - NEAREST)
    odds: Floats = np.log(inside / (1 - inside))
    return odds


def list_positions(scores: Floats) -> list[tuple[Floats, bool]]:
    """List the scores for a curve: as they are, and as log-odds unless all clip alike.

    True: log-odds.
    """
    odds = as_log_odds(scores)
    return [(scores, False), *([(odds, True)] if np.ptp(odds) > SAME else [])]


def fit_present(
    x: Floats, codes: Codes, topics: Codes | None = None, *, spread: float = 1.0
) -> OrdinalFit:
    """Call `fit_ordinal` for the labels that occur."""
    _, ranks = np.unique(codes, return_inverse=True)
    return fit_ordinal(x, ranks, topics, spread=spread)


def check_rises(fit: OrdinalFit, x: Floats) -> None:
    """Raise ValueError unless labels rise with the score."""
    if fit.slope * x.std() < FLAT:
        raise ValueError(NO_USE.format(f"slope {fit.slope:.3g}"))


def ordinal_curve(fit: OrdinalFit, codes: Codes, k: int) -> OrdinalCurve:
    """Make the curve of `fit_present` for all k labels; others have probability 0."""
    far = FAR * max(1.0, fit.slope)  # positions, even as log-odds, differ by a few units
    padded = np.concatenate([[fit.thresholds[0] - far], fit.thresholds, [fit.thresholds[-1] + far]])
    thresholds = padded[np.searchsorted(np.unique(codes), np.arange(1, k))]
    return OrdinalCurve(slope=fit.slope, thresholds=tuple(thresholds.tolist()))


def _platt(x: Floats, codes: Codes) -> OrdinalFit:
    """Platt's sigmoid: each item counts slightly as the other kind."""
    n_low, n_high = np.bincount(codes)
    target = np.where(codes == 1, (n_high + 1) / (n_high + 2), 1 / (n_low + 2))
    return fit_ordinal(
        np.tile(x, 2), np.repeat([1, 0], len(x)), weights=np.concatenate([target, 1 - target])
    )


def _isotonic(x: Floats, codes: Codes, k: int) -> IsotonicCurve:
    fits = [fit_rising(x, codes >= j) for j in range(1, k)]
    # Each curve is linear between its own knots, so the knots of all give each of them exactly.
    positions = np.unique(np.concatenate([fit.knots for fit in fits]))
    shares = np.clip([fit.at(positions) for fit in fits], 0, 1)
    shares = np.maximum.accumulate(np.minimum.accumulate(shares, axis=0), axis=1)  # rounding
    if np.ptp(shares, axis=1).max() <= SAME:
        raise ValueError(NO_USE.format("the isotonic curve is flat"))
    return IsotonicCurve(
        places=tuple(positions.tolist()), shares=tuple(tuple(row.tolist()) for row in shares)
    )


SPREADS = (0.05, 5.0)  # the range searched for the standard deviation between topics, in logits
WIDEST = 6.0  # shifts are searched within this many standard deviations


def fit_topics(
    scores: Sequence[float] | Floats,
    labels: Sequence[int] | Codes,
    topics: Sequence[str],
    k: int,
    *,
    objective: str = "kappa",
) -> Correction:
    """Fit a cumulative logit curve whose intercept differs by topic, and cuts on the moved scores.

    The shifts are normal around 0 with a standard deviation that is chosen together with them, by
    the likelihood with everything else integrated out. So a topic with few labels stays near the
    mean, and a topic with many follows its labels. The cuts have the best objective on the counts
    that the fitted probabilities predict, which vary less than the counts of the labels.

    Args:
        scores: (n,) in [0, 1]. labels: (n,) codes 0..k-1. topics: (n,) ids, at least 2 topics.
        objective: see `fit_cuts`.

    Returns: a correction with the shifts of these topics; `add_topics` adds other topics.
    Raises: ValueError like `fit_scale`, and for a single topic.
    Source: a proportional odds model with a random intercept (Hedeker and Gibbons, "A
        random-effects ordinal regression model for multilevel analysis", 1994), by Laplace.
    """
    x, codes = check_shares(scores, labels, k)
    get_objective(objective, k)
    names, at = _topic_codes(topics, len(x))
    if len(names) < 2:
        raise ValueError(f"all labels are of topic {names[0]}: nothing says how topics differ")
    fits = [
        (*_fit_pooled(tried, codes, at), tried, is_odds) for tried, is_odds in list_positions(x)
    ]
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
    """Add the shifts of more topics to a correction; slope, thresholds, spread and cuts stay.

    Each shift is the most likely one given the topic's labels and the spread over topics. A topic
    that the correction already has is fitted again, from these labels only.

    Args:
        correction: from `fit_topics`.
        scores: (n,) in [0, 1]. labels: (n,) codes. topics: (n,) ids. One label is enough.

    Raises: ValueError like `fit_topics`, and for a correction of another method.
    """
    curve, spread = correction.curve, correction.spread
    if not isinstance(curve, OrdinalCurve) or spread is None:
        raise ValueError("wanted a correction of the method topic, with a curve and a spread")
    x, codes = check_codes(scores, labels, curve.n_labels)
    names, at = _topic_codes(topics, len(x))
    positions = as_log_odds(x) if correction.log_odds else x
    shifts = {
        name: _likeliest_shift(curve, spread, positions[at == t], codes[at == t])
        for t, name in enumerate(names)
    }
    return correction.model_copy(update={"topics": correction.topics | shifts})


def _fit_pooled(x: Floats, codes: Codes, at: Codes) -> tuple[OrdinalFit, float]:
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
    """The topic ids in alphabetical order, and the code of each item's topic."""
    if len(topics) != n:
        raise ValueError(f"wanted one topic for each score, got {len(topics)} for {n}")
    names, at = np.unique(np.asarray(topics, dtype=object).astype(str), return_inverse=True)
    return names.tolist(), at


FitMethod = Literal["threshold", "topic", "platt", "ordinal", "isotonic"]
FIT_METHODS: tuple[FitMethod, ...] = get_args(FitMethod)


def get_score(verdict: Verdict, scale: Sequence[str]) -> float:
    """The judge's score; for a judge that gives only labels, the label's position on its scale."""
    if verdict.score is not None:
        return verdict.score
    return list(scale).index(verdict.label) / (len(scale) - 1)


def fit(
    method: FitMethod,
    verdicts: Sequence[Verdict],
    labels: Sequence[str],
    topics: Sequence[str],
    *,
    judge_scale: Sequence[str],
    scale: Sequence[str],
    objective: str,
) -> Correction:
    """Fit one method.

    Args:
        verdicts: n of the judge without a correction.
        labels: n human labels on `scale`, worst to best; topics: n ids.
        objective: how to choose cuts, see `threshold.fit_cuts`.

    Raises: ValueError, with the reason, if the method cannot be fitted to these items, or if the
        best cuts of threshold give all of them one label.
    """
    scores = np.array([get_score(verdict, judge_scale) for verdict in verdicts])
    codes = np.array([list(scale).index(label) for label in labels], dtype=np.int64)
    k = len(scale)
    if len(set(labels)) < 2:
        raise ValueError(f"all {len(labels)} labels to fit on are {labels[0]!r}")
    if method == "threshold":
        cuts, _ = fit_cuts(scores, codes, k, objective=objective)
        _check_cuts(cuts, scores, scale)
        correction = Correction(cuts=cuts)
    elif method == "topic":
        correction = fit_topics(scores, codes, topics, k, objective=objective)
    else:
        correction = fit_scale(scores, codes, k, method, objective=objective)
    own = None if tuple(scale) == tuple(judge_scale) else tuple(scale)
    return correction.model_copy(update={"labels": own})


def _check_cuts(cuts: Sequence[float], scores: Floats, scale: Sequence[str]) -> None:
    """Raise ValueError if the cuts give all scores one label."""
    codes = np.unique(np.searchsorted(cuts, scores, side="right"))
    if len(codes) == 1:
        what = f"the best cuts label all {len(scores)} items to fit on {scale[codes[0]]!r}"
        how = "try another objective, prompt or model (logprobs give finer scores)"
        raise ValueError(f"{what}, so the scores do not distinguish the human labels; {how}")
