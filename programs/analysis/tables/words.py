"""Which words a verdict uses for which numbers. docs/reference/verdicts.md lists them.

A difference is called one where its interval leaves out 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ....views.numbers import format_short_share

# Words for a kappa that rounds to at most this: Landis and Koch 1977.
KAPPA_WORDS = (
    (-0.01, "less than by chance"),
    (0.20, "slightly"),
    (0.40, "to a fair degree"),
    (0.60, "moderately"),
    (0.80, "substantially"),
    (1.00, "almost perfectly"),
)
# Words for a tau-b that rounds to at least this: .9 and .8 are those of Voorhees 2001.
TAU_WORDS = (
    (0.90, "almost exactly as"),
    (0.80, "much as"),
    (0.50, "partly as"),
    (-1.00, "differently than"),
)
# Is the order of runs sure? Every run differs significantly from the next, some pairs do, none.
ORDER_WORDS = ("Yes", "Only in part", "No")
WEAK_KAPPA = 0.40  # agreement up to this, at most fair, is a warning
FEW_SCORED_TOPICS = 10  # fewer topics of a report: intervals are a rough guide
FEW_TOPICS = 5  # fewer tested topics: intervals are a rough guide
FEW_AUDITED_TOPICS = 20  # fewer topics: no significant change of order says little
MAX_TOGETHER = 0.3  # correlation of errors above which Dawid and Skene's model does not fit

Row = Mapping[str, Any]
_FIGURES = {
    "linear": "linear kappa",
    "quadratic": "quadratic kappa",
    "macro_f1": "macro F1",
    "f1": "F1",
}


def choose_kappa_word(kappa: float) -> str:
    """How strong an agreement is.

    >>> choose_kappa_word(0.45), choose_kappa_word(0.604)
    ('moderately', 'moderately')
    """
    return next(word for most, word in KAPPA_WORDS if round(kappa, 2) <= most)


def choose_tau_word(tau: float) -> str:
    """How alike two orders are, before `people do` or the like.

    >>> choose_tau_word(0.85), choose_tau_word(-0.2)
    ('much as', 'differently than')
    """
    return next(word for least, word in TAU_WORDS if round(tau, 2) >= least)


def choose_order_word(differing: Sequence[bool], neighbours: Sequence[bool]) -> str:
    """Whether the order of runs is sure, by which pairs, and which neighbours, differ.

    >>> choose_order_word([True, True, False], [True, False]), choose_order_word([False], [False])
    ('Only in part', 'No')
    """
    sure, in_part, not_sure = ORDER_WORDS
    if not any(differing):
        return not_sure
    return sure if all(neighbours) else in_part


def name_figure(name: str) -> str:
    """What a measure of agreement is called.

    >>> name_figure("linear"), name_figure("kappa"), name_figure("one_vs_rest:full")
    ('linear kappa', 'kappa', 'kappa of full or not')
    """
    kind, _, label = name.partition(":")
    return f"kappa of {label} or not" if label else _FIGURES.get(kind, kind.replace("_", " "))


def compare_with_zero(row: Row | None) -> int:
    """1 or -1 where the interval of a row lies above or below 0; 0 where it does not, or is none.

    >>> compare_with_zero({"value": 0.2, "low": 0.1, "high": 0.3}), compare_with_zero(None)
    (1, 0)
    """
    if row is None or row["low"] is None or row["high"] is None:
        return 0
    return int(row["low"] > 0) - int(row["high"] < 0)


def write_estimate(row: Row, *, signed: bool = False) -> str:
    """A value and its interval, for a sentence.

    >>> write_estimate({"value": 0.452, "low": 0.41, "high": 0.49})
    '.45 [.41, .49]'
    """
    value, low, high = (
        format_short_share(row[name], signed=signed) for name in ("value", "low", "high")
    )
    return value if row["low"] is None or row["high"] is None else f"{value} [{low}, {high}]"


def write_share(row: Row, n: int, what: str) -> str:
    """So many of how many, with the interval of the share.

    >>> write_share({"value": 0.5, "low": 0.28, "high": 0.78}, 26, "items")
    '13 of 26 items (.50 [.28, .78])'
    """
    return f"{round(row['value'] * n):,} of {n:,} {what} ({write_estimate(row)})"


def get_interval(row: Row | None) -> tuple[float, float] | None:
    """The interval of a row as a cell of a table."""
    if row is None or row.get("low") is None or row.get("high") is None:
        return None
    return row["low"], row["high"]


def join_words(words: Iterable[str], last: str = "and") -> str:
    """A list in a sentence.

    >>> join_words(["a", "b", "c"]), join_words(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end


def count(n: int, noun: str) -> str:
    """A number of things.

    >>> count(1, "topic"), count(1200, "item")
    ('1 topic', '1,200 items')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def name_level(level: float) -> str:
    """The head of a column of intervals.

    >>> name_level(0.95)
    '95% interval'
    """
    return f"{100 * level:g}% interval"
