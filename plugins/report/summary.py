"""The first screen: a statement, the group of the best, and three boxes with verdicts and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ...metrics.inference import LEVEL
from ...programs.analysis.answers.answer_text import command
from ...programs.analysis.tables.agreement import Strength, rate_agreement
from ...programs.analysis.tables.leaderboards import name_judges, write_group_phrase
from ...programs.analysis.tables.words import (
    FEW_SCORED_TOPICS,
    ORDER_WORDS,
    WEAK_KAPPA,
    choose_order_word,
    count,
    join_words,
)
from ...programs.engine.manifest import constant_judges, dependence_notes
from ...programs.protocols.table import meaning, programs
from ...records.reading.problems import InputError
from ...views.numbers import format_money, format_p, format_short_share
from ...views.terminal import cut_names
from .method import CHANGED, GONE, input_states, total_cost
from .runs import find_leaders, main_measure, rank_runs
from .source import Sides, Source
from .trust import warn_of_pooling

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
    """A sentence; its `link` leads to a `section` of the page that shows more."""

    text: str
    section: str = ""
    link: str = ""
    is_warning: bool = False

    def as_json(self) -> Mapping[str, Any]:
        """For the page."""
        return self._asdict()


def note_word_overlap(source: Source) -> Iterator[Note]:
    """A warning if no model judged."""
    names = {name for result in source.results for name in result.manifest.get("answered_by", ())}
    if names == {"lexical"}:
        text = (
            "The judges compared words; no model read the answers. Good for trying nuggetjudge "
            "out, not for conclusions."
        )
        yield Note(text, "method", "how it was judged", is_warning=True)


def note_judges(source: Source) -> Iterator[Note]:
    """Warnings about judges: related to a system, constant, or different between folders."""
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
        by_file = {sides.one: warn_of_pooling(source, sides) for sides in source.sides}
        texts = [text for text in by_file.values() if text and source.labels]
        yield from (Note(text, "people", "people and judge", is_warning=True) for text in texts)
    if source.not_corrected:
        text = f"Not all scores are corrected with people's labels: {source.not_corrected}"
        yield Note(text, "people", "people and judge")


def note_stops(source: Source) -> Iterator[Note]:
    """Judging that stopped early."""
    for result in source.results:
        name = _folder_prefix(source, result.folder)
        if reached := result.manifest["limit_reached"]:
            text = f"{name}Judging stopped at {reached}, so the results are partial."
        elif result.manifest.get("partial"):
            text = f"{name}Judging was stopped before its end, so the results are partial."
        else:
            continue
        yield Note(text, "unjudged", "failed judgements", is_warning=True)


def note_missing(source: Source) -> Iterator[Note]:
    """How many judgements are missing by stage, and why; then the complete stages."""
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
    yield Note(text, "unjudged", "failed judgements")


def note_bounds(source: Source) -> Iterator[Note]:
    """How many runs the missing judgements could move."""
    if widened := find_widened_runs(source):
        of = f"{len(widened):,} of {count(len(source.runs), 'run')}"
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


def find_widened_runs(source: Source) -> set[str]:
    """Runs with missing judgements in some measure."""
    return {
        run
        for measure in source.measures
        for run in source.scores.values[measure]
        for topic, row in source.scores.rows[measure].get(run, {}).items()
        if topic != "all" and row.n_unjudged
    }


def find_unanswered_runs(source: Source) -> list[tuple[str, int, int]]:
    """Runs that did not answer every topic, as (run, n answered, n topics), fewest first.

    The counts are of the measure with the most unanswered topics.
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
    if not (fewest := find_unanswered_runs(source)):
        return
    named = [f"{run} {n} of {of}" for run, n, of in fewest[:_SHOWN]]
    more = f" and {len(fewest) - _SHOWN:,} more" if len(fewest) > _SHOWN else ""
    yield Note(f"Topics answered: {', '.join(named)}{more}.", "topics", "which topics")


def note_changes(source: Source) -> Iterator[Note]:
    """Judged files that have changed or are missing."""
    states = [one for result in source.results for one in input_states(result)]
    changed, gone = ([name for name, _, now in states if now == of] for of in (CHANGED, GONE))
    files = "{} of the judged files {}: {}{}. The scores still hold; texts may be missing."
    for names, one, several in (
        (changed, "has changed since", "have changed since"),
        (gone, "is missing", "are missing"),
    ):
        if names:
            verb = one if len(names) == 1 else several
            more = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
            text = files.format(f"{len(names):,}", verb, names[0], more)
            yield Note(text, "method", "all inputs", is_warning=True)


