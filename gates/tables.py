"""A verdict, and the questions of a check, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress

from ..views.numbers import format_bounds, format_share
from ..views.table import Cell, Column, Kind, Row, Style, Styled, Table, View
from .checks import Check, Question
from .verdict import Verdict

_STYLES = {"failed": Style.UNJUDGED, "inconclusive": Style.WARNING}


def verdict_view(verdict: Verdict) -> View:
    """What was decided, and a row a check."""
    return View(verdict.sentence, [checks_table(verdict.checks)])


def checks_table(checks: Sequence[Check]) -> Table:
    """A row a check: what it wanted and what it found; columns without any value are left out."""
    columns = [
        Column("outcome", Kind.NAME, ""),
        Column("run", Kind.NAME),
        Column("wanted", Kind.TEXT),
        Column("value", Kind.SHARE),
        Column("questions", Kind.COUNT),
        Column("interval", Kind.INTERVAL, "interval or bounds"),
        Column("unjudged", Kind.COUNT),
    ]
    used = [True] * 5
    used += [any(each.low != each.high for each in checks), any(c.n_unjudged for c in checks)]
    rows = [Row(list(compress(_cells(check), used))) for check in checks]
    return Table("", list(compress(columns, used)), rows)


def _cells(check: Check) -> list[Cell]:
    is_signed = check.is_difference
    bounds = format_bounds(check.low, check.high, signed=is_signed)
    return [
        Styled(check.outcome, _STYLES.get(check.outcome, Style.PLAIN)),
        check.run_id,
        check.wanted,
        format_share(check.value, signed=is_signed),
        check.n,
        None if check.low == check.high else bounds,
        check.n_unjudged,
    ]


def questions_table(questions: Sequence[Question], shown: int) -> Table:
    """A row a question that counts against a check, with its value before and now."""
    columns = [
        Column("question", Kind.TEXT),
        Column("before", Kind.SHARE),
        Column("now", Kind.SHARE),
        Column("change", Kind.DIFFERENCE),
    ]
    rows = [
        Row([f"{one.topic_id} {one.text}".rstrip(), one.before, one.after, one.why or one.change])
        for one in questions[:shown]
    ]
    more = len(questions) - shown
    return Table("", columns, rows, notes=[f"... and {more:,} more"] * (more > 0))
