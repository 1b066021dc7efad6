"""One measure of all runs: what each has on each topic, and what it means to have nothing there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ...metrics import Value, mean_over_topics
from ...metrics.answer_scores import IN_0_TO_1, Range, not_made
from ...metrics.ranking import MOST
from ...records.support import OUTCOMES

LENGTH = "length"  # words
OVER_LENGTH = "over_length"  # whether a report is longer than allowed
# Means over the topics that a run answered: an answer that is not there is not short and claims
# nothing wrong, nor is a context that is not there without repetition.
_OF_ANSWERED = {LENGTH, OVER_LENGTH, "redundancy", "KPP", *OUTCOMES}
# What those measures can be that are no shares, without their @k.
_RANGES: dict[str, Range] = {
    "alpha_ndcg": (0.0, MOST),
    **dict.fromkeys((LENGTH, "density", "report_density", "alpha_ndcg_required")),
}
_ROUNDING = 1e-9


class Meaning(NamedTuple):
    """What a measure says, and what its values can be.

    Attributes:
        is_less_better: less of it is better. is_quality: False: neither more nor less is.
        says: what a share says of a run, such as "states {} of the vital facts"; "": no words.
        unit: of what is no share and has no bounds, shown as whole numbers: "points".
        is_unbounded: it is shown as a share is, and may be outside of 0 to 1.
        is_of_answered: the mean of a run is over the topics that it has values of; otherwise one
            that it did not answer counts 0.
        orders: its place, from 1, among those by which topics and runs are ordered; 0: none.
    """

    text: str
    is_less_better: bool = False
    is_quality: bool = True
    says: str = ""
    unit: str = ""
    is_unbounded: bool = False
    is_of_answered: bool = False
    orders: int = 0


Meanings = Mapping[str, Meaning | str]  # by measure; a text alone: more of it is better


def declare(meanings: Meanings) -> None:
    """Go by what a program says of its measures; each does so as its class is made."""
    for name, about in meanings.items():
        if isinstance(about, Meaning) and (about.unit or about.is_unbounded):
            _RANGES[name] = None
        if isinstance(about, Meaning) and about.is_of_answered:
            _OF_ANSWERED.add(name)


@dataclass(frozen=True)
class MeasureValues:
    """The values of one measure.

    Attributes:
        of_run: run -> topic -> value, of what was not made too.
        wanted: the topics on which the measure means something.
        is_of_answered: whether a run that did not answer one of them loses nothing by it.
        absent: what a run that did not answer a topic has there, where that is not simply 0.
    """

    of_run: Mapping[str, Mapping[str, Value]]
    wanted: Collection[str]
    is_of_answered: bool
    absent: Mapping[str, Value]

    def mean(self, run_id: str) -> tuple[Value, int]:
        """The mean of a run, and the number of topics that it divides by."""
        by_topic = self.of_run.get(run_id, {})
        counted = {topic: value for topic, value in by_topic.items() if topic in self.wanted}
        if self.is_of_answered:
            return mean_over_topics(counted, None)
        return mean_over_topics({**self.absent, **counted}, self.wanted)

    def n_answered(self, run_id: str) -> int:
        """On how many of the `wanted` topics a run has something, judged or not."""
        return sum(topic in self.wanted for topic in self.of_run.get(run_id, ()))


def measure_values(
    measure: str,
    cells: Mapping[str, Mapping[str, Value]],
    topics: Sequence[str],
    *,
    left_out: Collection[str] = (),
    left_open: Mapping[str, int] | None = None,
    unmade: Mapping[str, Collection[str]] | None = None,
    by_own_topics: bool = False,
) -> MeasureValues:
    """What the values of a measure make of the topics that every run has to answer.

    A topic counts for nobody where it is left out, and where the measure is 0/0 for every answer,
    such as V without a vital nugget. One that no run answered counts: all score 0 there. While
    what is missing leaves open whether it counts, a run that did not answer it has 0 there (or no
    value, if others show the measure to be 0/0) and the widest bounds, which hold in both cases.

    Args:
        cells: run -> topic -> value.
        left_open: topic -> how many judgements are missing that could change any value there.
        unmade: run -> topics on which what the system gave was not made, by our own failure.
        by_own_topics: a run's mean is over the topics that it has values of, whatever the measure.
    """
    left_open, unmade = left_open or {}, unmade or {}
    within = range_of(measure, (v for of_run in cells.values() for v in of_run.values()))
    of_run = {run_id: dict(by_topic) for run_id, by_topic in cells.items()}
    for run_id, of_topics in unmade.items():
        by_topic = of_run.setdefault(run_id, {})
        for topic in of_topics:
            if topic not in left_out:
                by_topic.setdefault(topic, not_made(within))
    for by_topic in of_run.values():
        for topic in by_topic.keys() & left_open.keys():
            by_topic[topic] = by_topic[topic].widened(within, left_open[topic])
    on_topic: dict[str, list[Value]] = {}
    for by_topic in of_run.values():
        for topic, value in by_topic.items():
            on_topic.setdefault(topic, []).append(value)
    undefined = {topic for topic, values in on_topic.items() if all(v.is_undefined for v in values)}
    wanted = set(topics).difference(undefined, left_out)
    absent = {}
    for topic in wanted & (on_topic.keys() | left_open.keys()):
        values = on_topic.get(topic, [])
        is_known = any(v.value is not None for v in values)
        if topic in left_open or not is_known:
            seems_undefined = not is_known and any(v.is_undefined for v in values)
            value = not_made(within, None if seems_undefined else 0.0)
            absent[topic] = value.widened(within, max(0, left_open.get(topic, 0) - 1))
    is_of_own = by_own_topics or is_of_answered(measure)
    return MeasureValues(of_run, wanted, is_of_own, absent)


def is_of_answered(measure: str) -> bool:
    """Whether a run that did not answer a topic has no value there, and not 0."""
    return measure.partition("@")[0] in _OF_ANSWERED


def range_of(measure: str, seen: Iterable[Value] = ()) -> Range:
    """What a measure can be: a share, unless we know better, or some value seen is none."""
    name = measure.partition("@")[0]
    if name in _RANGES:
        return _RANGES[name]
    bounds = [bound for value in seen for bound in (value.low, value.high) if bound is not None]
    return IN_0_TO_1 if all(-_ROUNDING <= bound <= 1 + _ROUNDING for bound in bounds) else None
