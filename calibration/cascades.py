"""Cascades fitted to stored labels: confidence, curves, guarantees and the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..judges.combined.confidence import (
    DIGITS,
    CascadeFile,
    Chance,
    ConfidenceKind,
    Guarantee,
    Seen,
    compute_confidence,
    features,
)
from ..judges.fitted import IsotonicCurve
from ..metrics.inference import (
    BEYOND_CHANCE,
    SHARE,
    SIGNED_DIFFERENCE,
    Array,
    Draws,
    Ends,
    Interval,
    resampling,
)
from ..metrics.jury import (
    MIN_TOPICS,
    UNITS,
    Unit,
    compute_error_bound,
    count_mixed_labels,
    counts,
    design_effect,
    escalate_least_confident,
    find_safe_threshold,
    find_threshold,
    violations,
)
from ..metrics.label_coefficients import accuracy, cohen_kappa
from ..records.reading.problems import InputError
from .fits import fit_rising
from .settings import split_folds
from .stored import Stored
from .votes import Codes

Floats = NDArray[np.float64]
PRECISION = 1e-8  # of the gradient, per item
RIDGE = 1.0  # the usual ridge, on standardised features, not on the intercept


def fit_logistic(table: Floats, right: NDArray[np.bool_]) -> tuple[Floats, float]:
    """Fit weights and intercept of P(right), with a ridge on standardised features.

    Args:
        table: (n, k) features; a constant feature gets weight 0.
        right: (n,) with both values.

    Source: minimises minus the log-likelihood plus half the squared weights, which is convex, by
        Newton's steps inside a trust region (scipy.optimize). A test compares with scikit-learn.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    middle, width = table.mean(0), table.std(0)
    width = np.where(width > 0, width, 1.0)
    x = np.column_stack([(table - middle) / width, np.ones(len(table))])
    ridge = np.append(np.full(table.shape[1], RIDGE), 0.0)
    signs = np.where(right, 1.0, -1.0)

    def loss(at: Floats) -> float:
        return float(np.logaddexp(0, -signs * (x @ at)).sum() + ridge @ at**2 / 2)

    def slope(at: Floats) -> Floats:
        gradient: Floats = x.T @ (expit(x @ at) - right) + ridge * at
        return gradient

    def curvature(at: Floats) -> Floats:
        chance = expit(x @ at)
        hessian: Floats = (x.T * (chance * (1 - chance))) @ x + np.diag(ridge)
        return hessian

    fit: Any = minimize(
        loss, np.zeros(x.shape[1]), jac=slope, hess=curvature, method="trust-exact",
        options={"gtol": PRECISION * len(x)},
    )  # fmt: skip
    weights = fit.x[:-1] / width
    return weights, float(fit.x[-1] - weights @ middle)


Bools = NDArray[np.bool_]
MAX_FOLDS = 20  # more topics are grouped into this many folds
INNER_FOLDS = 5  # of the topics of a fit, for the curve
MIN_ITEMS = 50  # with fewer items, no chance is fitted


def fit_chance(items: Sequence[Mapping[str, float]], right: Bools, topics: Sequence[str]) -> Chance:
    """Fit a logistic curve of the features, and isotonic shares of its values on held-out topics.

    Args:
        items: (n,) features of each item; only features that all items have are used.
        right: (n,) whether its label is right. topics: (n,) ids, at least 2 different ones.

    Raises: ValueError for fewer than 50 items, one topic, or labels that are all right or wrong.
    Source: isotonic values between the middles of the steps (Oron and Flournoy, "Centered
        isotonic regression", 2017), so that confidence rises throughout.
    """
    names = sorted(set.intersection(*(set(each) for each in items))) if items else []
    table = np.array([[each[name] for name in names] for each in items])
    at = np.asarray(topics)
    _check(len(items), right, at)
    weights, intercept = fit_logistic(table, right)
    raw, seen = np.zeros(len(at)), np.zeros(len(at), np.bool_)
    for split in split_folds(sorted(set(at.tolist())), min(len(set(at.tolist())), INNER_FOLDS)):
        test = np.isin(at, split.test)
        if len(set(right[~test].tolist())) == 2:
            seen |= test
            raw[test] = _value(table[test], *fit_logistic(table[~test], right[~test]))
    positions, shares = _steps(raw[seen], right[seen])
    return Chance(
        weights={name: float(w) for name, w in zip(names, weights, strict=True) if w},
        intercept=float(intercept),
        curve=IsotonicCurve(places=tuple(positions), shares=(tuple(shares),)),
    )


