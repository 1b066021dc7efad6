"""`judge gate`: check results against bounds and a baseline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...records.reading.problems import InputError
from ..options import AsJson
from ..signatures import File, Folder, NewFile, OptionRules
from ..stopping import GATE_FAILED, INCOMPLETE
from ..tables import cell, write_note, write_objects
from ..views import round_up_share

if TYPE_CHECKING:
    from ...gates.checks import Bound
    from ...gates.verdict import Verdict


def gate(
    context: typer.Context,
    results: Folder,
    *,
    baseline: Folder | None = None,
    least: Annotated[list[str] | None, OptionRules("--min")] = None,
    most: Annotated[list[str] | None, OptionRules("--max")] = None,
    by: Annotated[float, OptionRules(min=0)] = 0.02,
    measure: list[str] | None = None,
    run: str | None = None,
    allow_missing: str = "0",
    certificate: list[File] | None = None,
    advisory: bool = False,
    junit: NewFile | None = None,
    summary: NewFile | None = None,
    as_json: AsJson = False,
) -> None:
    """Check results against bounds and a baseline, without a model.

    Examples: judge gate results/new --min V_strict=0.4
    / judge gate results/new --baseline results/main --by 0.02 --junit gate.xml --summary gate.md
    / judge gate results/new --min V_strict=0.4 --certificate judge.cert.json

    Exit: 0 all passed, 1 a check failed, 2 usage or input, 3 too many judgements are missing.

    Args:
        results: A results folder.
        baseline: Results folder to compare with; runs must not be worse.
        least (MEASURE=VALUE): Lower bound of each run's mean; for one run: RUN:MEASURE=VALUE; may
            be repeated.
        most (MEASURE=VALUE): Upper bound, such as words=400; like --min.
        by: How far a measure may fall below the baseline.
        measure: Measure to compare with the baseline; default: the first of each task.
        run: Check only this run; default: all.
        allow_missing (SHARE): Share of judgements that may be missing, such as 2% or 0.02; they
            count as worst.
        certificate: Require a valid certificate of the judge, written by `judge check --certify`
            for the same prompt, model, version and labels; one per judge.
        advisory: If a judge has no valid certificate, show the result and exit with 0.

    Output:
        junit: JUnit XML file to write, with one test case per check.
        summary: Markdown file to write, for a pull request.
    """
    from ...gates.certificate import read_certificate
    from ...gates.verdict import make_verdict
    from ..stopping import open_results

    certificates = [read_certificate(path) for path in certificate or ()]
    if advisory and not certificates:
        raise InputError("--advisory: only with --certificate; add --certificate FILE")
    bounds = _read_bounds(
        least or (),
        most or (),
        measure or (),
        has_baseline=baseline is not None,
        has_certificate=bool(certificates),
    )
    folders = open_results(context, [results] if baseline is None else [results, baseline])
    verdict = make_verdict(
        folders[0],
        bounds,
        folders[1] if baseline is not None else None,
        named=results,
        measures=measure or (),
        run=run,
        by=by,
        allow_missing=_share(allow_missing),
        certificates=certificates,
        is_advisory=advisory,
    )
    _write_verdict(verdict, junit, summary, as_json=as_json)
    report_verdict(verdict)


def _read_bounds(
    least: Sequence[str],
    most: Sequence[str],
    measures: Sequence[str],
    *,
    has_baseline: bool,
    has_certificate: bool,
) -> list[Bound]:
    """Read the bounds of --min and --max. Raises: InputError if there is nothing to check."""
    from ...gates.checks import read_bounds

    bounds = [*read_bounds(least, "--min"), *read_bounds(most, "--max", "<=")]
    if not (bounds or has_baseline or has_certificate):
        raise InputError("nothing to check: add --min or --max MEASURE=VALUE, or --baseline DIR")
    if measures and not has_baseline:
        raise InputError("--measure: only with a baseline; add --baseline DIR")
    return bounds


def _write_verdict(
    verdict: Verdict, junit: Path | None, summary: Path | None, *, as_json: bool
) -> None:
    """Write the verdict to the given files and to stdout."""
    from ...gates.verdict import format_junit, format_summary, make_verdict_view
    from ...records.writing import write_file
    from ...views.printing import print_view

    if junit is not None:
        write_file(junit, format_junit(verdict))
    if summary is not None:
        write_file(summary, format_summary(verdict))
    if as_json:
        write_objects([verdict.as_dict()])
    else:
        print_view(make_verdict_view(verdict))


def report_verdict(verdict: Any) -> None:
    """Print on stderr what failed and why; exit with 1 or 3 after a failure."""
    from ...gates.checks import format_failures

    for note in verdict.notes:
        write_note(f"{note}\n")
    if verdict.is_passed:
        return
    write_note(f"{format_failures(verdict.checks, verdict.folder)}\n")
    if verdict.is_advisory:
        return
    lacking = [each for each in verdict.checks if "unjudged" in each.wanted and not each.is_passed]
    if lacking and not any("stopped at" in each.found for each in lacking):
        share = round_up_share(max(each.value for each in lacking))
        write_note(f"to accept the missing judgements: --allow-missing {share}\n")
    raise typer.Exit(GATE_FAILED if verdict.is_judged else INCOMPLETE)


def _share(text: str) -> float:
    """Read a share such as 2% or 0.02. Raises: InputError for other text."""
    from ...programs.config.sections import as_share

    try:
        share = float(as_share(text))
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        what = "wanted a share from 0 to 1, such as 2% or 0.02"
        raise InputError(f"--allow-missing {cell(text)}: {what}")
    return share
