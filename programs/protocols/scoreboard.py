"""The scoreboard: turns values of answers into score rows, by answer and as means of runs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...metrics import Value, mean_over_topics, nugget_scores
from ...metrics.answer_scores import IN_0_TO_1, Range, make_failed
from ...metrics.narratives import narrative_scores
from ...metrics.ranking import MAX_OF_POOL
from ...records.rows import ScoreRow
from ...records.support import OUTCOMES

LENGTH = "length"  # words
OVER_LENGTH = "over_length"  # 1 if a report is longer than allowed
# Means over answered topics: a missing answer is neither short nor wrong, and a missing context
# does not repeat anything.
_OF_ANSWERED = {LENGTH, OVER_LENGTH, "redundancy", "KPP", *OUTCOMES}
# The ranges of measures that are not shares, by name without @k.
_RANGES: dict[str, Range] = {
    "alpha_ndcg": (0.0, MAX_OF_POOL),
    **dict.fromkeys((LENGTH, "density", "report_density", "alpha_ndcg_required")),
}
_ROUNDING = 1e-9


class Meaning(NamedTuple):
    """The meaning of a measure and the range of its values.

    Attributes:
        text: one sentence that explains the measure.
        is_less_better: True if a smaller value is better.
        is_quality: False if neither a larger nor a smaller value is better.
        says: a phrase for a share of a run, such as "states {} of the vital facts"; "": no phrase.
        unit: the unit of a measure without bounds that is shown in whole numbers, such as
            "points"; "": the measure is a share.
        is_unbounded: True if the measure is shown like a share, but can be outside [0, 1].
        is_of_answered: True if a run's mean is over the topics for which it has values; otherwise
            a topic that it did not answer counts 0.
        orders: its rank, from 1, among the measures that order topics and runs; 0: it does not
            order them.

    >>> Meaning("Words of the answer.", is_quality=False, unit="words").unit
    'words'
    """

    text: str
    is_less_better: bool = False
    is_quality: bool = True
    says: str = ""
    unit: str = ""
    is_unbounded: bool = False
    is_of_answered: bool = False
    orders: int = 0


Meanings = Mapping[str, Meaning | str]  # by measure; a text means that higher is better


def declare(meanings: Meanings) -> None:
    """Register the meanings of a task's measures, when its class is made."""
    for name, about in meanings.items():
        if isinstance(about, Meaning) and (about.unit or about.is_unbounded):
            _RANGES[name] = None
        if isinstance(about, Meaning) and about.is_of_answered:
            _OF_ANSWERED.add(name)


@dataclass(frozen=True)
class MeasureValues:
    """The values of one measure.

    Attributes:
        of_run: run -> topic -> value, also for answers that could not be made.
        wanted: the topics on which the measure is defined.
        is_of_answered: whether topics that a run did not answer are left out of its mean.
        absent: the value of a topic that a run did not answer, if that is not simply 0.
    """

    of_run: Mapping[str, Mapping[str, Value]]
    wanted: Collection[str]
    is_of_answered: bool
    absent: Mapping[str, Value]

    def mean(self, run_id: str) -> tuple[Value, int]:
        """Return the mean of a run, and the number of topics that it divides by."""
        by_topic = self.of_run.get(run_id, {})
        counted = {topic: value for topic, value in by_topic.items() if topic in self.wanted}
        if self.is_of_answered:
            return mean_over_topics(counted, None)
        return mean_over_topics({**self.absent, **counted}, self.wanted)

    def n_answered(self, run_id: str) -> int:
        """Return on how many of the `wanted` topics a run has a value, judged or not."""
        return sum(topic in self.wanted for topic in self.of_run.get(run_id, ()))


