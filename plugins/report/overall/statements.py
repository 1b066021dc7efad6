"""The title of a page: which run scores highest, and what its score means in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....programs.analysis.answers.wording import counted, listed
from ....programs.analysis.tables.leaderboards import group_phrase
from ....programs.protocols.glossary import meaning
from ....programs.protocols.table import programs
from ....views.numbers import format_short_share
from ....views.terminal import cut_names
from ..runs.leaderboard import find_leaders, main_measure, rank_runs
from ..source import Source

_MOST_NAMED = 3  # runs that share the highest score
_LONGEST_NAME = 60
NOTHING = "No run has a score yet"


def state_result(source: Source) -> str:
    """Which run scores highest by the first measure; of folders with the same runs, in each."""
    measure = main_measure(source)
    ranked = rank_runs(source, measure)
    if not ranked:
        return f"{NOTHING}: nothing was judged."
    if len(source.paths) > 1 and (by_folder := _rank_by_folder(source, ranked)):
        return _state_of_folders(source, measure, by_folder)
    (leader, value), *others = ranked
    tied = [run for run, other in ranked if other == value]
    if len(source.runs) == 1:
        return f"{_short(leader)} {_explain(measure, value)}."
    highest = _highest(measure)
    if others and len(tied) > 1:
        names = [_short(run) for run in tied]
        who = listed(names) if len(tied) <= _MOST_NAMED else f"{len(tied):,} runs"
        highest = highest.replace("scores", "score").replace("is highest", "are highest")
        return f"{who} {highest}, with the same score: {_number(measure, value)}."
    if _share(measure) is None:
        return f"{_short(leader)} {highest}: {_number(measure, value)}."
    return f"{_short(leader)} {highest}: it {_explain(measure, value)}."


def state_group(source: Source) -> str:
    """Which runs are not significantly worse than the first, and how many are."""
    measure = main_measure(source)
    group = find_leaders(source, measure)
    if not (phrase := group_phrase(group, measure, "worse")):
        return ""
    n_worse = len(group.tested) - len(group.untold) - len(group.leading)
    is_name = any(phrase.startswith(run) for run in group.leading[1:2])
    text = phrase if is_name else f"{phrase[:1].upper()}{phrase[1:]}"
    if len(group.leading) > 1 and n_worse:
        text += f"; {counted(n_worse, 'run')} {'is' if n_worse == 1 else 'are'}"
    return f"{text.replace('>=', '≥')}."


def _rank_by_folder(
    source: Source, ranked: Sequence[tuple[str, float]]
) -> list[dict[str, float]] | None:
    """Of folders that hold the same runs, such as those of two judges, each with its runs by their
    own names, best first; None: they hold different runs, or one has no scores."""
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
    folders = [path.name for path in map(source.named, source.paths)]
    leaders = [next(iter(scores)) for scores in by_folder]
    values = [scores[run] for scores, run in zip(by_folder, leaders, strict=True)]
    n = len(folders)
    results = "both results" if n == 2 else f"all {n:,} results"
    if len(set(leaders)) > 1:
        each = [f"{_short(run)} ({folder})" for run, folder in zip(leaders, folders, strict=True)]
        return f"The results disagree on the best run: {listed(each)}."
    phrase = meaning(measure).says or f"scores {measure} {{}}"
    texts = [_share(measure, value) or format_short_share(value) for value in values]
    each = [f"{text} ({folder})" for text, folder in zip(texts, folders, strict=True)]
    what = phrase.format(listed(each))
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
    """A share in percent, never 0% or 100% of what is more or less; None: not one in words."""
    if not meaning(measure).says:
        return None
    text = f"{value:.0%}"
    return f"{value:.1%}" if text in ("0%", "100%") and value not in (0, 1) else text


def _base(measure: str) -> str:
    return measure.partition("@")[0]


def _short(run: str) -> str:
    return cut_names([run], _LONGEST_NAME, "…")[0]


def program_of(measure: str) -> str:
    """Name of the program that shows a measure; "" for those of others."""
    name = _base(measure)
    if name in ("nDCG", "P(rel=2)", "AP(rel=2)"):
        return "relevance"
    return next((one.name for one in programs() if name in one.shown), "")
