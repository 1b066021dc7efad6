"""Agreement with people before and after fitting, and how sure the difference is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..metrics.bootstrap import (
    BEYOND_CHANCE,
    SHARE,
    SIGNED,
    SIGNED_DIFFERENCE,
    Draws,
    Ends,
    Interval,
    Resampling,
    jackknife_interval,
    resampling,
)
from ..metrics.label_coefficients import accuracy, cohen_kappa, macro_f1, one_vs_rest_kappa

Floats = NDArray[np.float64]
_SHARES = ("accuracy", "macro_f1")  # other figures are kappas


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
        topics: n topic ids. Figures have the interval of drawn topics; a difference, which is
            tested, that of topics left out one by one, on both sides at once.

    Returns: kappa, linear and quadratic and best_vs_rest (of the best label; ordered scales of 3
        labels or more), accuracy, macro_f1.
    """
    sample = resampling(topics, **draws)
    new = _Counts(truth, after, scale, sample)
    old = None if before is None else _Counts(truth, before, scale, sample)
    figures = {}
    for name, of in _figures(len(scale), is_ordered).items():
        is_share = name in _SHARES
        ends = SHARE if is_share else BEYOND_CHANCE
        if old is None:
            figures[name] = Figure(None, new.drawn(of, ends), None)
        else:
            gap = jackknife_interval(
                _defined(of(new.whole) - of(old.whole)),
                of(new.without) - of(old.without),
                SIGNED if is_share else SIGNED_DIFFERENCE,
                level=sample.level,
            )
            figures[name] = Figure(old.drawn(of, ends), new.drawn(of, ends), gap)
    return figures


def as_row(figures: dict[str, Figure]) -> dict[str, Any]:
    """The same, ready for JSON."""
    return {name: {**asdict(f), "verdict": f.verdict} for name, f in figures.items()}


def _figures(k: int, is_ordered: bool) -> dict[str, Callable[[Floats], Floats]]:
    figures: dict[str, Callable[[Floats], Floats]] = {"kappa": cohen_kappa}
    if k > 2 and is_ordered:
        figures["linear"] = lambda counts: cohen_kappa(counts, "linear")
        figures["quadratic"] = lambda counts: cohen_kappa(counts, "quadratic")
        figures["best_vs_rest"] = lambda counts: one_vs_rest_kappa(counts)[..., -1]
    return {**figures, "accuracy": accuracy, "macro_f1": macro_f1}


class _Counts:
    """Counts of (true, given) labels: of all items, without each topic, of each drawn sample."""

    def __init__(
        self, truth: Sequence[str], answers: Sequence[str], scale: Sequence[str], sample: Resampling
    ) -> None:
        code, k = {label: i for i, label in enumerate(scale)}, len(scale)
        pairs = zip(truth, answers, strict=True)
        codes = np.array([code[t] * k + code[g] for t, g in pairs], np.int64)
        by_topic = sample.counts_by_topic(codes, k * k)
        self.whole: Floats = by_topic.sum(axis=0).reshape(k, k)
        self.without: Floats = self.whole - by_topic.reshape(-1, k, k)
        self._samples: Floats = sample.counts(codes, k * k).reshape(-1, k, k)
        self._sample = sample

    def drawn(self, of: Callable[[Floats], Floats], ends: Ends) -> Interval:
        """The figure with its interval over drawn topics."""
        return self._sample.interval(_defined(of(self.whole)), of(self._samples), ends)


def _defined(value: Floats) -> float | None:
    return None if np.isnan(value) else float(value)
