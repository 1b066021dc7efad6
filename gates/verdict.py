"""All checks of a results folder together: what `judge gate` decides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..metrics.inference import LEVEL
from ..programs.engine.manifest import dependence_of
from ..programs.scoring.result import Result
from .bounds import Bound, check_bound
from .checks import Check, with_texts
from .measures import check_known, runs_in
from .missing import judged
from .not_worse import BY, not_worse


@dataclass(frozen=True)
class Verdict:
    """What the checks found.

    Attributes:
        folder: the results, as they were named.
        is_judged: whether enough was judged for the other checks to count.
        checks: all, those of what is not judged first.
        notes: what no check says, as questions that the baseline lacks, or systems that saw the
            judge.
    """

    folder: Path
    is_judged: bool
    checks: Sequence[Check]
    notes: Sequence[str] = field(default_factory=tuple)

    @property
    def is_passed(self) -> bool:
        """Whether every check passed."""
        return all(check.is_passed for check in self.checks)

    @property
    def sentence(self) -> str:
        """What was decided, and by which check."""
        failed = [check for check in self.checks if not check.is_passed]
        if not failed:
            return f"passed: {len(self.checks):,} of {len(self.checks):,} checks hold."
        first = min(failed, key=lambda check: self.is_judged and check.is_inconclusive)
        outcome = first.outcome if self.is_judged else "inconclusive"
        n = len(failed) - 1
        more = f" {n:,} other check{'s' * (n > 1)} did not pass." if n else ""
        return f"{outcome}: {first.sentence or first.found}.{more}"

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        checks = [asdict(check) | {"name": check.name} for check in self.checks]
        for check in checks:
            del check["sentence"], check["is_inconclusive"]
        return {
            "is_passed": self.is_passed,
            "is_judged": self.is_judged,
            "results": str(self.folder),
            "checks": checks,
            "notes": list(self.notes),
        }


def verdict_on(
    results: Path,
    bounds: Sequence[Bound] = (),
    baseline: Path | None = None,
    *,
    named: Path | None = None,
    measures: Sequence[str] = (),
    run: str | None = None,
    by: float = BY,
    level: float = LEVEL,
    allow_missing: float = 0.0,
) -> Verdict:
    """Check a results folder against bounds and a baseline.

    Args:
        results, baseline: results folders.
        bounds: on means.
        named: what to call `results` in messages.
        measures: which are compared with the baseline.
        run: one run; None: every run.
        by, level: see `not_worse`. allow_missing: see `judged`, of both folders.

    Raises: InputError for runs and measures that are not there.
    """
    named = named or results
    result = Result(results)
    checks = [judged(result, allow_missing)]
    if baseline is not None:
        checks.append(judged(Result(baseline), allow_missing, "baseline"))
    is_judged = all(check.is_passed for check in checks)
    rows = result.scores
    present = list(dict.fromkeys(row.measure for row in rows))
    if run is not None:
        check_known("run", run, runs_in(rows), named)
    for bound in bounds:
        where = f"{bound.spelled}, {named}" if bound.spelled else named
        check_known("measure", bound.measure, present, where)
        if bound.run_id is not None:
            check_known("run", bound.run_id, runs_in(rows), where)
        checks += check_bound(rows, bound, result.manifest["data"]["run_ids"], run)
    if baseline is None:
        return Verdict(named, is_judged, with_texts(checks, results), dependence_of([results]))
    against = not_worse(results, baseline, by=by, level=level, measures=measures, run=run)
    notes = [*against.notes, *dependence_of([results, baseline], [named, baseline])]
    return Verdict(named, is_judged, with_texts([*checks, *against.checks], results), notes)
