"""A bound on a mean: `V_strict >= 0.4`, of every run or of one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import ge, gt, le, lt

from ..programs.inputs.coverage import ORACLES
from ..records.reading.problems import InputError
from ..records.rows import ScoreRow
from ..records.writing.printed import cell, figure
from .checks import ROUNDING, Check, Question

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


def check_bound(rows: Sequence[ScoreRow], bound: Bound) -> list[Check]:
    """Check the mean of each run that the bound is for.

    With judgements missing the mean's own bound is compared: what is missing counts as worst.

    Args:
        rows: of scores.jsonl, questions and means.

    Returns: one a run; [] where no such measure or run is among the rows.
    """
    is_least = bound.sign in (">=", ">")
    checks = []
    for mean in rows:
        if mean.topic_id != "all" or mean.measure != bound.measure or mean.run_id in ORACLES:
            continue
        if bound.run_id not in (None, mean.run_id):
            continue
        worst = _worst(mean, is_least)
        of_run = [r for r in rows if (r.run_id, r.measure) == (mean.run_id, bound.measure)]
        is_passed = worst is not None and _holds(worst, bound)
        checks.append(
            Check(
                run_id=mean.run_id,
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
            )
        )
    return checks


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
