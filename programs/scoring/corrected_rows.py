"""What a corrected score says: the rows of `judge score --labels`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...metrics.inference import Interval
from ...metrics.ppi import LabelsNeeded
from ...records.rows import ScoreRow


@dataclass(frozen=True)
class Figure:
    """A score or a difference, with an interval for each of two questions.

    `like_these`: how far another sample of such topics could give another score. `of_these`:
    where human labels of every item of these topics would come out. Bounds are None where
    labels are too few for that question.
    """

    value: float
    like_these: Interval
    of_these: Interval

    def as_dict(self) -> dict[str, Any]:
        """Fields ready for JSON."""
        bounds = {
            name: None if interval.low is None else [interval.low, interval.high]
            for name, interval in (("like_these", self.like_these), ("of_these", self.of_these))
        }
        return {"value": self.value, **bounds}


@dataclass(frozen=True)
class CorrectedScore:
    """One measure of one run: by the judge, corrected, and by the human labels alone.

    `corrected` and what follows it is None where `reason` says why. `lam`, `rho` and
    `label_saving` are of the measure, over all its runs.
    """

    run_id: str
    measure: str
    judged: float | None  # as `judge score` gives it, from labels
    expected: float | None  # the same from probabilities; None: there are none
    n_items: int
    n_unjudged: int
    n_labels: int
    n_topics: int
    n_labelled_topics: int
    lam: float | None
    rho: float | None
    label_saving: float | None
    reason: str | None = None
    corrected: Figure | None = None
    human_only: Figure | None = None
    plug_in: float | None = None
    sensitivity: float | None = None
    specificity: float | None = None
    needed: LabelsNeeded | None = None
    warnings: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Fields ready for JSON."""
        needed = None if self.needed is None else vars(self.needed)
        figures = {
            name: None if figure is None else figure.as_dict()
            for name, figure in (("corrected", self.corrected), ("human_only", self.human_only))
        }
        return {**vars(self), **figures, "needed": needed, "warnings": list(self.warnings)}


@dataclass(frozen=True)
class CorrectedDifference:
    """A run's corrected score minus another's, paired by topic."""

    run_id: str
    against: str
    measure: str
    judged: float | None
    corrected: Figure
    n_labels: int
    n_topics: int

    def as_dict(self) -> dict[str, Any]:
        """Fields ready for JSON."""
        return {**vars(self), "corrected": self.corrected.as_dict()}


@dataclass(frozen=True)
class CorrectedScores:
    """What `corrected_scores` found; `plain` holds the score rows without correction."""

    plain: list[ScoreRow] = field(repr=False)
    scores: list[CorrectedScore]
    differences: list[CorrectedDifference]
    level: float
    half_width: float | None
