"""Requirements for a judge, whether it meets them, and how many more labels would decide it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ...metrics.inference import LEVEL
from ...programs.analysis.tables.words import count
from ...records.reading.problems import InputError, cell, did_you_mean
from ...views.numbers import format_given, format_share
from .measure import count_needed, people_share

Figures = Mapping[str, Any]
LEAST = 0.8  # default bound for the lower end of an interval
DEFAULT = "sensitivity>=.8,specificity>=.8"
_BY_LABEL = ("recall", "precision")
_KAPPAS = {"kappa": "unweighted", "linear_kappa": "linear", "quadratic_kappa": "quadratic"}
_NAMES = ("sensitivity", "specificity", *_BY_LABEL, "accuracy", *_KAPPAS)
_FORM = re.compile(r"\s*([\w ]+?)(?::(.+?))?\s*>=\s*(\d*\.?\d+)(%?)\s*")
_FEW = 10  # items with a label, below which an interval says too little
_CLOSE = 10  # times as many items as there are: too many to recommend
_MAX_NAMED = 5  # labels of a scale, in a sentence
_MAX_NEEDED = 100_000  # above this, no number of labels is recommended


class Outcome(StrEnum):
    """Whether a requirement is met: by the whole interval, by no part of it, or undecided."""

    PASSED = "passed"
    FAILED = "failed"
    OPEN = "not enough labels"


@dataclass(frozen=True)
class Requirement:
    """A bound for the lower end of a figure's interval; label "": for every label."""

    figure: str
    least: float
    label: str = ""

    @property
    def name(self) -> str:
        """The requirement as you write it after `--certify`."""
        of = f":{self.label}" if self.label else ""
        return f"{self.figure}{of}>={format_given(self.least)}"


@dataclass(frozen=True)
class Finding:
    """The result of a requirement for one figure.

    Attributes:
        n: items behind the figure. needed: how many items in all would decide it, if the share
            stays; None: decided, or unknown. of: the label of people on these items; "": any.
    """

    requirement: str
    figure: str
    least: float
    value: float | None
    low: float | None
    high: float | None
    n: int
    outcome: Outcome
    needed: int | None
    of: str


def read_requirements(text: str) -> list[Requirement]:
    """Read `sensitivity>=.8,recall:support>=70%`. Raises: InputError for another form.

    >>> [each.name for each in read_requirements("specificity >= 80%, recall:full>=.7")]
    ['specificity>=.8', 'recall:full>=.7']
    """
    found = []
    for part in text.split(","):
        form = "wanted FIGURE>=NUMBER, separated by commas, such as sensitivity>=.8,specificity>=.8"
        if (match := _FORM.fullmatch(part)) is None:
            raise InputError(f"--certify {text}: {part.strip() or 'it is empty'}; {form}")
        name, label = match[1].strip().lower().replace(" ", "_"), match[2] or ""
        least = float(match[3]) / (100 if match[4] else 1)
        if name not in _NAMES:
            names = ", ".join(_NAMES)
            what = f"no figure {name!r}{did_you_mean(name, _NAMES)}, wanted one of {names}"
            raise InputError(f"--certify {text}: {what}")
        if not 0 < least < 1:
            raise InputError(f"--certify {text}: {match[3]}{match[4]} is not between 0 and 1")
        if label and name not in _BY_LABEL:
            raise InputError(f"--certify {text}: {name} has no labels; recall and precision have")
        found.append(Requirement(name, least, label.strip()))
    return found


def find_requirements(figures: Figures, text: str | None) -> list[Requirement]:
    """The given requirements, or sensitivity and specificity (over two labels: every recall)."""
    if text is not None:
        return read_requirements(text)
    if len(figures["scale"]) == 2:
        return read_requirements(DEFAULT)
    return [Requirement("recall", LEAST)]


