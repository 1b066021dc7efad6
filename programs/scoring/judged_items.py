"""The items that a judge labelled, with what each is worth in every measure of its run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...metrics.gains import (
    NUGGET_GAINS,
    NUGGET_WEIGHTS,
    SUPPORT_GAINS,
    expected_gain,
    label_shares,
    scale_gains,
)
from ...records.assignments import read_assignments
from ...records.key_points import read_entailments
from ...records.labels.cells import (
    ENTAILMENT_SCALE,
    KEY_POINT_KEY,
    NUGGET_KEY,
    NUGGET_SCALE,
    SUPPORT_KEY,
    SUPPORT_SCALE,
    Cell,
    LabelKind,
)
from ...records.labels.kinds import file_kind
from ...records.labels.labels import read_labels
from ...records.reading.problems import InputError, Problems
from ...records.relevance import read_relevance
from ...records.support import SupportSentence, read_support
from ...records.topics import read_topics
from ..engine.judged_files import ITEMS, judged_file
from ..engine.label_order import are_ordered
from ..engine.manifest import read_manifest
from ..protocols.item_scores import ItemScale, read_labelled

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

    def judged_gains(self, items: JudgedItems) -> Floats:
        """(n_items,) by probabilities where there are some, else by label; nan: not judged."""
        found = np.full(len(items.cells), np.nan)
        for i, (label, chances) in enumerate(zip(items.labels, items.probabilities, strict=True)):
            gain = expected_gain(chances, self.gains) if chances else None
            if gain is None and label is not None:
                gain = self.gains[label]
            if gain is not None:
                found[i] = gain
        return found


@dataclass(frozen=True)
class JudgedItems:
    """Every item of a judged file; two citations that ask the same question are one item."""

    kind: LabelKind
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


def read_items(
    path: Path, kind: LabelKind, problems: Problems, topics: Path | None = None
) -> JudgedItems:
    """The items of a judged file, or of the file of this kind in a results folder.

    Args:
        kind: of the labels that are to be joined.
        topics: file of the topics that every run must answer, as for `score_path`.

    Raises: InputError if the file is broken, of another kind, or has no topics.
    """
    wanted = list(read_topics(topics, problems)) if topics is not None else None
    left_out: Collection[str] = ()
    without_bank: Sequence[Sequence[str]] = ()
    unmade: Sequence[Sequence[str]] = ()
    without_points: Collection[str] = ()
    if path.is_dir():
        manifest = read_manifest(path)
        wanted = manifest["data"]["topic_ids"] if wanted is None else wanted
        left_out, without_bank = manifest["topics_without_nuggets"], manifest["cells_without_bank"]
        without_points = manifest.get("topics_without_key_points", ())
        unmade = manifest.get("cells_without_key_points", ())
        path = judged_file(path, kind)
        if about := manifest.get(ITEMS):
            return _items(path, ItemScale(**about), problems, wanted)
    written = file_kind(path)
    if written == "assignments":
        found = _nuggets(path, problems, wanted, left_out, without_bank)
    elif written == "support":
        found = _support(path, problems, wanted)
    elif written == "entailments":
        found = _key_points(path, problems, wanted, without_points, unmade)
    else:
        found = _labels(path, problems, wanted)
    problems.raise_errors()
    return found


class _Collected:
    """Items as they are read, each with its weight in the families of measures."""

    def __init__(self, families: Sequence[str]) -> None:
        self.place: dict[Cell, int] = {}
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
        at = self.place.setdefault(cell, len(self.runs))
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
        kind: LabelKind,
        scale: tuple[str, ...],
        key_names: tuple[str, ...],
        families: Mapping[str, str],
        gains: Mapping[str, Mapping[str, float]],
        topics: Mapping[str, Sequence[str]],
    ) -> JudgedItems:
        """The items with their measures; `families` and `gains` by measure, `topics` by family."""
        at = key_names.index("topic_id")
        of_item = [cell[at] for cell in self.place]
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
            list(self.place),
            self.runs,
            self.labels,
            self.probabilities,
            np.array(self.is_first, dtype=bool),
            measures,
        )


def _nuggets(
    path: Path,
    problems: Problems,
    wanted: Sequence[str] | None,
    left_out: Collection[str],
    without_bank: Sequence[Sequence[str]],
) -> JudgedItems:
    found = _Collected(list(NUGGET_WEIGHTS))
    defined: dict[str, set[str]] = {family: set() for family in NUGGET_WEIGHTS}
    for row in read_assignments(path, problems):
        found.topics[row.topic_id] = None
        worth = {
            family: [weight[assigned.nugget.importance] for assigned in row.nuggets]
            for family, weight in NUGGET_WEIGHTS.items()
        }
        totals = {family: sum(of_family) for family, of_family in worth.items()}
        for family, total in totals.items():
            if total:
                defined[family].add(row.topic_id)
        for i, assigned in enumerate(row.nuggets):
            weights = {f: w[i] / totals[f] for f, w in worth.items() if totals[f]}
            cell = (row.topic_id, row.run_id, assigned.nugget.id)
            found.add(cell, row.run_id, assigned.label, assigned.probabilities, weights)
    # An answer without nuggets is one item that was not judged, neither lost nor worth 0.
    for run_id, topic_id in without_bank:
        found.topics[topic_id] = None
        found.add((topic_id, run_id, ""), run_id, None, None, dict.fromkeys(NUGGET_WEIGHTS, 1.0))
        for topics in defined.values():
            topics.add(topic_id)
    every = sorted(found.topics) if wanted is None else wanted
    # Left out: 0/0 for every answer, such as V where no nugget is vital.
    nothing = {family: found.topics.keys() - topics for family, topics in defined.items()}
    counted = {f: [t for t in every if t not in nothing[f] and t not in left_out] for f in defined}
    families = {name: name.removesuffix("_strict") for name in NUGGET_GAINS}
    families = {name: family for name, family in families.items() if counted[family]}
    return found.items("nuggets", NUGGET_SCALE, NUGGET_KEY, families, NUGGET_GAINS, counted)


def _support(path: Path, problems: Problems, wanted: Sequence[str] | None) -> JudgedItems:
    families = {name: name.removesuffix("_hard") for name in SUPPORT_GAINS}
    found = _Collected(list(dict.fromkeys(families.values())))
    for row in read_support(path, problems):
        found.topics[row.topic_id] = None
        n_citing = sum(bool(sentence.citations) for sentence in row.sentences)
        for sentence in row.sentences:
            for i, citation in enumerate(sentence.citations):
                weights = _citation_weights(sentence, i, n_citing, len(row.sentences))
                cell = (row.topic_id, row.run_id, str(sentence.id), citation.passage_id)
                given = (citation.label, citation.probabilities)
                found.add(cell, row.run_id, *given, weights, is_first=i == 0)
    every = sorted(found.topics) if wanted is None else wanted
    counted = dict.fromkeys(found.weights, every)
    return found.items("support", SUPPORT_SCALE, SUPPORT_KEY, families, SUPPORT_GAINS, counted)


def _key_points(
    path: Path,
    problems: Problems,
    wanted: Sequence[str] | None,
    left_out: Collection[str],
    unmade: Sequence[Sequence[str]],
) -> JudgedItems:
    rows = list(read_entailments(path, problems))
    sizes = Counter((row.run_id, row.topic_id) for row in rows)
    found = _Collected(["KPR"])
    for row in rows:
        found.topics[row.topic_id] = None
        cell = (row.topic_id, row.run_id, row.key_point_id)
        weights = {"KPR": 1 / sizes[row.run_id, row.topic_id]}
        found.add(cell, row.run_id, row.label, row.probabilities, weights)
    for run_id, topic_id in unmade:  # one item that was not judged, neither lost nor worth 0
        found.topics[topic_id] = None
        found.add((topic_id, run_id, ""), run_id, None, None, {"KPR": 1.0})
    every = sorted(found.topics) if wanted is None else wanted
    counted = {"KPR": [topic for topic in every if topic not in left_out]}
    gains = {"KPR": {label: float(label == "yes") for label in ENTAILMENT_SCALE}}
    families = {"KPR": "KPR"}
    return found.items("keypoints", ENTAILMENT_SCALE, KEY_POINT_KEY, families, gains, counted)


def _citation_weights(
    sentence: SupportSentence, at: int, n_citing: int, n_sentences: int
) -> dict[str, float]:
    """Of the citation at this place in its answer's measures: by the first, and by all."""
    share = 1 / len(sentence.citations)
    weights = {
        "support_precision_all": share / n_citing,
        "support_recall_all": share / n_sentences,
    }
    if at == 0:
        weights |= {"support_precision": 1 / n_citing, "support_recall": 1 / n_sentences}
    return weights


