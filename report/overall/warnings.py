"""What to know before the numbers are believed: each warning with where it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ...metrics.bootstrap import LEVEL
from ...programs.analysis.answers.wording import counted
from ...programs.analysis.tables.leaderboards import too_few
from ...programs.engine.folders.constant_judges import constant_judges
from ...programs.engine.folders.independence import dependence_notes
from ...records.reading.problems import InputError
from ..source import Source
from ..trust.people import pooled_text
from .inputs import CHANGED, GONE, input_states

_FEW_TOPICS = 10  # below them intervals are a rough guide
_SHOWN = 3
_JUDGED_OTHERWISE = ("other_judge", "other_nuggets")


def warnings(source: Source) -> list[dict[str, str]]:
    """Each with `text`, and `section` and `link` where the page shows more."""
    rows = [*_of_judges(source), *_of_labels(source), *_of_runs(source)]
    rows += [*_of_comparison(source), *_of_inputs(source)]
    if source.not_corrected:
        text = f"Not all scores are corrected with people's labels: {source.not_corrected}"
        rows.append(_warning(text, "people"))
    return rows


def _warning(text: str, section: str = "", link: str = "") -> dict[str, str]:
    return {"text": text, "section": section, "link": link}


def _of_runs(source: Source) -> Iterator[dict[str, str]]:
    for result in source.results:
        name = f"{source.named(result.folder)}: " if len(source.paths) > 1 else ""
        if reached := result.manifest["limit_reached"]:
            text = f"{name}The run stopped at {reached}: its results are partial."
            yield _warning(text, "unjudged", "what was not judged")
        elif result.manifest.get("partial"):
            text = f"{name}The run was stopped before its end: its results are partial."
            yield _warning(text, "unjudged", "what was not judged")
        for note in dependence_notes(result.manifest):
            yield _warning(f"{name}{note}", "method", "how it was judged")
        for what in constant_judges(result.manifest):
            yield _warning(f"{name}{what}.", "method", "how it was judged")
    if n := sum(result.n_unjudged for result in source.results):
        widened = widened_runs(source)
        runs = "run" if len(source.runs) == 1 else "runs"
        text = f"{counted(n, 'judgement')} did not arrive{_reasons(source)}"
        if widened:
            they = "it widens" if n == 1 else "they widen"
            text += f"; {they} the bounds of {len(widened):,} of {len(source.runs):,} {runs}"
        yield _warning(f"{text}.", "unjudged", "what is missing")
    yield from _answered(source)


def _reasons(source: Source) -> str:
    counts: dict[str, int] = {}
    for result in source.results:
        for reason, n in result.manifest.get("unjudged_by_reason", {}).items():
            counts[reason] = counts.get(reason, 0) + n
    listed = ", ".join(f"{reason} {n:,}" for reason, n in sorted(counts.items()))
    return f" ({listed})" if listed else ""


def widened_runs(source: Source) -> set[str]:
    """Runs of which judgements are missing in some measure."""
    return {
        run
        for measure in source.measures
        for run in source.scores.values[measure]
        for topic, row in source.scores.rows[measure].get(run, {}).items()
        if topic != "all" and row.n_unjudged
    }


def _answered(source: Source) -> Iterator[dict[str, str]]:
    """Runs that answered fewer topics, by the measure that shows most of them."""
    fewer: dict[str, tuple[int, int]] = {}
    for measure in source.measures:
        if source.scores.is_of_answered(measure):
            continue
        topics = source.scores.topics[measure]
        for run in source.scores.values[measure]:
            n = len(set(topics) & source.scores.rows[measure].get(run, {}).keys())
            if n < len(topics) and n < fewer.get(run, (len(topics), 0))[0]:
                fewer[run] = n, len(topics)
    if not fewer:
        return
    least = sorted(fewer.items(), key=lambda item: (item[1][0], item[0]))
    named = [f"{run} {n} of {of}" for run, (n, of) in least[:_SHOWN]]
    more = f" and {len(least) - _SHOWN:,} more" if len(least) > _SHOWN else ""
    subject = "One run" if len(least) == 1 else f"{len(least):,} runs"
    text = f"{subject} did not answer every topic: {', '.join(named)}{more}"
    text += "; in a mean each missing answer counts 0."
    yield _warning(text, "topics", "which topics")


def _of_judges(source: Source) -> Iterator[dict[str, str]]:
    names = {name for result in source.results for name in result.manifest.get("answered_by", ())}
    if names == {"lexical"}:
        yield _warning(
            "No model judged this: every label is word overlap, good for trying out and for "
            "tests, not for conclusions about systems.",
            "method",
            "how it was judged",
        )
    for problem in source.problems.rows:
        if problem.kind in _JUDGED_OTHERWISE:
            yield _warning(f"{problem.file}: {problem.what}.", "method", "how each was judged")


def _of_labels(source: Source) -> Iterator[dict[str, str]]:
    """Files with labels of several conditions, once each."""
    with suppress(InputError):  # said where agreement stands
        by_file = {sides.one: pooled_text(source, sides) for sides in source.sides}
        texts = [text for text in by_file.values() if text and source.labels]
        yield from (_warning(text, "people", "people and judge") for text in texts)


def _of_comparison(source: Source) -> Iterator[dict[str, str]]:
    measure = source.measures[0]
    n_topics = len(source.scores.topics[measure])
    n_apart, n_steps = told_apart(source, measure)
    compared = source.compared(measure)
    if n_steps and n_apart is None:
        text = f"By {measure} no two runs share a topic, so they are not tested."
        yield _warning(text, "pairs", "what was tested")
    elif n_steps and compared["least_topics"] is not None:
        text = f"By {measure} {too_few(compared['least_topics'], len(compared['runs']))}."
        yield _warning(text, "pairs", "all pairs")
    elif n_steps and not n_apart:
        what = "the two runs do" if n_steps == 1 else f"no two neighbours of {n_steps + 1:,} runs"
        what += " not differ significantly" if n_steps == 1 else " differ significantly"
        text = f"By {measure} {what}: the order may be chance."
        yield _warning(text, "pairs", "all pairs")
    if n_topics < _FEW_TOPICS:
        text = f"{n_topics:,} topics are few: read the {LEVEL:.0%} intervals as a rough guide."
        yield _warning(text.replace("1 topics are", "1 topic is"))


def told_apart(source: Source, measure: str) -> tuple[int | None, int]:
    """How many neighbours on the leaderboard differ significantly, and of how many.

    None: no two runs share a topic.
    """
    pairs = source.compared(measure)["pairs"]
    steps = [pair["is_told_apart"] for pair in pairs if pair.get("are_neighbours", True)]
    if steps and all(step is None for step in steps):
        return None, len(steps)
    return sum(bool(step) for step in steps), len(steps)


def _of_inputs(source: Source) -> Iterator[dict[str, str]]:
    states = [one for result in source.results for one in input_states(result)]
    changed, gone = ([name for name, _, now in states if now == of] for of in (CHANGED, GONE))
    files = "{} of the files that were judged {}: {}{}. The scores stand; texts may be missing."
    for names, one, several in (
        (changed, "has changed since", "have changed since"),
        (gone, "is not where it was", "are not where they were"),
    ):
        if names:
            verb = one if len(names) == 1 else several
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            yield _warning(
                files.format(f"{len(names):,}", verb, names[0], more), "method", "all inputs"
            )
