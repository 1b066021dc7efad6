"""Key points in an answer (KPR, KPP, KPF), and the match of two lists item by item."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import quantiles

from .answer_scores import CLAIM, ENTAILMENT, UNDEFINED, Value, mean_over_topics
from .rank_correlation import spearman

KEY_POINT_MEASURES = ("KPR", "KPP", "KPF")
LIST_MEASURES = ("precision", "recall", "f1")


def key_point_recall(labels: Sequence[str | None]) -> Value:
    """Compute KPR: the share of a question's key points that an answer entails, in [0, 1].

    Args:
        labels: one per key point: yes (entailed), neutral, no, or None: not judged. An answer
            without text entails nothing: give a no for each.

    Returns: yes / key points, over the judged ones; `n` judged, `n_unjudged` not. For the bounds,
        key points without a label are no, and yes. A question without key points is 0/0: None,
        without bounds.
    Raises: ValueError for an unknown label; it names the index.
    Source: arXiv:2410.23000 (Long2RAG).

    >>> key_point_recall(["yes", "neutral", "no", None])
    Value(value=0.3333333333333333, n=3, n_unjudged=1, low=0.25, high=0.5)
    """
    return _share(_find_stated(labels, ENTAILMENT, "labels"))


def key_point_precision(claims: Sequence[str | None] | None) -> Value:
    """Compute KPP: the share of an answer's claims that state at least one key point, in [0, 1].

    Args:
        claims: one per claim of the answer: yes (states a key point of the question), no, or
            None: not judged. None instead of a list: the claims are not known.

    Returns: yes / claims, over the judged ones; `n` judged, `n_unjudged` not. For the bounds,
        claims without a label are no, and yes. If the claims are not known, the value is None, the
        bounds are 0 and 1, and one judgement is missing. An answer without claims is 0/0: None,
        without bounds.
    Raises: ValueError for an unknown label; it names the index.
    Source: arXiv:2410.23000 names the precision of key points; the unit, a claim of the answer,
        is our reading.

    >>> key_point_precision(["yes", "no"]).value, key_point_precision([])
    (0.5, Value(value=None, n=0, n_unjudged=0, low=None, high=None))
    """
    if claims is None:
        return Value(None, n=0, n_unjudged=1, low=0.0, high=1.0)
    return _share(_find_stated(claims, CLAIM, "claims"))


def key_point_f1(recall: Value, precision: Value) -> Value:
    """Compute KPF: the harmonic mean of KPR and KPP of one answer, in [0, 1].

    Args:
        recall: KPR of the answer, as from `key_point_recall`.
        precision: KPP of the answer, as from `key_point_precision`.

    Returns: 2 KPR KPP / (KPR + KPP), with the judgements of both. 0 if one of the two is 0,
        whatever the other is. None if a value that it needs is missing; its bounds are then
        computed from their bounds. Without key points (KPR undefined): undefined. Without claims
        (KPP undefined): 0 if KPR is 0, as for an answer without text; otherwise undefined, since
        one judge found key points and the other found no claim. If missing labels leave open which
        case applies, the value is None and both bounds are 0, the only possible value.
    Raises: ValueError for a value outside [0, 1].
    Source: arXiv:2410.23000.

    >>> key_point_f1(key_point_recall(["yes", "no"]), key_point_precision(["yes"])).value
    0.6666666666666666
    """
    for name, score in (("recall", recall), ("precision", precision)):
        if (
            score.low is not None
            and score.high is not None
            and not 0 <= score.low <= score.high <= 1
        ):
            raise ValueError(f"{name} is {score}, wanted it between 0 and 1")
    n, n_unjudged = recall.n + precision.n, recall.n_unjudged + precision.n_unjudged
    if recall.low is None or recall.high is None:
        return Value(None, n, 0, None, None)
    if precision.low is None or precision.high is None:
        if recall.low > 0:
            return Value(None, n, 0, None, None)
        return Value(0.0 if recall.value == 0 else None, n, n_unjudged, 0.0, 0.0)
    value = None
    if recall.value is not None and precision.value is not None:
        value = _harmonic_mean(recall.value, precision.value)
    elif 0 in (recall.value, precision.value):
        value = 0.0
    low = _harmonic_mean(recall.low, precision.low)
    high = _harmonic_mean(recall.high, precision.high)
    if value is not None:
        # In exact arithmetic low <= value <= high; the last bit of a division may say otherwise.
        low, high = min(low, value), max(high, value)
    return Value(value, n, n_unjudged, low, high)


def micro_recall(labels_by_topic: Mapping[str, Sequence[str | None]]) -> Value:
    """Compute KPR over the key points of all questions: each point has equal weight, in [0, 1].

    In the macro mean, each question has equal weight: `mean_over_topics` of `key_point_recall`, as
    in the run scores of the paper.

    Args:
        labels_by_topic: question -> its labels, see `key_point_recall`. For a question that the
            run did not answer, give a no for each key point.

    Returns: `key_point_recall` of all labels together.
    Raises: ValueError for an unknown label; it names the index, counted over all questions.
    Source: arXiv:2410.23000 for KPR; the paper takes the mean over questions instead.

    >>> micro_recall({"t1": ["yes"], "t2": ["no", "no", "yes"]}).value  # macro: (1 + 1/3) / 2
    0.5
    """
    return key_point_recall(list(chain.from_iterable(labels_by_topic.values())))


def group_means(
    values: Mapping[str, Value],
    groups: Mapping[str, str],
    topics: Collection[str] | None = None,
) -> dict[str, tuple[Value, int]]:
    """Compute the mean of one measure of one run for each domain or category of the questions.

    Args:
        values: topic id -> the run's value on that topic.
        groups: topic id -> its domain or category; "" or no entry: the topic has no group.
        topics: ids of the topics that every run must answer; None: the topics of `values`. A topic
            that the run did not answer counts 0 in its group.

    Returns: group -> (mean, n_topics), as `mean_over_topics` computes them for the topics of the
        group. Groups are in alphabetical order; the topics without a group are last, under "". The
        mean over all topics is the mean of the group means weighted by n_topics.
    Raises: ValueError that names the answered topics that are not in `topics`.
    Source: arXiv:2410.23000 reports KPR by domain.

    >>> values = {t: Value(x, 1, 0, x, x) for t, x in {"t1": 1.0, "t2": 0.0, "t3": 0.5}.items()}
    >>> means = group_means(values, {"t1": "health", "t2": "health"})
    >>> {name: (mean.value, n) for name, (mean, n) in means.items()}
    {'health': (0.5, 2), '': (0.5, 1)}
    """
    wanted = set(values) if topics is None else set(topics)
    if extra := sorted(set(values) - wanted):
        raise ValueError(f"{len(extra)} answered topics are not among the topics: {extra}")
    members: dict[str, list[str]] = {}
    for topic in sorted(wanted):
        members.setdefault(groups.get(topic, ""), []).append(topic)
    return {
        name: mean_over_topics({t: values[t] for t in members[name] if t in values}, members[name])
        for name in sorted(members, key=lambda name: (not name, name))
    }


@dataclass(frozen=True, slots=True)
class LengthBin:
    """Answers of similar length.

    Attributes:
        shortest, longest: the lengths of its shortest and longest answer.
        mean: the mean of the values of its answers, with bounds if judgements are missing.
        n: the number of answers in the mean.
    """

    shortest: float
    longest: float
    mean: Value
    n: int


@dataclass(frozen=True, slots=True)
class ByLength:
    """The relation of a measure to the length of the answer.

    Attributes:
        spearman: rank correlation of value and length, in [-1, 1]; None: undefined.
        n: the number of answers in the correlation, which are those with a value.
        bins: up to four bins, by quartile of length, shortest first.
    """

    spearman: float | None
    n: int
    bins: tuple[LengthBin, ...]


def by_length(values: Sequence[Value], lengths: Sequence[float]) -> ByLength:
    """Correlate a measure with the length of the answer, over answers of any runs and questions.

    Args:
        values: one per answer, such as its KPR. Undefined values (0/0) are left out.
        lengths: one per answer, in the same order, such as its number of words; finite.

    Returns: the correlation, and the mean by quartile of length. Answers of equal length are in
        the same bin, the lower one; a bin without answers is left out. An answer that is not
        judged is not in the correlation; in its bin it only widens the bounds.
    Raises: ValueError if the numbers of values and lengths differ, or a length is not finite.
    Source: Spearman's rank correlation, see `spearman`.

    >>> values = [Value(x, 4, 0, x, x) for x in (0.25, 0.5, 0.25, 1.0)]
    >>> quartiles = by_length(values, [100, 150, 200, 400])
    >>> round(quartiles.spearman, 3), [(b.longest, b.mean.value) for b in quartiles.bins]
    (0.632, [(100, 0.25), (150, 0.5), (200, 0.25), (400, 1.0)])
    """
    if len(values) != len(lengths):
        raise ValueError(f"{len(values)} values for {len(lengths)} lengths")
    for i, length in enumerate(lengths):
        if not math.isfinite(length):
            raise ValueError(f"lengths[{i}] is {length!r}, wanted a finite number")
    defined = [(v, length) for v, length in zip(values, lengths, strict=True) if v.low is not None]
    judged = [(v.value, length) for v, length in defined if v.value is not None]
    rho = spearman([value for value, _ in judged], [length for _, length in judged])
    ordered = sorted(length for _, length in defined)
    cuts = quantiles(ordered, n=4, method="inclusive") if len(ordered) > 1 else []
    bins: dict[int, dict[str, tuple[Value, float]]] = {}
    for i, (value, length) in enumerate(defined):
        bins.setdefault(bisect_left(cuts, length), {})[str(i)] = (value, length)
    length_bins = []
    for _, answers in sorted(bins.items()):
        inside = [length for _, length in answers.values()]
        mean, n = mean_over_topics({name: value for name, (value, _) in answers.items()}, None)
        length_bins.append(LengthBin(min(inside), max(inside), mean, n))
    return ByLength(rho, len(judged), tuple(length_bins))


@dataclass(frozen=True, slots=True)
class ListScores:
    """Precision, recall and F1 of a list that a judge made.

    Attributes:
        precision: in [0, 1].
        recall: in [0, 1].
        f1: their harmonic mean, in [0, 1].
    """

    precision: Value
    recall: Value
    f1: Value


def list_scores(made: Sequence[bool | None], wanted: Sequence[bool | None]) -> ListScores:
    """Compare a list that a judge made with the wanted list, item by item.

    Args:
        made: one per made item: True if the wanted list states it; None: not judged.
        wanted: one per wanted item: True if the made list states it; None: not judged. An empty
            made list states nothing: give a False for each wanted item.

    Returns: precision (the share of `made` that is True), recall (the share of `wanted` that is
        True), both over the judged items, and their harmonic mean. For the bounds, items that were
        not judged are False, and True. If nothing is made, precision is 0/0, recall and F1 are 0.
    Raises: ValueError if nothing is wanted.
    Source: the usual precision and recall, with "states" in the place of "equals".

    >>> scores = list_scores([True, False], [True, True, None])
    >>> scores.precision.value, scores.recall, round(scores.f1.value, 3)
    (0.5, Value(value=1.0, n=2, n_unjudged=1, low=0.6666666666666666, high=1.0), 0.667)
    """
    if not wanted:
        raise ValueError("the wanted list is empty, so recall is undefined")
    precision, recall = _share(made), _share(wanted)
    return ListScores(precision, recall, key_point_f1(recall, precision))


def _find_stated(
    labels: Sequence[str | None], gains: Mapping[str, float], name: str
) -> list[bool | None]:
    for i, label in enumerate(labels):
        if label is not None and label not in gains:
            raise ValueError(f"{name}[{i}] is {label!r}, wanted one of {list(gains)} or None")
    return [None if label is None else gains[label] > 0 for label in labels]


def _share(stated: Sequence[bool | None]) -> Value:
    if not stated:
        return UNDEFINED
    judged = [is_stated for is_stated in stated if is_stated is not None]
    n, n_yes, n_unjudged = len(stated), sum(judged), stated.count(None)
    value = n_yes / len(judged) if judged else None
    return Value(value, len(judged), n_unjudged, n_yes / n, (n_yes + n_unjudged) / n)


def _harmonic_mean(a: float, b: float) -> float:
    return 2 * a * b / (a + b) if a + b else 0.0
