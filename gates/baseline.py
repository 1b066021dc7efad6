"""Non-inferiority tests: are runs not worse than in a baseline, question by question?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from ..metrics.inference import LEVEL, PairedTest, compare_pairs
from ..programs.engine.manifest import read_folder_config
from ..programs.protocols.nuggets import MEASURES as OF_NUGGETS
from ..programs.protocols.program import Program
from ..programs.protocols.table import choose, meaning
from ..programs.scoring.result import Result
from ..programs.scoring.topic_scores import TopicScores, note_other_instruments, topic_scores
from ..records.reading.problems import InputError, Problems, cell, figure, interval
from ..records.rows import ScoreRow
from ..views.numbers import format_bounds, format_given, format_share
from .checks import ROUNDING, Check, Question, check_known, choose_measures

_ANYWHERE = (
    "endpoint",
    "recording",
)  # settings of a model that may differ: the same model may be served elsewhere


def find_differences(new: Path, baseline: Path, measure: str) -> list[str]:
    """List differences in how a measure was computed, a few words each; [] if none is known.

    Compares judges (version, prompt, model), the settings of the tasks that give the measure, and
    the nuggets if the measure counts them.

    Args:
        new, baseline: results folders.
    """
    now, then = Result(new).manifest, Result(baseline).manifest
    config = read_folder_config(new)
    ran = choose([name for name in config.program if name in then["config"]["program"]])
    of_measure = [program for program in ran if _gives(program, measure, config)]
    judges = {name for program in of_measure for name in program.list_judges(config)}
    sections = [program.name for program in of_measure]
    differences = [
        *_differing(now["judges"], then["judges"], judges),
        *_differing(now["config"], then["config"], sections),
    ]
    if measure in OF_NUGGETS:
        problems = Problems()
        note_other_instruments((baseline, new), problems)
        differences += [cell(row.what) for row in problems if row.kind == "other_nuggets"]
    return differences


def _gives(program: Program, measure: str, config: Any) -> bool:
    names = program.measures(config)
    return names is None or measure in names


def _differing(now: Mapping[str, Any], then: Mapping[str, Any], names: Any) -> Iterator[str]:
    """Yield the differing values of both sides, by dotted name."""
    for name in sorted(now.keys() & then.keys() & set(names)):
        yield from _below(name, now[name], then[name])


def _below(name: str, now: Any, then: Any) -> Iterator[str]:
    if isinstance(now, dict) and isinstance(then, dict):
        for key in sorted(now.keys() & then.keys() - set(_ANYWHERE)):
            yield from _below(f"{name}.{key}", now[key], then[key])
    elif now != then:
        yield cell(f"{name} is {now}, was {then}", 200)


SHOWN = 5  # questions of only one side that a note lists


@dataclass(frozen=True)
class Pair:
    """One measure of a run and of its baseline, by question.

    With missing judgements, the new value is the worst possible, and the old value the best
    possible.

    Attributes:
        after, before: (n_questions,) values; None: 0/0, or missing without a bound.
        only_after, only_before: questions with a value on only one side.
        unbounded: questions with missing judgements and without a bound.
        n_unjudged: missing judgements behind all these values.
        before_id: the baseline's run if it has another name; "": the same name.
    """

    run_id: str
    measure: str
    topics: Sequence[str]
    after: Sequence[float | None]
    before: Sequence[float | None]
    only_after: Sequence[str]
    only_before: Sequence[str]
    unbounded: Sequence[str]
    n_unjudged: int
    before_id: str = ""

    @property
    def sign(self) -> int:
        """-1 if lower is better, else 1."""
        return -1 if meaning(self.measure).is_less_better else 1

    @property
    def both(self) -> list[tuple[str, float, float]]:
        """(question, value before, value after) of questions with both values."""
        rows = zip(self.topics, self.before, self.after, strict=True)
        return [(topic, a, b) for topic, a, b in rows if a is not None and b is not None]

    @property
    def notes(self) -> list[str]:
        """Notes on questions that are not compared."""
        of_run = f"{cell(self.run_id)}: {cell(self.measure)}"
        return [
            f"{of_run} only in {where}, not compared: {_list_names(topics)}"
            for topics, where in ((self.only_after, "these"), (self.only_before, "the baseline"))
            if topics
        ]


def pair_runs(
    new: TopicScores, baseline: TopicScores, measure: str, run_id: str, before_id: str
) -> Pair:
    """Return the values of a run and of the run to compare it with."""
    is_more_better = not meaning(measure).is_less_better
    absent = None if new.is_of_answered(measure) else 0.0
    rows = new.rows[measure].get(run_id, {}), baseline.rows[measure].get(before_id, {})
    questions = list(new.topics[measure]), list(baseline.topics[measure])
    topics = [topic for topic in questions[0] if topic in questions[1]]
    after, before = (
        [_at_worst(of[t], is_least) if t in of else absent for t in topics]
        for of, is_least in zip(rows, (is_more_better, not is_more_better), strict=True)
    )
    values = list(zip(topics, after, before, strict=True))
    lacking = [
        t
        for t, *both in values
        if any(v is None and t in of and of[t].n_unjudged for v, of in zip(both, rows, strict=True))
    ]
    alone = [t for t, now, then in values if then is None is not now and t not in lacking]
    gone = [t for t, now, then in values if now is None is not then and t not in lacking]
    return Pair(
        run_id=run_id,
        measure=measure,
        topics=topics,
        after=after,
        before=before,
        only_after=[*(t for t in questions[0] if t not in topics), *alone],
        only_before=[*(t for t in questions[1] if t not in topics), *gone],
        unbounded=lacking,
        n_unjudged=sum(of[t].n_unjudged or 0 for of in rows for t in topics if t in of),
        before_id=before_id if before_id != run_id else "",
    )


def match_runs(
    new: Collection[str], baseline: Collection[str], run: str | None, where: str
) -> list[tuple[str, str]]:
    """Match runs of both sides by name; if each side has only one run, match these.

    Args:
        run: a run of the new results; the baseline's run has the same name or is the only one.

    Raises: InputError if no runs match.
    """
    if run is not None:
        check_known("run", run, new, where)
        before = run if run in baseline or len(baseline) != 1 else next(iter(baseline))
        check_known("run", before, baseline, where)
        return [(run, before)]
    if len(new) == len(baseline) == 1:
        return [(next(iter(new)), next(iter(baseline)))]
    shared = [(name, name) for name in new if name in baseline]
    if not shared:
        there = ", and ".join(", ".join(names) or "none" for names in (new, baseline))
        raise InputError(f"{where}: no run in both; runs: {there}")
    return shared


def list_unmatched_runs(new: Collection[str], baseline: Collection[str]) -> list[str]:
    """List notes on runs of only one side, if runs are matched by name."""
    if len(new) == len(baseline) == 1:
        return []
    sides = (new, baseline, "these"), (baseline, new, "the baseline")
    return [
        f"runs only in {where}, not compared: {_list_names(left)}"
        for mine, theirs, where in sides
        if (left := [name for name in mine if name not in theirs])
    ]


def _at_worst(row: ScoreRow, is_least: bool) -> float | None:
    if not row.n_unjudged:
        return row.value
    return row.low if is_least else row.high


def _list_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(map(cell, names[:SHOWN])) + more


BY = 0.02


@dataclass(frozen=True)
class BaselineChecks:
    """A check for each run and measure, and notes."""

    checks: Sequence[Check]
    notes: Sequence[str]


def check_not_worse(
    new: Path,
    baseline: Path,
    *,
    by: float = BY,
    level: float = LEVEL,
    measures: Sequence[str] = (),
    run: str | None = None,
) -> BaselineChecks:
    """Check that a run's measures are at most `by` below those in a baseline.

    A check passes if the lower end of the two-sided interval of the mean difference by question
    (new minus baseline) is at least -by. `judge compare` prints the same interval. Where lower is
    better, the upper end must be at most by. Fewer questions than `count_needed_questions` fail.
    Missing judgements count as worst in the new results and as best in the baseline.

    Args:
        new, baseline: results folders.
        by: >= 0, in units of the measure.
        measures: the measures to compare; empty: the main measure of each task.
        run: the run to compare; None: every run of both, or the only run of each.

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
            raise InputError(f"{name}: has no better direction; bound its mean")
    checks: list[Check] = []
    notes = [] if measures or run is not None else _measures_gone(now.values, then.values)
    for measure in measures or choose_measures(both):
        runs = now.values[measure], then.values[measure]
        others = find_differences(new, baseline, measure)
        if run is not None and not measures and not any(run in of_run for of_run in runs):
            continue  # such as measures of rankings for a run of answers
        for run_id, before_id in match_runs(*runs, run, where):
            pair = pair_runs(now, then, measure, run_id, before_id)
            check = check_pair(pair, by, level)
            if others:
                message = f"inconclusive: measured differently: {'; '.join(others)}"
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
        notes += list_unmatched_runs(*runs) if run is None else []
    if not checks:
        raise InputError(f"{where}: no measure in common")
    return BaselineChecks(checks, list(dict.fromkeys(notes)))


