"""A run's score: the mean over the topics that it had to answer."""

import math
from collections.abc import Collection, Mapping

from .value import Value


def mean_over_topics(
    values: Mapping[str, Value], topics: Collection[str] | None
) -> tuple[Value, int]:
    """Mean of one measure of one run over topics, and the number of topics it divides by.

    Two gaps that are not the same: a topic that the *system* did not answer is in `topics` but not
    in `values`, and counts 0 without a judgement; a topic that the *judge* did not judge has the
    value None and is left out of the mean.

    Args:
        values: topic id -> the run's value on that topic.
        topics: ids of the topics that every run must answer (repeats count once); None = those
            that this run answered. Leave out topics on which the measure is undefined for every
            run, such as V where no nugget is vital: a run that did not answer would get 0 there,
            while the others get no value.

    Returns: (mean, n_topics). `n` and `n_unjudged` are sums over the topics. The bounds are means
        over the topics that have bounds, so a topic without a judgement enters them with 0 and 1
        while it does not enter the value; one that is 0/0 enters neither. Where a topic is
        unbounded the mean is too. Without any topic that has a value, the value is None and
        n_topics is 0.
    Raises: ValueError naming the answered topics that are not in `topics`.
    Source: arXiv:2411.09607, Tables 6 and 7: run scores divide by all topics of the track.

    >>> half = Value(0.5, n=4, n_unjudged=0, low=0.5, high=0.5)
    >>> mean_over_topics({"t1": half}, topics=["t1", "t2"])
    (Value(value=0.25, n=4, n_unjudged=0, low=0.25, high=0.25), 2)
    """
    wanted = set(values) if topics is None else set(topics)
    if extra := sorted(set(values) - wanted):
        raise ValueError(f"{len(extra)} answered topics are not among the topics: {extra}")
    n_unanswered = len(wanted) - len(values)
    answered = values.values()
    defined = [v.value for v in answered if v.value is not None] + [0.0] * n_unanswered
    low = _mean([v.low for v in answered if v.low is not None] + [0.0] * n_unanswered)
    high = _mean([v.high for v in answered if v.high is not None] + [0.0] * n_unanswered)
    value = _mean(defined)
    if any(v.is_unbounded for v in answered):
        low = high = None
    if value is not None and low is not None and high is not None:
        # In exact arithmetic low <= value <= high; the last bit of a division may say otherwise.
        low, high = min(low, value), max(high, value)
    n, n_unjudged = sum(v.n for v in answered), sum(v.n_unjudged for v in answered)
    return Value(value, n, n_unjudged, low, high), len(defined)


def _mean(numbers: list[float]) -> float | None:
    return math.fsum(numbers) / len(numbers) if numbers else None
