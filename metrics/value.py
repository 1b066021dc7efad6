"""What was measured, how many judgements carry it, and how far the missing ones could move it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Value:
    """A measured value that says how much of it was judged.

    Attributes:
        value: the measure over what was judged; None = nothing was judged, or 0/0.
        n: how many judgements carry the value, >= 0.
        n_unjudged: how many judgements that the measure wanted are missing, >= 0.
        low: the value if every missing judgement were the worst possible, <= value.
        high: the value if every missing judgement were the best possible, >= value.

    `low` and `high` equal `value` when nothing is missing. They are both None when the measure is
    undefined (0/0) whatever the missing judgements might say; then `value` is None too.

    Raises: ValueError for a count below 0, one bound without the other, a value without bounds, or
    a value outside its bounds (nan included).

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
            if not (self.value is None and self.low is None and self.high is None):
                raise ValueError(f"a value needs both bounds, and each bound the other: {self}")
        elif not self.low <= (self.low if self.value is None else self.value) <= self.high:
            raise ValueError(f"wanted low <= value <= high, got {self}")

    @property
    def is_complete(self) -> bool:
        """Whether no judgement that the measure wanted is missing."""
        return self.n_unjudged == 0


UNDEFINED = Value(value=None, n=0, n_unjudged=0, low=None, high=None)  # 0/0, nothing missing