def _measures_gone(new: Collection[str], baseline: Collection[str]) -> list[str]:
    """Return a note on main measures that only the baseline has."""
    gone = [name for name in choose_measures(baseline) if name not in new]
    return [f"measures only in the baseline, not compared: {', '.join(gone)}"] if gone else []


def check_pair(pair: Pair, by: float, level: float) -> Check:
    """Check one run and measure; see `check_not_worse`."""
    values = zip(pair.after, pair.before, strict=True)
    differences = [math.nan if a is None or b is None else a - b for a, b in values]
    (test,) = compare_pairs([differences], level=level)
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


def count_needed_questions(level: float) -> int:
    """Return the smallest number of questions that can give a significant difference at `level`.

    With n questions, the smallest p of the sign test and of the randomisation test of
    `judge compare` is 2 / 2^n.

    >>> count_needed_questions(0.95), count_needed_questions(0.9)
    (6, 5)
    """
    return math.floor(1 - math.log2(1 - level)) + 1


def _figures(pair: Pair, test: PairedTest) -> str:
    if test.difference.value is None:
        return "no common question"
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
    """The reason why a check did not pass: in the line of values, and in the verdict."""

    found: str
    sentence: str
    is_inconclusive: bool = True


def _name(pair: Pair) -> str:
    return f"{cell(pair.measure)} of {cell(pair.run_id)}"


