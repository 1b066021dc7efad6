"""What changes when the same items are labelled again under another condition."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..bootstrap import LEVEL, RESAMPLES, SHARE, SIGNED, Ends, Interval, resampling
from ..order.correlation import kendall_tau
from ..ratio import ratio
from .annotators import pairwise_kappa
from .intervals import pairwise_intervals

Labels = Sequence[str | None]  # (n_items,) None: no judgement


@dataclass(frozen=True)
class RunShift:
    """By how much the scores of n runs change, in [0, 1], and tau-b between their two orders.

    Several pairs of labellings: the mean and the largest over all, the mean of the taus.
    """

    n: int
    mean: float | None
    largest: float | None
    tau_b: float | None


@dataclass(frozen=True)
class LabelShift:
    """Two labellings of the same items, or the mean over several such pairs.

    Attributes:
        n: pairs of labels compared; an item that one side did not judge makes none.
        kappa: Cohen's, unweighted and, for an ordered scale, linear.
        changed: share of the labels that differ, in [0, 1].
        best: share of the best label under the second less that under the first.
        gain: the same of the mean gain. Both None for a scale without order.
        runs: of the runs' scores: the mean over topics of the mean gain of a run's items there.
    """

    n: int
    kappa: dict[str, Interval]
    changed: Interval
    best: Interval | None
    gain: Interval | None
    runs: RunShift | None

    def as_dict(self) -> dict[str, Any]:
        """The same fields, ready for JSON."""
        return asdict(self)


def label_shift(
    pairs: Sequence[tuple[Labels, Labels]],
    scale: Sequence[str],
    gains: Mapping[str, float] | None,
    topics: Sequence[str] | None,
    runs: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> LabelShift:
    """Compare labellings of the same n items, pair by pair, with topic-bootstrap intervals.

    Args:
        pairs: one or more of two labellings each; None where there is no judgement.
        scale: the k >= 2 labels, worst to best where they have an order.
        gains: label -> what it is worth, in [0, 1]; None: the labels have no order.
        topics: the topic of each item; None: not known, no interval has bounds.
        runs: the run of each item; None: they belong to none.

    Raises: ValueError without a pair, or if a labelling, the topics or the runs have another
        length or a label is not on the scale.

    >>> shift = label_shift([(["no", "yes"], ["yes", "yes"])], ["no", "yes"],
    ...                     {"no": 0.0, "yes": 1.0}, ["t1", "t2"], ["a", "b"])
    >>> shift.n, shift.changed.value, shift.best.value, shift.runs.mean, shift.runs.tau_b
    (2, 0.5, 0.5, 0.5, None)
    """
    _check_lengths(pairs, topics, runs)
    kappas = pairwise_kappa(pairs, scale)
    intervals = pairwise_intervals(
        kappas, pairs, scale, topics, resamples=resamples, seed=seed, level=level
    )
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    per_item = np.array([_counts(pairs, i, scale, gains) for i in range(len(pairs[0][0]))])
    n = int(per_item[:, 0].sum()) if len(per_item) else 0
    drawn = sample.sums(per_item) if sample.n_topics else np.zeros((0, 4))

    def mean(column: int, ends: Ends) -> Interval:
        value = float(per_item[:, column].sum()) / n if n else None
        return sample.interval(value, ratio(drawn[:, column], drawn[:, 0]), ends)

    return LabelShift(
        n=n,
        kappa={
            name: intervals[name]
            for name in ("unweighted", *(("linear",) if gains is not None else ()))
        },
        changed=mean(1, SHARE),
        best=mean(2, SIGNED) if gains is not None else None,
        gain=mean(3, SIGNED) if gains is not None else None,
        runs=_runs(pairs, gains, topics, runs) if gains is not None and runs is not None else None,
    )


def _check_lengths(
    pairs: Sequence[tuple[Labels, Labels]],
    topics: Sequence[str] | None,
    runs: Sequence[str] | None,
) -> None:
    if not pairs:
        raise ValueError("no pair of labellings, wanted one or more")
    sides = {
        f"pairs[{i}][{j}]": side for i, pair in enumerate(pairs) for j, side in enumerate(pair)
    }
    n = len(pairs[0][0])
    for name, values in {**sides, "topics": topics, "runs": runs}.items():
        if values is not None and len(values) != n:
            raise ValueError(f"{name} has {len(values)} items, pairs[0][0] has {n}")


def _counts(
    pairs: Sequence[tuple[Labels, Labels]],
    i: int,
    scale: Sequence[str],
    gains: Mapping[str, float] | None,
) -> list[float]:
    """Of one item: pairs of labels, those that differ, and the shifts of best label and gain."""
    sums = [0.0, 0.0, 0.0, 0.0]
    for one, other in pairs:
        first, second = one[i], other[i]
        if first is None or second is None:
            continue
        sums[0] += 1
        sums[1] += first != second
        sums[2] += (second == scale[-1]) - (first == scale[-1])
        sums[3] += gains[second] - gains[first] if gains is not None else 0.0
    return sums


def _runs(
    pairs: Sequence[tuple[Labels, Labels]],
    gains: Mapping[str, float],
    topics: Sequence[str] | None,
    runs: Sequence[str],
) -> RunShift:
    shifts: list[float] = []
    taus: list[float] = []
    scored: set[str] = set()
    for one, other in pairs:
        cells: dict[str, dict[str, list[tuple[float, float]]]] = {}
        for i, (first, second) in enumerate(zip(one, other, strict=True)):
            if first is not None and second is not None:
                of_run = cells.setdefault(runs[i], {})
                topic = topics[i] if topics is not None else ""
                of_run.setdefault(topic, []).append((gains[first], gains[second]))
        scores = [_score(of_run) for _, of_run in sorted(cells.items())]
        scored |= cells.keys()
        shifts += [abs(second - first) for first, second in scores]
        tau = kendall_tau([score[0] for score in scores], [score[1] for score in scores])
        taus += [tau] if tau is not None else []
    return RunShift(
        n=len(scored),
        mean=math.fsum(shifts) / len(shifts) if shifts else None,
        largest=max(shifts, default=None),
        tau_b=math.fsum(taus) / len(taus) if taus else None,
    )


def _score(of_run: Mapping[str, Sequence[tuple[float, float]]]) -> tuple[float, float]:
    """The run's score under both labellings."""
    means = [[math.fsum(side) / len(side) for side in zip(*cell, strict=True)]
             for _, cell in sorted(of_run.items())]  # fmt: skip
    first, second = (math.fsum(side) / len(means) for side in zip(*means, strict=True))
    return first, second
