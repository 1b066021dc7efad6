"""A verdict as Markdown, for a pull request."""

from __future__ import annotations

import re

from ..records.reading.problems import cell
from ..views.formats import view_markdown
from ..views.table import Table, View
from .checks import SHOWN_QUESTIONS, how_to_look
from .tables import checks_table, questions_table
from .verdict import Verdict

_MENTION = re.compile(r"(?<!\w)@")  # which would call somebody of that name
SHOWN_CHECKS = 20  # that failed, with their questions


def summary(verdict: Verdict) -> str:
    """What was decided, a table of all checks, and the questions behind those that failed."""
    failed = [check for check in verdict.checks if not check.is_passed]
    lines = [f"### judge gate {_text(verdict.sentence)}", "", _table(checks_table(verdict.checks))]
    for check in failed[:SHOWN_CHECKS]:
        lines += ["", f"**{_text(check.name)}**: {_text(check.found)}"]
        if check.questions:
            lines += ["", _table(questions_table(check.questions, SHOWN_QUESTIONS))]
            if check.run_id:
                command = how_to_look(check, verdict.folder).replace("`", "'")
                lines += ["", f"`{command}`"]
    if (more := len(failed) - SHOWN_CHECKS) > 0:
        lines += ["", f"... and {more:,} more checks that failed"]
    if verdict.notes:
        lines += ["", *(f"- {_text(note)}" for note in verdict.notes)]
    return "\n".join(lines) + "\n"


def _table(table: Table) -> str:
    return _MENTION.sub("@\u200b", view_markdown(View(tables=[table]))).rstrip("\n")


def _text(text: str) -> str:
    """Nothing in it is Markdown or HTML."""
    plain = _MENTION.sub("@\u200b", cell(text))
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>|#!~" else c for c in plain)
