"""Checks of results: bounds on means, missing judgements, names of measures and runs."""

from __future__ import annotations

import math
import shlex
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from operator import ge, gt, le, lt
from pathlib import Path

from ..metrics.answer_scores import SUFFIX
from ..programs.analysis.answers.views import AnswerTexts
from ..programs.analysis.compare_runs import PRIMARY
from ..programs.analysis.leaderboards import group_measures
from ..programs.config.sections import Config
from ..programs.inputs import ORACLES
from ..programs.protocols.table import meaning
from ..programs.run import choose_programs, load_data
from ..programs.scoring.result import Result
from ..records.reading.problems import InputError, Problems, cell, did_you_mean, figure
from ..records.rows import ScoreRow
from ..views.numbers import format_given, format_share

TEXT_CHARS = 60  # characters of a question in messages
SHOWN_QUESTIONS = 10  # questions of a check in messages
ROUNDING = 1e-9  # tolerance for rounding errors in the mean of decimals


@dataclass(frozen=True)
class Question:
    """A question that counts against a check.

    Attributes:
        before, after: its value in the baseline and in the new results; None: no value.
        why: its missing judgements, such as "timeout 2"; "" if all were judged.
        text: the text of the question, if it is known.
    """

    topic_id: str
    after: float | None = None
    before: float | None = None
    why: str = ""
    text: str = ""

    def __str__(self) -> str:
        figures = " -> ".join(figure(v) for v in (self.before, self.after) if v is not None)
        if self.change is not None:
            figures += f" ({figure(self.change, sign='+')})"
        parts = [cell(self.topic_id), figures, self.why, cell(self.text, TEXT_CHARS)]
        return "  ".join(part for part in parts if part)

    @property
    def change(self) -> float | None:
        """After minus before."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class Check:
    """A check and its result.

    Attributes:
        run_id: the run; "": all runs.
        wanted: a few words such as "V_strict >= 0.4"; run and `wanted` name the check.
        found: the values, in one line.
        value, low, high: a mean with bounds for missing judgements; a difference with its interval.
        n: questions behind the value. n_unjudged: missing judgements behind it.
        questions: the questions that caused a failure, worst first.
        sentence: why it did not pass, for the verdict, without a full stop.
        is_inconclusive: whether it did not pass for lack of data.
    """

    run_id: str
    measure: str
    wanted: str
    is_passed: bool
    found: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    n_unjudged: int = 0
    questions: Sequence[Question] = field(default_factory=tuple)
    sentence: str = ""
    is_inconclusive: bool = False

    @property
    def outcome(self) -> str:
        """The outcome in one word."""
        if self.is_passed:
            return "passed"
        return "inconclusive" if self.is_inconclusive else "failed"

    @property
    def is_difference(self) -> bool:
        """Whether the value is a difference from a baseline."""
        return " not worse by " in self.wanted

    @property
    def name(self) -> str:
        """The run, if the check is about one run, and what was wanted."""
        return f"{cell(self.run_id)}: {cell(self.wanted)}" if self.run_id else cell(self.wanted)


def add_texts(checks: Sequence[Check], folder: Path) -> list[Check]:
    """Return the checks with the texts of questions for messages."""
    texts = AnswerTexts(folder, Problems(), is_whole=False)
    return [
        replace(
            check,
            questions=[
                replace(one, text=texts.question(one.topic_id)) if n < SHOWN_QUESTIONS else one
                for n, one in enumerate(check.questions)
            ],
        )
        if check.run_id and check.questions and not check.is_passed
        else check
        for check in checks
    ]


def format_failure(check: Check, folder: Path) -> str:
    """Describe a failed check for people, with the command to run next."""
    lines = [check.name, f"  {check.found}"]
    lines += [f"    {question}" for question in check.questions[:SHOWN_QUESTIONS]]
    if (more := len(check.questions) - SHOWN_QUESTIONS) > 0:
        lines.append(f"    ... and {more:,} more")
    if check.questions and check.run_id:
        lines.append(f"  {get_show_command(check, folder)}")
    return "\n".join(lines)


def get_show_command(check: Check, folder: Path) -> str:
    """Return the command that shows the first question of a check."""
    named = "DIR" if _is_temporary(folder) else str(folder)
    words = ("judge", "show", named, check.run_id, check.questions[0].topic_id)
    command = " ".join(shlex.quote(cell(word)) for word in words)
    return f"keep the results with out=DIR, then: {command}" if named == "DIR" else command


def format_failures(checks: Iterable[Check], folder: Path) -> str:
    """Describe the failed checks."""
    return "\n".join(format_failure(check, folder) for check in checks if not check.is_passed)


def _is_temporary(folder: Path) -> bool:
    """Return whether the folder is deleted with its result, as without `out`."""
    home = Path(tempfile.gettempdir())
    return folder.parent.parent == home and folder.parent.name.startswith("nuggetjudge-")


def check_judged(result: Result, allow_missing: float = 0.0, of: str = "") -> Check:
    """Check that at most this share of judgements is missing, and that no limit ended the run.

    Args:
        allow_missing: in [0, 1]; missing judgements count as worst in all other checks.
        of: a word before "judgements" in the message, such as "baseline".
    """
    share: float = result.manifest["share_missing"]
    limit: str | None = result.manifest["limit_reached"]
    if result.manifest.get("partial"):
        limit = "its end: a run that goes on, or was killed"
    n = result.n_judged + result.n_unjudged
    lost: dict[str, Counter[str]] = {}
    for row in result.unjudged if share else ():
        at = "/".join(str(row[name]) for name in ("run_id", "topic_id") if row.get(name))
        lost.setdefault(at, Counter())[row["reason"]] += 1
    reasons = sum(lost.values(), Counter[str]())
    why = f": {_by_reason(reasons)}" if reasons else ""
    stopped = f"; stopped at {limit}" if limit else ""
    whose = f"{of} " if of else ""
    if limit:
        at = "is not finished" if result.manifest.get("partial") else f"stopped at {limit}"
        sentence = f"the {whose}run {at}"
    else:
        sentence = (
            f"{result.n_unjudged:,} of {n:,} {whose}judgements are missing ({share:.1%}), "
            f"at most {100 * allow_missing:.4g}% may be"
        )
    return Check(
        run_id="",
        measure="",
        wanted=f"{whose}unjudged <= {allow_missing:.4g}",
        is_passed=share <= allow_missing + ROUNDING and not limit,
        found=f"{result.n_unjudged:,} of {n:,} judgements missing ({share:.1%}){why}{stopped}",
        value=share,
        n=len(result.manifest["data"]["topic_ids"]),
        n_unjudged=result.n_unjudged,
        sentence=sentence,
        is_inconclusive=True,
        questions=[Question(at, why=_by_reason(reasons)) for at, reasons in lost.items()],
    )


def _by_reason(reasons: Counter[str]) -> str:
    return ", ".join(f"{reason} {n:,}" for reason, n in reasons.most_common())


_WORDS = {">=": "at least", ">": "more than", "<=": "at most", "<": "less than"}
_HOLDS: dict[str, Callable[[float, float], bool]] = {">=": ge, ">": gt, "<=": le, "<": lt}


@dataclass(frozen=True)
class Bound:
    """A lower or upper bound of a mean.

    Attributes:
        run_id: the run; None: every run.
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
        """The bound as a formula."""
        return f"{self.measure} {self.sign} {self.value:g}"


