"""What labelled items say of the runs that they belong to, or of all of them together."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from pydantic import model_validator

from ...metrics.answer_scores import SUFFIX, Value, expected_gain, label_shares
from ...records.kinds import Cell
from ...records.reading.fields import read_lines, show
from ...records.reading.problems import InputError, Problems
from ...records.rows import Row, ScoreRow
from .judged_items import JudgedItems, by_own_topics, equal_items
from .scoreboard import Scoreboard, value_row

if TYPE_CHECKING:
    from ...judges import ItemJudge

ITEMS = "items"  # the program, its stage, and the run of items without one
MEAN_GAIN = "mean_gain"  # the mean of items whose judge names none


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

    @model_validator(mode="after")
    def _is_whole(self) -> ItemScale:
        if not self.labels or (self.gains and self.gains.keys() != set(self.labels)):
            raise ValueError("wanted labels, and where they are worth something a gain for each")
        return self

    @classmethod
    def of(
        cls,
        judge: ItemJudge | type[ItemJudge],
        key: tuple[str, ...],
        measure: str = MEAN_GAIN,
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
        return item_measures(self.labels, self.gains, self.measure)

    def run_of(self, cell: Cell) -> str:
        """The run of an item; `items` where items have none."""
        return cell[self.key.index("run_id")] if "run_id" in self.key else ITEMS

    def topic_of(self, cell: Cell) -> str:
        """The topic of an item; "" where items have none."""
        return cell[self.key.index("topic_id")] if "topic_id" in self.key else ""


def item_measures(
    labels: Sequence[str], gains: Mapping[str, float], measure: str | None = None
) -> dict[str, dict[str, float]]:
    """What each label earns in each measure, by the measure's name; see `ItemScale.measures`.

    Args:
        gains: {}: labels that have none, and so no mean. measure: the name of the mean.
    """
    means = {measure or MEAN_GAIN: dict(gains)} if gains else {}
    return means | label_shares(labels)


def read_labelled(path: Path, scale: ItemScale, problems: Problems) -> Iterator[LabelledItem]:
    """The rows of a results folder's labels.jsonl. Errors listed: an id or label that is none."""
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
    cells = [(item.cell, scale.run_of(item.cell), item.label, item.probabilities) for item in items]
    return by_own_topics(
        equal_items(cells, "other", scale.labels, scale.key, scale.measures, list(topics))
    )


def item_rows(
    items: Iterable[LabelledItem], scale: ItemScale, topics: Collection[str]
) -> Iterator[ScoreRow]:
    """Rows by run and measure, of items of these topics.

    Every item counts the same in its topic and its run. A run's mean is over the topics that it has
    items of: the items may be a sample, in which the lack of one says nothing about the run. Items
    without topics have means alone.

    Where the judge gave probabilities, `MEASURE_expected` takes the mean gain from those; a label
    without probabilities counts as certain there.
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
    """By run and topic, "" where items have no topic, the value of each measure."""
    labels: dict[tuple[str, str], Counter[str | None]] = {}
    expected: dict[tuple[str, str], list[float]] = {}
    has_chances = False
    for item in items:
        at = scale.run_of(item.cell), scale.topic_of(item.cell)
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