def predict_held_out(
    items: Sequence[Mapping[str, float]], right: Bools, topics: Sequence[str], seed: int = 0
) -> Floats:
    """(n,) the chance of each item, by a fit to other topics. Raises: like `fit_chance`."""
    at = np.asarray(topics)
    _check(len(items), right, at)
    chances = np.full(len(items), np.nan)
    n_folds = min(len(set(topics)), MAX_FOLDS)
    for split in split_folds(sorted(set(topics)), n_folds, seed=seed):
        test = np.isin(at, split.test)
        train = np.flatnonzero(~test)
        fit = fit_chance([items[i] for i in train.tolist()], right[train], at[train].tolist())
        for i in np.flatnonzero(test).tolist():
            chance = fit.of(items[i])
            chances[i] = np.nan if chance is None else round(chance, DIGITS)
    return chances


def _check(n: int, right: Bools, topics: NDArray[np.str_]) -> None:
    if n < MIN_ITEMS or len(set(topics.tolist())) < 2:
        got = f"{n} of {len(set(topics.tolist()))}"
        raise ValueError(f"wanted {MIN_ITEMS} labelled items of at least 2 topics, got {got}")
    if right.all() or not right.any():
        what = "right" if right.all() else "wrong"
        raise ValueError(f"all {n} labels of the first stage are {what}, wanted both")


def _value(table: Floats, weights: Floats, intercept: float) -> Floats:
    from scipy.special import expit

    value: Floats = expit(table @ weights + intercept)
    return value


def _steps(raw: Floats, right: Bools) -> tuple[list[float], list[float]]:
    """The middle of each step of the isotonic fit, and the share of right labels in it."""
    fitted = fit_rising(raw, right).at(raw)
    shares, at = np.unique(fitted, return_inverse=True)
    middles = np.bincount(at, raw) / np.bincount(at)
    return middles.tolist(), shares.tolist()


SHARES = tuple(i / 10 for i in range(11))
CHEAP, RANDOM, PANEL, EXPENSIVE = "confidence", "random", "panel", "expensive"


@dataclass(frozen=True)
class Point:
    """Agreement with people if the expensive judge gives a share of the labels.

    Attributes:
        way: `confidence`: the least confident items go on; `random`: random items, from the first
            stage; `random NAME`: from its first judge alone; `panel`: none, the median of all cheap
            judges; `expensive`: all.
        share: items that go on, in [0, 1]. n, n_unlabelled: items with and without a label
            (expected).
        kappa, linear, quadratic: the last two None without an order. accuracy, binary: share of
            equal labels, and kappa of the two sides of the cut; None without one.
        minus_expensive: the objective minus that of the expensive judge alone.
        calls: mean number per item.
    """

    way: str
    share: float
    n: float
    n_unlabelled: float
    kappa: Interval
    linear: Interval | None
    quadratic: Interval | None
    accuracy: Interval | None
    binary: Interval | None
    minus_expensive: Interval
    calls: float


def curve(
    stored: Stored,
    confidence: Floats,
    shares: Sequence[float],
    draws: Draws,
) -> list[Point]:
    """Compute the points of every way at every share, the confidence first.

    Args:
        confidence: (n,) of the first stage's labels, nan: none.
    """
    return _Curve(stored, confidence, draws).all(shares)


