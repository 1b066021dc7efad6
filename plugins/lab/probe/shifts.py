"""`judge probe`: judge the same items again with one thing changed, and compare the labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from ....judges import ItemJudge
from ....judges.verdicts import Verdict
from ....metrics.inference import Interval, mean_by_topic
from ....programs.analysis.cell_texts import read_judge_items
from ....programs.config.sections import Config
from ....programs.engine.results import MANIFEST
from ....programs.engine.spending import Estimate
from ....records.judgements import Unjudged
from ....records.labels import ItemRow
from ....records.reading.problems import Problems
from ..changes import label_shift, least_squares
from .conditions import KINDS, Condition, make_conditions
from .probing import (
    BASE,
    LABELS,
    UNJUDGED,
    Asking,
    Kind,
    Options,
    Outcome,
    ProbeResult,
    Probing,
    Row,
    count_unjudged,
    get_label,
    get_scale,
    get_topics,
    identity,
    list_missing_labels,
    sample_items,
    set_judge,
)
from .tables import view_conditions

LIMIT = 200  # items
AMONG = "replicates"  # the row that compares base and replicates pairwise
POSITION = "position"
# effect -> the condition, the condition to compare with, and a description.
CONTRASTS = {
    "passages": ("passages-reversed", BASE, "reversed minus given order"),
    "length-start": ("length-start", BASE, "padded minus unchanged"),
    "length-end": ("length-end", BASE, "padded minus unchanged"),
    "length-cut": ("length-cut", BASE, "cut minus unchanged"),
    "citation": ("citation-later", "citation-first", "later minus first"),
    "name": ("name-known", "name-plain", "famous minus plain"),
}
_NONE = Interval(None, None, None, 0)
KIND = Kind(("probe.jsonl", UNJUDGED, LABELS, MANIFEST), view_conditions, "never compared")

Outcomes = Mapping[str, Sequence[Outcome]]  # condition -> the outcome of each item, in order


def probing_conditions(
    source: Path,
    judges: Sequence[str],
    config: Config,
    problems: Problems,
    options: Options | None = None,
) -> Probing:
    """Judge a sample of items under a base condition and then under others, one by one.

    Args:
        source: the file or folder of the items, see `read_judge_items`.
        judges: one name: assigner, support or relevance, or the YAML file of a custom judge.
        config: its judge and models are asked; `run` has the limits and the cache.

    Raises: InputError for another judge.
    """
    options = options or Options()
    limit = options.limit or LIMIT

    async def work(now: Asking) -> ProbeResult:
        judge = now.item_judge()
        every = read_judge_items(source, judge, now.config, now.problems)
        items = sample_items(every, judge, limit, options.seed)
        conditions, now.skipped = make_conditions(judge, items, options)
        outcomes: dict[str, list[Outcome]] = {}
        for one in conditions:
            asked = [item for _, item in one.in_order]
            what = f"{len(one.calls):,} calls, {one.what}"
            # The endpoint may not support a form of reply schema.
            refusable = one.name if one.kind == "schema" else None
            judged = await now.ask(one.name, what, one.judge, asked, refusable)
            if judged is not None:
                by_item = dict(zip((i for i, _ in one.in_order), judged, strict=True))
                outcomes[one.name] = [by_item.get(i) for i in range(len(items))]
        if now.costs is None:
            return now.result()
        rows = probe_rows(judge, items, conditions, outcomes, now.costs, options.seed)
        rows += probe_effects(judge, items, conditions, outcomes)
        rows += [{"condition": each.name, "skipped": each.reason} for each in now.skipped]
        about = {"conditions": options.kinds or KINDS, "limit": limit, "seed": options.seed}
        about |= {"repeats": options.repeats, **identity(judge), "n_items": len(items)}
        unjudged = list_missing_labels(items, outcomes)
        return now.result(rows=rows, about=about, items=items, outcomes=outcomes, unjudged=unjudged)

    config = set_judge(config, judges[0], options.fields)
    return Probing(KIND, config, [config.items.name], work, problems, has_costs=True)


def probe_rows(
    judge: ItemJudge,
    items: Sequence[ItemRow],
    conditions: Sequence[Condition],
    outcomes: Outcomes,
    costs: Sequence[Estimate],
    seed: int,
) -> list[Row]:
    """One row per condition, the base first, and one row for all replicates together.

    Args:
        costs: the estimated cost of each condition.
        seed: seed of the intervals.
    """
    topics = get_topics(items)
    runs = [item.ids["run_id"] for item in items] if "run_id" in items[0].ids else None
    gains = judge.gains if is_ordered(judge) else None
    labels = {name: [get_label(outcome) for outcome in of] for name, of in outcomes.items()}

    def shift(pairs: Sequence[tuple[list[str | None], list[str | None]]]) -> Row:
        return label_shift(pairs, get_scale(judge), gains, topics, runs, seed=seed).as_dict()

    rows = []
    for condition, cost in zip(conditions, costs, strict=True):
        if condition.name not in labels:
            continue
        row: Row = {"condition": condition.name, "what": condition.what}
        row |= _counts(judge, outcomes[condition.name])
        if condition.name != BASE:
            row |= {"against": BASE} | shift([(labels[BASE], labels[condition.name])])
        rows.append(row | {"cost": _cost(cost, costs[0])})
    again = [labels[c.name] for c in conditions if c.kind == "replicates"]
    if len(again) > 1:
        what = f"base and {len(again)} replicates, compared pairwise"
        row = {"condition": AMONG, "what": what, "n_judged": 0, "n_unjudged": 0, "unjudged": {}}
        among = shift(list(combinations([labels[BASE], *again], 2))) | {"best": None, "gain": None}
        rows.append(row | {"against": "pairwise"} | among | {"cost": None})
    return rows


def _counts(judge: ItemJudge, outcomes: Sequence[Outcome]) -> Row:
    """Counts of a condition's outcomes, and the level of its labels."""
    counts = Counter(outcome.label for outcome in outcomes if isinstance(outcome, Verdict))
    n, scale = counts.total(), get_scale(judge)
    best = gain = None
    if n and is_ordered(judge):
        best = counts[scale[-1]] / n
        gain = sum(judge.gains[label] * count for label, count in counts.items()) / n
    return {
        "n_judged": n,
        **count_unjudged(outcomes),
        "labels": {label: counts[label] for label in scale},
        "share_best": best,
        "mean_gain": gain,
    }