def judge_requirements(figures: Figures, wanted: Sequence[Requirement]) -> list[Finding]:
    """Check each requirement; a requirement for every label gives one finding per label.

    Raises: InputError for sensitivity or specificity with more than two labels, or an unknown
        label.
    """
    return [finding for each in wanted for finding in _findings(figures, each)]


def _findings(figures: Figures, wanted: Requirement) -> Iterator[Finding]:
    scale: Sequence[str] = figures["scale"]
    if wanted.figure in ("sensitivity", "specificity"):
        if len(scale) > 2:
            raise InputError(
                f"{wanted.name}: there are {len(scale)} labels ({', '.join(map(cell, scale))}); "
                "ask for recall>=.8, which is for each label, or make two labels with --cut LABEL"
            )
        label = scale[wanted.figure == "sensitivity"]
        yield _finding(figures, wanted, wanted.figure, figures[wanted.figure], label)
    elif wanted.figure in _BY_LABEL:
        if wanted.label and wanted.label not in scale:
            what = f"no label {wanted.label!r}{did_you_mean(wanted.label, scale)}"
            raise InputError(f"{wanted.name}: {what}; wanted one of {', '.join(map(cell, scale))}")
        for label in [wanted.label] if wanted.label else scale:
            name = f"{wanted.figure} of {cell(label, 30)}"
            of = label if wanted.figure == "recall" else ""
            yield _finding(figures, wanted, name, figures[wanted.figure][label], of)
    else:
        intervals = figures["intervals"]
        kappa = _KAPPAS.get(wanted.figure)
        row = intervals["accuracy"] if kappa is None else intervals["cohen_kappa"][kappa]
        row = {**row, "n": figures["n"]}
        name = "share of equal labels" if kappa is None else wanted.figure.replace("_", " ")
        yield _finding(figures, wanted, name, row, "")


def _finding(figures: Figures, wanted: Requirement, name: str, row: Figures, label: str) -> Finding:
    low, high = row["low"], row["high"]
    if low is not None and low >= wanted.least:
        outcome = Outcome.PASSED
    elif high is not None and high < wanted.least:
        outcome = Outcome.FAILED
    else:
        outcome = Outcome.OPEN
    needed = None
    if outcome is Outcome.OPEN and wanted.figure not in _KAPPAS:
        needed = count_needed(dict(row), wanted.least, figures["level"])
    return Finding(
        wanted.name, name, wanted.least, row["value"], low, high, row["n"], outcome,
        needed if needed and needed <= _MAX_NEEDED else None, label,
    )  # fmt: skip


def decide(findings: Sequence[Finding]) -> Outcome:
    """Failed if one finding failed; passed if all passed."""
    outcomes = {finding.outcome for finding in findings}
    if Outcome.FAILED in outcomes:
        return Outcome.FAILED
    return Outcome.OPEN if Outcome.OPEN in outcomes else Outcome.PASSED


def write_verdict(findings: Sequence[Finding], level: float = LEVEL) -> str:
    """Say whether the judge is good enough, which figure decides, and what would settle it.

    Args:
        level: of the intervals.
    """
    outcome = decide(findings)
    short = [finding for finding in findings if finding.outcome is outcome]
    least = {finding.least for finding in findings}
    bound = f" {format_percent(least.pop())}" if len(least) == 1 else " its bound"
    if outcome is Outcome.PASSED:
        return f"Good enough: the lower end of every interval reaches{bound}."
    if outcome is Outcome.FAILED:
        first = min(short, key=lambda finding: (finding.high or 0.0) - finding.least)
        at_most = _format(first, first.high)
        n_others = len(short) - 1
        others = f" {n_others} more {'figures are' if n_others > 1 else 'figure is'} too low."
        return (
            f"Not good enough: {first.figure} is at most {at_most}, but "
            f"{_format(first, first.least)} is required.{others if n_others else ''}"
        )
    first = max(short, key=lambda finding: (finding.low is None, finding.needed or 0))
    if first.value is None:
        why = f", since people label no item {cell(first.of, 30)}" if first.of else ""
        return f"Not enough labels to tell: {first.figure} is undefined{why}."
    if first.of and first.n < _FEW:
        perfect = {"value": 1.0, "low": 0.0, "high": 1.0, "n": first.n}
        n = max(count_needed(perfect, first.least, level) or 0, _FEW)
        only = f"Only {count(first.n, 'item')} {'is' if first.n == 1 else 'are'} labelled"
        return f"{only} {cell(first.of, 30)}; label about {n:,} in all for a first answer."
    span = "has no interval"
    if first.low is not None:
        span = f"lies between {_format(first, first.low)} and {_format(first, first.high)}"
    wanted = f"and {_format(first, first.least)} is required"
    text = f"Not enough labels to tell: {first.figure} {span}, {wanted}."
    return f"{text} {_what_would_tell(first)}".rstrip()


