"""How far a judge's labels agree with the truth, item by item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any


@dataclass(frozen=True)
class Agreement:
    """Agreement of n pairs of labels; None where a figure is undefined (0/0), never nan.

    Attributes:
        n: number of pairs, >= 0.
        scale: the k labels, from one end of the scale to the other.
        truth_counts, judged_counts: label -> how often it occurs on either side.
        confusion: (k, k) counts; rows truth, columns judged, both in the order of `scale`.
        accuracy: share of equal pairs, in [0, 1].
        cohen_kappa: unweighted, linear, quadratic -> kappa in [-1, 1]; the weights are distances
            between positions on `scale`, so only `unweighted` suits labels without an order.
            Undefined without pairs, or when both sides are one and the same label throughout.
        macro_f1: mean F1 over the labels that occur on either side, in [0, 1].
        precision: label -> share right of those judged so; undefined if never judged so.
        recall: label -> share of those truly so that were judged so; undefined if never true.
        f1: label -> harmonic mean of both; undefined if the label is on neither side.
        one_vs_rest: label -> unweighted kappa of that label against all others.
        alpha, fleiss_kappa, randolph_kappa, ac1: of the two sides as two annotators, who have no
            marginals of their own; see `Reliability`.
    """

    n: int
    scale: tuple[str, ...]
    truth_counts: dict[str, int]
    judged_counts: dict[str, int]
    confusion: tuple[tuple[int, ...], ...]
    accuracy: float | None
    cohen_kappa: dict[str, float | None]
    macro_f1: float | None
    precision: dict[str, float | None]
    recall: dict[str, float | None]
    f1: dict[str, float | None]
    one_vs_rest: dict[str, float | None]
    alpha: dict[str, float | None]
    fleiss_kappa: float | None
    randolph_kappa: float | None
    ac1: float | None

    def as_dict(self) -> dict[str, Any]:
        """The same fields, ready for JSON: lists for tuples."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"scale": list(self.scale), "confusion": [list(r) for r in self.confusion]}


def agreement(truth: Sequence[str], judged: Sequence[str], scale: Sequence[str]) -> Agreement:
    """Compare a judge's labels with the true ones, pair by pair.

    Args:
        truth: n labels, such as a human's.
        judged: n labels of the same items, in the same order. Leave out items that either side
            did not judge, and say how many.
        scale: the k >= 2 labels that may occur, in order where they have one, e.g. none, partial,
            full. A label that does not occur keeps its place, and so its distance in the weighted
            kappas.

    Raises: ValueError if the lengths differ, the scale repeats a label or has fewer than 2, or a
        label is not on it; it names the index.
    Source: Cohen, "A coefficient of agreement for nominal scales" (1960); "Weighted kappa" (1968).
        The last four as in `reliability`.

    >>> result = agreement(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"], ["no", "yes"])
    >>> result.confusion, result.accuracy, result.cohen_kappa["unweighted"]
    (((2, 0), (1, 1)), 0.75, 0.5)
    >>> result.recall, agreement(["no"], ["no"], ["no", "yes"]).recall
    ({'no': 1.0, 'yes': 0.5}, {'no': 1.0, 'yes': None})
    """
    from ..ratio import values_of
    from .coefficients import of_pairs
    from .counts import confusion_of

    counts = confusion_of(truth, judged, scale, may_miss=False)
    of_truth, of_judged = (counts.sum(axis).astype(int).tolist() for axis in (1, 0))
    return Agreement(
        n=len(truth),
        scale=tuple(scale),
        truth_counts=dict(zip(scale, of_truth, strict=True)),
        judged_counts=dict(zip(scale, of_judged, strict=True)),
        confusion=tuple(map(tuple, counts.astype(int).tolist())),
        **values_of(of_pairs(counts, scale)),
    )


def cohen_kappas(
    one: Sequence[str | None], other: Sequence[str | None], scale: Sequence[str]
) -> dict[str, float | None]:
    """Cohen's kappa of the items that both labelled: unweighted, linear, quadratic.

    >>> one, other = ["yes", "yes", "no", "no", None], ["yes", "no", "no", "no", "no"]
    >>> cohen_kappas(one, other, ["no", "yes"])
    {'unweighted': 0.5, 'linear': 0.5, 'quadratic': 0.5}
    """
    from ..ratio import values_of
    from .coefficients import of_several_pairs
    from .counts import confusion_of

    return values_of(of_several_pairs([confusion_of(one, other, scale)])[0])
