"""Scores by group of topics: domain, category, or length of documents."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

from ...metrics.answer_scores import Value, mean_over_topics
from ...metrics.key_points import group_means
from ...metrics.length import count_words
from ...records.documents import read_topic_documents
from ...records.reading.problems import InputError, Problems, did_you_mean
from ...records.topics import read_topics
from ...views.table import Column, Kind, Row, Table
from ..engine.folders import find_inputs
from ..protocols.table import meaning
from ..scoring.topic_scores import TopicScores, merge_sources, topic_scores
from .compare_runs import PRIMARY
from .leaderboards import check_measures

DOCUMENTS = "documents"
FIELDS = ("domain", "category")
GROUPS = (*FIELDS, DOCUMENTS)
NO_GROUP = "(none)"


def read_topic_groups(
    folders: Sequence[Path], by: str, problems: Problems
) -> tuple[dict[str, str], list[str]]:
    """Return the group of each topic, and the groups in order.

    Args:
        by: `domain` or `category`, fields of the topics file; `documents`: quartiles of topics by
            words of all their documents, or `documents:500,1000`: groups with these bounds.

    Raises: InputError for another name, or if the inputs of a folder lack the field.
    """
    name, _, cuts = by.partition(":")
    if name not in GROUPS or (cuts and name != DOCUMENTS):
        wanted = f"wanted {', '.join(GROUPS)} or {DOCUMENTS}:WORDS,WORDS"
        raise InputError(f"--by {by}: {wanted}{did_you_mean(name, GROUPS)}")
    if name == DOCUMENTS:
        lengths: dict[str, int] = {}
        for folder in folders:
            documents = read_topic_documents(_find(folder, name), problems)
            for topic, texts in documents.items():
                lengths[topic] = sum(count_words(one.text) for one in texts.values())
        return group_by_length(lengths, _read_cuts(by, cuts))
    groups: dict[str, str] = {}
    for folder in folders:
        for one in read_topics(_find(folder, "topics"), problems).values():
            groups[one.id] = getattr(one, name)
    if not any(groups.values()):
        raise InputError(f"--by {by}: no topic of {folders[0]} has a {name}; add it to --topics")
    return groups, sorted(set(groups.values()), key=lambda group: (not group, group))


def _find(folder: Path, name: str) -> Path:
    """Return the file of `data:` that a folder was made with."""
    inputs = find_inputs(folder)
    path: Path | None = getattr(inputs.config.data, name)
    if path is None:
        raise InputError(f"{folder}: made without data.{name}; run it again with this setting")
    inputs.check("topics cannot be grouped", of=[path])
    return path


def _read_cuts(by: str, cuts: str) -> list[float]:
    try:
        numbers = [float(cut) for cut in cuts.split(",") if cut]
    except ValueError:
        numbers = [-1.0]
    if any(number <= 0 for number in numbers) or sorted(set(numbers)) != numbers:
        raise InputError(f"--by {by}: wanted increasing numbers of words above 0, with commas")
    return numbers


def group_by_length(
    lengths: Mapping[str, int], cuts: Sequence[float] = ()
) -> tuple[dict[str, str], list[str]]:
    """Group topics by length; each group is named after its shortest and longest topic.

    A topic exactly as long as a cut belongs to the lower group.

    Args:
        lengths: topic id -> words. cuts: upper ends of groups; (): quartiles.

    >>> group_by_length({"a": 10, "b": 300, "c": 20}, [100])
    ({'a': '10-20', 'b': '300-300', 'c': '10-20'}, ['10-20', '300-300'])
    """
    ordered = sorted(lengths.values())
    if not cuts and len(ordered) > 1:
        cuts = quantiles(ordered, n=4, method="inclusive")
    groups: dict[int, list[str]] = {}
    for topic, length in lengths.items():
        groups.setdefault(bisect_left(cuts, length), []).append(topic)
    names = {}
    for part, topics in sorted(groups.items()):
        inside = [lengths[topic] for topic in topics]
        names[part] = f"{min(inside):,}-{max(inside):,}"
    by_topic = {topic: names[part] for part, topics in groups.items() for topic in topics}
    return {topic: by_topic[topic] for topic in lengths}, list(names.values())


@dataclass(frozen=True)
class GroupMeans:
    """Means of runs by one measure and group of topics.

    Attributes:
        groups: names in order, with their numbers of topics.
        runs: best mean first; each with mean and topics over all (`""`) and by group.
    """

    by: str
    measure: str
    groups: Mapping[str, int]
    n_topics: int
    runs: Mapping[str, tuple[tuple[Value, int], Mapping[str, tuple[Value, int]]]]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Return a row for each run and group, as in groups.jsonl; group None is all topics."""
        for run_id, (mean, by_group) in self.runs.items():
            for group, (value, n) in [(None, mean), *by_group.items()]:
                row = {"run_id": run_id, "by": self.by, "group": group, "measure": self.measure}
                yield {**row, **asdict(value), "n_topics": n}


