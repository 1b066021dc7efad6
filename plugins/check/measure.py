"""Compute the figures of a check with the core's metrics: agreement, recall, rates, groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...metrics import ppi, reliability
from ...metrics.inference import (
    LEVEL,
    SHARE,
    SIGNED_DIFFERENCE,
    mean_by_topic,
    ratio,
    resampling,
    student_interval,
)
from ...metrics.label_agreement import reliability_intervals
from ...programs.analysis.agree_labels import agree_labels, plain
from ...programs.analysis.slices import Covariate
from ...records.kinds import OTHER, LabelFile
from .items import Items

Floats = NDArray[np.float64]
_KEY = ("topic_id", "item")
RESAMPLES = 1000
MIN_ITEMS, MIN_CLUSTERS = 10, 5  # for a group that is compared with the rest


def measure(items: Items, path: Path, *, level: float = LEVEL) -> dict[str, Any]:
    """Compute the figures that `judge check --json` prints.

    Returns: the fields of `judge agree --json` for labels (`n`, `scale`, `confusion`, `accuracy`,
        `cohen_kappa`, `intervals`, `annotators` ...), and

        - `n_rows`, `n_items`, `n_unlabelled` (no label of people), `n_unjudged`, `n_no_majority`;
        - `clusters`: `by` a column or None, `n`;
        - `recall`, `precision`: by label `value`, `low`, `high` and `n`, the number of items. The
          interval uses the clusters that have such an item. With two labels `sensitivity` is the
          recall of the better one and `specificity` the recall of the other;
        - `rates`: for each label its share among all judged items by people and by the judge, and
          the judge's share corrected by labels of people; with two labels only the better one;
        - `by`: for each covariate its groups;
        - `repeats`: None, or how well repeated judgements agree.
    """
    both = [i for i, x in enumerate(items.truth) if x is not None and items.judge[i] is not None]
    agreed = _agree(items, path, level)
    truth = [items.truth[i] or "" for i in both]
    judge = [items.judge[i] or "" for i in both]
    clusters = [items.clusters[i] for i in both]
    shares = {
        name: {label: _share(label, given, other, clusters, level) for label in items.scale.labels}
        for name, given, other in (("recall", truth, judge), ("precision", judge, truth))
    }
    labels = items.scale.labels
    counted = labels[1:] if len(labels) == 2 else labels
    return {
        **agreed,
        "is_ordered": items.scale.is_ordered,
        "level": level,
        "n_rows": items.n_rows,
        "n_items": len(items.truth),
        "n_unlabelled": sum(label is None for label in items.truth) - items.n_no_majority,
        "n_unjudged": sum(label is None for label in items.judge),
        "n_no_majority": items.n_no_majority,
        "clusters": {"by": items.cluster_by or None, "n": len(set(clusters))},
        **shares,
        "sensitivity": shares["recall"][labels[1]] if len(labels) == 2 else None,
        "specificity": shares["recall"][labels[0]] if len(labels) == 2 else None,
        "rates": {label: _rate(items, label, level) for label in counted},
        "by": [_groups(items, both, covariate, level) for covariate in items.covariates],
        "repeats": _repeats(items, level),
        "cut": None if items.cut is None else asdict(items.cut),
    }


def _agree(items: Items, path: Path, level: float) -> dict[str, Any]:
    cells = [(cluster, str(i)) for i, cluster in enumerate(items.clusters)]
    labels = items.scale.labels
    annotations = {}
    if len(items.ratings) > 1:
        annotations = {
            cell: {who: label for who, of in items.ratings.items() if (label := of[i]) is not None}
            for i, cell in enumerate(cells)
        }
    people, judge = (
        LabelFile(OTHER, labels, {c: x for c, x in zip(cells, of, strict=True) if x is not None},
                  _KEY, annotations={c: a for c, a in more.items() if a})
        for of, more in ((items.truth, annotations), (items.judge, {}))
    )  # fmt: skip
    draws = {"resamples": RESAMPLES, "level": level}
    agreed = agree_labels(people, judge, path, path, draws)  # type: ignore[arg-type]
    for name in ("kind", "by_topic", "run_aliases", "n_human_only", "n_judged_only", "scale_note",
                 "has_two_scales", "n_human_unlabelled", "n_judged_unlabelled",
                 "n_topics"):  # fmt: skip
        del agreed[name]
    return agreed


def _share(
    label: str, given: Sequence[str], other: Sequence[str], clusters: Sequence[str], level: float
) -> dict[str, Any]:
    """The share of items with this label from one side that have it from the other side too.

    The interval uses only the clusters that have such an item, so it is wide for few items.
    """
    at = [i for i, x in enumerate(given) if x == label]
    if not at:
        return {"value": None, "low": None, "high": None, "n": 0}
    sample = resampling([clusters[i] for i in at], resamples=RESAMPLES, level=level)
    figure = sample.mean([other[i] == label for i in at], np.ones(len(at)), SHARE)
    return {"value": figure.value, "low": figure.low, "high": figure.high, "n": len(at)}


def _rate(items: Items, label: str, level: float) -> dict[str, Any]:
    """The share of a label among all judged items: by the judge, by people, and corrected.

    Corrected by prediction-powered inference, see `metrics.ppi`. This assumes that the items that
    people labelled are a random sample of the judged items.
    """
    judged = [i for i, x in enumerate(items.judge) if x is not None]
    said = np.array([float(items.judge[i] == label) for i in judged])
    human = np.array([
        math.nan if items.truth[i] is None else float(items.truth[i] == label) for i in judged
    ])  # fmt: skip
    _, clusters = np.unique([items.clusters[i] for i in judged], return_inverse=True)
    names = [items.clusters[i] for i in judged]
    on = ~np.isnan(human)
    found: dict[str, Any] = {
        "n": len(judged),
        "n_labels": int(on.sum()),
        "judge": float(said.mean()),
        "people": float(human[on].mean()) if on.any() else None,
        "corrected": None,
        "difference": None,
    }
    labelled = [names[i] for i in np.flatnonzero(on)]
    if len(set(labelled)) < 2:
        return found
    n = len(judged)
    weights, strata = np.full(n, 1 / n), np.zeros(n, np.int64)
    sample = ppi.sample(said, human, weights, clusters, strata=strata)
    lam = ppi.label_moments(sample).lam
    estimate = ppi.estimate(sample, lam)
    without = _without_clusters(said, human, clusters, lam)
    k = len(without)
    variance = (k - 1) / k * float(((without - without.mean()) ** 2).sum()) + estimate.few_labels
    value = min(max(estimate.value, 0.0), 1.0)
    df = len(set(labelled)) - 1
    figure = student_interval(value, math.sqrt(variance), k, SHARE, level=level, df=df)
    found["corrected"] = {"value": value, "low": figure.low, "high": figure.high}
    differences = said[on] - human[on]
    found["difference"] = asdict(mean_by_topic(differences, labelled, level=level))
    return found


def _without_clusters(
    said: Floats, human: Floats, clusters: NDArray[np.int64], lam: float
) -> Floats:
    """(n_clusters,) the corrected share without each cluster; every item has the same weight.

    `metrics.ppi` gives every topic the same weight; here a larger cluster weighs more.
    """
    on = ~np.isnan(human)
    error = np.where(on, np.nan_to_num(human) - lam * said, 0.0)
    sums = [np.bincount(clusters, x) for x in (said, np.ones(len(said)), error, on * 1.0)]
    judged, n, errors, n_labels = (of.sum() - of for of in sums)
    return lam * ratio(judged, n) + ratio(errors, n_labels)


def _groups(
    items: Items, both: Sequence[int], covariate: Covariate, level: float
) -> dict[str, Any]:
    """Compare each group of items with the rest: accuracy, and judge minus people.

    The level of these intervals is corrected for the number of groups (Bonferroni).
    """
    has = [i for i in both if covariate.values[i] is not None]
    names = [name for name in covariate.groups if any(covariate.group(i) == name for i in has)]
    scale = items.scale.labels
    place = {label: at / (len(scale) - 1) for at, label in enumerate(scale)}
    right = np.array([float(items.judge[i] == items.truth[i]) for i in has])
    error = np.array([place[items.judge[i] or ""] - place[items.truth[i] or ""] for i in has])
    clusters = [items.clusters[i] for i in has]
    n_tests = len(names) if len(names) > 2 else 1
    groups = []
    for name in names:
        inside = np.array([covariate.group(i) == name for i in has])
        at = np.flatnonzero(inside)
        truth, judge = ([side[has[i]] or "" for i in at] for side in (items.truth, items.judge))
        of = [clusters[i] for i in at]
        sample = resampling(of, resamples=RESAMPLES, level=level)
        ones = np.ones(len(at))
        groups.append({
            "group": name,
            "n": len(at),
            "accuracy": asdict(sample.mean(right[at], ones)),
            "recall": {label: _share(label, truth, judge, of, level) for label in scale},
            "error": asdict(mean_by_topic(error[at], of, level=level))
            if items.scale.is_ordered else None,
            "accuracy_minus_rest": _minus_rest(right, inside, clusters, 1 - (1 - level) / n_tests),
        })  # fmt: skip
    return {"by": covariate.name, "what": covariate.what, "n": len(has),
            "n_unknown": len(both) - len(has), "groups": groups}  # fmt: skip


def _minus_rest(
    values: Floats, inside: NDArray[np.bool_], clusters: Sequence[str], level: float
) -> dict[str, Any]:
    """The mean of a group minus the mean of the rest, with an interval over clusters.

    The variance is at least that of Agresti and Caffo (2000) for as many independent items, so that
    a few items that are all correct do not get a narrow interval. A group of fewer than 10 items,
    or 5 clusters, has no interval.
    """
    sums = np.column_stack([values * inside, inside, values * ~inside, ~inside]).astype(np.float64)
    total = sums.sum(axis=0)
    if not (total[1] and total[3]):
        return {"value": None, "low": None, "high": None}
    value = float(total[0] / total[1] - total[2] / total[3])
    k = min(len({c for c, of in zip(clusters, inside, strict=True) if of == side})
            for side in (True, False))  # fmt: skip
    if k < MIN_CLUSTERS or min(total[1], total[3]) < MIN_ITEMS:
        return {"value": value, "low": None, "high": None}
    drawn = resampling(clusters, resamples=RESAMPLES, level=level).sums(sums)
    means = ratio(drawn[:, 0], drawn[:, 1]) - ratio(drawn[:, 2], drawn[:, 3])
    shares, sizes = (total[[0, 2]] + 1) / (total[[1, 3]] + 2), total[[1, 3]] + 2
    least = float((shares * (1 - shares) / sizes).sum())
    spread = k / (k - 1) * float(np.nanmean((means - value) ** 2))
    error = math.sqrt(max(spread, least))
    figure = student_interval(value, error, k, SIGNED_DIFFERENCE, level=level)
    return {"value": value, "low": figure.low, "high": figure.high}


def _repeats(items: Items, level: float) -> dict[str, Any] | None:
    """How well repeated judgements of an item agree, which is the judge's noise."""
    at = [i for i, of in enumerate(items.repeats) if len(of) > 1]
    if not at:
        return None
    most = max(len(items.repeats[i]) for i in at)
    ratings = [
        [items.repeats[i][k] if k < len(items.repeats[i]) else None for i in at]
        for k in range(most)
    ]
    figures = reliability(ratings, items.scale.labels)
    clusters = [items.clusters[i] for i in at]
    intervals = reliability_intervals(
        figures, ratings, items.scale.labels, clusters, resamples=RESAMPLES, level=level
    )
    n_flaky = sum(len(set(items.repeats[i])) > 1 for i in at)
    return {
        "n_items": len(at),
        "n_judgements": figures.n_labels,
        "n_flaky": n_flaky,
        "same": plain(intervals)["observed"],
    }