def measure_values(
    measure: str,
    cells: Mapping[str, Mapping[str, Value]],
    topics: Sequence[str],
    *,
    excluded: Collection[str] = (),
    bounded: Mapping[str, int] | None = None,
    failed: Mapping[str, Collection[str]] | None = None,
    by_own_topics: bool = False,
) -> MeasureValues:
    """Return the values of a measure over the topics that every run has to answer.

    A topic counts for no run if it is excluded, or if the measure is 0/0 for every answer, such as
    V without a vital nugget. A topic that no run answered counts: all runs score 0. If missing
    judgements leave open whether a topic counts, a run that did not answer it has 0 there (or no
    value, if other runs show that the measure is 0/0) and the widest bounds.

    Args:
        cells: run -> topic -> value.
        bounded: topic -> the number of missing judgements that could change any value there.
        failed: run -> topics whose answer is missing because nuggetjudge itself failed.
        by_own_topics: a run's mean is over the topics for which it has values, in every measure.
    """
    bounded, failed = bounded or {}, failed or {}
    within = find_range(measure, (v for of_run in cells.values() for v in of_run.values()))
    of_run = {run_id: dict(by_topic) for run_id, by_topic in cells.items()}
    for run_id, of_topics in failed.items():
        by_topic = of_run.setdefault(run_id, {})
        for topic in of_topics:
            if topic not in excluded:
                by_topic.setdefault(topic, make_failed(within))
    for by_topic in of_run.values():
        for topic in by_topic.keys() & bounded.keys():
            by_topic[topic] = by_topic[topic].widen(within, bounded[topic])
    on_topic: dict[str, list[Value]] = {}
    for by_topic in of_run.values():
        for topic, value in by_topic.items():
            on_topic.setdefault(topic, []).append(value)
    undefined = {topic for topic, values in on_topic.items() if all(v.is_undefined for v in values)}
    wanted = set(topics).difference(undefined, excluded)
    absent = {}
    for topic in wanted & (on_topic.keys() | bounded.keys()):
        values = on_topic.get(topic, [])
        is_known = any(v.value is not None for v in values)
        if topic in bounded or not is_known:
            seems_undefined = not is_known and any(v.is_undefined for v in values)
            value = make_failed(within, None if seems_undefined else 0.0)
            absent[topic] = value.widen(within, max(0, bounded.get(topic, 0) - 1))
    is_of_own = by_own_topics or is_of_answered(measure)
    return MeasureValues(of_run, wanted, is_of_own, absent)


def is_of_answered(measure: str) -> bool:
    """Return whether an unanswered topic is left out of a run's mean, instead of scoring 0."""
    return measure.partition("@")[0] in _OF_ANSWERED


def find_range(measure: str, seen: Iterable[Value] = ()) -> Range:
    """Return the range of a measure: 0 to 1, unless it is declared or a value is outside."""
    name = measure.partition("@")[0]
    if name in _RANGES:
        return _RANGES[name]
    bounds = [bound for value in seen for bound in (value.low, value.high) if bound is not None]
    return IN_0_TO_1 if all(-_ROUNDING <= bound <= 1 + _ROUNDING for bound in bounds) else None


