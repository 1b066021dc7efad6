"""A bound on a mean: `V_strict >= 0.4`, of every run or of one."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt

from ..programs.inputs import ORACLES
from ..records.reading.problems import InputError, cell, figure
from ..records.rows import ScoreRow
from ..views.numbers import format_given, format_share
from .checks import ROUNDING, Check, Question

_WORDS = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}
_HOLDS: dict[str, Callable[[float, float], bool]] = {">=": ge, ">": gt, "<=": le, "<": lt}


@dataclass(frozen=True)
class Bound:
    """What a mean must reach, or must not pass.

    Attributes:
        run_id: None: every run.
        sign: >=, >, <= or <.
        spelled: as the user gave it, for messages.
    """

    measure: str
    value: float
    run_id: str | None = None
    sign: str = ">="
    spelled: str = ""

    @property
    def wanted(self) -> str:
        """As a formula."""
        return f"{self.measure} {self.sign} {self.value:g}"


def bounds_of(texts: Sequence[str], option: str, sign: str = ">=") -> list[Bound]:
    """`[RUN:]MEASURE=VALUE`, repeated, as bounds.

    Raises: InputError for another form.
    """
    bounds = []
    for text in texts:
        name, _, value = text.rpartition("=")  # a measure may have one too, as P(rel=2)@10
        run_id, _, measure = name.rpartition(":")
        try:
            at = float(value)
            if not measure or not math.isfinite(at):
                raise ValueError
        except ValueError:
            what = "wanted MEASURE=VALUE or RUN:MEASURE=VALUE, e.g. V_strict=0.4"
            raise InputError(f"{option} {text}: {what}") from None
        bounds.append(Bound(measure, at, run_id or None, sign, f"{option} {text}"))
    return bounds


def check_bound(
    rows: Sequence[ScoreRow], bound: Bound, answer_runs: Iterable[str] = (), run: str | None = None
) -> list[Check]:
    """Check the mean of each run that the bound is for.

    With judgements missing the mean's own bound is compared: what is missing counts as worst.

    Args:
        rows: of scores.jsonl, questions and means.
        answer_runs: the runs that were judged; one without any scores fails.
        run: check this run alone, where the bound names none.

    Returns: one a run, at least one: a run without a mean of the measure fails.
    """
    measures: dict[str, list[str]] = {name: [] for name in answer_runs}  # of each run
    for row in rows:
        if row.run_id not in ORACLES:
            measures.setdefault(row.run_id, []).append(row.measure)
    scored = [name for name, of_run in measures.items() if bound.measure in of_run or not of_run]
    named = bound.run_id or run
    return [
        _check(rows, bound, name, measures.get(name, ()))
        for name in ([named] if named else scored or [""])
    ]


def _check(rows: Sequence[ScoreRow], bound: Bound, run: str, measures: Iterable[str]) -> Check:
    of_run = [row for row in rows if (row.run_id, row.measure) == (run, bound.measure)]
    mean = next((row for row in of_run if row.topic_id == "all"), None)
    if mean is None:
        found = _without_mean(bound.measure, run, measures)
        return Check(run, bound.measure, bound.wanted, is_passed=False, found=found)
    is_least = bound.sign in (">=", ">")
    worst = _worst(mean, is_least)
    is_passed = worst is not None and _holds(worst, bound)
    return Check(
        run_id=run,
        measure=bound.measure,
        wanted=bound.wanted,
        is_passed=is_passed,
        found=_measured(mean, worst),
        value=mean.value,
        low=mean.low,
        high=mean.high,
        n=mean.n_topics or 0,
        n_unjudged=mean.n_unjudged or 0,
        questions=() if is_passed else _questions(of_run, bound, is_least),
        sentence="" if is_passed else _sentence(mean, worst, bound),
    )


def _without_mean(measure: str, run: str, measures: Iterable[str]) -> str:
    """Why there is nothing to compare, and what to do."""
    names = list(dict.fromkeys(measures))
    if not run:
        return f"no run has {cell(measure)}"
    if not names:
        return f"{cell(run)} has no scores; `judge run` writes them again, and asks nothing twice"
    if measure in names:
        what = f"{cell(run)} has no mean of {cell(measure)}"
        return f"{what}; `judge run` writes it again, and asks nothing twice"
    return f"{cell(run)} has no {cell(measure)}; it has {', '.join(map(cell, names))}"


def _holds(value: float, bound: Bound) -> bool:
    if math.isclose(value, bound.value, rel_tol=0.0, abs_tol=ROUNDING):
        return "=" in bound.sign
    return _HOLDS[bound.sign](value, bound.value)


def _worst(row: ScoreRow, is_least: bool) -> float | None:
    """The value, or with judgements missing what it is at worst; None: not known."""
    if not row.n_unjudged:
        return row.value
    return row.low if is_least else row.high


def _measured(mean: ScoreRow, worst: float | None) -> str:
    n = f"{mean.n_topics or 0:,} questions"
    if lacking := (mean.n_asked or 0) - (mean.n_answered or 0):
        n += f", {lacking:,} not answered"
    if mean.n_unjudged:
        of = f"{mean.n_unjudged:,} of {(mean.n or 0) + mean.n_unjudged:,} judgements missing"
        at = "no bound is known" if worst is None else f"{figure(worst, 4)} at worst"
        return f"{cell(mean.measure)} {figure(mean.value, 4)}, {at} ({of}; {n})"
    if mean.value is None:
        return f"{cell(mean.measure)} has no value: 0/0 on every question ({n})"
    return f"{cell(mean.measure)} {figure(mean.value, 4)} ({n})"


def _sentence(mean: ScoreRow, worst: float | None, bound: Bound) -> str:
    wanted = f"wanted {_WORDS[bound.sign]} {format_given(bound.value)}"
    text = f"{cell(mean.measure)} of {cell(mean.run_id)} is {_digits(mean.value, bound)}"
    if mean.n_unjudged:
        at = "not bounded" if worst is None else f"{_digits(worst, bound)} at worst"
        text += f", {at} ({mean.n_unjudged:,} judgements missing)"
    return f"{text}, {wanted}"


def _digits(value: float | None, bound: Bound) -> str:
    """Three digits; more where it would look equal to its bound."""
    if value is None:
        return "not defined"
    text = format_share(value)
    return format_given(value) if text == format_share(bound.value) else text


def _questions(rows: Sequence[ScoreRow], bound: Bound, is_least: bool) -> list[Question]:
    """Those that miss the bound by themselves, the furthest first, then those without a value."""
    misses = []
    for row in rows:
        at = _worst(row, is_least)
        if row.topic_id == "all" or (at is not None and _holds(at, bound)):
            continue
        if at is not None or row.n_unjudged:
            why = f"{row.n_unjudged} unjudged" if row.n_unjudged else ""
            misses.append((at, Question(row.topic_id, after=row.value, why=why)))
    sign = 1 if is_least else -1
    misses.sort(key=lambda pair: (pair[0] is None, sign * (pair[0] or 0.0), pair[1].topic_id))
    return [question for _, question in misses]