def people_share(figures: dict[str, Any]) -> dict[str, Any] | None:
    """How often two annotators agree on an item, and how often the judge agrees with one."""
    annotators = figures["annotators"]
    if annotators is None:
        return None
    confusion = np.array(annotators["judge"]["pooled"]["confusion"])
    n = int(confusion.sum())
    among = annotators["among"]["intervals"]["observed"]
    return {
        "people": among,
        "judge": float(np.trace(confusion) / n) if n else None,
        "n_pairs": len(list(combinations(annotators["names"], 2))),
    }


def count_needed(share: dict[str, Any], wanted: float, level: float) -> int | None:
    """Estimate how many items put the end of a share's interval at `wanted`, if the share stays.

    Assumes that on the logit scale the width of the interval falls with the square root of the
    number of items. A share of 1 has the interval of Clopper and Pearson.

    Returns: the total number of items; None if the share equals `wanted` or has no interval.

    >>> count_needed({"value": 1.0, "low": 0.48, "high": 1.0, "n": 5}, 0.8, 0.95)
    17
    >>> count_needed({"value": 0.85, "low": 0.75, "high": 0.91, "n": 100}, 0.8, 0.95)
    334
    """
    value, low, high = (share[name] for name in ("value", "low", "high"))
    n: int = share["n"]
    if value is None or low is None or abs(value - wanted) < 1e-9:
        return None
    if value in (0.0, 1.0):
        chance = 1 - wanted if value == 0.0 else wanted
        return max(n, math.ceil(math.log((1 - level) / 2) / math.log(chance)))
    half = _logit(value) - _logit(low) if value > wanted else _logit(high) - _logit(value)
    times: float = (half / (_logit(value) - _logit(wanted))) ** 2
    return math.ceil(n * times)


def _logit(share: float) -> float:
    share = min(max(share, 1e-9), 1 - 1e-9)
    return math.log(share / (1 - share))
