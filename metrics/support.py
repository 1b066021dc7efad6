"""How far an answer's citations carry its sentences: weighted precision and recall."""

import math
from collections.abc import Mapping, Sequence

from .gains import SUPPORT, SUPPORT_HARD
from .value import Value

SUPPORT_MEASURES = (
    "support_precision",
    "support_recall",
    "support_precision_all",
    "support_recall_all",
    "support_precision_hard",
    "support_recall_hard",
)

_NOTHING_EARNED = Value(value=0.0, n=0, n_unjudged=0, low=0.0, high=0.0)


def support_scores(sentences: Sequence[Sequence[str | None]]) -> dict[str, Value]:
    """Citation support of one answer, six measures in [0, 1], higher is better.

    Precision averages over the sentences that cite something, so it falls with bad citations;
    recall averages over all sentences, so it falls with missing ones too. Where every sentence
    cites, the two are equal.

    Args:
        sentences: for each sentence the labels of its citations, strongest or first cited first:
            full, partial, none, or None = not judged. An empty list = no citation = no support,
            by rule and without a judgement. Leave out citations that nobody meant to judge.

    Returns: by name, in the order of `SUPPORT_MEASURES`:
        support_precision, support_recall: by the first citation of each sentence; full 1,
            partial 0.5, none 0. A sentence whose first citation is not judged leaves both.
        support_precision_all, support_recall_all: a sentence earns the mean over its judged
            citations; a sentence with none judged leaves both.
        support_precision_hard, support_recall_hard: by the first citation, full support alone.
        `n` counts judged citations, and for recall the sentences without a citation as well (the
        rule judges them); `n_unjudged` counts citations without a label. The bounds take those as
        none and as full. An answer that cites nothing has precision 0 with n = 0, and an empty
        answer scores 0 on all six with n = 0: there the system earned nothing. With citations of
        which none is judged, the value is None and the bounds are 0 and 1.
    Raises: ValueError for an unknown label; it names the sentence and the citation.
    Source: arXiv:2504.15205 (first citation); RAGDoll, the TREC RAG 2026 toolkit, columns
        weighted_*_first_citation, weighted_*_all_judged_citations and hard_*.
    Differs: where no citation is judged RAGDoll gives 0.0, as if the system had earned it.

    >>> scores = support_scores([["partial"], ["full", "none"], []])
    >>> scores["support_precision"].value, scores["support_recall"].value
    (0.75, 0.5)
    >>> scores["support_precision_all"].value, scores["support_precision_hard"].value
    (0.5, 0.5)
    """
    _check(sentences)
    first = [labels[:1] for labels in sentences]
    by_first = _precision_and_recall(first, SUPPORT)
    hard = _precision_and_recall(first, SUPPORT_HARD)
    has_more = any(len(labels) > 1 for labels in sentences)
    by_all = _precision_and_recall(sentences, SUPPORT) if has_more else by_first
    return dict(zip(SUPPORT_MEASURES, (*by_first, *by_all, *hard), strict=True))


def _precision_and_recall(
    sentences: Sequence[Sequence[str | None]], gain: Mapping[str, float]
) -> tuple[Value, Value]:
    recall = _mean_over_sentences(sentences, gain)
    if all(sentences):  # every sentence cites
        return recall, recall
    return _mean_over_sentences([labels for labels in sentences if labels], gain), recall


def _mean_over_sentences(
    sentences: Sequence[Sequence[str | None]], gain: Mapping[str, float]
) -> Value:
    if not sentences:
        return _NOTHING_EARNED
    judged = [[gain[label] for label in labels if label is not None] for labels in sentences]
    sizes = [len(labels) for labels in sentences]
    n_judged = sum(map(len, judged))
    n, n_unjudged = n_judged + sizes.count(0), sum(sizes) - n_judged
    if not n_unjudged:  # the rule of large runs, and the bounds are the value
        means = [math.fsum(gains) / len(gains) if gains else 0.0 for gains in judged]
        value = math.fsum(means) / len(means)
        return Value(value, n, 0, value, value)
    values, lows, highs = [], [], []
    for labels, gains in zip(sentences, judged, strict=True):
        missing = len(labels) - len(gains)
        earned = math.fsum(gains)
        if gains or not labels:
            values.append(earned / len(gains) if gains else 0.0)
        lows.append(earned / len(labels) if labels else 0.0)
        highs.append((earned + missing) / len(labels) if labels else 0.0)
    low, high = math.fsum(lows) / len(lows), math.fsum(highs) / len(highs)
    if not values:
        return Value(None, n, n_unjudged, low, high)
    value = math.fsum(values) / len(values)
    # In exact arithmetic low <= value <= high; the last bit of a division may say otherwise.
    return Value(value, n, n_unjudged, min(low, value), max(high, value))


def _check(sentences: Sequence[Sequence[str | None]]) -> None:
    for i, labels in enumerate(sentences):
        if isinstance(labels, str):
            raise ValueError(f"sentences[{i}] is the string {labels!r}, wanted a list of labels")
        for j, label in enumerate(labels):
            if label is not None and label not in SUPPORT:
                wanted = f"one of {list(SUPPORT)} or None"
                raise ValueError(f"sentences[{i}][{j}] is {label!r}, wanted {wanted}")
