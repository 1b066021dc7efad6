"""Agreement of labels between two judges or many annotators, with topic-bootstrap intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from itertools import combinations
from typing import Any

import numpy as np

from .inference import (
    BEYOND_CHANCE,
    LEVEL,
    RESAMPLES,
    SHARE,
    Array,
    Interval,
    Resampling,
    as_numbers,
    resampling,
)
from .label_coefficients import (
    average_pairwise_kappa,
    compute_item_figures,
    compute_pair_figures,
    confusion,
    count_confusion,
    find_commonest_number,
    label_counts,
    n_pair_codes,
    pair_codes,
    sum_items,
)


@dataclass(frozen=True)
class Agreement:
    """Agreement of n pairs of labels; None where a figure is undefined (0/0), never nan.

    Attributes:
        n: number of pairs, >= 0.
        scale: the k labels, from one end of the scale to the other.
        truth_counts, judged_counts: label -> number of occurrences on each side.
        confusion: (k, k) counts; rows truth, columns judged, both in the order of `scale`.
        accuracy: share of equal pairs, in [0, 1].
        cohen_kappa: unweighted, linear, quadratic -> kappa in [-1, 1]; the weights are distances
            between positions on `scale`, so only `unweighted` suits labels without an order.
            Undefined without pairs, or if both sides have one and the same label throughout.
        macro_f1: mean F1 over the labels that occur on either side, in [0, 1].
        precision: label -> share of the pairs judged so that are truly so; undefined if never
            judged.
        recall: label -> share of the pairs truly so that are judged so; undefined if never true.
        f1: label -> harmonic mean of both; undefined if the label is on neither side.
        one_vs_rest: label -> unweighted kappa of that label against all others.
        alpha, fleiss_kappa, randolph_kappa, ac1: with the two sides as two annotators with common
            marginals; see `Reliability`.
    """

    n: int
    scale: tuple[str, ...]
    truth_counts: dict[str, int]
    judged_counts: dict[str, int]
    confusion: tuple[tuple[int, ...], ...]
    accuracy: float | None
    cohen_kappa: dict[str, float | None]
    macro_f1: float | None
    precision: dict[str, float | None]
    recall: dict[str, float | None]
    f1: dict[str, float | None]
    one_vs_rest: dict[str, float | None]
    alpha: dict[str, float | None]
    fleiss_kappa: float | None
    randolph_kappa: float | None
    ac1: float | None

    def as_dict(self) -> dict[str, Any]:
        """Return the same fields, ready for JSON: tuples become lists."""
        plain = {field.name: getattr(self, field.name) for field in fields(self)}
        return plain | {"scale": list(self.scale), "confusion": [list(r) for r in self.confusion]}


def agreement(truth: Sequence[str], judged: Sequence[str], scale: Sequence[str]) -> Agreement:
    """Compare a judge's labels with the true ones, pair by pair.

    Args:
        truth: n labels, for example a person's.
        judged: n labels of the same items, in the same order. Leave out items without a label on
            either side, and report their number.
        scale: the k >= 2 possible labels, in order if they have one, such as none, partial,
            full. A label that does not occur keeps its place, and so its distance in the weighted
            kappas.

    Returns: counts and coefficients, each with None if it is undefined.
    Raises: ValueError if the lengths differ, the scale repeats a label or has fewer than 2, or a
        label is not on it; it names the index.
    Source: Cohen, "A coefficient of agreement for nominal scales" (1960); "Weighted kappa" (1968).
        For the last four see `reliability`.

    >>> result = agreement(["yes", "yes", "no", "no"], ["yes", "no", "no", "no"], ["no", "yes"])
    >>> result.confusion, result.accuracy, result.cohen_kappa["unweighted"]
    (((2, 0), (1, 1)), 0.75, 0.5)
    >>> result.recall, agreement(["no"], ["no"], ["no", "yes"]).recall
    ({'no': 1.0, 'yes': 0.5}, {'no': 1.0, 'yes': None})
    """
    counts = count_confusion(truth, judged, scale, may_miss=False)
    of_truth, of_judged = (counts.sum(axis).astype(int).tolist() for axis in (1, 0))
    return Agreement(
        n=len(truth),
        scale=tuple(scale),
        truth_counts=dict(zip(scale, of_truth, strict=True)),
        judged_counts=dict(zip(scale, of_judged, strict=True)),
        confusion=tuple(map(tuple, counts.astype(int).tolist())),
        **as_numbers(compute_pair_figures(counts, scale)),
    )


def cohen_kappas(
    one: Sequence[str | None], other: Sequence[str | None], scale: Sequence[str]
) -> dict[str, float | None]:
    """Compute Cohen's kappa of the items that both labelled: unweighted, linear, quadratic.

    Args:
        one, other: n labels of the same items, in the same order; None: not labelled.
        scale: the k >= 2 possible labels, in order if they have one.

    Returns: weights -> kappa in [-1, 1]; None: undefined.

    >>> one, other = ["yes", "yes", "no", "no", None], ["yes", "no", "no", "no", "no"]
    >>> cohen_kappas(one, other, ["no", "yes"])
    {'unweighted': 0.5, 'linear': 0.5, 'quadratic': 0.5}
    """
    return as_numbers(average_pairwise_kappa([count_confusion(one, other, scale)])[0])


Ratings = Sequence[Sequence[str | None]]  # (n_annotators, n_items); None: not labelled


@dataclass(frozen=True)
class Reliability:
    """Agreement among annotators; None where a figure is undefined (0/0), never nan.

    Attributes:
        n_annotators, n_items, n_labels: their numbers; items without a label do not count.
        n_pairable: items with 2 or more labels, on which `observed`, `alpha` and `ac1` are computed
            (chance in `ac1` also uses items with one label).
        n_evenly: items with exactly `labels_each` labels. Fleiss' and Randolph's kappa need the
            same number of labels for each item, though not from the same people: they use these
            items only.
        labels_each: the commonest number of labels of an item, among numbers of 2 or more; of two
            equally common numbers the larger one.
        observed: mean over items of the share of equal pairs of labels, in [0, 1].
        alpha: Krippendorff's alpha, nominal, ordinal and interval (positions on the scale as
            values), <= 1; missing labels are allowed. Undefined if all labels are the same.
        fleiss_kappa: <= 1; undefined if all labels are the same.
        randolph_kappa, ac1: <= 1; unlike kappa, rare labels do not lower them. Chance depends on
            the number of labels on the scale, used or not.
        pairwise_kappa: mean of Cohen's kappa over the pairs of annotators, weighted by the items
            that both labelled.
    """

    n_annotators: int
    n_items: int
    n_labels: int
    n_pairable: int
    n_evenly: int
    labels_each: int
    observed: float | None
    alpha: dict[str, float | None]
    fleiss_kappa: float | None
    randolph_kappa: float | None
    ac1: float | None
    pairwise_kappa: PairwiseKappa

    def as_dict(self) -> dict[str, Any]:
        """Return the same fields, ready for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class PairwiseKappa:
    """The mean of Cohen's kappa over pairs of annotators.

    The weight of a pair is the number of items that both labelled.

    Attributes:
        unweighted, linear, quadratic: the mean by the weights of kappa, in [-1, 1]; None:
            undefined.
        n_pairs: the number of pairs with a kappa.
        n_undefined: the number of pairs without a kappa: they have no common item, or one label
            throughout.
    """

    unweighted: float | None
    linear: float | None
    quadratic: float | None
    n_pairs: int
    n_undefined: int


