"""What an answer earns by criteria with weights, of which those below 0 are penalties."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ....metrics.answer_scores import SUFFIX, UNDEFINED, Value, expected_gain

RUBRIC_MEASURES = ("rubric", "rubric_strict", "rubric_unclipped", "rubric_earned")
# arXiv:2511.07685 and its code: satisfied, partially satisfied, not satisfied.
CRITERION_GAINS = {"not_met": 0.0, "partly": 0.5, "met": 1.0}
CRITERION_GAINS_STRICT = {"not_met": 0.0, "partly": 0.0, "met": 1.0}
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
            scores[EXPECTED] = clip(compute_weighted_rubric(gains, weights))
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


def rubric_scores(labels: Sequence[str | None], weights: Sequence[float]) -> dict[str, Value]:
    """The rubric measures of one answer, by name.

    `rubric`: sum_i(w_i g_i) / sum of the weights above 0, clipped to [0, 1]; g is 1 for met, 0.5
    for partly, 0 for not_met. `rubric_strict`: partly counts 0. Where a weight is below 0 also
    `rubric_unclipped`, the same as `rubric` without the clip, in (-inf, 1], and `rubric_earned`,
    in [0, 1], what the criteria with weights above 0 alone earn.

    Args:
        labels: one per criterion: met, partly, not_met, or None = not judged. Of a penalty, met
            says that the fault is there.
        weights: finite, not 0, in the same order.

    Returns: see `compute_weighted_rubric`.
    Raises: ValueError if lengths differ or a label or weight is none; it names the index.
    Source: arXiv:2511.07685 (ResearchRubrics), its compliance score; RAGDoll's ternary and binary
        score. Neither clips: their number is `rubric_unclipped`, in RAGDoll, which has no
        penalties, `rubric` and `rubric_strict`.

    >>> scores = rubric_scores(["met", "partly", "met"], [3, 2, -1])
    >>> scores["rubric"].value, scores["rubric_strict"].value, scores["rubric_earned"].value
    (0.6, 0.4, 0.8)
    """
    for i, label in enumerate(labels):
        if label is not None and label not in CRITERION_GAINS:
            wanted = ", ".join(CRITERION_GAINS)
            raise ValueError(f"labels[{i}] is {label!r}, wanted {wanted} or None")
    gains = [_gain(label, CRITERION_GAINS) for label in labels]
    strict = [_gain(label, CRITERION_GAINS_STRICT) for label in labels]
    whole = compute_weighted_rubric(gains, weights)
    scores = {
        "rubric": clip(whole),
        "rubric_strict": clip(compute_weighted_rubric(strict, weights)),
    }
    if any(weight < 0 for weight in weights):
        positive = [i for i, weight in enumerate(weights) if weight > 0]
        earned = compute_weighted_rubric(
            [gains[i] for i in positive], [weights[i] for i in positive]
        )
        scores |= {"rubric_unclipped": whole, "rubric_earned": earned}
    return scores


def compute_weighted_rubric(gains: Sequence[float | None], weights: Sequence[float]) -> Value:
    """Sum_i(w_i g_i) / sum of the weights above 0, not clipped.

    Args:
        gains: of each criterion in [0, 1], or None = not judged.
        weights: finite, not 0, in the same order.

    Returns: the value over the judged criteria, both sums; `n` judged, `n_unjudged` not. Bounds:
        those not judged earn nothing and have all penalties, or all they can and none. A value
        over a part that the whole cannot reach (of a part with heavy penalties) is moved to the
        nearest bound. None where no judged weight is above 0; 0/0 where none at all is.
    Raises: ValueError if lengths differ, a gain is out of range, or a weight is 0 or not finite.

    >>> compute_weighted_rubric([1.0, None, 0.5], [2, 2, -1])
    Value(value=0.75, n=2, n_unjudged=1, low=0.375, high=0.875)
    """
    if len(gains) != len(weights):
        raise ValueError(f"{len(gains)} labels for {len(weights)} weights")
    for i, (gain, weight) in enumerate(zip(gains, weights, strict=True)):
        if not weight or not math.isfinite(weight):
            raise ValueError(f"weights[{i}] is {weight}, wanted a number that is not 0")
        if gain is not None and not 0 <= gain <= 1:
            raise ValueError(f"gains[{i}] is {gain}, wanted 0 to 1")
    worth = math.fsum(weight for weight in weights if weight > 0)
    if not worth:
        return UNDEFINED
    both = list(zip(gains, weights, strict=True))
    judged = [(gain, weight) for gain, weight in both if gain is not None]
    missing = [weight for gain, weight in both if gain is None]
    earned = math.fsum(gain * weight for gain, weight in judged)
    low = (earned + math.fsum(w for w in missing if w < 0)) / worth
    high = (earned + math.fsum(w for w in missing if w > 0)) / worth
    judged_worth = math.fsum(weight for _, weight in judged if weight > 0)
    value = min(max(earned / judged_worth, low), high) if judged_worth else None
    return Value(value, n=len(judged), n_unjudged=len(missing), low=low, high=high)


def clip(value: Value) -> Value:
    """The same with value and bounds moved into [0, 1].

    >>> clip(Value(-0.5, n=2, n_unjudged=0, low=-0.5, high=-0.5)).value
    0.0
    """
    if value.low is None or value.high is None:
        return value
    inner = None if value.value is None else _within(value.value)
    return Value(inner, value.n, value.n_unjudged, _within(value.low), _within(value.high))


def _within(number: float) -> float:
    return min(max(number, 0.0), 1.0)


def _gain(label: str | None, gains: Mapping[str, float]) -> float | None:
    return None if label is None else gains[label]
