"""Agreement with people before and after fitting, and how sure the difference is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.bootstrap import Draws, Interval, Resampling, resampling
from ..metrics.coefficients import accuracy, cohen_kappa, macro_f1, one_vs_rest_kappa

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """One figure of agreement; `before` and `difference` are None where nothing was before."""

    before: Interval | None
    after: Interval
    difference: Interval | None

    @property
    def verdict(self) -> str:
        """better, worse, or unclear where the interval of the difference holds 0."""
        gap = self.difference
        if gap is None or gap.low is None or gap.high is None:
            return "unclear"
        return "better" if gap.low > 0 else "worse" if gap.high < 0 else "unclear"


def figures_of(
    truth: Sequence[str],
    before: Sequence[str] | None,
    after: Sequence[str],
    topics: Sequence[str],
    scale: Sequence[str],
    *,
    is_ordered: bool = True,
    draws: Draws,
) -> dict[str, Figure]:
    """Figures of the same items before and after, with intervals over drawn topics.

    Args:
        truth, before, after: n labels of `scale` each; before None: nothing to compare with.
        topics: n topic ids. The same topics are drawn for both sides, so that the interval of
            the difference is paired.

    Returns: kappa, linear and quadratic (ordered scales of 3 labels or more), best_vs_rest (of
        the best label, 3 labels or more), accuracy, macro_f1.
    """
    sample, k = resampling(topics, **draws), len(scale)
    after_counts = _confusions(truth, after, scale, sample)
    before_counts = None if before is None else _confusions(truth, before, scale, sample)
    found = {}
    for name, of in _figures(k, is_ordered).items():
        new = of(after_counts)
        if before_counts is None:
            found[name] = Figure(None, _interval(new, sample), None)
        else:
            old = of(before_counts)
            gap = _interval(new - old, sample)
            found[name] = Figure(_interval(old, sample), _interval(new, sample), gap)
    return found


def as_row(figures: dict[str, Figure]) -> dict[str, Any]:
    """The same, ready for JSON."""
    return {name: {**asdict(f), "verdict": f.verdict} for name, f in figures.items()}


def _figures(k: int, is_ordered: bool) -> dict[str, Callable[[Floats], Floats]]:
    found: dict[str, Callable[[Floats], Floats]] = {"kappa": cohen_kappa}
    if k > 2:
        if is_ordered:
            found["linear"] = lambda counts: cohen_kappa(counts, "linear")
            found["quadratic"] = lambda counts: cohen_kappa(counts, "quadratic")
        found["best_vs_rest"] = lambda counts: one_vs_rest_kappa(counts)[..., -1]
    return {**found, "accuracy": accuracy, "macro_f1": macro_f1}


def _confusions(
    truth: Sequence[str], given: Sequence[str], scale: Sequence[str], sample: Resampling
) -> Floats:
    """(1 + resamples, k, k) counts: of all items, then of each drawn sample."""
    code, k = {label: i for i, label in enumerate(scale)}, len(scale)
    codes = np.array([code[t] * k + code[g] for t, g in zip(truth, given, strict=True)], np.int64)
    whole = np.bincount(codes, minlength=k * k).astype(np.float64)
    return np.vstack([whole, sample.counts(codes, k * k)]).reshape(-1, k, k)


def _interval(values: Floats, sample: Resampling) -> Interval:
    whole = float(values[0])
    return sample.interval(None if np.isnan(whole) else whole, values[1:])
