"""What a label earns in each measure, and what a nugget weighs: the measures as weighted means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

SHARE = "share_"  # in front of a label: the measure of how many items have it

# arXiv:2411.09607, the six nugget scores; arXiv:2504.15205, section 3, the two support scores.
NUGGET = {"not_support": 0.0, "partial_support": 0.5, "support": 1.0}
NUGGET_STRICT = {"not_support": 0.0, "partial_support": 0.0, "support": 1.0}
SUPPORT = {"none": 0.0, "partial": 0.5, "full": 1.0}
SUPPORT_HARD = {"none": 0.0, "partial": 0.0, "full": 1.0}
# arXiv:2410.23000: entailed, and nothing else.
ENTAILMENT = {"no": 0.0, "neutral": 0.0, "yes": 1.0}
CLAIM = {"no": 0.0, "yes": 1.0}

NUGGET_WEIGHTS: dict[str, dict[str | None, float]] = {
    "A": {"vital": 1.0, "okay": 1.0, None: 1.0},
    "V": {"vital": 1.0, "okay": 0.0, None: 0.0},
    "W": {"vital": 1.0, "okay": 0.5, None: 0.0},
}
NUGGET_GAINS: dict[str, dict[str, float]] = {
    measure: gains
    for family in NUGGET_WEIGHTS
    for measure, gains in ((family, NUGGET), (f"{family}_strict", NUGGET_STRICT))
}
SUPPORT_GAINS: dict[str, dict[str, float]] = {
    f"support_{share}{suffix}": gains
    for suffix, gains in (("", SUPPORT), ("_all", SUPPORT), ("_hard", SUPPORT_HARD))
    for share in ("precision", "recall")
}


def scale_gains(scale: Sequence[str]) -> dict[str, dict[str, float]]:
    """Measures of labels on any ordered scale, by name, each with what a label earns.

    `mean_gain`: the place on the scale, 0 for the worst label and 1 for the best, in equal steps.
    `at_least_LABEL`: 1 for that label and better ones; one for each label but the worst.

    Raises: ValueError for a scale of fewer than 2 labels.

    >>> scale_gains(["no", "neutral", "yes"])["mean_gain"]
    {'no': 0.0, 'neutral': 0.5, 'yes': 1.0}
    """
    if len(scale) < 2:
        raise ValueError(f"the scale {list(scale)} has no two labels")
    top = len(scale) - 1
    measures = {"mean_gain": {label: i / top for i, label in enumerate(scale)}}
    for at, cut in enumerate(scale[1:], start=1):
        measures[f"at_least_{cut}"] = {label: float(i >= at) for i, label in enumerate(scale)}
    return measures


def label_shares(labels: Sequence[str]) -> dict[str, dict[str, float]]:
    """Measures of labels that need no order, by name: how large a share of the items has each.

    >>> label_shares(["on_topic", "off_topic"])["share_on_topic"]
    {'on_topic': 1.0, 'off_topic': 0.0}
    """
    return {f"{SHARE}{name}": {label: float(label == name) for label in labels} for name in labels}


def expected_gain(probabilities: Mapping[str, float], gains: Mapping[str, float]) -> float | None:
    """What an item earns on average under a judge's probabilities of its labels.

    Args:
        probabilities: label -> a value >= 0; they count as shares of their sum.
        gains: label -> what it earns.

    Returns: sum(p gain) / sum(p); None if the sum is 0 or a label with p > 0 has no gain.

    >>> expected_gain({"full": 0.6, "partial": 0.4}, SUPPORT_GAINS["support_precision"])
    0.8
    """
    possible = {label: p for label, p in probabilities.items() if p > 0}
    if not possible or not possible.keys() <= gains.keys():
        return None
    return sum(p * gains[label] for label, p in possible.items()) / sum(possible.values())