def _format(finding: Finding, value: float | None) -> str:
    """A share in percent, a kappa as a number."""
    if finding.figure.endswith("kappa") or value is None:
        return format_share(value)
    is_end = 0 < value < 0.01 or 0.99 < value < 1  # which whole percents would move
    return f"{100 * value:.1f}%" if is_end else format_percent(value)


def _what_would_tell(finding: Finding) -> str:
    if finding.needed is None or finding.value is None:
        return ""
    more = f"{_round(max(finding.needed - finding.n, 1)):,} more items"
    of = f" that people label {cell(finding.of, 30)}" if finding.of else ""
    if finding.needed > _CLOSE * finding.n:
        least = format_percent(finding.least)
        return f"It is so close to {least} that about {more}{of} would be needed to tell."
    result = "passes" if finding.value > finding.least else "fails"
    return (
        f"If this value stays, the judge {result}, and about {more}{of} would show it "
        f"({finding.n:,} now)."
    )


def _round(n: int) -> int:
    """Round an estimate up to two digits."""
    digits = max(len(str(n)) - 2, 0)
    return int(math.ceil(n / 10**digits) * 10**digits)


def write_sentence(figures: Figures) -> str:
    """Describe in percent how often the judge agrees with people, and people with each other."""
    scale = figures["scale"]
    found = [(cell(label, 30), format_percent(row["value"])) for label, row in _recalls(figures)]
    if len(scale) == 2 and len(found) == 2:
        (better, is_found), (worse, is_rejected) = found
        text = f"Of the items that people label {better}, the judge labels {is_found} so; "
        text += f"of those they label {worse}, {is_rejected}."
    else:
        accuracy = format_percent(figures["accuracy"])
        text = f"The judge gives {accuracy} of {count(figures['n'], 'item')} the label of people"
        text += f" ({', '.join(' '.join(pair) for pair in found)})" * bool(found) + "."
    if (shares := people_share(dict(figures))) and shares["people"]["value"] is not None:
        text += (
            f" Two people agree on {format_percent(shares['people']['value'])} of items; the judge "
            f"and one of them agree on {format_percent(shares['judge'])}."
        )
    return text


def _recalls(figures: Figures) -> Iterator[tuple[str, Figures]]:
    """The recall of each label that people gave, best label first; empty for long scales."""
    if len(figures["scale"]) > _MAX_NAMED:
        return
    for label in reversed(figures["scale"]):
        if figures["recall"][label]["value"] is not None:
            yield label, figures["recall"][label]


def format_percent(share: float | None) -> str:
    """A share in whole percent; only an exact 0 or 1 gives 0% or 100%.

    >>> format_percent(0.756), format_percent(0.998), format_percent(1.0), format_percent(None)
    ('76%', '99%', '100%', '-')
    """
    if share is None:
        return "-"
    whole = round(100 * share)
    if 0 < share < 1:
        whole = min(max(whole, 1), 99)
    return f"{whole}%"


def as_objects(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Findings as objects for JSON."""
    return [asdict(finding) | {"outcome": finding.outcome.value} for finding in findings]
