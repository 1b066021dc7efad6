"""What one label is worth to an optimiser: the item's part of Cohen's kappa, in [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Gains:
    """The gain of each label for each true label.

    Attributes:
        table: true label -> given label -> gain in [0, 1]; the right label has the highest of
            its row.
        chance: mean gain of answers that do not depend on the item, whatever they are: all the
            same label, the commonest one, or labels drawn at random.
        perfect: mean gain of answers that are all right.
    """

    table: Mapping[str, Mapping[str, float]]
    chance: float
    perfect: float

    def of(self, label: str | None, truth: str) -> float:
        """The gain of one item; None, no judgement, has the worst there is, 0."""
        return self.table[truth].get(label, 0.0) if label is not None else 0.0


def kappa_gains(labels: Sequence[str], scale: Sequence[str], *, is_ordered: bool = True) -> Gains:
    """Gains whose mean over items is Cohen's kappa but for scale and origin.

    Two labels disagree by the distance of their positions on the scale, from 0 to 1 (linear
    weights); without an order by 1 if they differ. The part of an item with true label t and
    given label g is

        r(g) - d(t, g),   r(g) = sum_i p_i d(i, g),   p_i = share of label i among `labels`

    which has mean 0 for any constant answer, since r(g) is what g disagrees by on average, and is
    highest at g = t, since d is a metric (with quadratic weights, which are none, it is not). Over
    the items of `labels`, kappa = mean part / mean r(g). Parts are moved and stretched to [0, 1].

    Args:
        labels: n true labels of the items that candidates are chosen on.
        scale: the labels there are, worst to best.

    Raises: ValueError for a label outside the scale (names the index) or labels that are all one.
    Source: J. Cohen, "Weighted kappa" (Psychological Bulletin 70, 1968), observed less expected
        disagreement, taken apart by item.

    >>> kappa_gains(["no", "no", "no", "yes"], ["no", "yes"]).table["yes"]
    {'no': 0.0, 'yes': 1.0}
    """
    index = {name: i for i, name in enumerate(scale)}
    for i, label in enumerate(labels):
        if label not in index:
            raise ValueError(f"labels[{i}] is {label!r}, wanted one of {', '.join(scale)}")
    if len(set(labels)) < 2:
        raise ValueError(f"all {len(labels)} labels are the same, wanted two different ones")

    def distance(true: str, other: str) -> float:
        if not is_ordered:
            return float(true != other)
        return abs(index[true] - index[other]) / (len(scale) - 1)

    by_chance = {g: sum(distance(t, g) for t in labels) / len(labels) for g in scale}
    part = {t: {g: by_chance[g] - distance(t, g) for g in scale} for t in scale}
    low = min(min(row.values()) for row in part.values())
    high = max(max(row.values()) for row in part.values())
    table = {t: {g: (v - low) / (high - low) for g, v in row.items()} for t, row in part.items()}
    perfect = sum(table[t][t] for t in labels) / len(labels)
    return Gains(table, chance=-low / (high - low), perfect=perfect)
