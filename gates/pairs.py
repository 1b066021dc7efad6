"""A run and the same run of a baseline, question by question: what a check of a change compares."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..programs.protocols.glossary import meaning
from ..programs.scoring.topic_scores import TopicScores
from ..records.reading.problems import InputError, cell
from ..records.rows import ScoreRow
from .measures import check_known

SHOWN = 5  # questions that only one side has, in a note


@dataclass(frozen=True)
class Pair:
    """One measure of a run on the questions that count on both sides.

    What lacks judgements has the worst value that it could have now, the best it could have had
    before.

    Attributes:
        after, before: (n_questions,) values; None: 0/0, or missing without a bound.
        only_after, only_before: questions with a value on one side alone.
        unbounded: those without a value for what was not judged.
        n_unjudged: missing judgements behind all these values.
        before_id: the baseline's run, where it has another name; "": the same.
    """

    run_id: str
    measure: str
    topics: Sequence[str]
    after: Sequence[float | None]
    before: Sequence[float | None]
    only_after: Sequence[str]
    only_before: Sequence[str]
    unbounded: Sequence[str]
    n_unjudged: int
    before_id: str = ""

    @property
    def sign(self) -> int:
        """-1 where less is better."""
        return -1 if meaning(self.measure).is_less_better else 1

    @property
    def both(self) -> list[tuple[str, float, float]]:
        """Question, value before and after, of those that have both."""
        rows = zip(self.topics, self.before, self.after, strict=True)
        return [(topic, a, b) for topic, a, b in rows if a is not None and b is not None]

    @property
    def notes(self) -> list[str]:
        """What is compared with nothing."""
        of_run = f"{cell(self.run_id)}: {cell(self.measure)}"
        return [
            f"{of_run} only in {where}, not compared: {_named(topics)}"
            for topics, where in ((self.only_after, "these"), (self.only_before, "the baseline"))
            if topics
        ]


def paired(
    new: TopicScores, baseline: TopicScores, measure: str, run_id: str, before_id: str
) -> Pair:
    """The values of a run, and those of the run that it is compared with."""
    is_more_better = not meaning(measure).is_less_better
    absent = None if new.is_of_answered(measure) else 0.0
    rows = new.rows[measure].get(run_id, {}), baseline.rows[measure].get(before_id, {})
    questions = list(new.topics[measure]), list(baseline.topics[measure])
    topics = [topic for topic in questions[0] if topic in questions[1]]
    after, before = (
        [_at_worst(of[t], is_least) if t in of else absent for t in topics]
        for of, is_least in zip(rows, (is_more_better, not is_more_better), strict=True)
    )
    values = list(zip(topics, after, before, strict=True))
    lacking = [
        t
        for t, *both in values
        if any(v is None and t in of and of[t].n_unjudged for v, of in zip(both, rows, strict=True))
    ]
    alone = [t for t, now, then in values if then is None is not now and t not in lacking]
    gone = [t for t, now, then in values if now is None is not then and t not in lacking]
    return Pair(
        run_id=run_id,
        measure=measure,
        topics=topics,
        after=after,
        before=before,
        only_after=[*(t for t in questions[0] if t not in topics), *alone],
        only_before=[*(t for t in questions[1] if t not in topics), *gone],
        unbounded=lacking,
        n_unjudged=sum(of[t].n_unjudged or 0 for of in rows for t in topics if t in of),
        before_id=before_id if before_id != run_id else "",
    )


def runs_to_compare(
    new: Collection[str], baseline: Collection[str], run: str | None, where: str
) -> list[tuple[str, str]]:
    """The runs by their names on both sides: those in both, or the only one of each.

    Args:
        run: one of the new results; the baseline's has the same name, or is its only one.

    Raises: InputError where there are none.
    """
    if run is not None:
        check_known("run", run, new, where)
        before = run if run in baseline or len(baseline) != 1 else next(iter(baseline))
        check_known("run", before, baseline, where)
        return [(run, before)]
    if len(new) == len(baseline) == 1:
        return [(next(iter(new)), next(iter(baseline)))]
    shared = [(name, name) for name in new if name in baseline]
    if not shared:
        there = ", and ".join(", ".join(names) or "none" for names in (new, baseline))
        raise InputError(f"{where}: no run in both; there is {there}")
    return shared


def runs_alone(new: Collection[str], baseline: Collection[str]) -> list[str]:
    """Notes of the runs that only one side has, where runs go by their names."""
    if len(new) == len(baseline) == 1:
        return []
    sides = (new, baseline, "these"), (baseline, new, "the baseline")
    return [
        f"runs only in {where}, not compared: {_named(left)}"
        for mine, theirs, where in sides
        if (left := [name for name in mine if name not in theirs])
    ]


def _at_worst(row: ScoreRow, is_least: bool) -> float | None:
    if not row.n_unjudged:
        return row.value
    return row.low if is_least else row.high


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    return ", ".join(map(cell, names[:SHOWN])) + more
