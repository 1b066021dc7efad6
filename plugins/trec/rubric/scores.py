"""The scores of answers by criteria with weights; a weight below 0 is a penalty."""

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
# Measures that are linear in their items, as corrected scores need; clipped ones are not.
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
        """Return these measures.

        In the measure with probabilities, a label without probabilities counts as certain. Without
        penalties, the measures of penalties equal `rubric`.
        """
        weights = [verdict.weight for verdict in self.verdicts]
        scores = rubric_scores([verdict.label for verdict in self.verdicts], weights)
        if EXPECTED in measures:
            gains = [_get_expected(verdict) for verdict in self.verdicts]
            scores[EXPECTED] = clip(compute_weighted_rubric(gains, weights))
        return {name: scores.get(name, scores["rubric"]) for name in measures}


def group_by_answer(verdicts: Iterable[Any]) -> list[RubricCell]:
    """Group the verdicts by answer, in the order of the first verdicts."""
    cells: dict[tuple[str, str], RubricCell] = {}
    for verdict in verdicts:
        at = verdict.run_id, verdict.topic_id
        cells.setdefault(at, RubricCell(*at)).verdicts.append(verdict)
    return list(cells.values())


def list_measures(cells: Sequence[RubricCell], *, may_have_penalties: bool) -> list[str]:
    """List the measures, with those of penalties and of probabilities if there may be any."""
    measures = list(RUBRIC_MEASURES if may_have_penalties else RUBRIC_MEASURES[:2])
    has_probabilities = any(v.probabilities is not None for c in cells for v in c.verdicts)
    return [*measures, EXPECTED] if has_probabilities else measures


def has_penalties(cells: Sequence[RubricCell]) -> bool:
    """Return whether any criterion has a weight below 0."""
    return any(verdict.weight < 0 for cell in cells for verdict in cell.verdicts)


def _get_expected(verdict: Any) -> float | None:
    gain = expected_gain(verdict.probabilities or {}, CRITERION_GAINS)
    if gain is None and verdict.label is not None:
        gain = CRITERION_GAINS[verdict.label]
    return None if gain is None else min(gain, 1.0)


def rubric_scores(labels: Sequence[str | None], weights: Sequence[float]) -> dict[str, Value]:
    """Compute the rubric measures of one answer, by name.

    `rubric`: sum_i(w_i g_i) / sum of the weights above 0, clipped to [0, 1]; g is 1 for met, 0.5
    for partly, 0 for not_met. `rubric_strict`: partly counts 0. If a weight is below 0, also
    `rubric_unclipped`, which is `rubric` without the clip, in (-inf, 1], and `rubric_earned`, in
    [0, 1], from the criteria with weights above 0 alone.

    Args:
        labels: one per criterion: met, partly, not_met, or None = not judged. For a penalty, met
            says that the fault is there.
        weights: finite numbers other than 0, in the same order.

    Returns: see `compute_weighted_rubric`.
    Raises: ValueError if lengths differ or a label or weight is invalid; it names the index.
    Source: arXiv:2511.07685 (ResearchRubrics), its compliance score; RAGDoll's ternary and binary
        score. Neither clips: ResearchRubrics' score is `rubric_unclipped`; RAGDoll has no
        penalties, and its scores are `rubric` and `rubric_strict`.

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
    """Compute sum_i(w_i g_i) / sum of the weights above 0, not clipped.

    Args:
        gains: the gain of each criterion in [0, 1], or None = not judged.
        weights: finite numbers other than 0, in the same order.

    Returns: the value over the judged criteria, in both sums, with `n` judged and `n_unjudged` not
        judged. Low bound: missing criteria earn nothing and have all penalties; high bound: they
        earn everything and have no penalty. A value outside these bounds, which is possible if the
        judged part has heavy penalties, is moved to the nearest bound. None if no judged weight is
        above 0; 0/0 if no weight is above 0.
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
    """Return the value with its bounds, clipped to [0, 1].

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
