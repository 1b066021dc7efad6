"""Whether runs are not worse than in a baseline: non-inferiority, by question."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from ..metrics.inference import LEVEL, PairedTest, paired_tests
from ..programs.protocols.glossary import meaning
from ..programs.scoring.topic_scores import topic_scores
from ..records.reading.problems import InputError, Problems, cell, figure, interval
from ..views.numbers import format_bounds, format_given, format_share
from .alike import measured_otherwise
from .checks import ROUNDING, Check, Question
from .measures import check_known, main_measures
from .pairs import Pair, paired, runs_alone, runs_to_compare

BY = 0.02


@dataclass(frozen=True)
class Against:
    """What was found: a check a run and measure, and what is to be known beside them."""

    checks: Sequence[Check]
    notes: Sequence[str]


def not_worse(
    new: Path,
    baseline: Path,
    *,
    by: float = BY,
    level: float = LEVEL,
    measures: Sequence[str] = (),
    run: str | None = None,
) -> Against:
    """Check that a run's measures are at most `by` below those in a baseline.

    A check passes where the lower end of the two-sided interval at `level` of the mean difference
    by question, new less baseline, is at least -by: the interval that `judge compare` prints; where
    less is better, the upper end is at most by. It takes `least_questions`; with fewer it fails.
    A question that lacks judgements counts as worst in the new results, as best in the baseline.

    Args:
        new, baseline: results folders.
        by: >= 0, in units of the measure.
        measures: None given: of each program what its leaderboard goes by.
        run: None: every run that both have, or the only one of each.

    Raises: InputError for an unknown run or measure, nothing to compare, a `by` below 0 or a level
        outside (0, 1).
    """
    if not (0 <= by < math.inf and 0 < level < 1):
        raise InputError(f"by {by:g}, level {level:g}: wanted by >= 0 and 0 < level < 1")
    where = f"{new} and {baseline}"
    problems = Problems()
    now, then = topic_scores(new, problems), topic_scores(baseline, problems)
    both = [name for name in now.values if name in then.values]
    for name in measures:
        check_known("measure", name, both, where)
        if not meaning(name).is_quality:
            raise InputError(f"{name}: more of it is neither better nor worse; bound its mean")
    checks: list[Check] = []
    notes = [] if measures or run is not None else _measures_gone(now.values, then.values)
    for measure in measures or main_measures(both):
        runs = now.values[measure], then.values[measure]
        others = measured_otherwise(new, baseline, measure)
        if run is not None and not measures and not any(run in of_run for of_run in runs):
            continue  # as a run of answers has no measures of rankings
        for run_id, before_id in runs_to_compare(*runs, run, where):
            pair = paired(now, then, measure, run_id, before_id)
            check = check_pair(pair, by, level)
            if others:
                message = f"cannot be told, since it was not measured alike: {'; '.join(others)}"
                check = replace(
                    check,
                    is_passed=False,
                    found=message,
                    sentence=f"{_name(pair)} was measured differently in the baseline "
                    f"({'; '.join(others)})",
                    is_inconclusive=True,
                )
            checks.append(check)
            notes += pair.notes
        notes += runs_alone(*runs) if run is None else []
    if not checks:
        raise InputError(f"{where}: no measure in common")
    return Against(checks, list(dict.fromkeys(notes)))


def _measures_gone(new: Collection[str], baseline: Collection[str]) -> list[str]:
    """A note of the main measures that only the baseline has."""
    gone = [name for name in main_measures(baseline) if name not in new]
    return [f"measures only in the baseline, not compared: {', '.join(gone)}"] if gone else []


def check_pair(pair: Pair, by: float, level: float) -> Check:
    """The check of one run and measure; see `not_worse`."""
    values = zip(pair.after, pair.before, strict=True)
    differences = [math.nan if a is None or b is None else a - b for a, b in values]
    (test,) = paired_tests([differences], level=level)
    low, high = test.difference.low, test.difference.high
    failure = _find_failure(pair, test, by, level)
    worse = [row for row in pair.both if pair.sign * (row[2] - row[1]) < -ROUNDING]
    worse.sort(key=lambda row: pair.sign * (row[2] - row[1]))
    return Check(
        run_id=pair.run_id,
        measure=pair.measure,
        wanted=f"{pair.measure} not worse by more than {by:g}",
        is_passed=failure is None,
        found=_figures(pair, test) + (f"; {failure.found}" if failure else ""),
        value=test.difference.value,
        low=low,
        high=high,
        n=test.n_topics,
        n_unjudged=pair.n_unjudged,
        questions=[Question(topic, after, before) for topic, before, after in worse],
        sentence=failure.sentence if failure else "",
        is_inconclusive=failure is not None and failure.is_inconclusive,
    )


def least_questions(level: float) -> int:
    """How many questions it takes before their signs alone could be told from chance at `level`.

    With n of them the least p of the sign test, and of the randomisation test of `judge compare`,
    is 2 / 2^n; fewer say nothing of other questions.

    >>> least_questions(0.95), least_questions(0.9)
    (6, 5)
    """
    return math.floor(1 - math.log2(1 - level)) + 1


def _figures(pair: Pair, test: PairedTest) -> str:
    if test.difference.value is None:
        return "no question that both have"
    before, after = (
        sum(row[side] for row in pair.both) / test.n_topics  # type: ignore[misc]
        for side in (1, 2)
    )
    lost = f", {pair.n_unjudged:,} missing judgements at worst" if pair.n_unjudged else ""
    mean = test.difference
    of = f" ({cell(pair.before_id)})" if pair.before_id else ""
    return (
        f"{figure(after, 4)}, before{of} {figure(before, 4)}: {figure(mean.value, 4, '+')} "
        f"{interval(mean.low, mean.high, 4, '+', '[- -]')} by {test.n_topics:,} questions{lost}"
    )


class _Failure(NamedTuple):
    """Why a check does not pass: in the figures' line, and for the verdict."""

    found: str
    sentence: str
    is_inconclusive: bool = True