def reliability(ratings: Ratings, scale: Sequence[str]) -> Reliability:
    """Measure the agreement among annotators of the same items.

    Args:
        ratings: (n_annotators, n_items) labels; None if an annotator did not label an item.
        scale: the k >= 2 possible labels, in order if they have one.

    Returns: counts and coefficients, each with None if it is undefined.
    Raises: ValueError if annotators have different numbers of items, the scale repeats a label
        or has fewer than 2, or a label is not on it; it names the index.
    Source: Krippendorff (2011), Fleiss (1971), Randolph (2005), Gwet (2008); mean pairwise kappa:
        Light (1971).

    >>> figures = reliability([["yes", "no", "no"], ["yes", "no", "yes"]], ["no", "yes"])
    >>> round(figures.fleiss_kappa, 4), round(figures.ac1, 4), figures.n_pairable
    (0.3333, 0.3333, 3)
    """
    counts = label_counts(ratings, scale)
    each = counts.sum(axis=1)
    labels_each = find_commonest_number(each)
    whole = sum_items(counts).draw_samples(np.ones(1, np.int64))
    return Reliability(
        n_annotators=len(ratings),
        n_items=int((each > 0).sum()),
        n_labels=int(each.sum()),
        n_pairable=int((each >= 2).sum()),
        n_evenly=int((each == labels_each).sum()) if labels_each else 0,
        labels_each=labels_each,
        **as_numbers(compute_item_figures(whole)),
        pairwise_kappa=pairwise_kappa(list(combinations(ratings, 2)), scale),
    )


def pairwise_kappa(
    pairs: Sequence[tuple[Sequence[str | None], Sequence[str | None]]], scale: Sequence[str]
) -> PairwiseKappa:
    """Compute the mean of Cohen's kappa over pairs of annotators, or of a judge with each person.

    Args:
        pairs: two label lists of the same items, None for an item without a label. The weight of a
            pair is the number of items that have both.
        scale: the k >= 2 possible labels, in order if they have one.

    Returns: the means and the number of pairs.
    Raises: ValueError if the labels of a pair differ in number, the scale repeats a label or has
        fewer than 2, or a label is not on it; it names the index.
    Source: Light (1971), with the number of common items as the weight of a pair.

    >>> judge, people = ["a", "b", "b"], [["a", "b", "a"], ["a", None, "b"]]  # kappa .4 and 1
    >>> round(pairwise_kappa([(judge, one) for one in people], ["a", "b"]).unweighted, 3)
    0.64
    """
    means, n_defined = average_pairwise_kappa(count_confusion(*pair, scale) for pair in pairs)
    n_pairs = int(n_defined)
    return PairwiseKappa(**as_numbers(means), n_pairs=n_pairs, n_undefined=len(pairs) - n_pairs)


