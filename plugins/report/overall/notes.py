"""What to know before the numbers are believed: each note with where the page shows more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from ....programs.analysis.answers.wording import counted
from ....programs.engine.folders.constant_judges import constant_judges
from ....programs.engine.folders.independence import dependence_notes
from ....records.reading.problems import InputError
from ..source import Source
from ..trust.people import pooled_text
from .inputs import CHANGED, GONE, input_states

_SHOWN = 3
_JUDGED_OTHERWISE = ("other_judge", "other_nuggets")
_REASONS = {
    "no_passage": "the passage text is not in the data",
    "error": "no reply from the model",
    "budget": "a limit was reached",
    "refused": "the model refused",
    "abstained": "the judge could not tell",
    "truncated": "the reply was cut off",
    "unparseable": "the reply was not a judgement",
    "incomplete": "the reply left something out",
    "ungrounded": "no quote is in the judged text",
    "quorum": "too few members of the jury judged",
    "steps": "the agent used up its steps",
    "tool": "a tool of the agent failed",
}


class Note(NamedTuple):
    """A sentence; `section` of the page shows more, where `link` leads."""

    text: str
    section: str = ""
    link: str = ""
    is_warning: bool = False

    def as_json(self) -> Mapping[str, Any]:
        """For the page."""
        return self._asdict()


def note_word_overlap(source: Source) -> Iterator[Note]:
    """That no model judged, where none did."""
    names = {name for result in source.results for name in result.manifest.get("answered_by", ())}
    if names == {"lexical"}:
        text = "Word overlap, no model read the answers: good for trying out, not for conclusions."
        yield Note(text, "method", "how it was judged", is_warning=True)


def note_judges(source: Source) -> Iterator[Note]:
    """What speaks against a judge: it knows the systems, says one thing always, or is another."""
    for result in source.results:
        name = _folder_prefix(source, result.folder)
        for note in dependence_notes(result.manifest):
            yield Note(f"{name}{note}", "method", "how it was judged", is_warning=True)
        for what in constant_judges(result.manifest):
            yield Note(f"{name}{what}.", "method", "how it was judged", is_warning=True)
    for problem in source.problems.rows:
        if problem.kind in _JUDGED_OTHERWISE:
            yield Note(f"{problem.file}: {problem.what}.", "method", "how each was judged")
    with suppress(InputError):  # the box says so
        by_file = {sides.one: pooled_text(source, sides) for sides in source.sides}
        texts = [text for text in by_file.values() if text and source.labels]
        yield from (Note(text, "people", "people and judge", is_warning=True) for text in texts)
    if source.not_corrected:
        text = f"Not all scores are corrected with people's labels: {source.not_corrected}"
        yield Note(text, "people", "people and judge")


def note_stops(source: Source) -> Iterator[Note]:
    """Runs of judges that ended early."""
    for result in source.results:
        name = _folder_prefix(source, result.folder)
        if reached := result.manifest["limit_reached"]:
            text = f"{name}The run stopped at {reached}: its results are partial."
        elif result.manifest.get("partial"):
            text = f"{name}The run was stopped before its end: its results are partial."
        else:
            continue
        yield Note(text, "unjudged", "what was not judged", is_warning=True)


def note_missing(source: Source) -> Iterator[Note]:
    """By stage how many judgements are missing, and why; then which stages are complete."""
    n_judged, n_missing = _by_stage(source, "judged"), _by_stage(source, "unjudged")
    missing = {stage: n for stage, n in n_missing.items() if n}
    if not missing:
        return
    shares = [f"{n / (n + n_judged.get(s, 0)):.0%} of {s}" for s, n in missing.items()]
    reasons = _by_stage(source, "unjudged_by_reason")
    whys = [
        _REASONS.get(reason, reason.replace("_", " ")) + (f" ({n:,})" if len(reasons) > 1 else "")
        for reason, n in sorted(reasons.items(), key=lambda item: -item[1])
    ]
    text = f"{', '.join(shares)}{': ' if whys else ''}{', '.join(whys)}."
    if complete := [stage for stage, n in n_judged.items() if n and stage not in missing]:
        text += f" Complete: {', '.join(complete)}."
    yield Note(text, "unjudged", "what is missing")


def note_bounds(source: Source) -> Iterator[Note]:
    """How many runs what is missing could move."""
    if widened := widened_runs(source):
        of = f"{len(widened):,} of {counted(len(source.runs), 'run')}"
        yield Note(
            f"Missing judgements could change the scores of {of}.", "unjudged", "their bounds"
        )


def _by_stage(source: Source, name: str) -> dict[str, int]:
    """Counts of the manifests, added up over the folders."""
    counts: dict[str, int] = {}
    for result in source.results:
        for key, n in result.manifest.get(name, {}).items():
            counts[key] = counts.get(key, 0) + n
    return counts


def widened_runs(source: Source) -> set[str]:
    """Runs of which judgements are missing in some measure."""
    return {
        run
        for measure in source.measures
        for run in source.scores.values[measure]
        for topic, row in source.scores.rows[measure].get(run, {}).items()
        if topic != "all" and row.n_unjudged
    }


def unanswered_runs(source: Source) -> list[tuple[str, int, int]]:
    """Runs that did not answer every topic: how many they answered of how many, fewest first.

    By the measure that shows most of what is missing.
    """
    fewer: dict[str, tuple[int, int]] = {}
    for measure in source.measures:
        if source.scores.is_of_answered(measure):
            continue
        topics = source.scores.topics[measure]
        for run in source.scores.values[measure]:
            n = len(set(topics) & source.scores.rows[measure].get(run, {}).keys())
            if n < len(topics) and n < fewer.get(run, (len(topics), 0))[0]:
                fewer[run] = n, len(topics)
    rows = [(run, n, of) for run, (n, of) in fewer.items()]
    return sorted(rows, key=lambda row: (row[1], row[0]))


def note_unanswered(source: Source) -> Iterator[Note]:
    """The runs that answered fewest topics."""
    if not (fewest := unanswered_runs(source)):
        return
    named = [f"{run} {n} of {of}" for run, n, of in fewest[:_SHOWN]]
    more = f" and {len(fewest) - _SHOWN:,} more" if len(fewest) > _SHOWN else ""
    yield Note(f"Topics answered: {', '.join(named)}{more}.", "topics", "which topics")


def note_changes(source: Source) -> Iterator[Note]:
    """Files that were judged and are another, or nowhere, by now."""
    states = [one for result in source.results for one in input_states(result)]
    changed, gone = ([name for name, _, now in states if now == of] for of in (CHANGED, GONE))
    files = (
        "{} of the files that were judged {}: {}{}. The scores still hold; texts may be missing."
    )
    for names, one, several in (
        (changed, "has changed since", "have changed since"),
        (gone, "is not where it was", "are not where they were"),
    ):
        if names:
            verb = one if len(names) == 1 else several
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            text = files.format(f"{len(names):,}", verb, names[0], more)
            yield Note(text, "method", "all inputs", is_warning=True)


def _folder_prefix(source: Source, folder: Any) -> str:
    return f"{source.named(folder)}: " if len(source.paths) > 1 else ""
