"""A cascade fitted to stored labels, and all that is known of it, ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...judges.combined.cascade_files import CascadeFile, Guarantee
from ...judges.combined.confidence import ConfidenceKind, Seen, confidence_of, features
from ...metrics.inference import Draws
from ...metrics.jury import (
    LEAST_TOPICS,
    UNITS,
    Unit,
    counts,
    design_effect,
    most_wrong,
    safe_threshold,
    threshold_of,
    violations,
)
from ...records.reading.problems import InputError
from .chance import Bools, Floats, fit_chance, held_out
from .curve import SHARES, curve
from .stored import Stored

BROKEN = 1.5  # times as often as promised, from which a promise that was tried is refused


@dataclass(frozen=True)
class Wanted:
    """What a threshold is chosen for: one of these."""

    share: float | None = None
    threshold: float | None = None
    guarantee: Guarantee | None = None


def confidences(stored: Stored, kind: ConfidenceKind) -> Floats:
    """(n,) of the first stage's labels, nan without one; calibrated by a fit to other topics.

    Raises: InputError where nothing tells how sure a label is.
    """
    try:
        if kind == "calibrated":
            table, has = _feature_table(stored)
            sure = np.full(len(stored.seen), np.nan)
            topics = [stored.topics[i] for i in np.flatnonzero(has)]
            sure[has] = held_out(table, stored.is_right[has], topics)
            return sure
    except ValueError as error:
        raise InputError(f"confidence calibrated: {error}") from None
    sure = np.array([_plain(kind, seen, stored) for seen in stored.seen])
    if np.isnan(sure).all():
        needs = "votes of 2 judges" if kind == "agreement" else "probabilities of the labels"
        what = f"confidence {kind}: wanted {needs}, and the first stage has none"
        raise InputError(f"{what}; leave out --confidence, and it is fitted to the labels")
    return sure


def _plain(kind: ConfidenceKind, seen: Seen | None, stored: Stored) -> float:
    confidence = None if seen is None else confidence_of(kind, seen, stored.scale, None)
    return np.nan if confidence is None else confidence


def _feature_table(stored: Stored) -> tuple[list[dict[str, float]], Bools]:
    """The features of the items with a label, and which items those are."""
    has = np.array([seen is not None for seen in stored.seen], np.bool_)
    return [features(seen, stored.scale) for seen in stored.seen if seen is not None], has


def curve_report(
    stored: Stored, kind: ConfidenceKind, draws: Draws, shares: Sequence[float] = ()
) -> dict[str, Any]:
    """The curve by share that goes on, with what it is to be compared with; see `Point`."""
    sure = confidences(stored, kind)
    points = curve(stored, sure, sorted(set(shares)) or SHARES, draws)
    return {
        **_about(stored, kind, sure),
        "costs": list(stored.costs),
        "points": [asdict(point) for point in points],
    }


def fit_report(
    stored: Stored, kind: ConfidenceKind, wanted: Wanted, *, splits: int = 1000, seed: int = 0
) -> tuple[CascadeFile, dict[str, Any]]:
    """The cascade file, and what is known of the labels that it keeps.

    Raises: InputError for a promise that these labels cannot carry: too few topics, none of the
        tested thresholds keeps it, or other topics broke it too often.
    """
    sure = confidences(stored, kind)
    report = _about(stored, kind, sure)
    share = None
    if wanted.guarantee is not None:
        threshold, promised = _promised(stored, sure, wanted.guarantee, splits, seed)
        report["guarantee"] = promised
    elif wanted.share is not None:
        try:
            threshold, _ = threshold_of(sure, wanted.share)
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
        how=stored.how if len(stored.members) > 1 else "",
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
        "how": stored.how,
        "next": stored.dear_name,
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


def _promised(
    stored: Stored, sure: Floats, wanted: Guarantee, splits: int, seed: int
) -> tuple[float, dict[str, Any]]:
    """The threshold of a guarantee, and how it fares."""
    names, topic_of = np.unique(np.asarray(stored.topics), return_inverse=True)
    tally = counts(sure, ~stored.is_right, topic_of, len(names))
    agree, level, unit = wanted.agree, wanted.confidence, wanted.unit
    promise = f"{agree:.0%} of the kept labels right, in {level:.0%} of fits"
    if unit == "topic" and len(names) < LEAST_TOPICS:
        what = f"wanted {LEAST_TOPICS} topics or more to promise it of others"
        raise InputError(f"guarantee: {promise}: {what}, got {len(names)}")
    position = safe_threshold(tally, agree, level, unit)
    if position is None:
        best = _bounds(tally, level, unit)
        what = f"the most that can be promised is {best:.1%}" if best is not None else "no bound"
        raise InputError(f"guarantee: {promise}: the labels do not show it by {unit}; {what}")
    tried = {}
    for each in UNITS if len(names) >= 4 else ():
        tried[each] = asdict(violations(tally, agree, level, each, splits=splits, seed=seed))
    broken = tried[unit]["share"] if tried else None
    if unit == "topic" and broken is not None and broken > BROKEN * (1 - level):
        what = f"it was broken in {broken:.0%} of {splits:,} tries on topics left out, where "
        what += f"{1 - level:.0%} are allowed; ask for less, or label more topics"
        raise InputError(f"guarantee: {promise}: {what}")
    kept, wrong = tally.kept[position], tally.wrong[position]
    effect = design_effect(kept, wrong)
    return float(tally.thresholds[position]), {
        **wanted.model_dump(by_alias=True),
        "n_topics": len(names),
        "kept": float(kept.sum() / tally.items.sum()),
        "right": float(1 - wrong.sum() / kept.sum()),
        "at_least": 1 - most_wrong(kept, wrong, level, unit),
        "design_effect": None if np.isnan(effect) else effect,
        "tried": tried,
    }


def _bounds(tally: Any, level: float, unit: Unit) -> float | None:
    """The best bound of any threshold; None where there is none."""
    bounds = [most_wrong(k, w, level, unit) for k, w in zip(tally.kept, tally.wrong, strict=True)]
    defined = [bound for bound in bounds if not np.isnan(bound)]
    return 1 - min(defined) if defined else None


def choice(
    share: float | None, threshold: float | None, promise: Mapping[str, Any] | None
) -> Wanted:
    """What to choose a threshold for. Raises: InputError unless it is one of them."""
    if sum(each is not None for each in (share, threshold, promise)) != 1:
        raise InputError("wanted one of --agree, --share and --threshold")
    if share is not None and not 0 <= share <= 1:
        raise InputError(f"--share {share:g}: wanted 0 to 1")
    guarantee = Guarantee.model_validate(promise) if promise is not None else None
    return Wanted(share=share, threshold=threshold, guarantee=guarantee)
