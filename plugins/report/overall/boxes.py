"""Three questions about a result, each with a plain verdict: order, judge, what is missing.

`docs/learn/glossary.md` has the words of the verdicts and what they mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ....metrics.bootstrap import LEVEL
from ....programs.analysis.answers.wording import command, counted
from ....programs.analysis.tables.agreement import Strength, rate_agreement
from ....programs.analysis.tables.words import (
    FEW_SCORED_TOPICS,
    ORDER_WORDS,
    WEAK_KAPPA,
    choose_order_word,
)
from ....records.reading.problems import InputError
from ....views.numbers import format_p, format_short_share
from ..runs.leaderboard import main_measure
from ..source import Sides, Source
from .notes import (
    Note,
    note_bounds,
    note_changes,
    note_judges,
    note_missing,
    note_stops,
    note_unanswered,
    note_word_overlap,
    unanswered_runs,
)
from .statements import program_of

NOT_KNOWN, NOTHING = "Not known", "Nothing"


def make_boxes(source: Source) -> list[Mapping[str, Any]]:
    """Each box has `question`, `section`, `verdict`, `is_warning`, `lines` that are always shown
    and `notes` that open, see `Note`, and a `command` that makes known what is not."""
    return [_order(source), _trust(source), _missing(source)]


def _order(source: Source) -> Mapping[str, Any]:
    measure = main_measure(source)
    lines = []
    if len(source.runs) < 2:
        verdict, lines = "One run", [Note("There is no order to test.")]
    else:
        verdict, line = _verdict_on_order(source, measure)
        lines.append(line)
    n_topics = len(source.scores.topics[measure])
    if n_topics < FEW_SCORED_TOPICS:
        few = f"{n_topics:,} topics are few: read" if n_topics != 1 else "1 topic is few: read"
        lines.append(Note(f"{few} the {LEVEL:.0%} intervals as a rough guide.", is_warning=True))
    is_warning = verdict in (ORDER_WORDS[-1], NOT_KNOWN)
    return _box("Is the order sure?", verdict, "pairs", lines, [], is_warning=is_warning)


def _verdict_on_order(source: Source, measure: str) -> tuple[str, Note]:
    compared = source.compared(measure)
    tested = [pair for pair in compared["pairs"] if pair["is_told_apart"] is not None]
    if not tested:
        why = "no two runs share a judged topic" if compared["pairs"] else "pairs were not tested"
        return NOT_KNOWN, Note(f"By {measure} {why}.")
    pairs = compared["pairs"]
    differing = [bool(pair["is_told_apart"]) for pair in pairs]
    neighbours = [bool(p["is_told_apart"]) for p in pairs if p.get("are_neighbours", True)]
    n, n_next = sum(differing), sum(neighbours)
    verdict = choose_order_word(differing, neighbours)
    how = f"({compared['test']}, p < {format_p(1 - LEVEL)})"
    if len(compared["runs"]) == 2:
        what = "The two runs differ" if n else "The two runs do not differ"
        return verdict, Note(f"{what} significantly by {measure} {how}.")
    which = f"{n:,} of {len(pairs):,} pairs of runs differ significantly by {measure}"
    nexts = f"{n_next:,} of {len(neighbours):,} neighbours do" if n_next else "no two neighbours do"
    return verdict, Note(f"{which} {how}; {nexts}.")


def _trust(source: Source) -> Mapping[str, Any]:
    question, lines = "Can the judge be trusted?", [*note_word_overlap(source)]
    warnings, notes = _take_warning([*note_judges(source)])
    lines += warnings
    if not source.labels:
        lines.append(Note("No labels of people were given. To label a sample, then report again:"))
        folders = [source.named(path) for path in source.paths]
        shell = "\n".join(
            (
                command("judge", "next", folders[0], "--n", "100", "--out", "sheet.csv"),
                command("judge", "report", *folders, "--labels", "sheet.csv"),
            )
        )
        return _box(question, NOT_KNOWN, "people", lines, notes, is_warning=True, command=shell)
    try:
        sides = source.sides
    except InputError as error:
        lines.append(Note(str(error)))
        return _box(question, NOT_KNOWN, "people", lines, notes, is_warning=True)
    program = program_of(main_measure(source))
    rated = [_rate(source, side) for side in sides]
    rated.sort(key=lambda one: one.kind != program)
    first = rated[0]
    which = f" for {first.kind}" if len({one.kind for one in rated}) > 1 else ""
    verdict = f"{_word(first.strength)}{which}: {_kappa(first.strength)}"
    counts = [_count_equal(one, has_kappa=i > 0) for i, one in enumerate(rated)]
    if all(one.strength.people is None for one in rated):
        counts.append("How well people agree with each other is not known.")
    lines.append(Note(" ".join(counts)))
    value = first.strength.value
    is_weak = value is None or round(value, 2) <= WEAK_KAPPA
    return _box(question, verdict, "people", lines, notes, is_warning=is_weak)


def _take_warning(notes: Sequence[Note]) -> tuple[list[Note], list[Note]]:
    """The first warning, which is always shown, and the other notes."""
    warnings = [note for note in notes if note.is_warning][:1]
    return warnings, [note for note in notes if note not in warnings]


class _Rated(NamedTuple):
    """How far a judge agrees with a file of labels."""

    kind: str
    name: str
    n: int
    strength: Strength


def _rate(source: Source, side: Sides) -> _Rated:
    agreement = side.comparison["agreement"]
    folder = f", {source.named(side.other).name}" if len(source.paths) > 1 else ""
    name = f"{agreement['kind']}{folder}"
    return _Rated(agreement["kind"], name, agreement["n"], rate_agreement(agreement))


def _count_equal(rated: _Rated, *, has_kappa: bool) -> str:
    parts = [_kappa(rated.strength)] if has_kappa else []
    if (share := rated.strength.share_equal) is not None:
        parts.append(f"{share:.0%} of {counted(rated.n, 'label')} equal")
    if (people := rated.strength.people) is not None:
        parts.append(f"people with each other κ {format_short_share(people)}")
    return f"{rated.name[:1].upper()}{rated.name[1:]}: {', '.join(parts)}."


def _word(strength: Strength) -> str:
    word = strength.word or "to an unknown degree"
    return f"{word[:1].upper()}{word[1:]}"


def _kappa(strength: Strength) -> str:
    name = strength.kappa.replace("kappa", "κ")
    value = "undefined" if strength.value is None else format_short_share(strength.value)
    return f"{name}\N{NO-BREAK SPACE}{value}"


def _missing(source: Source) -> Mapping[str, Any]:
    n_missing = sum(result.n_unjudged for result in source.results)
    total = n_missing + sum(result.n_judged for result in source.results)
    verdict = f"{n_missing:,} of {counted(total, 'judgement')}" if n_missing else NOTHING
    lines = [*note_stops(source), *note_missing(source)]
    if not n_missing:
        lines.append(Note(f"All {counted(total, 'judgement')} are there."))
    if fewer := unanswered_runs(source):
        left = "1 run left topics" if len(fewer) == 1 else f"{len(fewer):,} runs left topics"
        lines.append(Note(f"{left} unanswered (scored 0)."))
    notes = [*note_bounds(source), *note_unanswered(source), *note_changes(source)]
    is_warning = any(note.is_warning for note in lines) or n_missing > 0
    return _box("What is missing?", verdict, "unjudged", lines, notes, is_warning=is_warning)


def _box(
    question: str,
    verdict: str,
    section: str,
    lines: Sequence[Note],
    notes: Sequence[Note],
    *,
    is_warning: bool,
    command: str = "",
) -> Mapping[str, Any]:
    return {
        "question": question,
        "section": section,
        "verdict": verdict,
        "is_warning": is_warning,
        "lines": [{"text": line.text, "is_warning": line.is_warning} for line in lines],
        "notes": [note.as_json() for note in notes],
        "command": command,
    }