class _Curve:
    def __init__(self, stored: Stored, confidence: Floats, draws: Draws) -> None:
        self.stored, self.confidence = stored, confidence
        self.sample = resampling(stored.topics, **draws)
        self.k = len(stored.scale.labels)
        self.n_cheap = max(1, len(stored.members))
        everywhere = np.ones(len(stored.truth))
        self.expensive = self._counts(stored.cheap, everywhere)
        self.of_expensive = self._draw_figures(self.expensive)

    def all(self, shares: Sequence[float]) -> list[Point]:
        """See `curve`."""
        stored, n = self.stored, len(self.stored.truth)
        alone, first = stored.votes[:, 0], f"{RANDOM} {stored.names[0]}"
        points = []
        for share in shares:
            goes = escalate_least_confident(self.confidence, share)
            points.append(self._point(CHEAP, share, stored.cheap, goes, self.n_cheap))
        for share in shares:
            any_of = np.full(n, share)
            points.append(self._point(RANDOM, share, stored.cheap, any_of, self.n_cheap))
        for share in shares if len(stored.names) > 1 else ():
            points.append(self._point(first, share, alone, np.full(n, share), 1))
        none = np.zeros(n)
        if len(stored.members) > 1:
            points.append(self._point(PANEL, 0.0, stored.panel, none, self.n_cheap))
        return [*points, self._point(EXPENSIVE, 1.0, stored.cheap, none + 1, 0)]

    def _counts(self, cheap: Codes, goes: Floats) -> Floats:
        stored, n_topics = self.stored, self.sample.draws.shape[1]
        at = self.sample.topic_of
        return count_mixed_labels(stored.truth, cheap, stored.expensive, goes, at, n_topics, self.k)

    def _point(self, way: str, share: float, cheap: Codes, goes: Floats, n_cheap: int) -> Point:
        counts = self._counts(cheap, goes)
        figures = self._draw_figures(counts)
        ordered = self.stored.scale.is_ordered
        name = "quadratic" if ordered else "kappa"
        labelled = counts[:, :, : self.k]
        return Point(
            way=way,
            share=share,
            n=float(labelled.sum()),
            n_unlabelled=float(counts[:, :, self.k].sum()),
            kappa=self._interval(figures["kappa"]),
            linear=self._interval(figures["linear"]) if ordered else None,
            quadratic=self._interval(figures["quadratic"]) if ordered else None,
            accuracy=self._interval(figures["accuracy"], SHARE) if "accuracy" in figures else None,
            binary=self._interval(figures["binary"]) if "binary" in figures else None,
            minus_expensive=self._interval(
                figures[name] - self.of_expensive[name], SIGNED_DIFFERENCE
            ),
            calls=n_cheap + share,
        )

    def _draw_figures(self, counts: Floats) -> dict[str, Array]:
        """(1 + resamples,) each figure on all topics, then on each drawn sample."""
        labelled = counts[:, :, : self.k]
        drawn = np.tensordot(self.sample.draws.astype(np.float64), labelled, axes=1)
        whole = np.concatenate([labelled.sum(0)[None], drawn])
        figures = {"kappa": cohen_kappa(whole)}
        if self.stored.scale.is_ordered:
            figures["linear"] = cohen_kappa(whole, "linear")
            figures["quadratic"] = cohen_kappa(whole, "quadratic")
        if (cut := self.stored.scale.cut) is not None:
            sides = np.stack([whole[:, :, :cut].sum(2), whole[:, :, cut:].sum(2)], 2)
            two = np.stack([sides[:, :cut].sum(1), sides[:, cut:].sum(1)], 1)
            figures |= {"accuracy": accuracy(two), "binary": cohen_kappa(two)}
        return figures

    def _interval(self, drawn: Array, ends: Ends = BEYOND_CHANCE) -> Interval:
        first = None if np.isnan(drawn[0]) else float(drawn[0])
        return self.sample.interval(first, drawn[1:], ends)


BROKEN = 1.5  # a guarantee is refused if tests break it this many times as often as promised


@dataclass(frozen=True)
class Wanted:
    """The target of a threshold: exactly one of these."""

    share: float | None = None
    threshold: float | None = None
    guarantee: Guarantee | None = None


