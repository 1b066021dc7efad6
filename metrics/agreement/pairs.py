"""How far a judge's labels agree with the truth, item by item."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
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
        recall: label -> share found of those truly so; undefined if never true.
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
        Computed by scikit-learn; the last four as in `reliability`.

    >>> result = agreement(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"], ["no", "yes"])
    >>> result.confusion, result.accuracy, result.cohen_kappa["unweighted"]
    (((2, 0), (1, 1)), 0.75, 0.5)
    >>> result.recall, agreement(["no"], ["no"], ["no", "yes"]).recall
    ({'no': 1.0, 'yes': 0.5}, {'no': 1.0, 'yes': None})
    """
    from .annotators import chance_corrected

    code, cells = _cells(truth, judged, scale)
    codes = range(len(scale))
    confusion = tuple(tuple(cells[row, column] for column in codes) for row in codes)
    n = len(truth)
    precision, recall, f1 = _per_label(cells, codes)
    defined_f1 = [value for value in f1 if value is not None]
    return Agreement(
        n=n,
        scale=tuple(scale),
        truth_counts={label: sum(confusion[i]) for label, i in code.items()},
        judged_counts={label: sum(row[i] for row in confusion) for label, i in code.items()},
        confusion=confusion,
        accuracy=sum(confusion[i][i] for i in codes) / n if n else None,
        cohen_kappa=_kappas(cells, codes),
        macro_f1=sum(defined_f1) / len(defined_f1) if defined_f1 else None,
        precision=dict(zip(scale, precision, strict=True)),
        recall=dict(zip(scale, recall, strict=True)),
        one_vs_rest={label: _kappa(_against_rest(cells, i), (0, 1)) for label, i in code.items()},
        **chance_corrected([truth, judged], scale),
    )


def cohen_kappas(
    first: Sequence[str], second: Sequence[str], scale: Sequence[str]
) -> dict[str, float | None]:
    """Cohen's kappa of n pairs of labels: unweighted, linear, quadratic; as in `Agreement`.

    >>> cohen_kappas(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"], ["no", "yes"])
    {'unweighted': 0.5, 'linear': 0.5, 'quadratic': 0.5}
    """
    _, cells = _cells(first, second, scale)
    return _kappas(cells, range(len(scale)))


def _cells(
    truth: Sequence[str], judged: Sequence[str], scale: Sequence[str]
) -> tuple[dict[str, int], _Cells]:
    """The place of each label on the scale, and how often each pair of places occurs."""
    _check(truth, judged, scale)
    code = {label: i for i, label in enumerate(scale)}
    return code, Counter((code[t], code[j]) for t, j in zip(truth, judged, strict=True))


_Cells = Mapping[tuple[int, int], int]  # (truth code, judged code) -> how many pairs


def _kappas(cells: _Cells, codes: Collection[int]) -> dict[str, float | None]:
    weights = {"unweighted": None, "linear": "linear", "quadratic": "quadratic"}
    return {name: _kappa(cells, codes, weight) for name, weight in weights.items()}


def _kappa(cells: _Cells, codes: Collection[int], weights: str | None = None) -> float | None:
    from sklearn.metrics import cohen_kappa_score

    occurring = [cell for cell, count in cells.items() if count]
    if not occurring or (len(occurring) == 1 and occurring[0][0] == occurring[0][1]):
        return None
    rows, columns, counts = _columns(cells)
    kappa = cohen_kappa_score(
        rows, columns, labels=list(codes), weights=weights, sample_weight=counts
    )
    return max(-1.0, min(1.0, float(kappa)))  # rounding may step over the ends by one bit


def _per_label(cells: _Cells, codes: Collection[int]) -> tuple[list[float | None], ...]:
    """Precision, recall and F1 of each code, None where 0/0."""
    from sklearn.metrics import precision_recall_fscore_support

    if not cells:
        return tuple([None for _ in codes] for _ in ("precision", "recall", "f1"))
    rows, columns, counts = _columns(cells)
    scores = precision_recall_fscore_support(
        rows, columns, labels=list(codes), sample_weight=counts, zero_division=math.nan
    )
    return tuple([None if math.isnan(x) else float(x) for x in column] for column in scores[:3])


def _columns(cells: _Cells) -> tuple[list[int], list[int], list[int]]:
    occurring = [(row, column, count) for (row, column), count in sorted(cells.items()) if count]
    rows, columns, counts = zip(*occurring, strict=True)
    return list(rows), list(columns), list(counts)


def _against_rest(cells: _Cells, code: int) -> _Cells:
    binary: Counter[tuple[int, int]] = Counter()
    for (row, column), count in cells.items():
        binary[int(row == code), int(column == code)] += count
    return binary


def _check(truth: Sequence[str], judged: Sequence[str], scale: Sequence[str]) -> None:
    if len(set(scale)) != len(scale) or len(scale) < 2:
        raise ValueError(f"wanted a scale of 2 or more different labels, got {list(scale)}")
    if len(truth) != len(judged):
        raise ValueError(f"{len(truth)} true labels for {len(judged)} judged ones")
    on_scale = set(scale)
    for name, labels in (("truth", truth), ("judged", judged)):
        for i, label in enumerate(labels):
            if label not in on_scale:
                raise ValueError(f"{name}[{i}] is {label!r}, which is not on {list(scale)}")
