"""A score freed of a judge's known errors: sensitivity and specificity, or a table of k labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Below this singular value of the table the judge hardly tells labels apart, and undoing its
# errors multiplies chance by more than 10.
_WEAKEST = 0.1


@dataclass(frozen=True)
class ErrorRates:
    """How often the judge says each label where people say each.

    `table` (k, k): row = label by people, column = label by the judge, rows sum to 1; a row is
    nan where people never gave that label. `n`: the labels it was counted from.
    """

    table: Floats
    n: int

    @property
    def sensitivity(self) -> float | None:
        """Of 2 labels: how often the judge finds the better one; None if people never gave it."""
        return self._share(1)

    @property
    def specificity(self) -> float | None:
        """Of 2 labels: how often the judge finds the worse one; None if people never gave it."""
        return self._share(0)

    def _share(self, label: int) -> float | None:
        if len(self.table) != 2:
            raise ValueError(f"{len(self.table)} labels have no sensitivity, wanted 2")
        share = float(self.table[label, label])
        return None if np.isnan(share) else share


def error_rates(human: Ints, judged: Ints, weights: Floats, n_labels: int) -> ErrorRates:
    """Count the judge's errors on items that people labelled.

    Args:
        human: (n,) each item's label by people, in 0 .. n_labels - 1.
        judged: (n,) its label by the judge, in the same range.
        weights: (n,) >= 0; how many items each stands for.

    Raises: ValueError if lengths differ or a label is out of range; it names the index.
    """
    for name, values in (("judged", judged), ("weights", weights)):
        if len(values) != len(human):
            raise ValueError(f"{len(values)} {name} for {len(human)} human labels")
    for name, labels in (("human", human), ("judged", judged)):
        bad = (labels < 0) | (labels >= n_labels)
        if bad.any():
            i = int(np.argmax(bad))
            raise ValueError(f"{name}[{i}] is {labels[i]}, wanted 0 to {n_labels - 1}")
    counts = np.zeros((n_labels, n_labels))
    np.add.at(counts, (human, judged), weights)
    totals = counts.sum(axis=1, keepdims=True)
    table = np.divide(counts, totals, out=np.full_like(counts, np.nan), where=totals > 0)
    return ErrorRates(table, int(np.count_nonzero(weights)))


def true_shares(observed: Floats, rates: ErrorRates) -> Floats | None:
    """The shares of labels by people that explain the shares the judge gave.

    Of 2 labels it is (observed + specificity - 1) / (sensitivity + specificity - 1), cut to
    [0, 1]; of k labels the distribution whose image under the table is nearest (least squares).
    It assumes that the judge errs as often on these items as on those the table was counted from.

    Args:
        observed: (k,) shares of the judge's labels, their sum 1.

    Returns: (k,) shares, their sum 1; a label that people never gave has 0. None if the judge
        hardly tells the labels apart, or people gave only one.
    Raises: ValueError if `observed` has another length.
    Source: Rogan and Gladen, "Estimating prevalence from the results of a screening test"
        (American Journal of Epidemiology, 1978), for 2 labels; its matrix form for k.

    >>> rates = ErrorRates(np.array([[0.9, 0.1], [0.2, 0.8]]), n=100)
    >>> true_shares(np.array([0.55, 0.45]), rates).round(6).tolist()
    [0.5, 0.5]
    """
    k = len(rates.table)
    if len(observed) != k:
        raise ValueError(f"{len(observed)} shares for {k} labels")
    seen = ~np.isnan(rates.table[:, 0])
    table = rates.table[seen]
    if len(table) < 2 or np.linalg.svd(table, compute_uv=False)[-1] < _WEAKEST:
        return None
    from scipy.optimize import nnls

    # A heavy last equation holds the sum at 1.
    heavy = 1e4
    system = np.vstack([table.T, np.full(len(table), heavy)])
    solution, _ = nnls(system, np.append(observed, heavy))
    shares = np.zeros(k)
    shares[seen] = solution / solution.sum()
    return shares