def read_bounds(texts: Sequence[str], option: str, sign: str = ">=") -> list[Bound]:
    """Read repeated `[RUN:]MEASURE=VALUE` as bounds.

    Raises: InputError for another form.
    """
    bounds = []
    for text in texts:
        name, _, value = text.rpartition("=")  # a measure may contain one too, such as P(rel=2)@10
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
    """Check the mean of each run against a bound.

    Missing judgements count as worst: the check compares the lower (or upper) bound of the mean.

    Args:
        rows: rows of scores.jsonl: questions and means.
        answer_runs: the judged runs; a run without scores fails.
        run: check only this run, if the bound names no run.

    Returns: a check for each run, at least one. A run without a mean of the measure fails.
    """
    measures: dict[str, list[str]] = {name: [] for name in answer_runs}  # measures of each run
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
        found=_say_value(mean, worst),
        value=mean.value,
        low=mean.low,
        high=mean.high,
        n=mean.n_topics or 0,
        n_unjudged=mean.n_unjudged or 0,
        questions=() if is_passed else _questions(of_run, bound, is_least),
        sentence="" if is_passed else _sentence(mean, worst, bound),
    )


def _without_mean(measure: str, run: str, measures: Iterable[str]) -> str:
    """Explain why a mean is missing, and what to do."""
    names = list(dict.fromkeys(measures))
    if not run:
        return f"no run has {cell(measure)}"
    if not names:
        return (
            f"{cell(run)} has no scores; run `judge run` again to write them, without new requests"
        )
    if measure in names:
        what = f"{cell(run)} has no mean of {cell(measure)}"
        return f"{what}; run `judge run` again to write it, without new requests"
    return f"{cell(run)} has no {cell(measure)}; it has {', '.join(map(cell, names))}"


