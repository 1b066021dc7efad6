"""`nuggetjudge.assert_judged`: gates as assertions, whose messages say where a change hurts."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ..evaluation.comparing import Source, open_source
from ..metrics.inference import LEVEL
from ..programs.scoring.result import Result
from .baseline import BY, check_not_worse
from .checks import (
    Bound,
    Check,
    add_texts,
    check_bound,
    check_judged,
    check_known,
    format_failures,
    list_runs,
)


def assert_judged(result: Source, *, allow_missing: float = 0.0) -> Judged:
    """Assert that results are judged, and what more is asked of them.

    Args:
        result: a result or its folder.
        allow_missing: the share of judgements, in [0, 1], that may be missing, in a baseline too.
            With some missing, means are compared at the worst that they could be.

    Returns: what further assertions are made of.
    Raises: AssertionError where more is missing or a limit ended the run, with reasons and
        questions; InputError for anything but a results folder.

    Example: assert_judged(result).not_worse_than("baseline").mean("V_strict") >= 0.4
    """
    __tracebackhide__ = True
    checked = Judged(result, allow_missing)
    _raise_failed([check_judged(checked.result, allow_missing)], checked.named)
    return checked


class Judged:
    """Results of which enough is judged."""

    def __init__(self, result: Source, allow_missing: float) -> None:
        self._stack = ExitStack()  # a stopped run's results, until this object goes
        self._source = result  # an evaluation's temporary folder goes with its result
        self.result = Result(open_source(self._stack, result))
        self.named = self.result.folder if isinstance(result, Result) else Path(result)
        self._allow_missing = allow_missing

    def mean(self, measure: str, run: str | None = None) -> Mean:
        """The mean of a measure over the questions, to be compared: `.mean("V") >= 0.4`.

        Args:
            run: one run; None: each run must hold.

        Raises: InputError for a measure or run that is not there.
        """
        rows, where = self.result.scores, self.named
        check_known("measure", measure, list(dict.fromkeys(r.measure for r in rows)), where)
        if run is not None:
            check_known("run", run, list_runs(rows), where)

        def check(sign: str, value: float) -> list[Check]:
            bound = Bound(measure, value, run, sign)
            return check_bound(rows, bound, self.result.manifest["data"]["run_ids"])

        return Mean(check, self)

    def not_worse_than(
        self,
        baseline: Source,
        *,
        by: float = BY,
        level: float = LEVEL,
        measures: Sequence[str] | None = None,
        run: str | None = None,
    ) -> Judged:
        """Assert that measures are at most `by` below those of a baseline, by question.

        It holds where the lower end of the two-sided interval of the difference, as of
        `nuggetjudge.compare`, is at least -by; so few questions do not suffice (6 at least at the
        level .95), nor do others than the baseline has, which a warning names.

        Args:
            baseline: a result or results folder, judged by the same judge.
            by: in units of the measure, >= 0.
            level: of the interval, in (0, 1).
            measures: which; None: of each program what its leaderboard goes by.
            run: one run; None: each that both have, or the only one of each.

        Returns: itself, so that more can be asserted.
        Raises: AssertionError with the questions that got worse, from what to what; InputError
            for names that are not there.
        """
        __tracebackhide__ = True
        before = Judged(baseline, self._allow_missing)
        _raise_failed([check_judged(before.result, self._allow_missing, "baseline")], before.named)
        comparison = check_not_worse(
            self.result.folder,
            before.result.folder,
            by=by,
            level=level,
            measures=measures or (),
            run=run,
        )
        for note in comparison.notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        _raise_failed(comparison.checks, self.named, self.result.folder)
        return self


class Mean:
    """A mean that is asserted by comparing it: true, or an AssertionError that says why not."""

    __hash__ = None  # type: ignore[assignment]  # it is equal to nothing

    def __init__(self, check: Callable[[str, float], list[Check]], of: Judged) -> None:
        self._check, self._of = check, of

    def __ge__(self, value: float) -> bool:
        __tracebackhide__ = True
        return self._holds(">=", value)

    def __gt__(self, value: float) -> bool:
        __tracebackhide__ = True
        return self._holds(">", value)

    def __le__(self, value: float) -> bool:
        __tracebackhide__ = True
        return self._holds("<=", value)

    def __lt__(self, value: float) -> bool:
        __tracebackhide__ = True
        return self._holds("<", value)

    def __bool__(self) -> bool:
        raise TypeError("a mean is neither true nor false: compare it, as .mean('V') >= 0.4")

    def _holds(self, sign: str, value: Any) -> bool:
        __tracebackhide__ = True
        _raise_failed(self._check(sign, float(value)), self._of.named, self._of.result.folder)
        return True


def _raise_failed(checks: Sequence[Check], named: Path, folder: Path | None = None) -> None:
    """Raise AssertionError with what failed.

    Args:
        named: what to call the results. folder: where they are, if not there.
    """
    __tracebackhide__ = True
    if not all(check.is_passed for check in checks):
        raise AssertionError(format_failures(add_texts(checks, folder or named), named))
