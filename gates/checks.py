"""One check of results: what was wanted, what was found, which questions it lies with."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..programs.analysis.answers.texts import AnswerTexts
from ..records.reading.problems import Problems, cell, figure

TEXT_CHARS = 60  # of a question, in messages
SHOWN_QUESTIONS = 10  # of a check, in messages
ROUNDING = 1e-9  # a mean of decimals that misses its bound by less does not miss it


@dataclass(frozen=True)
class Question:
    """A question that counts against a check.

    Attributes:
        before, after: its value in the baseline and in what is checked; None: none there.
        why: what is not judged of it, as "timeout 2"; "" if all is.
        text: what was asked, where that is known.
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
        """After less before."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True)
class Check:
    """What was looked at and what was found.

    Attributes:
        run_id: "": all runs, as of what is not judged.
        wanted: in a few words, as "V_strict >= 0.4"; with the run it names the check.
        found: the figures, in one line.
        value, low, high: a mean with its bounds for the unjudged; a difference with its interval.
        n: questions behind it. n_unjudged: judgements that are missing behind it.
        questions: those it lies with where it failed, the worst first.
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
        """In one word."""
        if self.is_passed:
            return "passed"
        return "inconclusive" if self.is_inconclusive else "failed"

    @property
    def is_difference(self) -> bool:
        """Whether the value is a difference from a baseline."""
        return " not worse by " in self.wanted

    @property
    def name(self) -> str:
        """The run, if it is of one, and what was wanted."""
        return f"{cell(self.run_id)}: {cell(self.wanted)}" if self.run_id else cell(self.wanted)


def with_texts(checks: Sequence[Check], folder: Path) -> list[Check]:
    """The checks, with the texts of the questions that messages name."""
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


def message(check: Check, folder: Path) -> str:
    """What a person needs to know of a check that failed, with what to type next."""
    lines = [check.name, f"  {check.found}"]
    lines += [f"    {question}" for question in check.questions[:SHOWN_QUESTIONS]]
    if (more := len(check.questions) - SHOWN_QUESTIONS) > 0:
        lines.append(f"    ... and {more:,} more")
    if check.questions and check.run_id:
        lines.append(f"  {how_to_look(check, folder)}")
    return "\n".join(lines)


def how_to_look(check: Check, folder: Path) -> str:
    """The command that shows the first of its questions."""
    named = "DIR" if _is_temporary(folder) else str(folder)
    words = ("judge", "show", named, check.run_id, check.questions[0].topic_id)
    command = " ".join(shlex.quote(cell(word)) for word in words)
    return f"out=DIR keeps the results: {command}" if named == "DIR" else command


def messages(checks: Iterable[Check], folder: Path) -> str:
    """Of those that failed."""
    return "\n".join(message(check, folder) for check in checks if not check.is_passed)


def _is_temporary(folder: Path) -> bool:
    """Whether it goes with the result, as that of `nuggetjudge.evaluate` without `out`."""
    home = Path(tempfile.gettempdir())
    return folder.parent.parent == home and folder.parent.name.startswith("nuggetjudge-")
