"""What position, length and names do to a judge's labels: sizes, with intervals by topic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ....judges import ItemJudge
from ....judges.verdicts import Verdict
from ....metrics.bootstrap import Interval
from ....metrics.drift import least_squares, mean_by_topic
from ....records.judgements import Unjudged
from ....records.labels.items import ItemRow
from .conditions import BASE, Condition
from .figures import is_ordered, scale_of
from .items import topics_of
from .result import Outcome

POSITION = "position"
# By effect: the condition, the one that it is compared with, and the difference in a few words.
CONTRASTS = {
    "passages": ("passages-reversed", BASE, "last to first minus as given"),
    "length-start": ("length-start", BASE, "padded minus as it is"),
    "length-end": ("length-end", BASE, "padded minus as it is"),
    "length-cut": ("length-cut", BASE, "cut minus as it is"),
    "citation": ("citation-later", "citation-first", "later minus first"),
    "name": ("name-known", "name-plain", "known minus plain"),
}
_NONE = Interval(None, None, None, 0)


def probe_effects(
    judge: ItemJudge,
    items: Sequence[ItemRow],
    conditions: Sequence[Condition],
    outcomes: Mapping[str, Sequence[Outcome]],
) -> list[dict[str, Any]]:
    """One row an effect, of the mean gain and of the share of the best label.

    `n` labels are compared: of pairs of the same item, or for `position` of items that had two
    positions in a call or more. An item that one side did not judge is none of them, and counts
    in `n_unjudged`. `position` is the change from first to last position of a call, by a line
    through the labels of each item; its intervals are CR3, the others' by jackknife over topics.

    Returns: [] for labels without an order.
    """
    if not is_ordered(judge):
        return []
    best = scale_of(judge)[-1]
    worth = {
        "gain": dict(judge.gains),
        "best": {label: float(label == best) for label in judge.gains},
    }
    topics = topics_of(items)
    rows = []
    orders = [c for c in conditions if c.name == BASE or c.kind == "order"]
    orders = [c for c in orders if c.name in outcomes]
    if len(orders) > 1:
        rows.append(_position(orders, outcomes, worth, topics))
    for name, (one, other, what) in CONTRASTS.items():
        if one in outcomes and other in outcomes:
            pairs = outcomes[one], outcomes[other]
            rows.append({"effect": name, "what": what} | _difference(*pairs, worth, topics))
    return rows


def _difference(
    one: Sequence[Outcome],
    other: Sequence[Outcome],
    worth: Mapping[str, Mapping[str, float]],
    topics: Sequence[str] | None,
) -> dict[str, Any]:
    """Mean of the first less the second, of items that both judged."""
    compared = [i for i, outcome in enumerate(one) if outcome is not None]
    both = [(i, x, y) for i in compared
            if isinstance(x := one[i], Verdict) and isinstance(y := other[i], Verdict)]  # fmt: skip
    of_item = [topics[i] for i, _, _ in both] if topics is not None else None
    shifts = {
        name: mean_by_topic([gains[x.label] - gains[y.label] for _, x, y in both], of_item)
        for name, gains in worth.items()
    }
    return _row(len(both), len(compared) - len(both), of_item, shifts)


def _position(
    orders: Sequence[Condition],
    outcomes: Mapping[str, Sequence[Outcome]],
    worth: Mapping[str, Mapping[str, float]],
    topics: Sequence[str] | None,
) -> dict[str, Any]:
    """The slope over positions in a call, 0 the first and 1 the last, within items."""
    seen: dict[int, list[tuple[float, str]]] = {}
    lost: set[int] = set()
    for condition in orders:
        by_item = outcomes[condition.name]
        for call in condition.calls:
            for position, i in enumerate(call if len(call) > 1 else ()):
                outcome = by_item[i]
                if isinstance(outcome, Verdict):
                    seen.setdefault(i, []).append((position / (len(call) - 1), outcome.label))
                elif isinstance(outcome, Unjudged):
                    lost.add(i)
    moved = {
        i: labels for i, labels in seen.items() if len({position for position, _ in labels}) > 1
    }
    n = sum(map(len, moved.values()))
    of_label = [topics[i] if topics is not None else "" for i, rows in moved.items() for _ in rows]
    positions = _centred([[position for position, _ in rows] for rows in moved.values()])
    shifts = dict.fromkeys(worth, _NONE)
    for name, gains in worth.items():
        earned = _centred([[gains[label] for _, label in rows] for rows in moved.values()])
        if n and (fit := least_squares(earned, positions[:, None], of_label)) is not None:
            shifts[name] = fit.interval(0)
    row = _row(n, len(lost), of_label if topics is not None else None, shifts)
    return {"effect": POSITION, "what": "last place minus first", **row}


def _centred(by_item: Sequence[Sequence[float]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The values of each item less their mean, one after the other."""
    parts = [np.asarray(values) - np.mean(values) for values in by_item]
    return np.concatenate(parts) if parts else np.zeros(0)


def _row(
    n: int, n_unjudged: int, topics: Sequence[str] | None, shifts: Mapping[str, Interval]
) -> dict[str, Any]:
    n_topics = len(set(topics)) if topics is not None else 0
    return {
        "n": n,
        "n_unjudged": n_unjudged,
        "n_topics": n_topics,
        **{name: asdict(shift) for name, shift in shifts.items()},
    }
