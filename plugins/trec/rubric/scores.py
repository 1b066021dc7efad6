"""Scores of rubrics, from verdicts on criteria."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....metrics.answer_scores import SUFFIX, Value, expected_gain
from ....metrics.instruments.rubrics import (
    CRITERION_GAINS,
    CRITERION_GAINS_STRICT,
    RUBRIC_MEASURES,
    clipped,
    rubric_scores,
    weighted_rubric,
)

EXPECTED = "rubric" + SUFFIX
MEASURES = (*RUBRIC_MEASURES, EXPECTED)
# Those that are linear in their items, which corrected scores need: a clip is not.
EARNED = {"rubric_earned": CRITERION_GAINS}
WITHOUT_PENALTIES = {"rubric": CRITERION_GAINS, "rubric_strict": CRITERION_GAINS_STRICT}


@dataclass
class RubricCell:
    """The verdicts on one answer."""

    run_id: str
    topic_id: str
    verdicts: list[Any] = field(
        default_factory=list
    )  # rows or judgements: label, weight, probabilities

    def values(self, measures: Sequence[str]) -> dict[str, Value]:
        """These measures.

        The one by probabilities takes labels without them as certain; those of penalties are the
        same as `rubric` where there are none.
        """
        weights = [verdict.weight for verdict in self.verdicts]
        scores = rubric_scores([verdict.label for verdict in self.verdicts], weights)
        if EXPECTED in measures:
            gains = [_get_expected(verdict) for verdict in self.verdicts]
            scores[EXPECTED] = clipped(weighted_rubric(gains, weights))
        return {name: scores.get(name, scores["rubric"]) for name in measures}


def group_by_answer(verdicts: Iterable[Any]) -> list[RubricCell]:
    """The verdicts by answer, in the order of their first ones."""
    cells: dict[tuple[str, str], RubricCell] = {}
    for verdict in verdicts:
        at = verdict.run_id, verdict.topic_id
        cells.setdefault(at, RubricCell(*at)).verdicts.append(verdict)
    return list(cells.values())


def list_measures(cells: Sequence[RubricCell], *, may_have_penalties: bool) -> list[str]:
    """What can be scored: those of penalties where there may be some, and of probabilities."""
    measures = list(RUBRIC_MEASURES if may_have_penalties else RUBRIC_MEASURES[:2])
    has_probabilities = any(v.probabilities is not None for c in cells for v in c.verdicts)
    return [*measures, EXPECTED] if has_probabilities else measures


def has_penalties(cells: Sequence[RubricCell]) -> bool:
    """Whether any criterion has a weight below 0."""
    return any(verdict.weight < 0 for cell in cells for verdict in cell.verdicts)


def _get_expected(verdict: Any) -> float | None:
    gain = expected_gain(verdict.probabilities or {}, CRITERION_GAINS)
    if gain is None and verdict.label is not None:
        gain = CRITERION_GAINS[verdict.label]
    return None if gain is None else min(gain, 1.0)
