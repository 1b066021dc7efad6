"""From judgements to score rows: per answer, and per run over the topics it had to answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ...metrics import Value, mean_over_topics, nugget_scores
from ...records.rows import ScoreRow

LENGTH = "length"  # words
# Means over the topics that a run answered: an answer that is not there is not short and claims
# nothing wrong, nor is a context that is not there without repetition.
OF_ANSWERED = (LENGTH, "redundancy", "KPP")


class Scoreboard:
    """Collects the values of each (run, topic) and turns them into rows, runs in sorted order.

    Args:
        topics: ids of the topics that every run must answer; a run without an answer to one
            scores 0 there. None: those that any run answered.
    """

    def __init__(self, topics: Collection[str] | None = None) -> None:
        self._topics = list(dict.fromkeys(topics)) if topics is not None else None
        self._cells: dict[str, dict[str, dict[str, Value]]] = {}
        self._left_out: dict[str | None, set[str]] = {}  # by measure; None: from all
        self._ready: list[ScoreRow] = []

    def leave_out(self, measures: Collection[str] | None, topics: Collection[str]) -> None:
        """Topics on which these measures mean nothing, as those of nuggets where there are none.

        Args:
            measures: None: all.
        """
        for measure in (None,) if measures is None else measures:
            self._left_out.setdefault(measure, set()).update(topics)

    def add(self, run_id: str, topic_id: str, values: Mapping[str, Value]) -> None:
        """Note all measures of one answer; called again for a cell, adds measures to it."""
        self._cells.setdefault(run_id, {}).setdefault(topic_id, {}).update(values)

    def ensure_runs(self, run_ids: Collection[str]) -> None:
        """Keep runs that answered no topic: they score 0, and do not vanish."""
        for run_id in run_ids:
            self._cells.setdefault(run_id, {})

    def extend(self, rows: Iterable[ScoreRow]) -> None:
        """Add rows that are ready; they stand before all others."""
        self._ready += rows

    def rows(self) -> Iterator[ScoreRow]:
        """Rows by run and measure, each followed by its mean; topics in their given order."""
        yield from self._ready
        topics = self._topics
        if topics is None:
            topics = sorted({topic for cells in self._cells.values() for topic in cells})
        measures = dict.fromkeys(
            name for cells in self._cells.values() for values in cells.values() for name in values
        )
        must_answer = {measure: self._must_answer(measure, topics) for measure in measures}
        for run_id, cells in sorted(self._cells.items()):
            for measure in measures:
                of_topic = {t: cells[t][measure] for t in cells if measure in cells[t]}
                for topic_id in topics:
                    if topic_id in of_topic:
                        yield value_row(run_id, topic_id, measure, of_topic[topic_id])
                wanted = must_answer[measure]
                known = {t: v for t, v in of_topic.items() if t in wanted}
                mean, n_topics = mean_over_topics(
                    known, wanted if measure not in OF_ANSWERED else None
                )
                yield value_row(run_id, "all", measure, mean, n_topics)

    def _must_answer(self, measure: str, topics: Sequence[str]) -> set[str]:
        """The topics on which a measure means something.

        Not those that were left out, nor those where it is 0/0 for every answer, such as V
        without a vital nugget. A topic that no run answered stays: all score 0 there.
        """
        cells = [
            (topic, values[measure])
            for of_run in self._cells.values()
            for topic, values in of_run.items()
            if measure in values
        ]
        defined = {topic for topic, value in cells if value.high is not None}
        undefined = {topic for topic, _ in cells} - defined
        left_out = (self._left_out.get(name, set()) for name in (measure, None))
        return set(topics).difference(undefined, *left_out)


def nugget_values(
    labels: Sequence[str | None], importances: Sequence[str | None], length: int | None
) -> dict[str, Value]:
    """The six nugget measures of one answer, and its length in words where it is known."""
    values = nugget_scores(labels, importances)
    if length is not None:
        values[LENGTH] = Value(float(length), 0, 0, float(length), float(length))
    return values


def value_row(
    run_id: str, topic_id: str, measure: str, value: Value, n_topics: int | None = None
) -> ScoreRow:
    """One value as a row; of a mean with the topics that it is over."""
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
    )