def _items(path: Path, scale: ItemScale, problems: Problems, wanted: Sequence[str]) -> JudgedItems:
    """The items of the program of that name, in the measures of its scores."""
    items = list(read_labelled(path, scale, problems))
    problems.raise_errors()
    topics = [scale.topic_of(item.cell) for item in items]
    if None in topics:
        raise InputError(f"{path}: its items have no topic_id, and intervals go by topic")
    runs = [scale.run_of(item.cell) for item in items]
    sizes = Counter(zip(runs, topics, strict=True))
    found = _Collected([ALL])
    for item, run, topic in zip(items, runs, topics, strict=True):
        weights = {ALL: 1 / sizes[run, topic]}
        found.add(item.cell, run, item.label, item.probabilities, weights)
    families = dict.fromkeys(scale.measures, ALL)
    return found.items("other", scale.labels, scale.key, families, scale.measures, {ALL: wanted})


def _labels(path: Path, problems: Problems, wanted: Sequence[str] | None) -> JudgedItems:
    """Labels of any items: each counts the same in its topic, and in its run where it has one.

    Where nothing says which label is better, the measures are the labels' shares.
    """
    file = read_labels(path, problems)
    problems.raise_errors()
    if "topic_id" not in file.key_names:
        raise InputError(f"{path}: its labels have no topic_id, and intervals go by topic")
    at = file.key_names.index("topic_id")
    run_at = file.key_names.index("run_id") if "run_id" in file.key_names else None
    cells: dict[Cell, str | None] = {**file.cells}
    if file_kind(path) == "relevance":
        for row in read_relevance(path, Problems()):
            cells.setdefault((row.topic_id, row.passage_id), None)
    elif file.n_unlabelled:
        what = f"{file.n_unlabelled} items without a label are left out of the judged items"
        problems.skip(path, 1, "unlabelled", what)
    run_of = {cell: ALL if run_at is None else cell[run_at] for cell in cells}
    sizes = Counter((run_of[cell], cell[at]) for cell in cells)
    found = _Collected([ALL])
    for cell, label in cells.items():
        weights = {ALL: 1 / sizes[run_of[cell], cell[at]]}
        found.add(cell, run_of[cell], label, file.probabilities.get(cell), weights)
    if are_ordered(file.kind, file.scale):
        gains = scale_gains(file.scale)
    else:
        gains = label_shares(file.scale)
        what = f"nothing says which of {', '.join(file.scale)} is better: no mean gain, only shares"
        problems.skip(path, 1, "no_order", what)
    counted = sorted({topic for _, topic in sizes}) if wanted is None else wanted
    families = dict.fromkeys(gains, ALL)
    return found.items(file.kind, file.scale, file.key_names, families, gains, {ALL: counted})
