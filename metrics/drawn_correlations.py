"""Rank correlations of many drawn samples at once, for intervals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from .inference import Array, ratio

_AT_ONCE = 4_000_000  # numbers in memory at a time


def correlate_samples(truth: Array, judged: Array, top: Sequence[int] = ()) -> dict[str, Array]:
    """Compute the coefficients of each sample: (resamples, n_runs) twice -> name -> (resamples,).

    Args:
        top: also compute tau-b of the k items that are highest in truth, for each of these k.

    A sample in which a run has no score (nan) has no coefficient.

    >>> coefficients = correlate_samples(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 3.0, 2.0]]))
    >>> {name: values.round(3).tolist() for name, values in coefficients.items()}["tau_b"]
    [0.333]
    """
    parts = [
        _of_samples(truth[at], judged[at], top) for at in _slices(len(truth), truth.shape[1] ** 2)
    ]
    names = parts[0] if parts else {}
    return {name: np.concatenate([part[name] for part in parts]) for name in names}


def _of_samples(truth: Array, judged: Array, top: Sequence[int]) -> dict[str, Array]:
    s, t = (np.sign(x[:, None, :] - x[:, :, None]) for x in (truth, judged))
    is_above = t > 0
    right, n_above = (_right(s) * is_above).sum(2), is_above.sum(2)
    one, other = s.sum(2), t.sum(2)
    coefficients = {
        "tau_b": _tau_b((s * t).sum((1, 2)), (s**2).sum((1, 2)), (t**2).sum((1, 2))),
        "tau_ap": _tau_ap(right, n_above, np.ones(1)),
        "spearman": _spearman(one, other, np.ones(one.shape[1])),
        "pearson": weighted_pearson(truth, judged, np.ones(truth.shape[1])),
    }
    descending = -np.sort(-truth, axis=1)
    for k in top:
        if truth.shape[1] < k:
            coefficients[f"tau_top_{k}"] = np.full(len(truth), np.nan)
            continue
        is_top = (truth >= descending[:, k - 1 : k]).astype(float)
        sums = [np.einsum("bij,bi,bj->b", z, is_top, is_top) for z in (s * t, s**2, t**2)]
        coefficients[f"tau_top_{k}"] = _tau_b(*sums)
    is_undefined = (
        np.isnan(truth).any(1) | np.isnan(judged).any(1) | np.isnan(coefficients["tau_b"])
    )
    return {name: np.where(is_undefined, np.nan, values) for name, values in coefficients.items()}


def correlate_drawn_cells(
    truth: Array, judged: Array, topic_of: NDArray[np.int64], draws: NDArray[np.int64]
) -> dict[str, Array]:
    """Compute the coefficients of pooled cells; each counts as often as its topic is drawn.

    Args:
        truth, judged: (n_cells,) scores, sorted by topic.
        topic_of: (n_cells,) the number of each cell's topic, ascending; every topic has a cell.
        draws: (resamples, n_topics).

    Time grows with n_cells squared: about 2 s of CPU for 10,000 cells.
    """
    starts = np.searchsorted(topic_of, np.arange(draws.shape[1]))
    blocks = [_of_block(truth, judged, at, starts) for at in _slices(len(truth), len(truth))]
    both, s2, t2, right, n_above = (np.concatenate(part) for part in zip(*blocks, strict=True))
    weights = draws.astype(float)
    tau_b = _tau_b(*(_quadratic(np.add.reduceat(m, starts), weights) for m in (both, s2, t2)))
    tau_ap = [
        _tau_ap(chosen @ right.T, chosen @ n_above.T, chosen[:, topic_of])
        for chosen in _rows(weights, len(truth))
    ]
    rho = [
        weighted_spearman(truth, judged, chosen[:, topic_of])
        for chosen in _rows(weights, len(truth))
    ]
    r = [
        weighted_pearson(truth, judged, chosen[:, topic_of])
        for chosen in _rows(weights, len(truth))
    ]
    parts = {"tau_ap": tau_ap, "spearman": rho, "pearson": r}
    coefficients = {"tau_b": tau_b} | {name: np.concatenate(part) for name, part in parts.items()}
    return {
        name: np.where(np.isnan(tau_b), np.nan, values) for name, values in coefficients.items()
    }


def weighted_spearman(truth: Array, judged: Array, weights: Array) -> Array:
    """Compute Spearman's correlation of (n,) scores with (..., n) weights of items."""
    return _spearman(_rank_sums(truth, weights), _rank_sums(judged, weights), weights)


