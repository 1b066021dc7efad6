"""Cut-offs on a score: where each label begins, so that a chosen objective is highest."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metrics.label_coefficients import accuracy, cohen_kappa, macro_f1, one_vs_rest_kappa
from ..records.reading.problems import did_you_mean

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Objective = Callable[[Floats], Floats]  # (..., k, k) counts, rows true -> (...)

OBJECTIVES: dict[str, Objective] = {
    "kappa": cohen_kappa,
    "linear": partial(cohen_kappa, weights="linear"),
    "quadratic": partial(cohen_kappa, weights="quadratic"),
    "macro_f1": macro_f1,
    "accuracy": accuracy,
}
ONE_VS_REST = "one_vs_rest:"  # followed by the label's code
STARTS = 5000  # combinations of cuts that are tried before the best is improved
EQUAL = 1e-12  # values this close form a plateau
TIE = 1e-6  # weight of linear kappa if an objective leaves cuts open


def fit_cuts(
    scores: Sequence[float] | Floats,
    labels: Sequence[int] | Codes,
    k: int,
    *,
    objective: str = "kappa",
    weights: Sequence[float] | Floats | None = None,
) -> tuple[tuple[float, ...], float | None]:
    """Find the cuts on a score that agree best with labels: label = number of cuts reached.

    Args:
        scores: (n,) finite, of any unit: shares of words, grades, probabilities, log-probabilities.
        labels: (n,) codes 0..k-1, the lowest first; there may be fewer than score levels, for
            example yes and no from grades 0-5.
        k: number of labels, at least 2.
        objective: "kappa" (unweighted), "linear", "quadratic" (weighted kappa), "macro_f1",
            "accuracy", or "one_vs_rest:j", the kappa of label j against all others; the cuts
            that this leaves open have the best linear kappa.
        weights: (n,) >= 0, weight of each item; None: 1.

    Returns: k-1 ascending cuts and the objective's value, None if undefined.

    A cut is in the middle between two neighbouring scores or, if neighbouring cuts are equally
    good (a plateau), in the middle of the widest plateau, the lowest of equally wide ones. A cut
    that all scores reach is the lowest score; a cut that no score reaches is just above the
    highest. One cut is found exactly; several by trying 5,000 combinations and improving the best
    one cut at a time, which is exact if there are no more combinations.

    Raises: ValueError for different lengths, no items, a score that is not finite, a label that
        is not a code or an unknown objective; it names the index.

    >>> fit_cuts([0.1, 0.2, 0.6, 0.9], [0, 0, 1, 1], 2)
    ((0.4,), 1.0)
    """
    x, codes = check_codes(scores, labels, k)
    mass = np.eye(k)[codes]
    if weights is not None:
        share = np.asarray(weights, dtype=np.float64)
        if share.shape != x.shape or not (share >= 0).all():
            raise ValueError(f"wanted {len(x)} weights of 0 or more, got {weights!r:.80}")
        mass = mass * share[:, None]
    return best_cuts(x, mass, objective)


def best_cuts(
    scores: Floats, mass: Floats, objective: str
) -> tuple[tuple[float, ...], float | None]:
    """Like `fit_cuts`, for items that may be spread over labels.

    Args:
        scores: (n,) finite. mass: (n, k) >= 0, the part of each item with each label: 1 for
            a known label, probabilities for expected counts.
    """
    measure = get_objective(objective, mass.shape[1])
    different, at = np.unique(scores, return_inverse=True)
    counts = np.zeros((len(different), mass.shape[1]))
    np.add.at(counts, at, mass)
    search = _Search(different, counts, measure)
    if objective.startswith(ONE_VS_REST):
        search.measure = lambda confusion: (
            measure(confusion) + TIE * np.nan_to_num(cohen_kappa(confusion, "linear"))
        )
    cuts, confusion = search.best()
    value = float(measure(confusion))
    return cuts, None if math.isnan(value) else value


def get_objective(name: str, k: int) -> Objective:
    """The objective as a function of a confusion matrix. Raises: ValueError for an unknown name."""
    if name in OBJECTIVES:
        return OBJECTIVES[name]
    code = name.removeprefix(ONE_VS_REST)
    if code != name and code.isdecimal() and int(code) < k:
        label = int(code)
        return lambda confusion: one_vs_rest_kappa(confusion)[..., label]
    names = ", ".join([*OBJECTIVES, f"{ONE_VS_REST}0 to {ONE_VS_REST}{k - 1}"])
    near = did_you_mean(name, OBJECTIVES)
    raise ValueError(f"unknown objective {name!r}, wanted one of {names}{near}")


def check_codes(scores: ArrayLike, labels: ArrayLike, k: int) -> tuple[Floats, Codes]:
    """Return scores and labels as arrays. Raises: ValueError like `fit_cuts`."""
    x, codes = np.asarray(scores, dtype=np.float64), np.asarray(labels)
    if k < 2:
        raise ValueError(f"wanted at least 2 labels, got {k}")
    if x.ndim != 1 or x.shape != codes.shape or not len(x):
        raise ValueError(f"wanted one label for each score, got {codes.shape} for {x.shape}")
    for i in np.flatnonzero(~np.isfinite(x)):
        raise ValueError(f"scores[{i}] is {x[i]}, wanted a finite number")
    for i in np.flatnonzero(~np.isin(codes, range(k))):
        raise ValueError(f"labels[{i}] is {codes[i]!r}, wanted a code from 0 to {k - 1}")
    return x, codes.astype(np.int64)


class _Search:
    """Cuts as positions 0..m among m different scores: the number of scores below the cut."""

    def __init__(self, scores: Floats, counts: Floats, measure: Objective) -> None:
        self.scores, self.measure = scores, measure
        self.below = np.vstack([np.zeros(counts.shape[1]), np.cumsum(counts, axis=0)])
        between = (scores[:-1] + scores[1:]) / 2
        between = np.where(between > scores[:-1], between, scores[1:])
        above = np.nextafter(scores[-1], np.inf)
        self.value_at = np.concatenate([scores[:1], between, [above]])

    def best(self) -> tuple[tuple[float, ...], Floats]:
        """The best cuts, and their (k, k) counts."""
        positions = self._start()
        reached = -math.inf
        while True:
            cuts = [self._move(positions, j) for j in range(len(positions))]
            confusion = self._confusion(positions)
            value = float(np.nan_to_num(self.measure(confusion), nan=-math.inf))
            if not value > reached + EQUAL:
                return tuple(np.maximum.accumulate(cuts).tolist()), confusion
            reached = value

    def _start(self) -> Codes:
        """The best of a coarse grid of combinations."""
        m, n_cuts = len(self.below) - 1, self.below.shape[1] - 1
        width = m + 1
        while width > 2 and math.comb(width + n_cuts - 1, n_cuts) > STARTS:
            width = width // 2 + 1
        grid = np.unique(np.linspace(0, m, width).round().astype(np.int64))
        combinations = np.array(list(combinations_with_replacement(grid, n_cuts)))
        values = np.nan_to_num(self.measure(self._confusion(combinations)), nan=-math.inf)
        start: Codes = combinations[int(values.argmax())]
        return start

    def _move(self, positions: Codes, j: int) -> float:
        """Move one cut to its best place between its neighbours; returns the value."""
        ends = np.concatenate([[0], positions, [len(self.below) - 1]])
        tried = np.arange(ends[j], ends[j + 2] + 1)
        moved = np.repeat(positions[None], len(tried), axis=0)
        moved[:, j] = tried
        values = np.nan_to_num(self.measure(self._confusion(moved)), nan=-math.inf)
        good = np.concatenate([[False], values >= values.max() - EQUAL, [False]])
        edges = np.flatnonzero(good[1:] != good[:-1])
        stretches = [(tried[a], tried[b - 1]) for a, b in zip(edges[::2], edges[1::2], strict=True)]
        first, last = max(stretches, key=lambda s: self.value_at[s[1]] - self.value_at[s[0]])
        value = float(self.value_at[first] + self.value_at[last]) / 2
        positions[j] = np.searchsorted(self.scores, value)
        return value

    def _confusion(self, positions: Codes) -> Floats:
        """(..., k-1) positions -> (..., k, k) counts; rows: true labels, columns: by cuts."""
        m = len(self.below) - 1
        ends = np.concatenate(
            [
                np.zeros((*positions.shape[:-1], 1), np.int64),
                positions,
                np.full((*positions.shape[:-1], 1), m),
            ],
            axis=-1,
        )
        counts: Floats = np.swapaxes(self.below[ends[..., 1:]] - self.below[ends[..., :-1]], -1, -2)
        return counts
