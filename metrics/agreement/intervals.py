"""Topic-bootstrap intervals of the agreement of labels; see docs/agreement.md."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..bootstrap import LEVEL, RESAMPLES, Interval, Resampling, resampling
from . import coefficients as of
from .annotators import PairwiseKappa, Ratings, Reliability, agreeing, evenly, label_counts
from .coefficients import LEVELS, WEIGHTS, Array
from .pairs import Agreement

Intervals = dict[str, Any]  # figure -> Interval, or name -> Interval where the figure is a dict


def agreement_intervals(
    found: Agreement,
    truth: Sequence[str],
    judged: Sequence[str],
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Intervals:
    """Intervals of the headline figures of `agreement(truth, judged, scale)`.

    Args:
        found: its result.
        topics: the topic of each pair; None: not known, no interval has bounds.

    Returns: accuracy, macro_f1, cohen_kappa (by weights), one_vs_rest (by label), alpha (by
        level), fleiss_kappa, randolph_kappa, ac1.

    >>> from nuggetjudge.metrics import agreement
    >>> truth, judged = ["yes", "no"] * 20, ["yes", "no", "yes", "yes"] * 10
    >>> topics = [f"t{i // 4}" for i in range(40)]
    >>> found = agreement(truth, judged, ["no", "yes"])
    >>> agreement_intervals(found, truth, judged, topics)["accuracy"]
    Interval(value=0.75, low=0.75, high=0.75, n_topics=10, level=0.95)
    """
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    confusion = _confusions(truth, judged, found.scale, sample)
    kappas = {name: of.cohen_kappa(confusion, name) for name in WEIGHTS}
    one_vs_rest = dict(zip(found.scale, of.one_vs_rest_kappa(confusion).T, strict=True))
    shared = _chance_corrected(label_counts([truth, judged], found.scale), sample)
    return {
        "accuracy": sample.interval(found.accuracy, of.accuracy(confusion)),
        "macro_f1": sample.interval(found.macro_f1, of.macro_f1(confusion)),
        "cohen_kappa": _each(found.cohen_kappa, kappas, sample),
        "one_vs_rest": _each(found.one_vs_rest, one_vs_rest, sample),
        **_shared(found, shared, sample),
    }


def reliability_intervals(
    found: Reliability,
    ratings: Ratings,
    scale: Sequence[str],
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Intervals:
    """Intervals of `reliability(ratings, scale)`: observed, alpha, fleiss_kappa, randolph_kappa,
    ac1 and pairwise_kappa (by weights). Arguments as in `agreement_intervals`.
    """
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    drawn = _chance_corrected(label_counts(ratings, scale), sample)
    pairs = list(combinations(ratings, 2))
    return {
        "observed": sample.interval(found.observed, drawn["observed"]),
        **_shared(found, drawn, sample),
        "pairwise_kappa": _pairwise(found.pairwise_kappa, pairs, scale, sample),
    }


def pairwise_intervals(
    found: PairwiseKappa,
    pairs: Sequence[tuple[Sequence[str | None], Sequence[str | None]]],
    scale: Sequence[str],
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """Intervals of `pairwise_kappa(pairs, scale)`, by weights; in a sample the mean is over the
    pairs that have a kappa there. Arguments as in `agreement_intervals`.
    """
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    return _pairwise(found, pairs, scale, sample)


def _pairwise(
    found: PairwiseKappa,
    pairs: Sequence[tuple[Sequence[str | None], Sequence[str | None]]],
    scale: Sequence[str],
    sample: Resampling,
) -> dict[str, Interval]:
    sums = {name: np.zeros(len(sample.draws)) for name in WEIGHTS}
    n_defined = np.zeros(len(sample.draws))
    for one, other in pairs:
        confusion = _confusions(one, other, scale, sample)
        kappas = {name: of.cohen_kappa(confusion, name) for name in WEIGHTS}
        n_defined += ~np.isnan(kappas["unweighted"])
        for name, kappa in kappas.items():
            sums[name] += np.nan_to_num(kappa)
    drawn = {name: of.ratio(total, n_defined) for name, total in sums.items()}
    return {name: sample.interval(getattr(found, name), drawn[name]) for name in WEIGHTS}


def _confusions(
    one: Sequence[str | None],
    other: Sequence[str | None],
    scale: Sequence[str],
    sample: Resampling,
) -> Array:
    """(resamples, k, k) counts of the pairs that have both labels."""
    k = len(scale)
    if not len(sample.draws):
        return np.zeros((0, k, k))
    code = {label: i for i, label in enumerate(scale)}
    missing = k * k  # counted, then dropped
    codes = np.array(
        [
            missing if a is None or b is None else code[a] * k + code[b]
            for a, b in zip(one, other, strict=True)
        ]
    )
    return sample.counts(codes, missing + 1)[:, :-1].reshape(-1, k, k)


def _chance_corrected(counts: NDArray[np.int64], sample: Resampling) -> dict[str, Any]:
    """The drawn figures that rest on (n_items, k) counts of the labels of each item."""
    k = counts.shape[1]
    if not len(sample.draws):
        empty = np.zeros(0)
        names = ("observed", "fleiss_kappa", "randolph_kappa", "ac1")
        return {"alpha": dict.fromkeys(LEVELS, empty), **dict.fromkeys(names, empty)}
    each = counts.sum(axis=1)
    is_pairable, is_even = each >= 2, each == (evenly(each) or -1)
    equal = np.zeros(len(counts))
    equal[is_pairable] = agreeing(counts[is_pairable])
    shares = counts / np.maximum(each, 1)[:, None]
    per_item = np.column_stack(
        [is_pairable, equal, is_even, equal * is_even, each > 0, shares, counts * is_even[:, None]]
    ).astype(np.float64)
    totals = sample.sums(per_item)
    n_pairable, agreed, n_even, agreed_even, n_items = totals[:, :5].T
    coincidences = _coincidences(counts[is_pairable], sample.topic_of[is_pairable], sample)
    return {
        "observed": of.ratio(agreed, n_pairable),
        "alpha": {level: of.krippendorff_alpha(coincidences, level) for level in LEVELS},
        "fleiss_kappa": of.fleiss_kappa(totals[:, 5 + k :], agreed_even, n_even),
        "randolph_kappa": of.randolph_kappa(agreed_even, n_even, k),
        "ac1": of.gwet_ac1(totals[:, 5 : 5 + k], n_items, agreed, n_pairable),
    }


def _coincidences(
    counts: NDArray[np.int64], topic_of: NDArray[np.int64], sample: Resampling
) -> Array:
    """(resamples, k, k), from items with 2 or more labels."""
    k = counts.shape[1]
    by_topic = np.zeros((sample.draws.shape[1], k, k))
    for topic in range(len(by_topic)):
        chosen = counts[topic_of == topic].astype(np.float64)
        weighted = chosen / (chosen.sum(axis=1, keepdims=True) - 1)
        by_topic[topic] = weighted.T @ chosen - np.diag(weighted.sum(axis=0))
    return np.tensordot(sample.draws.astype(np.float64), by_topic, axes=1)


def _shared(found: Agreement | Reliability, drawn: dict[str, Any], sample: Resampling) -> Intervals:
    return {
        "alpha": _each(found.alpha, drawn["alpha"], sample),
        "fleiss_kappa": sample.interval(found.fleiss_kappa, drawn["fleiss_kappa"]),
        "randolph_kappa": sample.interval(found.randolph_kappa, drawn["randolph_kappa"]),
        "ac1": sample.interval(found.ac1, drawn["ac1"]),
    }


def _each(
    values: dict[str, float | None], drawn: dict[Any, Array], sample: Resampling
) -> dict[str, Interval]:
    return {name: sample.interval(value, drawn[name]) for name, value in values.items()}
