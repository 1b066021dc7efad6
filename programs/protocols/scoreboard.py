"""From judgements to score rows: per answer, and per run over the topics it had to answer."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ...metrics import Value, nugget_scores
from ...metrics.instruments.narratives import narrative_scores
from ...records.rows import ScoreRow
from .measure_values import LENGTH, MeasureValues, measure_values

__all__ = ["LENGTH", "Scoreboard", "length_value", "nugget_values", "value_row"]


class Scoreboard:
    """Collects the values of each (run, topic) and turns them into rows, runs in sorted order.

    Args:
        topics: ids of the topics that every run must answer; a run without an answer to one
            scores 0 there. None: those that any run answered.
        by_own_topics: the mean of a run is over the topics that it has values of, in all measures.
    """

    def __init__(
        self, topics: Collection[str] | None = None, *, by_own_topics: bool = False
    ) -> None:
        self._by_own_topics = by_own_topics
        self._topics = list(dict.fromkeys(topics)) if topics is not None else None
        self._cells: dict[str, dict[str, dict[str, Value]]] = {}
        self._left_out: dict[str | None, set[str]] = {}  # by measure; None: from all
        self._left_open: dict[str | None, dict[str, int]] = {}
        self._unmade: dict[str, set[str]] = {}  # topics by run
        self._expected: list[Sequence[str]] = []
        self._ready: list[ScoreRow] = []

    def leave_out(self, measures: Collection[str] | None, topics: Collection[str]) -> None:
        """Topics on which these measures mean nothing, as those of nuggets where there are none.

        Args:
            measures: None: all.
        """
        for measure in (None,) if measures is None else measures:
            self._left_out.setdefault(measure, set()).update(topics)

    def leave_open(self, measures: Collection[str] | None, topics: Mapping[str, int]) -> None:
        """Topics on which judgements are missing that could change any value of these measures.

        Such as those of the passages that nuggets are made from. Values stay, with the widest
        bounds.

        Args:
            measures: None: all.
            topics: each with the number of such judgements, beside those that its values lack.
        """
        for measure in (None,) if measures is None else measures:
            self._left_open.setdefault(measure, {}).update(topics)

    def leave_unmade(self, cells: Iterable[tuple[str, str]], measures: Sequence[str] = ()) -> None:
        """Note (run, topic) of what a system would have given and we failed to make.

        It is not judged in any measure: no value, out of the mean, with the widest bounds.

        Args:
            measures: of one program, which have rows even where nothing at all was made.
        """
        for run_id, topic_id in cells:
            self._unmade.setdefault(run_id, set()).add(topic_id)
        self._expected.append(measures)

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
            answered = (*self._cells.values(), *self._unmade.values())
            topics = sorted({topic for of_run in answered for topic in of_run})
        measures = dict.fromkeys(
            name for cells in self._cells.values() for values in cells.values() for name in values
        )
        for expected in self._expected if self._unmade else ():
            if not measures.keys() & set(expected):
                measures |= dict.fromkeys(expected)
        by_measure = {measure: self._values(measure, topics) for measure in measures}
        for run_id in sorted({*self._cells, *self._unmade}):
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
        left_out: set[str] = set()
        left_open: dict[str, int] = {}
        for name in (None, measure):
            left_out |= self._left_out.get(name, set())
            left_open |= self._left_open.get(name, {})
        return measure_values(
            measure,
            cells,
            topics,
            left_out=left_out,
            left_open=left_open,
            unmade=self._unmade,
            by_own_topics=self._by_own_topics,
        )


def nugget_values(
    labels: Sequence[str | None],
    importances: Sequence[str | None],
    length: int | None,
    sub_narratives: Sequence[str] = (),
) -> dict[str, Value]:
    """The six nugget measures of one answer, and its length in words where it is known.

    With those by sub-narrative, where the nuggets are of some.
    """
    values = nugget_scores(labels, importances)
    if any(sub_narratives):
        values |= narrative_scores(labels, importances, sub_narratives)
    return values if length is None else values | length_value(length)


def length_value(n_words: int) -> dict[str, Value]:
    """The length of an answer as a measure."""
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
    """One value as a row; of a mean with the topics that it is over, see ScoreRow."""
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
