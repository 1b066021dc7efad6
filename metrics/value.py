"""What was measured, how many judgements it rests on, and how far missing ones could move it."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

Range = tuple[float, float] | None  # what a measure can be; None: it has no highest value
SHARE: Range = (0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Value:
    """A measured value that says how much of it was judged.

    Attributes:
        value: the measure over what was judged; None = nothing was judged, or 0/0.
        n: how many judgements carry the value, >= 0.
        n_unjudged: how many judgements that the measure wanted are missing, >= 0.
        low: the value if every missing judgement were the worst possible, <= value.
        high: the value if every missing judgement were the best possible, >= value.

    `low` and `high` equal `value` when nothing is missing. They are both None where there are no
    bounds: when the measure is undefined (0/0) whatever the missing judgements might say, then
    `value` is None and `n_unjudged` 0; and when nothing bounds what those that are missing could
    make of it, then `n_unjudged` is above 0.

    Raises: ValueError for a count below 0, one bound without the other, a value without bounds
    though nothing is missing, or a value outside its bounds (nan included).

    >>> Value(0.5, n=2, n_unjudged=2, low=0.25, high=0.75).is_complete
    False
    """

    value: float | None
    n: int
    n_unjudged: int
    low: float | None
    high: float | None

    def __post_init__(self) -> None:
        if self.n < 0 or self.n_unjudged < 0:
            raise ValueError(f"counts must be >= 0, got n={self.n}, n_unjudged={self.n_unjudged}")
        if self.low is None or self.high is None:
            if not (self.low is None and self.high is None):
                raise ValueError(f"wanted both bounds or none: {self}")
            if self.value is not None and not (self.n_unjudged and self.value == self.value):
                raise ValueError(f"a value of which nothing is missing needs bounds: {self}")
        elif not self.low <= (self.low if self.value is None else self.value) <= self.high:
            raise ValueError(f"wanted low <= value <= high, got {self}")

    @property
    def is_complete(self) -> bool:
        """Whether no judgement that the measure wanted is missing."""
        return self.n_unjudged == 0

    @property
    def is_undefined(self) -> bool:
        """Whether the measure is 0/0, whatever is missing."""
        return self.value is None and self.low is None and self.n_unjudged == 0

    @property
    def is_unbounded(self) -> bool:
        """Whether something is missing that could make it anything."""
        return self.low is None and self.n_unjudged > 0

    def widened(self, to: Range, n_unjudged: int = 0) -> "Value":
        """The same with `n_unjudged` more judgements missing, which could make it all of `to`.

        >>> Value(0.5, n=2, n_unjudged=0, low=0.5, high=0.5).widened(SHARE, 3)
        Value(value=0.5, n=2, n_unjudged=3, low=0.0, high=1.0)
        """
        n = self.n_unjudged + n_unjudged
        if to is None:
            return replace(self, n_unjudged=n, low=None, high=None)
        present = [x for x in (self.low, self.value, self.high) if x is not None]
        return replace(self, n_unjudged=n, low=min([to[0], *present]), high=max([to[1], *present]))


UNDEFINED = Value(value=None, n=0, n_unjudged=0, low=None, high=None)  # 0/0, nothing missing


def not_made(within: Range = SHARE, value: float | None = None) -> Value:
    """Of what was to be judged and is not there, by no doing of the system: nothing is known.

    >>> not_made()
    Value(value=None, n=0, n_unjudged=1, low=0.0, high=1.0)
    """
    low, high = within or (None, None)
    return Value(value, n=0, n_unjudged=1, low=low, high=high)


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