def compute_group_means(
    scores: TopicScores, groups: tuple[Mapping[str, str], Sequence[str]], by: str, measure: str
) -> GroupMeans:
    """Average a measure over the topics of each group.

    Args:
        groups: the result of `read_topic_groups`; unknown topics belong to no group.

    An unanswered topic scores 0, or is left out by measures of answered topics.
    """
    of_topic, names = groups
    topics = list(scores.topics[measure])
    wanted = None if scores.is_of_answered(measure) else topics
    runs = {}
    for run in scores.values[measure]:
        rows = scores.rows[measure][run]
        values = {
            topic: Value(row.value, row.n or 0, row.n_unjudged or 0, row.low, row.high)
            for topic in topics
            if (row := rows.get(topic)) is not None
        }
        by_group = group_means(values, of_topic, wanted)
        runs[run] = mean_over_topics(values, wanted), by_group
    sizes = Counter(of_topic.get(topic, "") for topic in topics)
    order = [name for name in dict.fromkeys((*names, "")) if sizes[name]]
    sign = 1 if meaning(measure).is_less_better else -1
    best = sorted(runs, key=lambda run: (runs[run][0][0].value is None,
                                         sign * (runs[run][0][0].value or 0), run))  # fmt: skip
    return GroupMeans(
        by, measure, {name: sizes[name] for name in order}, len(topics), {r: runs[r] for r in best}
    )


def read_group_means(
    folders: Sequence[Path], by: str, measures: Sequence[str] | None, problems: Problems
) -> list[GroupMeans]:
    """Read the means of runs in results folders by group, for each measure.

    Args:
        measures: None: the first measure that compares leaderboards; (): all.

    Raises: InputError for an unknown measure, a file instead of a folder, or as
        `read_topic_groups`.
    """
    for folder in folders:
        if not folder.is_dir():
            raise InputError(
                f"{folder}: wanted a results folder, because files do not name groups of topics"
            )
    groups = read_topic_groups(folders, by, problems)
    scores = merge_sources(folders, [topic_scores(folder, problems) for folder in folders])
    there = scores.values
    if measures is None:
        measures = [next((name for name in PRIMARY if name in there), next(iter(there)))]
    check_measures(there, list(measures), folders[0])
    return [compute_group_means(scores, groups, by, name) for name in measures or there]


def make_group_table(means: GroupMeans) -> Table:
    """Make a table with a row per run and a column per group, with its number of topics."""
    kind = Kind.NUMBER if meaning(means.measure).unit else Kind.SHARE
    columns = [Column("run", Kind.NAME), Column("all", kind, f"all ({means.n_topics:,})", digits=3)]
    for i, (name, n) in enumerate(means.groups.items()):
        head = f"{name or NO_GROUP} ({n:,})"
        columns.append(Column(name or NO_GROUP, kind, head, optional=i + 1, digits=3))
    rows = []
    for run, (mean, by_group) in means.runs.items():
        values = [get_mean(by_group.get(name)) for name in means.groups]
        rows.append(Row([run, get_mean(mean), *values]))
    notes = [
        "In parentheses: number of topics. Every topic has the same weight in the mean over all."
    ]
    if n_missing := sum(mean.n_unjudged for (mean, _), _ in means.runs.values()):
        notes.append(f"{n_missing:,} judgements are missing; means use the others.")
    what = "words of the documents" if means.by.startswith(DOCUMENTS) else means.by
    text = meaning(means.measure).text.rstrip(".")
    aside = f"{text[:1].lower()}{text[1:]}"
    return Table(f"{means.measure} by {what}", columns, rows, aside, notes=notes, has_all=True)


def get_mean(found: tuple[Value, int] | None) -> float | None:
    """Return the mean of a run and group; None if no given answer was judged."""
    if found is None or (not found[0].n and found[0].n_unjudged):
        return None
    return found[0].value