class Scoreboard:
    """Collects the values of each (run, topic) and makes score rows, runs in sorted order.

    Args:
        topics: the topics that every run must answer; a run scores 0 on a topic that it did not
            answer. None: the topics that any run answered.
        by_own_topics: a run's mean is over the topics for which it has values, in all measures.

    >>> board = Scoreboard(["t1", "t2"])
    >>> board.add("run-a", "t1", {"support": Value(0.5, n=4, n_unjudged=0, low=0.5, high=0.5)})
    >>> [(row.topic_id, row.value) for row in board.rows()]
    [('t1', 0.5), ('all', 0.25)]
    """

    def __init__(
        self, topics: Collection[str] | None = None, *, by_own_topics: bool = False
    ) -> None:
        self._by_own_topics = by_own_topics
        self._topics = list(dict.fromkeys(topics)) if topics is not None else None
        self._cells: dict[str, dict[str, dict[str, Value]]] = {}
        self._excluded: dict[str | None, set[str]] = {}  # by measure; None: from all
        self._bounded: dict[str | None, dict[str, int]] = {}
        self._failed: dict[str, set[str]] = {}  # topics by run
        self._expected: list[Sequence[str]] = []
        self._ready: list[ScoreRow] = []

    def exclude(self, measures: Collection[str] | None, topics: Collection[str]) -> None:
        """Exclude topics on which measures are undefined, such as those without nuggets.

        Args:
            measures: the names of the measures; None: all measures.
            topics: the topics to exclude.
        """
        for measure in (None,) if measures is None else measures:
            self._excluded.setdefault(measure, set()).update(topics)

    def bound(self, measures: Collection[str] | None, topics: Mapping[str, int]) -> None:
        """Mark topics whose missing judgements could change any value of these measures.

        For example, nuggets are made from passages that were judged relevant. Values stay, with
        the widest bounds.

        Args:
            measures: the names of the measures; None: all measures.
            topics: topic -> the number of such judgements, besides those that its values lack.
        """
        for measure in (None,) if measures is None else measures:
            self._bounded.setdefault(measure, {}).update(topics)

    def mark_failed(self, cells: Iterable[tuple[str, str]], measures: Sequence[str] = ()) -> None:
        """Mark (run, topic) of answers that are missing because nuggetjudge itself failed.

        They are unjudged in every measure: no value, not in the mean, with the widest bounds.

        Args:
            cells: the (run, topic) of each answer.
            measures: the measures of a task, which have rows even if nothing was made.
        """
        for run_id, topic_id in cells:
            self._failed.setdefault(run_id, set()).add(topic_id)
        self._expected.append(measures)

    def add(self, run_id: str, topic_id: str, values: Mapping[str, Value]) -> None:
        """Add the values of one answer; later calls for the same answer add more.

        Args:
            run_id: the run.
            topic_id: the topic.
            values: measure -> value.
        """
        self._cells.setdefault(run_id, {}).setdefault(topic_id, {}).update(values)

    def ensure_runs(self, run_ids: Collection[str]) -> None:
        """Add runs without answers, so that they score 0 instead of disappearing.

        Args:
            run_ids: the runs.
        """
        for run_id in run_ids:
            self._cells.setdefault(run_id, {})

    def extend(self, rows: Iterable[ScoreRow]) -> None:
        """Add finished rows, which come before all others.

        Args:
            rows: the rows.
        """
        self._ready += rows

    def rows(self) -> Iterator[ScoreRow]:
        """Yield rows by run and measure, each followed by its mean; topics in their given order."""
        yield from self._ready
        topics = self._topics
        if topics is None:
            answered = (*self._cells.values(), *self._failed.values())
            topics = sorted({topic for of_run in answered for topic in of_run})
        measures = dict.fromkeys(
            name for cells in self._cells.values() for values in cells.values() for name in values
        )
        for expected in self._expected if self._failed else ():
            if not measures.keys() & set(expected):
                measures |= dict.fromkeys(expected)
        by_measure = {measure: self._values(measure, topics) for measure in measures}
        for run_id in sorted({*self._cells, *self._failed}):
            for measure, values in by_measure.items():
                of_topic = values.of_run.get(run_id, {})
                for topic_id in topics:
                    if topic_id in of_topic:
                        yield value_row(run_id, topic_id, measure, of_topic[topic_id])
                mean, n_topics = values.mean(run_id)
                counts = (n_topics, values.n_answered(run_id), len(values.wanted))
                yield value_row(run_id, "all", measure, mean, *counts)

    def _values(self, measure: str, topics: Sequence[str]) -> MeasureValues:
        cells = {
            run_id: {t: values[measure] for t, values in of_run.items() if measure in values}
            for run_id, of_run in self._cells.items()
        }
        excluded: set[str] = set()
        bounded: dict[str, int] = {}
        for name in (None, measure):
            excluded |= self._excluded.get(name, set())
            bounded |= self._bounded.get(name, {})
        return measure_values(
            measure,
            cells,
            topics,
            excluded=excluded,
            bounded=bounded,
            failed=self._failed,
            by_own_topics=self._by_own_topics,
        )


def nugget_values(
    labels: Sequence[str | None],
    importances: Sequence[str | None],
    length: int | None,
    sub_narratives: Sequence[str] = (),
) -> dict[str, Value]:
    """Return the six nugget measures of one answer, and its length in words if it is known.

    If nuggets have sub-narratives, also the measures of those.
    """
    values = nugget_scores(labels, importances)
    if any(sub_narratives):
        values |= narrative_scores(labels, importances, sub_narratives)
    return values if length is None else values | length_value(length)


def length_value(n_words: int) -> dict[str, Value]:
    """Return the length of an answer as a measure."""
    n = float(n_words)
    return {LENGTH: Value(n, 0, 0, n, n)}


def value_row(
    run_id: str,
    topic_id: str,
    measure: str,
    value: Value,
    n_topics: int | None = None,
    n_answered: int | None = None,
    n_asked: int | None = None,
) -> ScoreRow:
    """Return one value as a row; a mean also has its numbers of topics, see ScoreRow."""
    return ScoreRow(
        run_id=run_id,
        topic_id=topic_id,
        measure=measure,
        value=value.value,
        n=value.n,
        n_unjudged=value.n_unjudged,
        low=value.low,
        high=value.high,
        n_topics=n_topics,
        n_answered=n_answered,
        n_asked=n_asked,
    )