def get_confidences(stored: Stored, kind: ConfidenceKind) -> Floats:
    """(n,) confidence of the first stage's labels, nan without one; calibrated on other topics.

    Raises: InputError if the confidence cannot be computed.
    """
    try:
        if kind == "calibrated":
            table, has = _feature_table(stored)
            sure = np.full(len(stored.seen), np.nan)
            topics = [stored.topics[i] for i in np.flatnonzero(has)]
            sure[has] = predict_held_out(table, stored.is_right[has], topics)
            return sure
    except ValueError as error:
        raise InputError(f"confidence calibrated: {error}") from None
    sure = np.array([_plain(kind, seen, stored) for seen in stored.seen])
    if np.isnan(sure).all():
        needs = "votes of 2 judges" if kind == "agreement" else "probabilities of the labels"
        what = f"confidence {kind}: wanted {needs}, but the first stage has none"
        raise InputError(f"{what}; remove --confidence to fit it to the labels")
    return sure


def _plain(kind: ConfidenceKind, seen: Seen | None, stored: Stored) -> float:
    confidence = None if seen is None else compute_confidence(kind, seen, stored.scale, None)
    return np.nan if confidence is None else confidence


def _feature_table(stored: Stored) -> tuple[list[dict[str, float]], Bools]:
    """The features of the labelled items, and a mask of these items."""
    has = np.array([seen is not None for seen in stored.seen], np.bool_)
    return [features(seen, stored.scale) for seen in stored.seen if seen is not None], has


def make_curve_report(
    stored: Stored, kind: ConfidenceKind, draws: Draws, shares: Sequence[float] = ()
) -> dict[str, Any]:
    """Make the curve by share that goes on, with its baselines; see `Point`."""
    sure = get_confidences(stored, kind)
    points = curve(stored, sure, sorted(set(shares)) or SHARES, draws)
    return {
        **_about(stored, kind, sure),
        "costs": list(stored.costs),
        "points": [asdict(point) for point in points],
    }


def make_fit_report(
    stored: Stored, kind: ConfidenceKind, wanted: Wanted, *, splits: int = 1000, seed: int = 0
) -> tuple[CascadeFile, dict[str, Any]]:
    """Make the cascade file, and the figures of the labels that it keeps.

    Raises: InputError for a guarantee that these labels do not support: too few topics, no
        threshold reaches it, or it was broken too often on other topics.
    """
    sure = get_confidences(stored, kind)
    report = _about(stored, kind, sure)
    share = None
    if wanted.guarantee is not None:
        threshold, promised = _find_promised(stored, sure, wanted.guarantee, splits, seed)
        report["guarantee"] = promised
    elif wanted.share is not None:
        try:
            threshold, _ = find_threshold(sure, wanted.share)
        except ValueError as error:
            raise InputError(str(error)) from None
        share = wanted.share
    else:
        assert wanted.threshold is not None
        threshold = wanted.threshold
    chance = None
    if kind == "calibrated":
        table, has = _feature_table(stored)
        topics = [stored.topics[i] for i in np.flatnonzero(has)]
        chance = fit_chance(table, stored.is_right[has], topics)
    kept = sure >= threshold
    report |= {
        "threshold": threshold,
        "goes_on": float(1 - kept.mean()),
        "kept_right": float(stored.is_right[kept].mean()) if kept.any() else None,
        "next_right_of_others": _mean(stored.next_right, ~kept),
    }
    state = CascadeFile(
        judge=stored.judge,
        scale=stored.scale.labels,
        is_ordered=stored.scale.is_ordered,
        cut="" if stored.scale.cut is None else stored.scale.labels[stored.scale.cut],
        members=stored.members,
        method=stored.method if len(stored.members) > 1 else "",
        confidence=kind,
        threshold=threshold,
        guarantee=wanted.guarantee,
        share=share,
        chance=chance,
        models=dict(stored.models),
        fitted_on=tuple(sorted(set(stored.topics))),
        fitted=report,
    )
    return state, report


def _mean(right: Bools, where: Bools) -> float | None:
    return float(right[where].mean()) if where.any() else None


