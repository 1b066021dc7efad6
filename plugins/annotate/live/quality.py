"""How people label: self-agreement, the influence of shown labels, and speed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from ....metrics.label_agreement import cohen_kappas
from ....records.kinds import Cell
from ..store.events import Label

LEVEL = 0.95
_AT_EACH_END = 4  # the first and last part of a person's labels, to compare their speed


@dataclass(frozen=True)
class Share:
    """A share of n; `value` is None if n is 0.

    `low` and `high`: the 95% interval of Clopper and Pearson (1934), for independent items.
    """

    n_of: int
    n: int
    value: float | None
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, Any]:
        """The data for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class SelfAgreement:
    """The agreement of people with their own earlier labels.

    Attributes:
        equal: share of pairs with the same label both times.
        kappa: Cohen's kappa by weights; only `unweighted` suits labels without an order. None: the
            scale is unknown.
        n_cannot_tell: pairs in which exactly one label is "cannot tell"; they are in no share.
    """

    equal: Share
    kappa: dict[str, float | None] | None
    n_cannot_tell: int


@dataclass(frozen=True)
class Anchoring:
    """How much people follow the label shown next to an item.

    Attributes:
        kept_controls: share of controls that kept the shown label, which the judge did not give.
        kept: share of shown judge's labels that people kept.
        equal_unseen: share of labels equal to the judge's when no label was shown; None: the
            judge's labels are not given. If the items are alike, the difference to `kept` is the
            influence of showing labels.
        n_cannot_tell: answers "cannot tell" to a shown label; they are in no share.
    """

    kept_controls: Share
    kept: Share
    equal_unseen: Share | None
    n_cannot_tell: int


@dataclass(frozen=True)
class Speed:
    """How fast people label, in active time.

    Attributes:
        n: labels with a time, with "cannot tell", repeats and controls.
        seconds: seconds of all. median_seconds: median of one. per_hour: labels per active hour.
        first_median, last_median: medians of the first and last quarter; None below 8 labels.
    """

    n: int
    seconds: float
    median_seconds: float | None
    per_hour: float | None
    first_median: float | None
    last_median: float | None


def share(n_of: int, n: int) -> Share:
    """A share of n, with its interval.

    >>> found = share(8, 10)
    >>> found.value, round(found.low, 4), round(found.high, 4)
    (0.8, 0.4439, 0.9748)
    """
    from scipy.special import betaincinv

    if not 0 <= n_of <= n:
        raise ValueError(f"{n_of} of {n}: wanted 0 to n")
    if not n:
        return Share(0, 0, None, None, None)
    tail = (1 - LEVEL) / 2
    low = float(betaincinv(n_of, n - n_of + 1, tail)) if n_of else 0.0
    high = float(betaincinv(n_of + 1, n - n_of, 1 - tail)) if n_of < n else 1.0
    return Share(n_of, n, n_of / n, low, high)


def self_agreement(
    people: Iterable[Iterable[Label]], scale: Sequence[str] | None = None
) -> SelfAgreement:
    """Compare the labels of repeats with the first labels of the same person.

    For post-edited items, the judge's label was shown both times, which raises agreement.

    Args:
        people: the current labels of each person. Controls, and pairs of two conditions, do not
            count.
        scale: labels from worst to best, for kappa.
    """
    pairs = [pair for labels in people for pair in pair_repeats(labels)]
    labelled = [(one, other) for one, other in pairs if one is not None and other is not None]
    n_one = sum((one is None) != (other is None) for one, other in pairs)
    equal = share(sum(one == other for one, other in labelled), len(labelled))
    kappa = None
    if scale is not None and len(scale) > 1:
        kappa = cohen_kappas([one for one, _ in labelled], [other for _, other in labelled], scale)
    return SelfAgreement(equal, kappa, n_one)


def pair_repeats(labels: Iterable[Label]) -> list[tuple[str | None, str | None]]:
    """Pairs of the first label of each repeated item and each later label."""
    own = [label for label in labels if not label.is_control]
    first = {(one.kind, one.cell): one for one in own if not one.repeat}
    pairs = []
    for again in own:
        before = first.get((again.kind, again.cell))
        if again.repeat and before is not None and before.condition == again.condition:
            pairs.append((before.label, again.label))
    return pairs


def anchoring(
    labels: Iterable[Label], judged: Callable[[Cell], str | None] | None = None
) -> Anchoring:
    """How people handled the labels that they were shown.

    Args:
        labels: current labels of one kind, of one or more people; repeats are left out.
        judged: the judge's label of each cell.
    """
    controls: list[bool] = []  # whether the shown label was kept
    plain: list[bool] = []
    unseen: list[bool] = []
    n_cannot_tell = 0
    for one in labels:
        if one.repeat:
            continue
        if one.shown is not None:
            if one.label is None:
                n_cannot_tell += 1
            else:
                (controls if one.is_control else plain).append(one.label == one.shown)
        elif judged and one.label is not None and (judge_label := judged(one.cell)) is not None:
            unseen.append(one.label == judge_label)
    return Anchoring(
        share(sum(controls), len(controls)),
        share(sum(plain), len(plain)),
        share(sum(unseen), len(unseen)) if judged is not None else None,
        n_cannot_tell,
    )


def speed(labels: Iterable[Label]) -> Speed:
    """The speed of a person, over their current labels, in the order in which they gave them.

    Labels without a time, such as imported labels, are left out.
    """
    timed = sorted((one for one in labels if one.active_ms > 0), key=lambda one: one.seq)
    seconds = [one.active_ms / 1000 for one in timed]
    total = sum(seconds)
    quarter = len(seconds) // _AT_EACH_END
    is_long = quarter >= 2
    return Speed(
        len(seconds),
        total,
        median(seconds) if seconds else None,
        3600 * len(seconds) / total if total else None,
        median(seconds[:quarter]) if is_long else None,
        median(seconds[-quarter:]) if is_long else None,
    )
