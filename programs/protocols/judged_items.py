"""The items that a judge labelled, with what each is worth in every measure of its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ...metrics.answer_scores import expected_gain
from ...records.kinds import Cell

Floats = NDArray[np.float64]
ALL = "all"  # the run of items that belong to none, such as passages of a pool


@dataclass(frozen=True)
class Measure:
    """A score that is a weighted mean of what items earn."""

    name: str
    gains: Mapping[str, float]  # label -> what it earns, worst label first
    weights: Floats  # (n_items,) of each item in its run's score; they sum to 1 or, where
    # topics or sentences earn nothing without a judgement, to less
    topics: tuple[str, ...]  # over which it is a mean
    by_own_topics: bool = False  # each run over those that it has items of

    def judged_gains(self, items: JudgedItems) -> Floats:
        """(n_items,) by probabilities where there are some, else by label; nan: not judged."""
        gains = np.full(len(items.cells), np.nan)
        for i, (label, chances) in enumerate(zip(items.labels, items.probabilities, strict=True)):
            gain = expected_gain(chances, self.gains) if chances else None
            if gain is None and label is not None:
                gain = self.gains[label]
            if gain is not None:
                gains[i] = gain
        return gains


@dataclass(frozen=True)
class JudgedItems:
    """Every item of a judged file; two citations that ask the same question are one item."""

    kind: str
    scale: tuple[str, ...]  # from worst to best
    key_names: tuple[str, ...]
    cells: list[Cell] = field(repr=False)
    runs: list[str] = field(repr=False)  # (n_items,)
    labels: list[str | None] = field(repr=False)  # None: not judged
    probabilities: list[Mapping[str, float] | None] = field(repr=False)
    is_first: NDArray[np.bool_] = field(repr=False)  # not a second citation of a sentence
    measures: list[Measure] = field(repr=False)

    @property
    def topics(self) -> list[str]:
        """(n_items,) the topic of each."""
        at = self.key_names.index("topic_id")
        return [cell[at] for cell in self.cells]


def by_own_topics(items: JudgedItems) -> JudgedItems:
    """The items, each run's measures being means over the topics that it has items of."""
    measures = []
    for measure in items.measures:
        counted = np.isin(items.topics, measure.topics)
        own = zip(items.runs, items.topics, counted.tolist(), strict=True)
        n_own = Counter(run for run, _ in {(run, topic) for run, topic, is_in in own if is_in})
        share = np.array([len(measure.topics) / max(n_own[run], 1) for run in items.runs])
        measures.append(replace(measure, weights=measure.weights * share, by_own_topics=True))
    return replace(items, measures=measures)


def with_unmade(items: JudgedItems, unmade: Iterable[tuple[str, str]]) -> JudgedItems:
    """The items, with one that was not judged for each answer that could not be made.

    It weighs as much as all items of the answer would.

    Args:
        unmade: (run, topic) of them.
    """
    names = items.key_names
    if not {"run_id", "topic_id"} <= set(names):
        return items
    named = [{"run_id": run_id, "topic_id": topic_id} for run_id, topic_id in unmade]
    cells = [tuple(ids.get(name, "") for name in names) for ids in named]
    new = [(cell, ids) for cell, ids in zip(cells, named, strict=True) if cell not in items.cells]
    topics = [ids["topic_id"] for _, ids in new]
    measures = []
    for measure in items.measures:
        share = [1 / len(measure.topics) if topic in measure.topics else 0.0 for topic in topics]
        measures.append(replace(measure, weights=np.concatenate([measure.weights, share])))
    return replace(
        items,
        cells=[*items.cells, *(cell for cell, _ in new)],
        runs=[*items.runs, *(ids["run_id"] for _, ids in new)],
        labels=[*items.labels, *(None for _ in new)],
        probabilities=[*items.probabilities, *(None for _ in new)],
        is_first=np.concatenate([items.is_first, np.ones(len(new), dtype=bool)]),
        measures=measures,
    )


class Collected:
    """Items as they are read, each with its weight in the families of measures."""

    def __init__(self, families: Sequence[str]) -> None:
        self.index: dict[Cell, int] = {}
        self.runs: list[str] = []
        self.labels: list[str | None] = []
        self.probabilities: list[Mapping[str, float] | None] = []
        self.is_first: list[bool] = []
        self.weights: dict[str, list[float]] = {family: [] for family in families}
        self.topics: dict[str, None] = {}  # of all answers, with items or without

    def add(
        self,
        cell: Cell,
        run_id: str,
        label: str | None,
        probabilities: Mapping[str, float] | None,
        weights: Mapping[str, float],
        *,
        is_first: bool = True,
    ) -> None:
        """Add an item, or to the weights of one that is there."""
        at = self.index.setdefault(cell, len(self.runs))
        if at == len(self.runs):
            self.runs.append(run_id)
            self.labels.append(label)
            self.probabilities.append(probabilities)
            self.is_first.append(is_first)
            for of_family in self.weights.values():
                of_family.append(0.0)
        for family, weight in weights.items():
            self.weights[family][at] += weight

    def items(
        self,
        kind: str,
        scale: tuple[str, ...],
        key_names: tuple[str, ...],
        families: Mapping[str, str],
        gains: Mapping[str, Mapping[str, float]],
        topics: Mapping[str, Sequence[str]],
    ) -> JudgedItems:
        """The items with their measures; `families` and `gains` by measure, `topics` by family."""
        at = key_names.index("topic_id")
        of_item = [cell[at] for cell in self.index]
        measures = []
        for name, family in families.items():
            counts = set(topics[family])
            share = np.array([1 / len(counts) if topic in counts else 0.0 for topic in of_item])
            weights = np.array(self.weights[family]) * share
            measures.append(Measure(name, gains[name], weights, tuple(topics[family])))
        return JudgedItems(
            kind,
            scale,
            key_names,
            list(self.index),
            self.runs,
            self.labels,
            self.probabilities,
            np.array(self.is_first, dtype=bool),
            measures,
        )


def equal_items(
    rows: Sequence[tuple[Cell, str, str | None, Mapping[str, float] | None]],
    kind: str,
    scale: tuple[str, ...],
    key_names: tuple[str, ...],
    gains: Mapping[str, Mapping[str, float]],
    topics: Sequence[str],
) -> JudgedItems:
    """Items of which each counts the same in its topic and run.

    Args:
        rows: of each its cell, run, label and probabilities.
        gains: by measure; topics: over which they are means.
    """
    at = key_names.index("topic_id")
    sizes = Counter((run_id, cell[at]) for cell, run_id, _, _ in rows)
    collected = Collected([ALL])
    for cell, run_id, label, probabilities in rows:
        collected.add(cell, run_id, label, probabilities, {ALL: 1 / sizes[run_id, cell[at]]})
    return collected.items(kind, scale, key_names, dict.fromkeys(gains, ALL), gains, {ALL: topics})
