"""Judged items with their labels and weights in each measure, and their scores."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from ...metrics.answer_scores import SUFFIX, Value, expected_gain, label_shares
from ...records.kinds import Cell
from ...records.reading.fields import read_lines, show
from ...records.reading.problems import InputError, Problems
from ...records.rows import Row, ScoreRow
from .scoreboard import Scoreboard, value_row

if TYPE_CHECKING:
    from ...judges import ItemJudge

__all__ = [
    "ItemScale",
    "JudgedItems",
    "LabelledItem",
    "Measure",
    "add_failed",
    "by_own_topics",
    "item_rows",
    "item_values",
    "read_labelled",
    "read_labelled_items",
]

Floats = NDArray[np.float64]
ALL = "all"  # the run of items without a run, such as passages of a pool


@dataclass(frozen=True)
class Measure:
    """A measure that is a weighted mean of the gains of items.

    Attributes:
        name: the name of the measure.
        gains: label -> gain, worst label first.
        weights: (n_items,) the weight of each item in the score of its run, >= 0. The weights of a
            run sum to 1, or to less if some of its topics or sentences have no judgement.
        topics: the topics of the mean.
        by_own_topics: True if the mean of a run is over the topics of which it has items.

    >>> rows = [(("t1", "a"), "a", "full", None), (("t2", "a"), "a", "none", None)]
    >>> gains = {"support": {"none": 0.0, "full": 1.0}}
    >>> key = ("topic_id", "run_id")
    >>> items = equal_items(rows, "support", ("none", "full"), key, gains, ["t1", "t2"])
    >>> [measure] = items.measures
    >>> float(measure.weights @ measure.get_gains(items))
    0.5
    """

    name: str
    gains: Mapping[str, float]
    weights: Floats
    topics: tuple[str, ...]
    by_own_topics: bool = False

    def get_gains(self, items: JudgedItems) -> Floats:
        """Return the gain of each item, by its probabilities or, without them, by its label.

        Args:
            items: the judged items that the measure belongs to.

        Returns: (n_items,) gains; nan: not judged.
        """
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
    """Every item of a judged file; two citations that ask the same question are one item.

    Attributes:
        kind: the kind of the labels, such as support.
        scale: the labels from worst to best.
        key_names: the names of the ids of an item.
        cells: (n_items,) the ids of each item.
        runs: (n_items,) the run of each item.
        labels: (n_items,) the label of each item; None: not judged.
        probabilities: (n_items,) label -> probability for each item; None: unknown.
        is_first: (n_items,) False for a second citation of a sentence.
        measures: the measures, with the weights of the items.

    >>> gains = {"support": {"none": 0.0, "full": 1.0}}
    >>> rows = [(("t1", "a"), "a", "full", None), (("t2", "a"), "a", "none", None)]
    >>> key = ("topic_id", "run_id")
    >>> items = equal_items(rows, "support", ("none", "full"), key, gains, ["t1", "t2"])
    >>> items.labels, items.topics
    (['full', 'none'], ['t1', 't2'])
    """

    kind: str
    scale: tuple[str, ...]
    key_names: tuple[str, ...]
    cells: list[Cell] = field(repr=False)
    runs: list[str] = field(repr=False)
    labels: list[str | None] = field(repr=False)
    probabilities: list[Mapping[str, float] | None] = field(repr=False)
    is_first: NDArray[np.bool_] = field(repr=False)
    measures: list[Measure] = field(repr=False)

    @property
    def topics(self) -> list[str]:
        """Return the topic of each item, (n_items,)."""
        at = self.key_names.index("topic_id")
        return [cell[at] for cell in self.cells]


def by_own_topics(items: JudgedItems) -> JudgedItems:
    """Return the items with weights for means over the topics of which each run has items.

    Args:
        items: the judged items.

    Returns: the items; the weights of a run's items sum to 1 in each measure.

    >>> rows = [(("t1", "a"), "a", "full", None), (("t2", "a"), "a", "none", None)]
    >>> gains = {"support": {"none": 0.0, "full": 1.0}}
    >>> key = ("topic_id", "run_id")
    >>> items = equal_items(rows, "support", ("none", "full"), key, gains, ["t1", "t2", "t3", "t4"])
    >>> items.measures[0].weights.tolist(), by_own_topics(items).measures[0].weights.tolist()
    ([0.25, 0.25], [0.5, 0.5])
    """
    measures = []
    for measure in items.measures:
        counted = np.isin(items.topics, measure.topics)
        own = zip(items.runs, items.topics, counted.tolist(), strict=True)
        n_own = Counter(run for run, _ in {(run, topic) for run, topic, is_in in own if is_in})
        share = np.array([len(measure.topics) / max(n_own[run], 1) for run in items.runs])
        measures.append(replace(measure, weights=measure.weights * share, by_own_topics=True))
    return replace(items, measures=measures)


def add_failed(items: JudgedItems, failed: Iterable[tuple[str, str]]) -> JudgedItems:
    """Add an unjudged item for each answer that failed.

    The item weighs as much as all items of the answer would.

    Args:
        items: the judged items.
        failed: the (run, topic) of each failed answer.

    Returns: the items, with the items that were added; unchanged if items have no run or topic.

    >>> gains = {"support": {"none": 0.0, "full": 1.0}}
    >>> rows = [(("t1", "a"), "a", "full", None)]
    >>> key = ("topic_id", "run_id")
    >>> items = equal_items(rows, "support", ("none", "full"), key, gains, ["t1"])
    >>> added = add_failed(items, [("b", "t1")])
    >>> added.runs, added.labels
    (['a', 'b'], ['full', None])
    """
    names = items.key_names
    if not {"run_id", "topic_id"} <= set(names):
        return items
    named = [{"run_id": run_id, "topic_id": topic_id} for run_id, topic_id in failed]
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
    """Items as they are read, each with its weight in the families of measures.

    Args:
        families: the names of the families of measures.
    """

    def __init__(self, families: Sequence[str]) -> None:
        self.index: dict[Cell, int] = {}
        self.runs: list[str] = []
        self.labels: list[str | None] = []
        self.probabilities: list[Mapping[str, float] | None] = []
        self.is_first: list[bool] = []
        self.weights: dict[str, list[float]] = {family: [] for family in families}
        self.topics: dict[str, None] = {}  # all answers, also those without items

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
        """Add an item, or add to the weights of an item that is already there.

        Args:
            cell: the ids of the item.
            run_id: the run to which it counts.
            label: the label; None: not judged.
            probabilities: the probability of each label, in [0, 1]; None: the judge gave none.
            weights: the weight of the item in each family of measures.
            is_first: see `LabelledItem`.
        """
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
        """Return the items with their measures.

        Args:
            kind: the kind of judgements.
            scale: the labels, worst to best.
            key_names: the names of the ids in a cell.
            families: the family of each measure.
            gains: the gain of each label, by measure.
            topics: the topics of the means, by family.
        """
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
    """Return items that all count the same in their topic and run.

    Args:
        rows: cell, run, label and probabilities of each item.
        kind: the kind of judgements.
        scale: the labels, worst to best.
        key_names: the names of the ids in a cell.
        gains: label -> gain, by measure.
        topics: the topics of the means.
    """
    at = key_names.index("topic_id")
    sizes = Counter((run_id, cell[at]) for cell, run_id, _, _ in rows)
    collected = Collected([ALL])
    for cell, run_id, label, probabilities in rows:
        collected.add(cell, run_id, label, probabilities, {ALL: 1 / sizes[run_id, cell[at]]})
    return collected.items(kind, scale, key_names, dict.fromkeys(gains, ALL), gains, {ALL: topics})


ITEMS = "items"  # the program, its stage, and the run of items without one
MEAN_GAIN = "mean_gain"  # the mean of items whose judge names none


class LabelledItem(NamedTuple):
    """One judged item.

    Attributes:
        cell: its ids, in the order of `ItemScale.key`.
        label: its label; None: not judged.
        probabilities: label -> probability; None: unknown.

    >>> LabelledItem(("t1", "run-a"), "full", None).label
    'full'
    """

    cell: Cell
    label: str | None
    probabilities: Mapping[str, float] | None


class ItemScale(Row):
    """The judge of items, and the meaning of its labels, as the manifest has them.

    Attributes:
        judge: the name of the judge.
        inputs: the names of its inputs.
        key: the names of the ids of an item.
        labels: the labels, worst to best.
        is_ordered: True if the labels are ordered.
        gains: label -> gain; {}: labels have no gains.
        measure: the name of the mean gain; without gains it is not used.

    Raises: ValueError (pydantic's ValidationError) for no labels, or gains of other labels.

    >>> scale = ItemScale(
    ...     judge="brevity", inputs=("answer",), key=("topic_id", "run_id"),
    ...     labels=("long", "brief"), is_ordered=True, gains={"long": 0, "brief": 1},
    ...     measure="brevity",
    ... )
    >>> list(scale.measures)
    ['brevity', 'share_long', 'share_brief']
    """

    judge: str
    inputs: tuple[str, ...]
    key: tuple[str, ...]
    labels: tuple[str, ...]
    is_ordered: bool
    gains: dict[str, float]
    measure: str

    @model_validator(mode="after")
    def _is_whole(self) -> ItemScale:
        if not self.labels or (self.gains and self.gains.keys() != set(self.labels)):
            raise ValueError("wanted labels, and a gain for each label or for none")
        return self

    @classmethod
    def of(
        cls,
        judge: ItemJudge | type[ItemJudge],
        key: tuple[str, ...],
        measure: str = MEAN_GAIN,
    ) -> ItemScale:
        """Return the scale of a judge.

        Args:
            judge: the judge, or its class.
            key: the names of the ids of an item.
            measure: the name of the mean gain.

        Returns: the scale, with the inputs, labels and gains of the judge.

        >>> from nuggetjudge.judges import SupportJudge
        >>> ItemScale.of(SupportJudge, ("topic_id", "run_id", "sentence_index")).gains
        {'none': 0.0, 'partial': 0.5, 'full': 1.0}
        """
        return cls(
            judge=judge.name,
            inputs=judge.inputs,
            key=key,
            labels=judge.scale,
            is_ordered=judge.is_ordered,
            gains=dict(judge.gains),
            measure=measure,
        )

    @property
    def measures(self) -> dict[str, dict[str, float]]:
        """Return the gain of each label by measure: the mean gain, and the share of each label."""
        return item_measures(self.labels, self.gains, self.measure)

    def get_run(self, cell: Cell) -> str:
        """Return the run of an item; `items` if items have no runs.

        Args:
            cell: the ids of the item.
        """
        return cell[self.key.index("run_id")] if "run_id" in self.key else ITEMS

    def get_topic(self, cell: Cell) -> str:
        """Return the topic of an item; "" if items have no topics.

        Args:
            cell: the ids of the item.
        """
        return cell[self.key.index("topic_id")] if "topic_id" in self.key else ""


def item_measures(
    labels: Sequence[str], gains: Mapping[str, float], measure: str | None = None
) -> dict[str, dict[str, float]]:
    """Return the gain of each label, by measure; see `ItemScale.measures`.

    Args:
        labels: the labels.
        gains: the gain of each label; {} for labels without gains, which have no mean.
        measure: the name of the mean.
    """
    means = {measure or MEAN_GAIN: dict(gains)} if gains else {}
    return means | label_shares(labels)


def read_labelled(path: Path, scale: ItemScale, problems: Problems) -> Iterator[LabelledItem]:
    """Yield the rows of a file of labels, such as labels.jsonl of a results folder.

    Args:
        path: the file.
        scale: the ids and labels that rows may have.
        problems: receives an error for each row with a wrong id or label.

    Returns: an iterator over the items, in the order of the file.
    Raises: InputError if the file cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> from nuggetjudge.judges import SupportJudge
    >>> scale = ItemScale.of(SupportJudge, ("topic_id", "run_id"))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.jsonl")
    ...     _ = path.write_text('{"topic_id": "t1", "run_id": "run-a", "label": "full"}')
    ...     list(read_labelled(path, scale, Problems()))
    [LabelledItem(cell=('t1', 'run-a'), label='full', probabilities=None)]
    """
    for line in read_lines(path, problems):
        cell = tuple(line.id(name) or "" for name in scale.key)
        label = line.row.get("label")
        if label is not None and label not in scale.labels:
            wanted = ", ".join(scale.labels)
            line.error("label", f"label {show(label)}, wanted one of {wanted} or null")
        else:
            yield LabelledItem(cell, label, line.read_label_scores().get("probabilities"))


def read_labelled_items(
    path: Path, scale: ItemScale, topics: Collection[str], problems: Problems
) -> JudgedItems:
    """Return the items of a file of labels; all count the same in their topic and run.

    Args:
        path: the file; see `read_labelled`.
        scale: the ids, labels and gains of the items.
        topics: the topics of the means.
        problems: receives the errors.

    Returns: the items with their weights, for means over the topics of which a run has items.
    Raises: InputError for wrong rows, and for items without topics.

    >>> from tempfile import TemporaryDirectory
    >>> from nuggetjudge.judges import SupportJudge
    >>> scale = ItemScale.of(SupportJudge, ("topic_id", "run_id"))
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "labels.jsonl")
    ...     _ = path.write_text('{"topic_id": "t1", "run_id": "run-a", "label": "full"}')
    ...     items = read_labelled_items(path, scale, ["t1"], Problems())
    >>> items.runs, items.labels
    (['run-a'], ['full'])
    """
    items = list(read_labelled(path, scale, problems))
    problems.raise_errors()
    if "topic_id" not in scale.key:
        raise InputError(f"{path}: its items have no topic_id; add one, intervals need topics")
    cells = [
        (item.cell, scale.get_run(item.cell), item.label, item.probabilities) for item in items
    ]
    return by_own_topics(
        equal_items(cells, "other", scale.labels, scale.key, scale.measures, list(topics))
    )


def item_rows(
    items: Iterable[LabelledItem], scale: ItemScale, topics: Collection[str]
) -> Iterator[ScoreRow]:
    """Yield score rows by run and measure for the items of these topics.

    Every item counts the same in its topic and run. A run's mean is over the topics of which it has
    items: the items may be a sample, so a missing topic says nothing about the run. Items without
    topics have only means.

    If the judge gave probabilities, `MEASURE_expected` is the mean of the expected gains; a label
    without probabilities counts as certain.

    Args:
        items: the judged items.
        scale: the ids, labels and gains of the items.
        topics: the topics of the means.

    Returns: an iterator over the rows: each topic of a run, then its mean with the topic `all`.

    >>> from nuggetjudge.judges import SupportJudge
    >>> scale = ItemScale.of(SupportJudge, ("topic_id", "run_id"))
    >>> items = [LabelledItem(("t1", "a"), "full", None), LabelledItem(("t2", "a"), "none", None)]
    >>> rows = item_rows(items, scale, ["t1", "t2"])
    >>> [(row.topic_id, row.value) for row in rows if row.measure == "mean_gain"]
    [('t1', 1.0), ('t2', 0.0), ('all', 0.5)]
    """
    board = Scoreboard(topics, by_own_topics=True)
    for (run_id, topic_id), values in sorted(item_values(items, scale).items()):
        if not topic_id:
            for measure, value in values.items():
                yield value_row(run_id, "all", measure, value)
        elif topic_id in topics:
            board.add(run_id, topic_id, values)
    yield from board.rows()


def item_values(
    items: Iterable[LabelledItem], scale: ItemScale
) -> dict[tuple[str, str], dict[str, Value]]:
    """Return the value of each measure, by run and topic.

    Args:
        items: the judged items.
        scale: the ids, labels and gains of the items.

    Returns: (run, topic) -> measure -> value. The topic is "" for items without a topic.

    >>> from nuggetjudge.judges import SupportJudge
    >>> scale = ItemScale.of(SupportJudge, ("topic_id", "run_id", "sentence_index"))
    >>> items = [LabelledItem(("t1", "a", "0"), "full", None)]
    >>> items += [LabelledItem(("t1", "a", "1"), None, None)]  # not judged
    >>> item_values(items, scale)["a", "t1"]["mean_gain"]
    Value(value=1.0, n=1, n_unjudged=1, low=0.5, high=1.0)
    """
    labels: dict[tuple[str, str], Counter[str | None]] = {}
    expected: dict[tuple[str, str], list[float]] = {}
    has_chances = False
    for item in items:
        at = scale.get_run(item.cell), scale.get_topic(item.cell)
        labels.setdefault(at, Counter())[item.label] += 1
        gain = expected_gain(item.probabilities or {}, scale.gains)
        has_chances |= gain is not None
        if gain is None and item.label is not None:
            gain = scale.gains.get(item.label)
        if gain is not None:
            expected.setdefault(at, []).append(gain)
    values = {}
    for at, counts in labels.items():
        values[at] = {
            name: _mean([gains[x] * n for x, n in counts.items() if x is not None], counts, gains)
            for name, gains in scale.measures.items()
        }
        if has_chances:
            name = scale.measure + SUFFIX
            values[at][name] = _mean(expected.get(at, []), counts, scale.gains)
    return values


def _mean(earned: list[float], counts: Counter[str | None], gains: Mapping[str, float]) -> Value:
    """Return the mean gain of judged items, with bounds for the others."""
    n_unjudged = counts[None]
    n = counts.total() - n_unjudged
    total = math.fsum(earned)
    value = total / n if n else None
    low = (total + n_unjudged * min(gains.values())) / counts.total()
    high = (total + n_unjudged * max(gains.values())) / counts.total()
    if value is not None:  # a rounding error could violate this
        low, high = min(low, value), max(high, value)
    return Value(value, n, n_unjudged, low, high)