def _about(stored: Stored, kind: ConfidenceKind, sure: Floats) -> dict[str, Any]:
    from scipy.stats import rankdata

    has = ~np.isnan(sure)
    right, ranks = stored.is_right[has], rankdata(sure[has])
    n, n_right = len(right), int(right.sum())
    pairs = n_right * (n - n_right)
    above = ranks[right].sum() - n_right * (n_right + 1) / 2
    return {
        "confidence": kind,
        "first": list(stored.names),
        "members": list(stored.members),
        "method": stored.method,
        "next": stored.expensive_name,
        "judge": stored.judge,
        "scale": list(stored.scale.labels),
        "cut": None if stored.scale.cut is None else stored.scale.labels[stored.scale.cut],
        "n_items": len(stored.truth),
        "n_topics": len(set(stored.topics)),
        "n_without_confidence": int((~has).sum()),
        "has_texts": stored.has_texts,
        "right": float(stored.is_right.mean()),
        "auroc": float(above / pairs) if pairs else None,
        "n_off_scale": stored.n_off_scale,
    }


def _find_promised(
    stored: Stored, sure: Floats, wanted: Guarantee, splits: int, seed: int
) -> tuple[float, dict[str, Any]]:
    """Find the threshold of a guarantee, and test it."""
    names, topic_of = np.unique(np.asarray(stored.topics), return_inverse=True)
    tally = counts(sure, ~stored.is_right, topic_of, len(names))
    agree, level, unit = wanted.agree, wanted.confidence, wanted.unit
    promise = f"{agree:.0%} of the kept labels right, in {level:.0%} of fits"
    if unit == "topic" and len(names) < MIN_TOPICS:
        what = f"wanted at least {MIN_TOPICS} topics to guarantee it for others"
        raise InputError(f"guarantee: {promise}: {what}, got {len(names)}")
    position = find_safe_threshold(tally, agree, level, unit)
    if position is None:
        best = _bounds(tally, level, unit)
        what = f"the most that can be promised is {best:.1%}" if best is not None else "no bound"
        raise InputError(f"guarantee: {promise}: the labels do not support it by {unit}; {what}")
    tried = {}
    for each in UNITS if len(names) >= 4 else ():
        tried[each] = asdict(violations(tally, agree, level, each, splits=splits, seed=seed))
    broken = tried[unit]["share"] if tried else None
    if unit == "topic" and broken is not None and broken > BROKEN * (1 - level):
        what = f"it was broken in {broken:.0%} of {splits:,} tries on topics left out, where "
        what += f"{1 - level:.0%} are allowed; lower the guarantee, or label more topics"
        raise InputError(f"guarantee: {promise}: {what}")
    kept, wrong = tally.kept[position], tally.wrong[position]
    effect = design_effect(kept, wrong)
    return float(tally.thresholds[position]), {
        **wanted.model_dump(by_alias=True),
        "n_topics": len(names),
        "kept": float(kept.sum() / tally.items.sum()),
        "right": float(1 - wrong.sum() / kept.sum()),
        "at_least": 1 - compute_error_bound(kept, wrong, level, unit),
        "design_effect": None if np.isnan(effect) else effect,
        "tried": tried,
    }


def _bounds(tally: Any, level: float, unit: Unit) -> float | None:
    """The best bound of any threshold, or None."""
    bounds = [
        compute_error_bound(k, w, level, unit) for k, w in zip(tally.kept, tally.wrong, strict=True)
    ]
    defined = [bound for bound in bounds if not np.isnan(bound)]
    return 1 - min(defined) if defined else None


def choose_target(
    share: float | None, threshold: float | None, promise: Mapping[str, Any] | None
) -> Wanted:
    """Choose the target of the threshold. Raises: InputError unless exactly one is given."""
    if sum(each is not None for each in (share, threshold, promise)) != 1:
        raise InputError("wanted one of --agree, --share and --threshold")
    if share is not None and not 0 <= share <= 1:
        raise InputError(f"--share {share:g}: wanted 0 to 1")
    guarantee = Guarantee.model_validate(promise) if promise is not None else None
    return Wanted(share=share, threshold=threshold, guarantee=guarantee)
