"""`nuggetjudge.assert_judged`: gates as assertions; failures list the questions that got worse."""

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
    """Assert that results are judged; methods of the returned object assert more.

    Args:
        result: a result or its folder.
        allow_missing: the share of judgements, in [0, 1], that may be missing, also in a baseline.
            Missing judgements count as worst in means.

    Returns: an object whose methods assert more.
    Raises: AssertionError if more judgements are missing or a limit ended the run, with reasons
        and questions; InputError if `result` is not a results folder.

    Example: assert_judged(result).not_worse_than("baseline").mean("V_strict") >= 0.4

    The answer states one of two nuggets, so the mean is 0.5:

    >>> import nuggetjudge as nj
    >>> sample = {
    ...     "question": "what makes the tides",
    ...     "answer": "The moon makes the tides.",
    ...     "nuggets": ["the moon makes the tides", "tides come twice a day"],
    ... }
    >>> result = nj.evaluate([sample], "nuggets", model="lexical")
    >>> nj.assert_judged(result).mean("V_strict") >= 0.4
    True
    """
    __tracebackhide__ = True
    checked = Judged(result, allow_missing)
    _raise_failed([check_judged(checked.result, allow_missing)], checked.named)
    return checked


class Judged:
    """Results with enough judgements, as `assert_judged` returns them.

    Args:
        result: a result or its folder.
        allow_missing: the share of judgements, in [0, 1], that may be missing.
    """

    def __init__(self, result: Source, allow_missing: float) -> None:
        self._stack = ExitStack()  # the results of a stopped run exist as long as this object
        self._source = result  # the temporary folder of an evaluation is deleted with its result
        self.result = Result(open_source(self._stack, result))
        self.named = self.result.folder if isinstance(result, Result) else Path(result)
        self._allow_missing = allow_missing

    def mean(self, measure: str, run: str | None = None) -> Mean:
        """Return the mean of a measure over questions, for a comparison: `.mean("V") >= 0.4`.

        Args:
            measure: the name of the measure, such as V_strict.
            run: check one run; None: every run must pass.

        Returns: a mean to compare by >=, >, <= or <.
        Raises: InputError for an unknown measure or run.
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
        """Assert that measures are at most `by` below those of a baseline.

        The assertion holds if the lower end of the two-sided interval of the mean difference by
        question is at least -by; `nuggetjudge.compare` gives the same interval. It needs at least
        6 questions at level .95. Questions that the baseline lacks do not count; a warning names
        them.

        Args:
            baseline: a result or results folder, judged by the same judge.
            by: a margin >= 0, in units of the measure.
            level: the level of the interval, in (0, 1).
            measures: the measures to compare; None: the main measure of each task.
            run: compare this run; None: every run of both, or the only run of each.

        Returns: the same object, so that assertions can be chained.
        Raises: AssertionError with the questions that got worse, and their values; InputError
            for unknown names.
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
    """A mean to compare with a bound: the result is True, or an AssertionError says why not.

    Args:
        check: a function from a sign (>=, >, <= or <) and a bound to the checks.
        of: the results that have the mean.
    """

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
        raise TypeError("a mean is not a truth value; compare it, such as .mean('V') >= 0.4")

    def _holds(self, sign: str, value: Any) -> bool:
        __tracebackhide__ = True
        _raise_failed(self._check(sign, float(value)), self._of.named, self._of.result.folder)
        return True


def _raise_failed(checks: Sequence[Check], named: Path, folder: Path | None = None) -> None:
    """Raise AssertionError with the failed checks.

    Args:
        named: the name of the results in messages. folder: their path, if it differs.
    """
    __tracebackhide__ = True
    if not all(check.is_passed for check in checks):
        raise AssertionError(format_failures(add_texts(checks, folder or named), named))
