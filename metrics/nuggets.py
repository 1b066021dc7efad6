"""How many of a topic's nuggets an answer states: A, V and W, lenient and strict."""

import math
import operator
from collections.abc import Mapping, Sequence

from .gains import NUGGET, NUGGET_GAINS, NUGGET_WEIGHTS
from .value import UNDEFINED, Value

NUGGET_MEASURES = ("A", "A_strict", "V", "V_strict", "W", "W_strict")


def weighted_recall(
    gains: Sequence[float], weights: Sequence[float], *, undefined: float = math.nan
) -> float:
    """Share of the total weight that an answer earns: sum_i(w_i g_i) / sum_i(w_i).

    Vital = 1, okay = 0.5: the TREC 2024 weighted score. Okay = 0, full support only: strict vital.

    Args:
        gains: n values in [0, 1]; what the answer earns for each unit.
        weights: n finite values >= 0, same order; what each unit is worth.
        undefined: result when the weights sum to 0. Pass 0.0 to match the reference tool.

    Returns: a fraction in [0, 1], higher is better, or `undefined`.
    Raises: ValueError if lengths differ or a value is out of range; it names the index.
    Source: arXiv:2411.09607 (AutoNuggetizer), scores V strict, A and W.

    >>> weighted_recall([1.0, 0.5, 0.0], [1.0, 1.0, 0.5])
    0.6
    """
    _check_units(gains, weights)
    total = math.fsum(weights)
    return math.fsum(map(operator.mul, weights, gains)) / total if total else undefined


def nugget_scores(
    labels: Sequence[str | None], importances: Sequence[str | None]
) -> dict[str, Value]:
    """The six AutoNuggetizer scores of one answer on one topic, each in [0, 1], higher is better.

    A counts every nugget as 1; V vital ones only; W vital as 1 and okay as 0.5. A stated nugget
    earns 1 and a partly stated one 0.5, or 0 in the `_strict` scores. V_strict is the primary one.

    Args:
        labels: one per nugget: support, partial_support, not_support, or None = not judged.
        importances: one per nugget, same order: vital, okay, or None = the source gave none; such
            a nugget counts in A alone.

    Returns: A, A_strict, V, V_strict, W, W_strict, in this order. `n` and `n_unjudged` count the
        nuggets that weigh in that score. A nugget without a label is left out of the value; the
        bounds take all of them as not_support and as support. 0/0, such as V of a topic without
        vital nuggets or any score of a topic without nuggets, is None with no bounds.
    Raises: ValueError if lengths differ or a label or importance is unknown; it names the index.
    Source: arXiv:2411.09607.
    Differs: the reference tool gives 0 for a topic without vital nuggets, which reads as an answer
        that stated none of them. It also counts a label that it could not parse as not_support.

    >>> scores = nugget_scores(["support", "partial_support", None], ["vital", "okay", "vital"])
    >>> scores["A"]
    Value(value=0.75, n=2, n_unjudged=1, low=0.5, high=0.8333333333333334)
    >>> scores["V_strict"]
    Value(value=1.0, n=1, n_unjudged=1, low=0.5, high=1.0)
    """
    _check_nuggets(labels, importances)
    scores = {}
    for measure, gains in NUGGET_GAINS.items():
        weight = NUGGET_WEIGHTS[measure.removesuffix("_strict")]
        scores[measure] = _score(labels, [weight[importance] for importance in importances], gains)
    return scores


def _score(
    labels: Sequence[str | None], weights: Sequence[float], gain: Mapping[str, float]
) -> Value:
    units = [(label, weight) for label, weight in zip(labels, weights, strict=True) if weight > 0]
    if not units:
        return UNDEFINED
    judged = [(gain[label], weight) for label, weight in units if label is not None]
    all_weights = [weight for _, weight in units]
    return Value(
        value=weighted_recall(*zip(*judged, strict=True)) if judged else None,
        n=len(judged),
        n_unjudged=len(units) - len(judged),
        low=weighted_recall([0.0 if lb is None else gain[lb] for lb, _ in units], all_weights),
        high=weighted_recall([1.0 if lb is None else gain[lb] for lb, _ in units], all_weights),
    )


def _check_units(gains: Sequence[float], weights: Sequence[float]) -> None:
    if len(gains) != len(weights):
        raise ValueError(f"{len(gains)} gains for {len(weights)} weights")
    for i, (gain, weight) in enumerate(zip(gains, weights, strict=True)):
        if not 0 <= gain <= 1:
            raise ValueError(f"gains[{i}] is {gain!r}, wanted a value in [0, 1]")
        if not 0 <= weight < math.inf:
            raise ValueError(f"weights[{i}] is {weight!r}, wanted a finite value >= 0")


def _check_nuggets(labels: Sequence[str | None], importances: Sequence[str | None]) -> None:
    if len(labels) != len(importances):
        raise ValueError(f"{len(labels)} labels for {len(importances)} importances")
    for i, (label, importance) in enumerate(zip(labels, importances, strict=True)):
        if label is not None and label not in NUGGET:
            raise ValueError(f"labels[{i}] is {label!r}, wanted one of {list(NUGGET)} or None")
        if importance not in NUGGET_WEIGHTS["A"]:
            raise ValueError(f"importances[{i}] is {importance!r}, wanted vital, okay or None")