def _name(pair: Pair) -> str:
    return f"{cell(pair.measure)} of {cell(pair.run_id)}"


def _find_failure(pair: Pair, test: PairedTest, by: float, level: float) -> _Failure | None:
    """Why it does not pass: worse, or not known to be no worse; None where it passes."""
    name, margin = _name(pair), format_given(by)
    if pair.unbounded:
        topics = ", ".join(map(cell, pair.unbounded))
        return _Failure(
            f"not judged, and without a bound: {topics}",
            f"{name} has no bound where judgements are missing ({topics})",
        )
    estimate, n = test.difference, test.n_topics
    if n < (least := least_questions(level)):
        return _Failure(
            f"cannot be told from so few, wanted {least:,} or more at level {level:.4g}",
            f"{n:,} question{' is' if n == 1 else 's are'} too few to test {name}, "
            f"at least {least:,} are needed",
        )
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return _Failure("cannot be told", f"{name} has no interval")
    ends = sorted((pair.sign * estimate.low, pair.sign * estimate.high))
    difference = pair.sign * estimate.value
    amount = format_share(estimate.value, signed=True)
    amount += f" {format_bounds(estimate.low, estimate.high, signed=True)}"
    if ends[0] >= -by - ROUNDING:
        return None
    if ends[1] < -by:
        text = f"{name} is worse than the baseline by more than {margin}: {amount}"
        return _Failure(f"worse by more than {by:g}", text, is_inconclusive=False)
    if difference <= -by:
        return _Failure(
            f"seems worse by more than {by:g}, which so few questions leave open",
            f"{name} seems worse than the baseline by more than {margin}, but the interval "
            f"includes smaller losses: {amount}",
        )
    wanted = math.ceil(n * ((difference - ends[0]) / (difference + by)) ** 2)
    what = f"may be worse by more than {by:g}; about {wanted:,} questions would tell"
    return _Failure(
        f"{what}, were they to differ like these",
        f"{name} could be worse by more than {margin}. About {wanted:,} questions would be needed",
    )
