"""A verdict as Markdown, for a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..records.writing.printed import cell, figure
from .checks import SHOWN_QUESTIONS, Check, how_to_look
from .verdict import Verdict

_MENTION = re.compile(r"(?<!\w)@")  # which would call somebody of that name
SHOWN_CHECKS = 20  # that failed, with their questions


def summary(verdict: Verdict) -> str:
    """What was decided, a table of all checks, and the questions behind those that failed."""
    failed = [check for check in verdict.checks if not check.is_passed]
    n = len(verdict.checks)
    if not failed:
        head = f"Passed: {n} of {n} checks"
    elif not verdict.is_judged:
        head = "Not decided: too much is not judged"
    else:
        head = f"Failed: {len(failed)} of {n} checks"
    lines = [f"### judge gate: {head}", "", *_checks(verdict.checks)]
    for check in failed[:SHOWN_CHECKS]:
        lines += ["", f"**{_text(check.name)}**: {_text(check.found)}"]
        if check.questions:
            lines += ["", *_questions(check)]
            if check.run_id:
                command = how_to_look(check, verdict.folder).replace("`", "'")
                lines += ["", f"`{command}`"]
    if (more := len(failed) - SHOWN_CHECKS) > 0:
        lines += ["", f"... and {more:,} more checks that failed"]
    if verdict.notes:
        lines += ["", *(f"- {_text(note)}" for note in verdict.notes)]
    return "\n".join(lines) + "\n"


def _checks(checks: Sequence[Check]) -> Iterable[str]:
    head = ["", "run", "wanted", "value", "interval or bounds", "questions", "not judged"]
    yield _row(head)
    yield _row(["---"] * len(head))
    for check in checks:
        sign = "" if ">=" in check.wanted or "<=" in check.wanted else "+"
        mark = "passed" if check.is_passed else "**failed**"
        value = figure(check.value, sign=sign)
        counts = f"{check.n:,}", f"{check.n_unjudged:,}"
        yield _row([mark, _text(check.run_id), _text(check.wanted), value, check.bounds, *counts])


def _questions(check: Check) -> Iterable[str]:
    yield _row(["question", "before", "now", "change"])
    yield _row(["---"] * 4)
    for one in check.questions[:SHOWN_QUESTIONS]:
        figures = figure(one.before), figure(one.after), one.why or figure(one.change, sign="+")
        question = f"{_text(one.topic_id)} {_text(one.text)}".rstrip()
        yield _row([question, *figures])
    if (more := len(check.questions) - SHOWN_QUESTIONS) > 0:
        yield _row([f"... and {more:,} more", "", "", ""])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(text: str) -> str:
    """Nothing in it is Markdown or HTML."""
    plain = _MENTION.sub("@\u200b", cell(text))
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>|#!~" else c for c in plain)