def _find_failure(pair: Pair, test: PairedTest, by: float, level: float) -> _Failure | None:
    """Return why a check does not pass: worse, or inconclusive; None if it passes."""
    name, margin = _name(pair), format_given(by)
    if pair.unbounded:
        topics = ", ".join(map(cell, pair.unbounded))
        return _Failure(
            f"missing judgements without a bound: {topics}",
            f"{name} has no bound for missing judgements ({topics})",
        )
    estimate, n = test.difference, test.n_topics
    if n < (least := count_needed_questions(level)):
        return _Failure(
            f"inconclusive: too few questions, wanted {least:,} or more at level {level:.4g}",
            f"{n:,} question{' is' if n == 1 else 's are'} too few to test {name}, "
            f"at least {least:,} are needed",
        )
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return _Failure("inconclusive", f"{name} has no interval")
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
            f"inconclusive: seems worse by more than {by:g}",
            f"{name} seems worse than the baseline by more than {margin}, but the interval "
            f"includes smaller losses: {amount}",
        )
    wanted = math.ceil(n * ((difference - ends[0]) / (difference + by)) ** 2)
    what = f"inconclusive: could be worse by more than {by:g}; about {wanted:,} questions needed"
    return _Failure(
        f"{what} if they vary like these",
        f"{name} could be worse by more than {margin}. About {wanted:,} questions would be needed "
        "for an even chance to pass",
    )
