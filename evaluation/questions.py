"""What each question was worth: one row a run, topic and measure, with what it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..programs.scoring.result import Result as StoredResult


@dataclass(frozen=True)
class QuestionScore:
    """One value of one measure for one answer.

    Attributes:
        value: None: not judged, or 0/0; never a 0 in the place of a judgement that failed.
        n, n_unjudged: judgements that carry it, and that are missing.
        low, high: the value with those that are missing counted as worst and as best.
        reasons: of what is missing for this run and topic, in any program: how often each.
    """

    topic_id: str
    run_id: str
    measure: str
    value: float | None
    n: int
    n_unjudged: int
    low: float | None
    high: float | None
    reasons: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_judged(self) -> bool:
        """Whether there is a value and nothing of it is missing."""
        return self.value is not None and not self.n_unjudged

    def __str__(self) -> str:
        value = "not judged" if self.value is None else f"{self.value:.3f}"
        lost = f", {self.n_unjudged} unjudged" if self.n_unjudged else ""
        why = "".join(f"; {reason} {n}" for reason, n in self.reasons.items())
        return f"{self.measure} {value} (n {self.n}{lost}{why})"


def question_scores(
    result: StoredResult, measures: Sequence[str] = (), runs: Sequence[str] = ()
) -> list[QuestionScore]:
    """The scores of each question, in the order of scores.jsonl.

    Args:
        measures, runs: which; empty: all.
    """
    lost: dict[tuple[str | None, str | None], Counter[str]] = {}
    for row in result.unjudged:
        lost.setdefault((row.get("run_id"), row.get("topic_id")), Counter())[row["reason"]] += 1
    return [
        QuestionScore(
            topic_id=row.topic_id,
            run_id=row.run_id,
            measure=row.measure,
            value=row.value,
            n=row.n or 0,
            n_unjudged=row.n_unjudged or 0,
            low=row.low,
            high=row.high,
            reasons=dict(
                lost.get((row.run_id, row.topic_id), Counter())
                + lost.get((None, row.topic_id), Counter())
            ),
        )
        for row in result.scores
        if row.topic_id != "all"
        and (not measures or row.measure in measures)
        and (not runs or row.run_id in runs)
    ]
