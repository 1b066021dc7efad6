"""One judgement of one item: its label, and how sure the judge was where it can say so."""

from __future__ import annotations

from typing import Any, NamedTuple


class Verdict(NamedTuple):
    """What a judge says of one item.

    `score` in [0, 1]: how far the judge leans to the best label of its scale (word overlap, or the
    expected place on the scale under its probabilities). `probabilities`: of each label, their
    sum 1. None: the model gave no more than a label.
    """

    label: str
    score: float | None = None
    probabilities: dict[str, float] | None = None

    def as_row(self, label: str = "label") -> dict[str, Any]:
        """The known fields, ready for JSON; `label` is the name of the first."""
        row: dict[str, Any] = {label: str(self.label)}
        if self.score is not None:
            row["score"] = self.score
        if self.probabilities is not None:
            row["probabilities"] = self.probabilities
        return row
