"""Expected scores: the values of answers whose judge gave probabilities, for the scoreboard.

A label without probabilities counts as certain, so that answers stay comparable.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...metrics import NUGGET_MEASURES
from ...metrics.answer_scores import (
    NUGGET_GAINS,
    SUFFIX,
    SUPPORT_GAINS,
    Chances,
    Value,
    expected_gain,
    expected_nugget_scores,
    expected_support_scores,
)
from ...records.nuggets import Assignment
from ...records.support import SupportLabels

NOT_JUDGED = Value(None, 0, 1, 0.0, 1.0)  # of an answer whose topic got no nugget bank
EXPECTED_NUGGET_MEASURES = tuple(name + SUFFIX for name in NUGGET_MEASURES)


def has_probabilities(row: Assignment | SupportLabels) -> bool:
    """Whether the judge gave probabilities of labels, of any item of this answer."""
    if isinstance(row, Assignment):
        return any(assigned.probabilities is not None for assigned in row.nuggets)
    return any(c.probabilities is not None for s in row.sentences for c in s.citations)


def expected_nugget_values(row: Assignment) -> dict[str, Value]:
    """The six nugget measures of one answer by probabilities."""
    chances = [_chances(a.label, a.probabilities, NUGGET_GAINS["A"]) for a in row.nuggets]
    return expected_nugget_scores(chances, [a.nugget.importance for a in row.nuggets])


def expected_support_values(row: SupportLabels) -> dict[str, Value]:
    """The support measures of one answer by probabilities."""
    gains = SUPPORT_GAINS["support_precision"]
    chances = [
        [_chances(c.label, c.probabilities, gains) for c in sentence.citations]
        for sentence in row.sentences
    ]
    return expected_support_scores(chances)


def _chances(
    label: str | None, probabilities: Chances | None, gains: Mapping[str, float]
) -> Chances | None:
    """Probabilities of known labels; where there are none, the label as certain."""
    if probabilities is not None and expected_gain(probabilities, gains) is not None:
        return probabilities
    return None if label is None else {label: 1.0}
