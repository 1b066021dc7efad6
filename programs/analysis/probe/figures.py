"""The rows of a probe: each condition's labels against those of the base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

from ....judges import ItemJudge
from ....judges.verdicts import Verdict
from ....metrics.drift import label_shift
from ....records.judgements import Unjudged
from ....records.labels.items import ItemRow
from ...engine.estimates import Estimate
from .conditions import BASE, Condition
from .items import topics_of
from .result import Outcome

AMONG = "replicates"  # the row of base and replicates, each with each other


def probe_rows(
    judge: ItemJudge,
    items: Sequence[ItemRow],
    conditions: Sequence[Condition],
    outcomes: Mapping[str, Sequence[Outcome]],
    costs: Sequence[Estimate],
    seed: int,
) -> list[dict[str, Any]]:
    """One row a condition that was asked, the base first, and one of all replicates together.

    Args:
        outcomes: by condition, of each item in order.
        costs: of the conditions, as the plan of the probe has them.
        seed: of the intervals.
    """
    labels: dict[str, list[str | None]] = {
        name: [outcome.label if isinstance(outcome, Verdict) else None for outcome in of_items]
        for name, of_items in outcomes.items()
    }
    rows = []
    for condition, cost in zip(conditions, costs, strict=True):
        if condition.name not in labels:
            continue
        row: dict[str, Any] = {"condition": condition.name, "what": condition.what}
        row |= _counts(judge, outcomes[condition.name])
        if condition.name != BASE:
            pairs = [(labels[BASE], labels[condition.name])]
            row |= {"against": BASE} | _shift(judge, items, pairs, seed)
        rows.append(row | {"cost": _cost(cost, costs[0])})
    again = [labels[c.name] for c in conditions if c.kind == "replicates"]
    if len(again) > 1:
        pairs = list(combinations([labels[BASE], *again], 2))
        what = f"base and {len(again)} replicates, each with each other"
        row = {"condition": AMONG, "what": what, "n_judged": 0, "n_unjudged": 0, "unjudged": {}}
        shift = _shift(judge, items, pairs, seed) | {"best": None, "gain": None}
        rows.append(row | {"against": "each other"} | shift | {"cost": None})
    return rows


def _counts(judge: ItemJudge, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """How the items of a condition ended, and the level of its labels."""
    counts = Counter(outcome.label for outcome in outcomes if isinstance(outcome, Verdict))
    n, scale = counts.total(), scale_of(judge)
    best = gain = None
    if n and is_ordered(judge):
        best = counts[scale[-1]] / n
        gain = sum(judge.gains[label] * count for label, count in counts.items()) / n
    return {
        "n_judged": n,
        **unjudged_counts(outcomes),
        "labels": {label: counts[label] for label in scale},
        "share_best": best,
        "mean_gain": gain,
    }


def unjudged_counts(outcomes: Iterable[object]) -> dict[str, Any]:
    """How many were not judged, and by which reason."""
    why = Counter(each.reason.value for each in outcomes if isinstance(each, Unjudged))
    return {"n_unjudged": why.total(), "unjudged": dict(sorted(why.items()))}


def _shift(
    judge: ItemJudge,
    items: Sequence[ItemRow],
    pairs: Sequence[tuple[list[str | None], list[str | None]]],
    seed: int,
) -> dict[str, Any]:
    has_runs = "run_id" in items[0].ids
    return label_shift(
        pairs,
        scale_of(judge),
        judge.gains if is_ordered(judge) else None,
        topics_of(items),
        [item.ids["run_id"] for item in items] if has_runs else None,
        seed=seed,
    ).as_dict()


def scale_of(judge: ItemJudge) -> tuple[str, ...]:
    """The labels that it gives, worst to best: a fitted one may give fewer."""
    correction = judge.correction
    return (correction.labels if correction is not None else None) or judge.scale


def is_ordered(judge: ItemJudge) -> bool:
    """Whether each of its labels is worth something, worst to best."""
    return judge.is_ordered and judge.gains.keys() >= set(scale_of(judge))


def _cost(estimate: Estimate, base: Estimate) -> dict[str, Any]:
    """Estimates, which are the same whatever came from the cache, and as multiples of the base."""
    tokens, of_base = (e.prompt_tokens + e.completion_tokens for e in (estimate, base))
    return {
        "calls": estimate.calls,
        "tokens": tokens,
        "dollars": estimate.cost,
        "calls_of_base": estimate.calls / base.calls,
        "tokens_of_base": tokens / of_base,
    }