_SHARES = ("accuracy", "macro_f1", "precision", "recall", "f1", "observed")  # others: beyond chance

Intervals = dict[str, Any]  # figure -> Interval, or name -> Interval if the figure is a dict


def agreement_intervals(
    figures: Agreement,
    truth: Sequence[str],
    judged: Sequence[str],
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Intervals:
    """Compute intervals of the figures of `agreement(truth, judged, scale)`.

    Args:
        figures: its result.
        truth, judged: the labels; see `agreement`.
        topics: the topic of each pair; None: unknown, no interval has bounds.
        resamples, seed, level: see `resampling`.

    Returns: accuracy, macro_f1, cohen_kappa (by weights), precision, recall, f1 and one_vs_rest (by
        label), alpha (by level), fleiss_kappa, randolph_kappa, ac1.

    >>> from nuggetjudge.metrics import agreement
    >>> truth, judged = ["yes", "no"] * 20, ["yes", "no", "yes", "yes"] * 10
    >>> topics = [f"t{i // 4}" for i in range(40)]
    >>> figures = agreement(truth, judged, ["no", "yes"])
    >>> agreement_intervals(figures, truth, judged, topics)["accuracy"]
    Interval(value=0.75, low=0.75, high=0.75, n_topics=10, level=0.95)
    """
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    drawn = compute_pair_figures(_confusions(truth, judged, figures.scale, sample), figures.scale)
    return _intervals(figures, drawn, sample)


def reliability_intervals(
    figures: Reliability,
    ratings: Ratings,
    scale: Sequence[str],
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> Intervals:
    """Compute intervals of the figures of `reliability(ratings, scale)`.

    Args:
        figures: its result.
        ratings, scale: the labels and the scale; see `reliability`.
        topics: the topic of each item; None: unknown, no interval has bounds.
        resamples, seed, level: see `resampling`.

    Returns: observed, alpha (by level), fleiss_kappa, randolph_kappa, ac1 and pairwise_kappa (by
        weights).
    """
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    counts = label_counts(ratings, scale)
    used = counts if sample.n_topics else counts[:0]
    sums = sum_items(used, sample.topic_of, sample.draws.shape[1])
    pairs = list(combinations(ratings, 2))
    return {
        **_intervals(figures, compute_item_figures(sums.draw_samples(sample.draws)), sample),
        "pairwise_kappa": _pairwise(figures.pairwise_kappa, pairs, scale, sample),
    }


def pairwise_intervals(
    kappas: PairwiseKappa,
    pairs: Sequence[tuple[Sequence[str | None], Sequence[str | None]]],
    scale: Sequence[str],
    topics: Sequence[str] | None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> dict[str, Interval]:
    """Compute intervals of `pairwise_kappa(pairs, scale)`, by weights.

    In a sample, the mean is over the pairs that have a kappa there.

    Args:
        kappas: its result.
        pairs, scale: the labels and the scale; see `pairwise_kappa`.
        topics: the topic of each item; None: unknown, no interval has bounds.
        resamples, seed, level: see `resampling`.
    """
    sample = resampling(topics, resamples=resamples, seed=seed, level=level)
    return _pairwise(kappas, pairs, scale, sample)


def _pairwise(
    kappas: PairwiseKappa,
    pairs: Sequence[tuple[Sequence[str | None], Sequence[str | None]]],
    scale: Sequence[str],
    sample: Resampling,
) -> dict[str, Interval]:
    drawn, _ = average_pairwise_kappa(_confusions(*pair, scale, sample) for pair in pairs)
    return _intervals(kappas, drawn, sample)


def _confusions(
    one: Sequence[str | None],
    other: Sequence[str | None],
    scale: Sequence[str],
    sample: Resampling,
) -> Array:
    """(resamples, k, k) counts of the items with both labels."""
    codes = pair_codes(one, other, scale)
    used = codes if sample.n_topics else codes[:0]
    return confusion(sample.counts(used, n_pair_codes(len(scale))), len(scale))


def _intervals(figures: object, drawn: Mapping[str, Any], sample: Resampling) -> Intervals:
    """The interval of each drawn figure around its value in `figures`."""
    values = figures if isinstance(figures, Mapping) else vars(figures)

    def of(value: Any, figure: Any, name: str) -> Any:
        if isinstance(figure, Mapping):
            return {label: of(value[label], each, name) for label, each in figure.items()}
        return sample.interval(value, figure, SHARE if name in _SHARES else BEYOND_CHANCE)

    return {name: of(values[name], figure, name) for name, figure in drawn.items()}