def weighted_pearson(truth: Array, judged: Array, weights: Array) -> Array:
    """Compute Pearson's correlation of (..., n) scores with (..., n) weights of items."""
    total = weights.sum(-1, keepdims=True)
    x, y = (z - ratio((weights * z).sum(-1, keepdims=True), total) for z in (truth, judged))
    both, of_x, of_y = ((weights * products).sum(-1) for products in (x * y, x**2, y**2))
    return _clip(ratio(ratio(both, np.sqrt(of_x)), np.sqrt(of_y)))


def _of_block(
    truth: Array, judged: Array, at: slice, starts: NDArray[np.int64]
) -> tuple[Array, ...]:
    """Sums over the other cells, by their topic, of the signs for some: (n, n_topics) each."""
    s, t = (np.sign(x[None, :] - x[at, None]) for x in (truth, judged))
    is_above = (t > 0).astype(float)
    products = (s * t, s**2, t**2, _right(s) * is_above, is_above)
    return tuple(np.add.reduceat(z, starts, axis=1) for z in products)


def _rank_sums(x: Array, weights: Array) -> Array:
    """sum_j w_j sign(x_j - x_i): (n,) scores, (..., n) weights -> (..., n), by one sort."""
    _, group, sizes = np.unique(x, return_inverse=True, return_counts=True)
    sorted_weights = weights[..., np.argsort(group, kind="stable")]
    mass = np.add.reduceat(sorted_weights, np.cumsum(sizes) - sizes, axis=-1)
    up_to = np.cumsum(mass, axis=-1)
    sums: Array = (up_to[..., -1:] + mass - 2 * up_to)[..., group]
    return sums


def _tau_b(both: Array, one: Array, other: Array) -> Array:
    """From sums over ordered pairs, where each unordered pair counts twice. In scipy's order of
    operations, as `_spearman` is in numpy's: even the last bit agrees."""
    return _clip(ratio(ratio(both / 2, np.sqrt(one / 2)), np.sqrt(other / 2)))


def _spearman(one: Array, other: Array, weights: Array) -> Array:
    """From (..., n) rank sums, which are twice the ranks minus their mean."""
    share = ratio(1, weights.sum(-1) - 1)
    both, of_one, of_other = (
        share * (weights * products / 4).sum(-1) for products in (one * other, one**2, other**2)
    )
    return _clip(ratio(ratio(both, np.sqrt(of_other)), np.sqrt(of_one)))


def _clip(values: Array) -> Array:
    return np.clip(values, -1.0, 1.0)  # rounding may step over the ends by one bit


def _tau_ap(right: Array, n_above: Array, weights: Array) -> Array:
    """The mean of `right`, sums of +1 and -1 over the items above, by the number of these items."""
    mean = np.nan_to_num(ratio(right, n_above))
    return ratio((weights * mean).sum(-1), (weights * (n_above > 0)).sum(-1))


def _right(signs: Array) -> Array:
    """1 where the truth puts j above i, otherwise -1: there, a judge that puts j above is wrong."""
    return np.where(signs > 0, 1.0, -1.0)


def _quadratic(matrix: Array, weights: Array) -> Array:
    total: Array = ((weights @ matrix) * weights).sum(1)
    return total


def _rows(array: Array, size: int) -> Iterator[Array]:
    """All rows in blocks; each row takes `size` numbers."""
    return (array[at] for at in _slices(len(array), size))


def _slices(n: int, size: int) -> Iterator[slice]:
    """All n rows of this size, in blocks."""
    step = max(1, _AT_ONCE // max(size, 1))
    return (slice(start, start + step) for start in range(0, n, step))