def _folder_prefix(source: Source, folder: Any) -> str:
    return f"{source.name_path(folder)}: " if len(source.paths) > 1 else ""


_MAX_NAMED = 3  # runs that share the highest score
_LONGEST_NAME = 60
NO_SCORE = "No run has a score yet"


def state_result(source: Source) -> str:
    """Which run scores highest by the first measure; in each folder if they have the same runs."""
    measure = main_measure(source)
    ranked = rank_runs(source, measure)
    if not ranked:
        return f"{NO_SCORE}: nothing was judged."
    if len(source.paths) > 1 and (by_folder := _rank_by_folder(source, ranked)):
        return _state_of_folders(source, measure, by_folder)
    (leader, value), *others = ranked
    tied = [run for run, other in ranked if other == value]
    if len(source.runs) == 1:
        return f"{_short(leader)} {_explain(measure, value)}."
    highest = _highest(measure)
    if others and len(tied) > 1:
        names = [_short(run) for run in tied]
        who = join_words(names) if len(tied) <= _MAX_NAMED else f"{len(tied):,} runs"
        highest = highest.replace("scores", "score").replace("is highest", "are highest")
        return f"{who} {highest}, with the same score: {_number(measure, value)}."
    if _share(measure) is None:
        return f"{_short(leader)} {highest}: {_number(measure, value)}."
    return f"{_short(leader)} {highest}: it {_explain(measure, value)}."


def state_group(source: Source) -> str:
    """Which runs are not significantly worse than the first run, and how many runs are."""
    measure = main_measure(source)
    group = find_leaders(source, measure)
    if not (phrase := write_group_phrase(group, measure, "worse")):
        return ""
    n_worse = len(group.tested) - len(group.not_compared) - len(group.leading)
    is_name = any(phrase.startswith(run) for run in group.leading[1:2])
    text = phrase if is_name else f"{phrase[:1].upper()}{phrase[1:]}"
    if len(group.leading) > 1 and n_worse:
        text += f"; {count(n_worse, 'run')} {'is' if n_worse == 1 else 'are'}"
    return f"{text.replace('>=', '≥')}."


def _rank_by_folder(
    source: Source, ranked: Sequence[tuple[str, float]]
) -> list[dict[str, float]] | None:
    """The runs of each folder by their own names, best first, if all folders have the same runs,
    such as the folders of two judges; None if the runs differ or a folder has no scores."""
    by_folder = []
    for names in source.names:
        own_names = {shown: run for run, shown in names.items() if shown in source.runs}
        by_folder.append({own_names[run]: score for run, score in ranked if run in own_names})
    runs = [set(scores) for scores in by_folder]
    is_same = all(runs) and all(other == runs[0] for other in runs)
    is_apart = len(ranked) == sum(map(len, runs))
    return by_folder if is_same and is_apart else None


def _state_of_folders(
    source: Source, measure: str, by_folder: Sequence[Mapping[str, float]]
) -> str:
    folders = [path.name for path in map(source.name_path, source.paths)]
    leaders = [next(iter(scores)) for scores in by_folder]
    values = [scores[run] for scores, run in zip(by_folder, leaders, strict=True)]
    n = len(folders)
    results = "both results" if n == 2 else f"all {n:,} results"
    if len(set(leaders)) > 1:
        each = [f"{_short(run)} ({folder})" for run, folder in zip(leaders, folders, strict=True)]
        return f"The results disagree on the best run: {join_words(each)}."
    phrase = meaning(measure).says or f"scores {measure} {{}}"
    texts = [_share(measure, value) or format_short_share(value) for value in values]
    each = [f"{text} ({folder})" for text, folder in zip(texts, folders, strict=True)]
    what = phrase.format(join_words(each))
    if len(by_folder[0]) == 1:
        return f"{_short(leaders[0])} {what}."
    return f"{_short(leaders[0])} {_highest(measure)} in {results}: it {what}."


def _highest(measure: str) -> str:
    about = meaning(measure)
    if not about.is_quality:
        return "is highest"
    return "scores lowest, which is best" if about.is_less_better else "scores highest"


def _explain(measure: str, value: float) -> str:
    share = _share(measure, value)
    if share is None:
        return f"scores {_number(measure, value)}"
    return meaning(measure).says.format(share)


def _number(measure: str, value: float) -> str:
    return f"{measure} {format_short_share(value)}"


def _share(measure: str, value: float = 0.0) -> str | None:
    """A share in percent, 0% and 100% only if exact; None if the measure has no sentence."""
    if not meaning(measure).says:
        return None
    text = f"{value:.0%}"
    return f"{value:.1%}" if text in ("0%", "100%") and value not in (0, 1) else text