def _holds(value: float, bound: Bound) -> bool:
    if math.isclose(value, bound.value, rel_tol=0.0, abs_tol=ROUNDING):
        return "=" in bound.sign
    return _HOLDS[bound.sign](value, bound.value)


def _worst(row: ScoreRow, is_least: bool) -> float | None:
    """Return the value, or with missing judgements its worst possible value; None: unknown."""
    if not row.n_unjudged:
        return row.value
    return row.low if is_least else row.high


def _say_value(mean: ScoreRow, worst: float | None) -> str:
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
    """Format with three digits; more if the value would look equal to its bound."""
    if value is None:
        return "not defined"
    text = format_share(value)
    return format_given(value) if text == format_share(bound.value) else text


def _questions(rows: Sequence[ScoreRow], bound: Bound, is_least: bool) -> list[Question]:
    """List questions that miss the bound, worst first, then questions without a value."""
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


def choose_measures(present: Collection[str]) -> list[str]:
    """Return the default measures of a check: the main measure of each task."""
    groups = [group for _, group in group_measures(set(present))]
    chosen = [[m for m in group if m in PRIMARY] or group[:1] for group in groups]
    return [name for group in chosen for name in group if meaning(name).is_quality]


def list_runs(rows: Sequence[ScoreRow]) -> list[str]:
    """List the runs with scores, without the oracles of coverage."""
    return list(dict.fromkeys(row.run_id for row in rows if row.run_id not in ORACLES))


def check_known(what: str, name: str, known: Collection[str], where: object) -> None:
    """Raise InputError for an unknown name; suggest a similar one."""
    if name not in known:
        there = (", ".join(known) or "none") + did_you_mean(name, known)
        raise InputError(f"{where}: no {what} {name!r}; known: {there}")


def check_beforehand(bounds: Sequence[Bound], config: Config) -> None:
    """Check the names in bounds before a run with this config asks anything.

    Raises: InputError for a measure that no task of the config gives, or an unknown run. If a
        task of another package does not list its measures, or the config makes its runs, unknown
        names are found only at the end.
    """
    check_measures_beforehand([(bound.measure, bound.spelled) for bound in bounds], config)
    if any(bound.run_id for bound in bounds) and not config.has_pipelines:
        collection = load_data(config)
        runs = [*collection.run_ids, *{r.run_id for r in collection.candidates.values()}]
        for bound in bounds:
            if bound.run_id is not None:
                check_known("run", bound.run_id, runs, bound.spelled)


def check_measures_beforehand(named: Sequence[tuple[str, str]], config: Config) -> None:
    """Check the names of measures, each with its text for messages, against the config's tasks.

    Raises: InputError for an unknown measure, with the nearest name. Nothing is checked if a task
        of another package does not list its measures.
    """
    by_program = [program.measures(config) for program in choose_programs(config)]
    measures = [name for names in by_program for name in names or ()]
    suggested = [name for name in measures if not name.endswith(SUFFIX)]
    for measure, spelled in named if None not in by_program else ():
        if measure not in measures:
            check_known("measure", measure, suggested, spelled)