def is_ordered(judge: ItemJudge) -> bool:
    """Whether the judge's labels have gains, worst to best."""
    return judge.is_ordered and judge.gains.keys() >= set(get_scale(judge))


def _cost(estimate: Estimate, base: Estimate) -> Row:
    """Estimated calls and tokens, which ignore the cache, also as multiples of the base."""
    tokens, of_base = (e.prompt_tokens + e.completion_tokens for e in (estimate, base))
    return {
        "calls": estimate.calls,
        "tokens": tokens,
        "dollars": estimate.cost,
        "calls_of_base": estimate.calls / base.calls,
        "tokens_of_base": tokens / of_base,
    }


def probe_effects(
    judge: ItemJudge,
    items: Sequence[ItemRow],
    conditions: Sequence[Condition],
    outcomes: Outcomes,
) -> list[Row]:
    """The effects of position, length and names on mean gain and share of the best label.

    `n` is the number of compared labels: pairs of the same item, or for `position` items that had
    two or more positions in calls. Items that one side did not judge count in `n_unjudged`.
    `position` is the change from the first to the last position in a call, by a line through the
    labels of each item, with CR3 intervals; the other intervals use the jackknife over topics.

    Returns: one row per effect; [] for labels without an order.
    """
    if not is_ordered(judge):
        return []
    best = get_scale(judge)[-1]
    gains = {
        "gain": dict(judge.gains),
        "best": {label: float(label == best) for label in judge.gains},
    }
    topics = get_topics(items)
    rows = []
    orders = [c for c in conditions if c.name == BASE or c.kind == "order"]
    orders = [c for c in orders if c.name in outcomes]
    if len(orders) > 1:
        rows.append(_position(orders, outcomes, gains, topics))
    for name, (one, other, what) in CONTRASTS.items():
        if one in outcomes and other in outcomes:
            pairs = outcomes[one], outcomes[other]
            rows.append({"effect": name, "what": what} | _difference(*pairs, gains, topics))
    return rows


def _difference(
    one: Sequence[Outcome],
    other: Sequence[Outcome],
    gains: Mapping[str, Mapping[str, float]],
    topics: Sequence[str] | None,
) -> Row:
    """Mean of first minus second, over items that both judged."""
    compared = [i for i, outcome in enumerate(one) if outcome is not None]
    labels = [(i, get_label(one[i]), get_label(other[i])) for i in compared]
    both = [(i, x, y) for i, x, y in labels if x is not None and y is not None]
    of_item = [topics[i] for i, _, _ in both] if topics is not None else None
    shifts = {
        name: mean_by_topic([of[x] - of[y] for _, x, y in both], of_item)
        for name, of in gains.items()
    }
    return _effect(len(both), len(compared) - len(both), of_item, shifts)


def _position(
    orders: Sequence[Condition],
    outcomes: Outcomes,
    gains: Mapping[str, Mapping[str, float]],
    topics: Sequence[str] | None,
) -> Row:
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
    positions = _centre([[position for position, _ in rows] for rows in moved.values()])
    shifts = dict.fromkeys(gains, _NONE)
    for name, of in gains.items():
        earned = _centre([[of[label] for _, label in rows] for rows in moved.values()])
        if n and (fit := least_squares(earned, positions[:, None], of_label)) is not None:
            shifts[name] = fit.interval(0)
    row = _effect(n, len(lost), of_label if topics is not None else None, shifts)
    return {"effect": POSITION, "what": "last position minus first", **row}


def _centre(by_item: Sequence[Sequence[float]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The values of each item minus their mean, in one list."""
    parts = [np.asarray(values) - np.mean(values) for values in by_item]
    return np.concatenate(parts) if parts else np.zeros(0)


def _effect(
    n: int, n_unjudged: int, topics: Sequence[str] | None, shifts: Mapping[str, Interval]
) -> Row:
    n_topics = len(set(topics)) if topics is not None else 0
    counts = {"n": n, "n_unjudged": n_unjudged, "n_topics": n_topics}
    return counts | {name: asdict(shift) for name, shift in shifts.items()}