def _base(measure: str) -> str:
    return measure.partition("@")[0]


def _short(run: str) -> str:
    return cut_names([run], _LONGEST_NAME, "…")[0]


def find_program(measure: str) -> str:
    """Name of the task that shows a measure; "" if no task does."""
    name = _base(measure)
    if name in ("nDCG", "P(rel=2)", "AP(rel=2)"):
        return "relevance"
    return next((one.name for one in programs() if name in one.shown), "")


NOT_KNOWN, NOTHING = "Not known", "Nothing"


def make_boxes(source: Source) -> list[Mapping[str, Any]]:
    """Each box has `question`, `section`, `verdict`, `is_warning`, `lines` that are always shown,
    `notes` that open (see `Note`), and a `command` that answers an open question."""
    return [_order(source), _trust(source), _missing(source)]


def _order(source: Source) -> Mapping[str, Any]:
    measure = main_measure(source)
    lines = []
    if len(source.runs) < 2:
        verdict, lines = "One run", [Note("A single run has no order to test.")]
    else:
        verdict, line = _verdict_on_order(source, measure)
        lines.append(line)
    n_topics = len(source.scores.topics[measure])
    if n_topics < FEW_SCORED_TOPICS:
        few = f"There {'is' if n_topics == 1 else 'are'} only {count(n_topics, 'topic')}"
        text = f"{few}: take the {LEVEL:.0%} intervals as a rough guide."
        lines.append(Note(text, is_warning=True))
    is_warning = verdict in (ORDER_WORDS[-1], NOT_KNOWN)
    return _box("Is the order sure?", verdict, "pairs", lines, [], is_warning=is_warning)


def _verdict_on_order(source: Source, measure: str) -> tuple[str, Note]:
    compared = source.compare(measure)
    tested = [pair for pair in compared["pairs"] if pair["is_significant"] is not None]
    if not tested:
        why = "no two runs share a judged topic" if compared["pairs"] else "pairs were not tested"
        return NOT_KNOWN, Note(f"By {measure}, {why}.")
    pairs = compared["pairs"]
    differing = [bool(pair["is_significant"]) for pair in pairs]
    neighbours = [bool(p["is_significant"]) for p in pairs if p.get("are_neighbours", True)]
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
        lines.append(Note("There are no labels from people. Label a sample, then report again:"))
        folders = [source.name_path(path) for path in source.paths]
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
    program = find_program(main_measure(source))
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
    """How well a judge agrees with a file of labels."""

    kind: str
    name: str
    n: int
    strength: Strength


def _rate(source: Source, side: Sides) -> _Rated:
    agreement = side.comparison["agreement"]
    folder = f", {source.name_path(side.other).name}" if len(source.paths) > 1 else ""
    name = f"{agreement['kind']}{folder}"
    return _Rated(agreement["kind"], name, agreement["n"], rate_agreement(agreement))


def _count_equal(rated: _Rated, *, has_kappa: bool) -> str:
    parts = [_kappa(rated.strength)] if has_kappa else []
    if (share := rated.strength.share_equal) is not None:
        parts.append(f"{share:.0%} of {count(rated.n, 'label')} equal")
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
    verdict = f"{n_missing:,} of {count(total, 'judgement')}" if n_missing else NOTHING
    lines = [*note_stops(source), *note_missing(source)]
    if not n_missing:
        lines.append(Note(f"All {count(total, 'judgement')} succeeded."))
    if fewer := find_unanswered_runs(source):
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


def make_summary(source: Source) -> Mapping[str, Any]:
    """`title` (also of the page), `group`, `about` the data, `boxes`."""
    return {
        "title": state_result(source),
        "group": state_group(source),
        "about": _describe(source),
        "boxes": make_boxes(source),
        "measure": main_measure(source),
    }


def _describe(source: Source) -> str:
    """What was judged, by which model, at what cost."""
    manifests = [result.manifest for result in source.results]
    parts = [count(len(source.topics), "topic"), count(len(source.runs), "run")]
    if n := sum(one["data"].get("answers", 0) for one in manifests):
        parts.append(count(n, "answer"))
    models = dict.fromkeys(name for one in manifests for name in one.get("answered_by", ()))
    judges = f"judged by {name_judges(list(models))}" if models else "not judged yet"
    names = [source.name_path(path).name for path in source.paths]
    of = f"{', '.join(names)}: " if len(names) > 1 else ""
    cost = f", cost {format_money(spent)}" if (spent := total_cost(source)) else ""
    return f"{of}{', '.join(parts)}; {judges}{cost}."
