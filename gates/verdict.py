"""The verdict of `judge gate`, as tables, Markdown and JUnit XML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import compress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ..metrics.inference import LEVEL
from ..programs.engine.manifest import note_dependence
from ..programs.scoring.result import Result
from ..records.reading.problems import cell, escape
from ..views.formats import view_markdown
from ..views.numbers import format_bounds, format_share
from ..views.table import Cell, Column, Kind, Row, Style, Styled, Table, View
from .baseline import BY, check_not_worse
from .certificate import MEASURE, Certificate, check_certificates
from .checks import (
    SHOWN_QUESTIONS,
    Bound,
    Check,
    Question,
    add_texts,
    check_bound,
    check_judged,
    check_known,
    format_failure,
    get_show_command,
    list_runs,
)


@dataclass(frozen=True)
class Verdict:
    """The result of all checks.

    Attributes:
        folder: the results, as the user named them.
        is_judged: whether enough was judged for the other checks to count.
        checks: all checks; those of missing judgements come first.
        notes: notes beside the checks, such as questions that the baseline lacks, or systems that
            saw the judge.
        is_advisory: whether the verdict is only shown, because a judge has no valid certificate.
    """

    folder: Path
    is_judged: bool
    checks: Sequence[Check]
    notes: Sequence[str] = field(default_factory=tuple)
    is_advisory: bool = False

    @property
    def is_passed(self) -> bool:
        """Whether every check passed."""
        return all(check.is_passed for check in self.checks)

    @property
    def sentence(self) -> str:
        """The decision, and the check that caused it."""
        failed = [check for check in self.checks if not check.is_passed]
        if self.is_advisory:
            others = [check for check in failed if check.measure != MEASURE]
            without = replace(self, checks=others, is_advisory=False) if others else None
            why = next(check.sentence for check in failed if check.measure == MEASURE)
            return f"advisory only: {why}. {without.sentence if without else ''}".rstrip()
        if not failed:
            return f"passed: {len(self.checks):,} of {len(self.checks):,} checks."
        first = min(failed, key=lambda check: self.is_judged and check.is_inconclusive)
        outcome = first.outcome if self.is_judged else "inconclusive"
        n = len(failed) - 1
        more = f" {n:,} other check{'s' * (n > 1)} did not pass." if n else ""
        return f"{outcome}: {first.sentence or first.found}.{more}"

    def as_dict(self) -> dict[str, Any]:
        """Return the verdict as a dict for JSON."""
        checks = [asdict(check) | {"name": check.name} for check in self.checks]
        for check in checks:
            del check["sentence"], check["is_inconclusive"]
        return {
            "is_passed": self.is_passed,
            "is_judged": self.is_judged,
            "is_advisory": self.is_advisory,
            "results": str(self.folder),
            "checks": checks,
            "notes": list(self.notes),
        }


def make_verdict(
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
    certificates: Sequence[Certificate] = (),
    is_advisory: bool = False,
) -> Verdict:
    """Check a results folder against bounds and a baseline.

    Args:
        results, baseline: results folders.
        bounds: bounds of means.
        named: the name of `results` in messages.
        measures: the measures to compare with the baseline.
        run: check only this run; None: every run.
        by, level: see `check_not_worse`. allow_missing: see `check_judged`; for both folders.
        certificates: certificates of the judges; if any is given, each judge needs one. See
            `check_certificates`.
        is_advisory: make the verdict advisory if a judge has no valid certificate.

        Raises: InputError for unknown runs and measures.
    """
    named = named or results
    result = Result(results)
    checks = [check_judged(result, allow_missing)]
    if baseline is not None:
        checks.append(check_judged(Result(baseline), allow_missing, "baseline"))
    is_judged = all(check.is_passed for check in checks)
    rows = result.scores
    present = list(dict.fromkeys(row.measure for row in rows))
    if run is not None:
        check_known("run", run, list_runs(rows), named)
    for bound in bounds:
        where = f"{bound.spelled}, {named}" if bound.spelled else named
        check_known("measure", bound.measure, present, where)
        if bound.run_id is not None:
            check_known("run", bound.run_id, list_runs(rows), where)
        checks += check_bound(rows, bound, result.manifest["data"]["run_ids"], run)
    if certificates:
        of_bounds = {check.measure for check in checks if check.measure}
        checks += check_certificates(results, certificates, of_bounds)
    is_advisory &= any(check.measure == MEASURE and not check.is_passed for check in checks)
    if baseline is None:
        notes = note_dependence([results])
        return Verdict(named, is_judged, add_texts(checks, results), notes, is_advisory)
    against = check_not_worse(results, baseline, by=by, level=level, measures=measures, run=run)
    notes = [*against.notes, *note_dependence([results, baseline], [named, baseline])]
    made = add_texts([*checks, *against.checks], results)
    return Verdict(named, is_judged, made, notes, is_advisory)


_STYLES = {"failed": Style.UNJUDGED, "inconclusive": Style.WARNING}


def make_verdict_view(verdict: Verdict) -> View:
    """Return the decision, and a row for each check."""
    return View(verdict.sentence, [make_checks_table(verdict.checks)])


def make_checks_table(checks: Sequence[Check]) -> Table:
    """Make a table with a row for each check: wanted and found; empty columns are left out."""
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


def make_questions_table(questions: Sequence[Question], shown: int) -> Table:
    """Make a table with a row for each question that counts against a check."""
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


_MENTION = re.compile(r"(?<!\w)@")  # an @ would notify a GitHub user
SHOWN_CHECKS = 20  # failed checks with their questions


def format_summary(verdict: Verdict) -> str:
    """Format the decision, a table of all checks, and the questions of failed checks."""
    failed = [check for check in verdict.checks if not check.is_passed]
    lines = [
        f"### judge gate {_text(verdict.sentence)}",
        "",
        _table(make_checks_table(verdict.checks)),
    ]
    for check in failed[:SHOWN_CHECKS]:
        lines += ["", f"**{_text(check.name)}**: {_text(check.found)}"]
        if check.questions:
            lines += ["", _table(make_questions_table(check.questions, SHOWN_QUESTIONS))]
            if check.run_id:
                command = get_show_command(check, verdict.folder).replace("`", "'")
                lines += ["", f"`{command}`"]
    if (more := len(failed) - SHOWN_CHECKS) > 0:
        lines += ["", f"... and {more:,} more checks that failed"]
    if verdict.notes:
        lines += ["", *(f"- {_text(note)}" for note in verdict.notes)]
    return "\n".join(lines) + "\n"


def _table(table: Table) -> str:
    return _MENTION.sub("@\u200b", view_markdown(View(tables=[table]))).rstrip("\n")


def _text(text: str) -> str:
    """Escape Markdown and HTML."""
    plain = _MENTION.sub("@\u200b", cell(text))
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>|#!~" else c for c in plain)


_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def format_junit(verdict: Verdict) -> bytes:
    """Format one test suite: failed checks are failures; missing judgements are errors."""
    failed = [check for check in verdict.checks if not check.is_passed]
    n_errors = sum(not check.measure for check in failed)
    counts = {"tests": len(verdict.checks), "failures": len(failed) - n_errors, "errors": n_errors}
    about = {name: str(n) for name, n in counts.items()}
    suites = ElementTree.Element("testsuites", about)
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "judge gate", **about})
    for check in verdict.checks:
        of = {"classname": _plain(check.run_id or "results"), "name": _plain(check.wanted)}
        case = ElementTree.SubElement(suite, "testcase", {**of, "time": "0"})
        if not check.is_passed:
            kind = "failure" if check.measure else "error"
            what = {"message": _plain(check.found), "type": kind}
            ElementTree.SubElement(case, kind, what).text = _plain(
                format_failure(check, verdict.folder)
            )
        else:
            ElementTree.SubElement(case, "system-out").text = _plain(check.found)
    if verdict.notes:
        ElementTree.SubElement(suite, "system-out").text = _plain("\n".join(verdict.notes))
    ElementTree.indent(suites)
    text: bytes = ElementTree.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _plain(text: str) -> str:
    return _NO_XML.sub("?", escape(text))
