"""What labelled items say of the runs that they belong to, or of all of them together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ...metrics.expected import SUFFIX
from ...metrics.gains import expected_gain, label_shares
from ...metrics.value import Value
from ...records.labels.cells import Cell
from ...records.reading.fields import read_lines, show
from ...records.reading.problems import InputError, Problems
from ...records.rows import Row, ScoreRow
from .judged_items import ALL, Collected, JudgedItems
from .scoreboard import Scoreboard, value_row

if TYPE_CHECKING:
    from ...judges import ItemJudge

ITEMS = "items"  # the program, its stage, and the run of items without one


class LabelledItem(NamedTuple):
    """One judged item; `label` None: not judged."""

    cell: Cell
    label: str | None
    probabilities: Mapping[str, float] | None


class ItemScale(Row):
    """What the manifest says of judged items: by which judge, and what its labels mean.

    `labels` run from worst to best; `gains` is empty where they are worth nothing, and then
    `measure` names nothing.
    """

    judge: str
    inputs: tuple[str, ...]
    key: tuple[str, ...]
    labels: tuple[str, ...]
    is_ordered: bool
    gains: dict[str, float]
    measure: str

    @classmethod
    def of(
        cls, judge: ItemJudge | type[ItemJudge], key: tuple[str, ...], measure: str = "mean_gain"
    ) -> ItemScale:
        """That of a judge's labels; `key` are the ids that each item has."""
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
        """What each label earns in each measure: the mean gain, and the share of each label."""
        means = {self.measure: self.gains} if self.gains else {}
        return means | label_shares(self.labels)

    def run_of(self, cell: Cell) -> str:
        """The run of an item; `items` where items have none."""
        return cell[self.key.index("run_id")] if "run_id" in self.key else ITEMS

    def topic_of(self, cell: Cell) -> str | None:
        """The topic of an item, if it has one."""
        return cell[self.key.index("topic_id")] if "topic_id" in self.key else None


def read_labelled(path: Path, scale: ItemScale, problems: Problems) -> Iterator[LabelledItem]:
    """The rows of a results folder's labels.jsonl. Errors noted: an id or label that is none."""
    for line in read_lines(path, problems):
        cell = tuple(line.id(name) or "" for name in scale.key)
        label = line.row.get("label")
        if label is not None and label not in scale.labels:
            wanted = ", ".join(scale.labels)
            line.error("label", f"label {show(label)}, wanted one of {wanted} or null")
        else:
            yield LabelledItem(cell, label, line.leaning().get("probabilities"))


def labelled_items(
    path: Path, scale: ItemScale, topics: Collection[str], problems: Problems
) -> JudgedItems:
    """The items of such a file; each counts the same in its topic and its run.

    Raises: InputError with the errors of `read_labelled`, and for items without topics.
    """
    items = list(read_labelled(path, scale, problems))
    problems.raise_errors()
    if "topic_id" not in scale.key:
        raise InputError(f"{path}: its items have no topic_id, and intervals go by topic")
    at = [(scale.run_of(item.cell), scale.topic_of(item.cell)) for item in items]
    sizes = Counter(at)
    found = Collected([ALL])
    for item, of_item in zip(items, at, strict=True):
        weights = {ALL: 1 / sizes[of_item]}
        found.add(item.cell, of_item[0], item.label, item.probabilities, weights)
    families = dict.fromkeys(scale.measures, ALL)
    counted = {ALL: list(topics)}
    return found.items("other", scale.labels, scale.key, families, scale.measures, counted)


class ItemScores:
    """Collects labels and turns them into rows.

    Every item counts the same in its topic and its run. A run without items of a topic has 0
    there, as one that did not answer it. Items without topics have means alone.

    Where the judge gave probabilities, `MEASURE_expected` takes the mean gain from those; a label
    without probabilities counts as certain there.
    """

    def __init__(self, scale: ItemScale) -> None:
        self._scale = scale
        self._labels: dict[tuple[str, str | None], Counter[str | None]] = {}
        self._expected: dict[tuple[str, str | None], list[float]] = {}
        self._has_chances = False

    def add(self, item: LabelledItem) -> None:
        """Note one item."""
        at = self._scale.run_of(item.cell), self._scale.topic_of(item.cell)
        self._labels.setdefault(at, Counter())[item.label] += 1
        if not self._scale.gains:
            return
        gain = expected_gain(item.probabilities or {}, self._scale.gains)
        self._has_chances |= gain is not None
        if gain is None and item.label is not None:
            gain = self._scale.gains[item.label]
        if gain is not None:
            self._expected.setdefault(at, []).append(gain)

    def rows(self, topics: Collection[str]) -> Iterator[ScoreRow]:
        """Rows by run and measure; `topics` are those that every run has to have items of."""
        if "topic_id" not in self._scale.key:
            for (run_id, _), values in sorted(self.values().items()):
                for measure, value in values.items():
                    yield value_row(run_id, "all", measure, value)
            return
        board = Scoreboard(topics)
        for (run_id, topic_id), values in self.values().items():
            if topic_id in topics:
                board.add(run_id, topic_id, values)
        yield from board.rows()

    def values(self) -> dict[tuple[str, Any], dict[str, Value]]:
        """By run and topic, None where items have no topic, the value of each measure."""
        found = {}
        for at, counts in self._labels.items():
            values = {
                name: _mean(
                    [gains[label] * n for label, n in counts.items() if label is not None],
                    counts,
                    gains,
                )
                for name, gains in self._scale.measures.items()
            }
            if self._has_chances:
                earned = self._expected.get(at, [])
                name = self._scale.measure + SUFFIX
                values[name] = _mean(earned, counts, self._scale.gains)
            found[at] = values
        return found


def _mean(earned: list[float], counts: Counter[str | None], gains: Mapping[str, float]) -> Value:
    """The mean of what the judged items earned, the others counted as worst and best."""
    n_unjudged = counts[None]
    n = counts.total() - n_unjudged
    total = math.fsum(earned)
    value = total / n if n else None
    low = (total + n_unjudged * min(gains.values())) / counts.total()
    high = (total + n_unjudged * max(gains.values())) / counts.total()
    if value is not None:  # the last bit of a division may say otherwise
        low, high = min(low, value), max(high, value)
    return Value(value, n, n_unjudged, low, high)
