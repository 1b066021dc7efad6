"""Coverage of a narrative's parts by an answer, from the nuggets of each part."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence

from .answer_scores import NUGGET_GAINS, UNDEFINED, Value

NARRATIVE_MEASURES = ("SN", "SN_strict", "SN_vital")
# The two measures that are weighted means of nuggets' gains.
NARRATIVE_GAINS = {"SN": NUGGET_GAINS["A"], "SN_strict": NUGGET_GAINS["A_strict"]}


def narrative_scores(
    labels: Sequence[str | None],
    importances: Sequence[str | None],
    sub_narratives: Sequence[str],
) -> dict[str, Value]:
    """Compute how much of a topic's sub-narratives an answer covers; three measures in [0, 1].

    `SN` is the mean over sub-narratives of the mean gain of the nuggets of each: 1 for a stated
    nugget, 0.5 for a partly stated one. `SN_strict` counts full support only. A sub-narrative of
    two nuggets counts as much as one of twenty. `SN_vital` is the share of the sub-narratives with
    vital nuggets of which at least one vital nugget is fully stated. Higher is better.

    Args:
        labels: one per nugget: support, partial_support, not_support, or None: not judged.
        importances: one per nugget, in the same order: vital, okay or None.
        sub_narratives: one per nugget, in the same order; "" for a nugget without a sub-narrative,
            which does not count here.

    Returns: the measures in this order; {} if no nugget has a sub-narrative. `n` and `n_unjudged`
        count nuggets (for SN_vital the vital nuggets). Nuggets without a label are left out of the
        value, and so is a sub-narrative without any label. For the bounds, nuggets without a label
        are not stated, and stated. SN_vital without vital nuggets is 0/0.
    Raises: ValueError if lengths differ or a label is unknown.
    Source: ours; the TREC 2025 RAG track maps nuggets to sub-narratives (`mapped_sub_narrative`)
        but publishes no comparable measure.

    >>> scores = narrative_scores(["support", "not_support", "support"], ["vital"] * 3, "aab")
    >>> scores["SN"].value, scores["SN_vital"].value
    (0.75, 1.0)
    """
    groups = group_nuggets(labels, importances, sub_narratives)
    if not groups:
        return {}
    scores = {}
    for name, gain in NARRATIVE_GAINS.items():
        scores[name] = _mean(groups, gain)
    vital = [[label for label, is_vital in group if is_vital] for group in groups.values()]
    scores["SN_vital"] = _share([group for group in vital if group])
    return scores


def narrative_weights(sub_narratives: Sequence[str]) -> list[float]:
    """Return the weight of each nugget in SN.

    All sub-narratives have the same weight, and so have the nuggets within each.

    Args:
        sub_narratives: one per nugget; "" for a nugget without a sub-narrative, whose weight is 0.

    Returns: weights that sum to 1, or all 0.

    >>> narrative_weights(["a", "b", "b", ""])
    [0.5, 0.25, 0.25, 0.0]
    """
    sizes = Counter(filter(None, sub_narratives))
    return [1 / (len(sizes) * sizes[name]) if name else 0.0 for name in sub_narratives]


Group = list[tuple[str | None, bool]]  # label of each nugget, and whether it is vital


def group_nuggets(
    labels: Sequence[str | None],
    importances: Sequence[str | None],
    sub_narratives: Sequence[str],
) -> dict[str, Group]:
    """Return the nuggets of each sub-narrative, in the order in which sub-narratives first occur.

    Args:
        labels, importances, sub_narratives: see `narrative_scores`.

    Raises: ValueError if lengths differ or a label is unknown; it names the index.
    """
    if not len(labels) == len(importances) == len(sub_narratives):
        n = f"{len(labels)} labels, {len(importances)} importances"
        raise ValueError(f"{n} and {len(sub_narratives)} sub-narratives, wanted equal numbers")
    groups: dict[str, Group] = {}
    for i, (label, importance, name) in enumerate(
        zip(labels, importances, sub_narratives, strict=True)
    ):
        if label is not None and label not in NUGGET_GAINS["A"]:
            wanted = ", ".join(NUGGET_GAINS["A"])
            raise ValueError(f"labels[{i}] is {label!r}, wanted one of {wanted} or None")
        if name:
            groups.setdefault(name, []).append((label, importance == "vital"))
    return groups


def _mean(groups: Mapping[str, Group], gain: Mapping[str, float]) -> Value:
    """The mean over groups of the mean gain in each."""
    judged = [[gain[lb] for lb, _ in group if lb is not None] for group in groups.values()]
    means = [math.fsum(gains) / len(gains) for gains in judged if gains]
    n = sum(map(len, judged))

    def compute_bound(missing: float) -> float:
        of_group = (
            math.fsum(missing if lb is None else gain[lb] for lb, _ in group) / len(group)
            for group in groups.values()
        )
        return math.fsum(of_group) / len(groups)

    value = math.fsum(means) / len(means) if means else None
    return _value(
        value, n, sum(map(len, groups.values())) - n, compute_bound(0.0), compute_bound(1.0)
    )


def _share(groups: Sequence[Sequence[str | None]]) -> Value:
    """The share of groups with a fully stated nugget."""
    if not groups:
        return UNDEFINED
    n = sum(label is not None for group in groups for label in group)
    stated = ["support" in group for group in groups]
    open_ = [None in group and not one for group, one in zip(groups, stated, strict=True)]
    decided = [one for one, is_open in zip(stated, open_, strict=True) if not is_open]
    value = sum(decided) / len(decided) if decided else None
    low, high = sum(stated) / len(groups), (sum(stated) + sum(open_)) / len(groups)
    return _value(value, n, sum(map(len, groups)) - n, low, high)


def _value(value: float | None, n: int, n_unjudged: int, low: float, high: float) -> Value:
    """A value within its bounds, despite rounding."""
    if value is not None:
        low, high = min(low, value), max(high, value)
    return Value(value, n, n_unjudged, low, high)
