"""The words of verdicts for numbers; docs/reference/verdicts.md lists them.

A difference is significant if its interval excludes 0.
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
# Is the order of runs certain? All neighbours differ significantly, some pairs do, none does.
ORDER_WORDS = ("Yes", "Only in part", "No")
WEAK_KAPPA = 0.40  # agreement up to this (fair) causes a warning
FEW_SCORED_TOPICS = 10  # with fewer topics in a report, intervals are a rough guide
FEW_TOPICS = 5  # with fewer tested topics, intervals are a rough guide
FEW_AUDITED_TOPICS = 20  # with fewer topics, "no significant change of order" says little
MAX_TOGETHER = 0.3  # correlation of errors above which Dawid and Skene's model does not fit

Row = Mapping[str, Any]
_FIGURES = {
    "linear": "linear kappa",
    "quadratic": "quadratic kappa",
    "macro_f1": "macro F1",
    "f1": "F1",
}


def choose_kappa_word(kappa: float) -> str:
    """Return an adverb for the strength of an agreement.

    >>> choose_kappa_word(0.45), choose_kappa_word(0.604)
    ('moderately', 'moderately')
    """
    return next(word for most, word in KAPPA_WORDS if round(kappa, 2) <= most)


def choose_tau_word(tau: float) -> str:
    """Return words for the similarity of two orders, to put before `people do`.

    >>> choose_tau_word(0.85), choose_tau_word(-0.2)
    ('much as', 'differently than')
    """
    return next(word for least, word in TAU_WORDS if round(tau, 2) >= least)


def choose_order_word(differing: Sequence[bool], neighbours: Sequence[bool]) -> str:
    """Return whether the order of runs is certain, from which pairs and neighbours differ.

    >>> choose_order_word([True, True, False], [True, False]), choose_order_word([False], [False])
    ('Only in part', 'No')
    """
    sure, in_part, not_sure = ORDER_WORDS
    if not any(differing):
        return not_sure
    return sure if all(neighbours) else in_part


def name_figure(name: str) -> str:
    """Return the name of a measure of agreement.

    >>> name_figure("linear"), name_figure("kappa"), name_figure("one_vs_rest:full")
    ('linear kappa', 'kappa', 'kappa of full or not')
    """
    kind, _, label = name.partition(":")
    return f"kappa of {label} or not" if label else _FIGURES.get(kind, kind.replace("_", " "))


def compare_with_zero(row: Row | None) -> int:
    """Return 1 or -1 if the interval of a row is above or below 0; else 0.

    >>> compare_with_zero({"value": 0.2, "low": 0.1, "high": 0.3}), compare_with_zero(None)
    (1, 0)
    """
    if row is None or row["low"] is None or row["high"] is None:
        return 0
    return int(row["low"] > 0) - int(row["high"] < 0)


def write_estimate(row: Row, *, signed: bool = False) -> str:
    """Format a value and its interval for a sentence.

    >>> write_estimate({"value": 0.452, "low": 0.41, "high": 0.49})
    '.45 [.41, .49]'
    """
    value, low, high = (
        format_short_share(row[name], signed=signed) for name in ("value", "low", "high")
    )
    return value if row["low"] is None or row["high"] is None else f"{value} [{low}, {high}]"


def write_share(row: Row, n: int, what: str) -> str:
    """Format a share as counts, with its interval.

    >>> write_share({"value": 0.5, "low": 0.28, "high": 0.78}, 26, "items")
    '13 of 26 items (.50 [.28, .78])'
    """
    return f"{round(row['value'] * n):,} of {n:,} {what} ({write_estimate(row)})"


def get_interval(row: Row | None) -> tuple[float, float] | None:
    """Return the interval of a row for a table cell."""
    if row is None or row.get("low") is None or row.get("high") is None:
        return None
    return row["low"], row["high"]


def join_words(words: Iterable[str], last: str = "and") -> str:
    """Join a list for a sentence.

    >>> join_words(["a", "b", "c"]), join_words(["a", "b"], "or")
    ('a, b and c', 'a or b')
    """
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end


def count(n: int, noun: str) -> str:
    """Format a count with its noun.

    >>> count(1, "topic"), count(1200, "item")
    ('1 topic', '1,200 items')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


def name_level(level: float) -> str:
    """Return the head of a column of intervals.

    >>> name_level(0.95)
    '95% interval'
    """
    return f"{100 * level:g}% interval"
