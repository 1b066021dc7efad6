"""How people label: whether they would say it again, what showing a label does, and how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from ....metrics.label_agreement import cohen_kappas
from ....records.kinds import Cell
from ..store.events import Label

LEVEL = 0.95
_AT_EACH_END = 4  # of a person's labels: this part of them says how fast they began and are now


@dataclass(frozen=True)
class Share:
    """How many of n; `value` is their share, None of nothing.

    `low` and `high`: Clopper and Pearson's interval (1934) at 95%, as of items that were drawn
    each by itself.
    """

    n_of: int
    n: int
    value: float | None
    low: float | None
    high: float | None

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class SelfAgreement:
    """What people say of an item when they are asked again.

    Attributes:
        equal: share of pairs with one label both times.
        kappa: Cohen's, by its weights; only `unweighted` suits labels without an order. None: the
            scale is not known.
        n_cannot_tell: pairs of which one, not both, says "cannot tell"; they are in no share.
    """

    equal: Share
    kappa: dict[str, float | None] | None
    n_cannot_tell: int


@dataclass(frozen=True)
class Anchoring:
    """How far people follow the label that stands beside an item.

    Attributes:
        kept_controls: share of controls, whose shown label the judge did not give, that kept it.
        kept: share of the judge's labels that were kept where they were shown.
        equal_unseen: share of labels equal to the judge's where none was shown; None: the judge's
            labels were not given. What `kept` is above it is what showing did, if the items are
            alike.
        n_cannot_tell: labels beside a shown one that say so; they are in no share.
    """

    kept_controls: Share
    kept: Share
    equal_unseen: Share | None
    n_cannot_tell: int


@dataclass(frozen=True)
class Speed:
    """How long people take, by the time that they were at it.

    Attributes:
        n: labels that have a time, "cannot tell" included, repeats and controls too.
        seconds: of all. median_seconds: of one. per_hour: labels in an hour at it.
        first_median, last_median: of the first and the last quarter of the labels; None below 8.
    """

    n: int
    seconds: float
    median_seconds: float | None
    per_hour: float | None
    first_median: float | None
    last_median: float | None


def share(n_of: int, n: int) -> Share:
    """How many of n, with an interval.

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
    """The labels of repeats against the first ones of the same person.

    Of post-edited items the judge's label was shown both times, which makes people agree.

    Args:
        people: the labels of each that hold. Controls, and pairs under two conditions, are no
            pairs.
        scale: worst to best, for kappa.
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
    """The first label of each item that a person was asked again, with each later one."""
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
    """What people made of the labels that they were shown.

    Args:
        labels: of one person or several, of one kind, those that hold; repeats are left out.
        judged: the judge's label of a cell.
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
    """How long a person took, of the labels that hold, in the order in which they were given.

    Labels without a time, as imported ones may be, are left out.
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
