"""Scores from a judge's probabilities: what an answer earns on average, not by hard labels."""

import math
from collections.abc import Mapping, Sequence

from .gains import NUGGET_GAINS, NUGGET_WEIGHTS, SUPPORT_GAINS, expected_gain
from .nuggets import weighted_recall
from .value import UNDEFINED, Value

Chances = Mapping[str, float]  # label -> probability; {"support": 1.0} for a label that is certain
SUFFIX = "_expected"


def expected_nugget_scores(
    chances: Sequence[Chances | None], importances: Sequence[str | None]
) -> dict[str, Value]:
    """The six nugget scores of one answer by the probabilities of each nugget's labels.

    Where a judge is 60% sure of support and 40% of partial_support, the nugget earns 0.8 in V.
    Ties and near misses keep their part of the score, which orders systems better.

    Args:
        chances: one per nugget: label -> probability, counted as shares of their sum, or None =
            not judged.
        importances: one per nugget, same order: vital, okay, or None.

    Returns: by name with `_expected` at its end, as `nugget_scores`; `n`, `n_unjudged` and bounds
        have the same sense.
    Raises: ValueError if lengths differ or a label or importance is unknown; it names the index.

    >>> even = {"support": 0.5, "not_support": 0.5}
    >>> expected_nugget_scores([even, {"support": 1.0}], ["vital", "vital"])["V_strict_expected"]
    Value(value=0.75, n=2, n_unjudged=0, low=0.75, high=0.75)
    """
    if len(chances) != len(importances):
        raise ValueError(f"{len(chances)} chances for {len(importances)} importances")
    for i, importance in enumerate(importances):
        if importance not in NUGGET_WEIGHTS["A"]:
            raise ValueError(f"importances[{i}] is {importance!r}, wanted vital, okay or None")
    scores = {}
    for measure, gains in NUGGET_GAINS.items():
        weight = NUGGET_WEIGHTS[measure.removesuffix("_strict")]
        earned = [_gain(by_label, gains, f"chances[{i}]") for i, by_label in enumerate(chances)]
        units = [
            (gain, weight[importance])
            for gain, importance in zip(earned, importances, strict=True)
            if weight[importance] > 0
        ]
        scores[measure + SUFFIX] = _weighted(units) if units else UNDEFINED
    return scores


def expected_support_scores(sentences: Sequence[Sequence[Chances | None]]) -> dict[str, Value]:
    """The six support scores of one answer by the probabilities of each citation's labels.

    Args:
        sentences: for each sentence its citations, first cited first: label -> probability, or
            None = not judged. An empty list: a sentence without a citation earns 0 by rule.

    Returns: by name with `_expected` at its end, as `support_scores`.
    Raises: ValueError for an unknown label; it names the sentence and the citation.

    >>> scores = expected_support_scores([[{"full": 0.5, "none": 0.5}], []])
    >>> scores["support_precision_expected"].value, scores["support_recall_expected"].value
    (0.5, 0.25)
    """
    scores = {}
    for measure, gains in SUPPORT_GAINS.items():
        used = sentences if "_all" in measure else [citations[:1] for citations in sentences]
        earned = [
            [_gain(by_label, gains, f"sentences[{i}][{j}]") for j, by_label in enumerate(citations)]
            for i, citations in enumerate(used)
        ]
        if "precision" in measure:
            earned = [citations for citations in earned if citations]
        scores[measure + SUFFIX] = _over_sentences(earned)
    return scores


def _gain(chances: Chances | None, gains: Mapping[str, float], where: str) -> float | None:
    if chances is None:
        return None
    gain = expected_gain(chances, gains)
    if gain is None:
        raise ValueError(f"{where} is {dict(chances)!r}, wanted labels of {list(gains)}")
    return min(gain, 1.0)  # a sum of shares may be above 1 in its last bit


def _weighted(units: Sequence[tuple[float | None, float]]) -> Value:
    judged = [(gain, weight) for gain, weight in units if gain is not None]
    weights = [weight for _, weight in units]
    return Value(
        value=weighted_recall(*zip(*judged, strict=True)) if judged else None,
        n=len(judged),
        n_unjudged=len(units) - len(judged),
        low=weighted_recall([gain or 0.0 for gain, _ in units], weights),
        high=weighted_recall([1.0 if gain is None else gain for gain, _ in units], weights),
    )


def _over_sentences(sentences: Sequence[Sequence[float | None]]) -> Value:
    if not sentences:
        return Value(value=0.0, n=0, n_unjudged=0, low=0.0, high=0.0)
    judged = [[gain for gain in gains if gain is not None] for gains in sentences]
    n_unjudged = sum(map(len, sentences)) - sum(map(len, judged))
    n = sum(map(len, judged)) + sum(not gains for gains in sentences)
    values = [
        _mean(judged_gains)
        for judged_gains, gains in zip(judged, sentences, strict=True)
        if judged_gains or not gains
    ]
    return Value(
        value=_mean(values) if values else None,
        n=n,
        n_unjudged=n_unjudged,
        low=_mean([_mean([gain or 0.0 for gain in gains]) for gains in sentences]),
        high=_mean([_mean([1.0 if g is None else g for g in gains]) for gains in sentences]),
    )


def _mean(numbers: Sequence[float]) -> float:
    return math.fsum(numbers) / len(numbers) if numbers else 0.0
