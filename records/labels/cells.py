"""Labels by cell: what is compared between two judges, and on which scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..assignments import ASSIGNMENT_LABELS
from ..instruments.answered import STANDING_LABELS
from ..instruments.battles import BATTLE_KEY, BATTLE_SCALE
from ..instruments.rubrics import CRITERION_LABELS
from ..key_points import ENTAILMENT_LABELS
from ..reading.fields import show
from ..reading.problems import InputError, Problems
from ..support import SUPPORT_WEIGHTS

Cell = tuple[str, ...]
LabelKind = Literal[
    "nuggets", "support", "relevance", "ratings", "keypoints", "rubric", "battles", "other"
]
ADJUDICATED = "adjudicated"  # `method` of a label that the adjudicator of a jury gave
VERIFIED = "verified"  # `method` of a label that was judged once more,
FIRST, VERIFIER = "first", "verifier"  # and who gave which of its votes

NUGGET_SCALE: tuple[str, ...] = tuple(reversed(ASSIGNMENT_LABELS))
SUPPORT_SCALE: tuple[str, ...] = tuple(reversed(SUPPORT_WEIGHTS))
RATING_SCALE = ("0", "1", "2", "3", "4", "5")  # arXiv:2506.20051
ENTAILMENT_SCALE: tuple[str, ...] = ENTAILMENT_LABELS
CRITERION_SCALE: tuple[str, ...] = CRITERION_LABELS
OTHER_SCALES = (("no", "yes"), ENTAILMENT_SCALE, ("false", "true"), STANDING_LABELS)
HIGHEST_GRADE = 3  # of UMBRELA's scale; a file with higher grades has a longer one
MOST_LABELS = 101  # of a scale, as 0 to 100: tables of labels have a cell for each pair of them

NUGGET_KEY = ("topic_id", "run_id", "nugget_id")
SUPPORT_KEY = ("topic_id", "run_id", "sentence_id", "passage_id")
RELEVANCE_KEY = ("topic_id", "passage_id")
ANSWERABILITY_KEY = ("topic_id", "passage_id", "question_id")
KEY_POINT_KEY = ("topic_id", "run_id", "key_point_id")
CRITERION_KEY = ("topic_id", "run_id", "criterion_id")

# By kind the ids that name an item, and the scale; relevance has as many grades as there are.
KEYS: dict[LabelKind, tuple[str, ...]] = {
    "nuggets": NUGGET_KEY,
    "support": SUPPORT_KEY,
    "relevance": RELEVANCE_KEY,
    "ratings": ANSWERABILITY_KEY,
    "keypoints": KEY_POINT_KEY,
    "rubric": CRITERION_KEY,
    "battles": BATTLE_KEY,
}
SCALES: dict[LabelKind, tuple[str, ...]] = {
    "nuggets": NUGGET_SCALE,
    "support": SUPPORT_SCALE,
    "ratings": RATING_SCALE,
    "keypoints": ENTAILMENT_SCALE,
    "rubric": CRITERION_SCALE,
    "battles": BATTLE_SCALE,
}


@dataclass(frozen=True)
class LabelFile:
    """The labels of a file by the ids of their item.

    `scale` runs from worst to best. `cells` are keyed by the values of `key_names`, in that
    order. `n_unlabelled` cells are in the file without a label: not judged, or annotators
    without a majority. `annotations` holds each annotator's label where the file names them;
    the cell then has the label that more than half of its annotators gave. `scores` and
    `probabilities` are there for the cells of which a judge gave them; `rationales` and `lines`
    (the first in the file) for messages and for people. `votes` are there for the cells that a jury
    labelled: by member the label, None where it gave none; `adjudicated` are those of them that its
    adjudicator decided. `conditions` counts the labels of a file of people's by the condition under
    which they were given; "": of no known one, beside others.
    """

    kind: LabelKind
    scale: tuple[str, ...]
    cells: dict[Cell, str] = field(repr=False)  # too long for a message
    key_names: tuple[str, ...]
    n_unlabelled: int = 0
    annotations: dict[Cell, dict[str, str]] = field(default_factory=dict, repr=False)
    scores: dict[Cell, float] = field(default_factory=dict, repr=False)
    probabilities: dict[Cell, dict[str, float]] = field(default_factory=dict, repr=False)
    lines: dict[Cell, int] = field(default_factory=dict, repr=False, compare=False)
    rationales: dict[Cell, str] = field(default_factory=dict, repr=False, compare=False)
    votes: dict[Cell, dict[str, str | None]] = field(default_factory=dict, repr=False)
    adjudicated: set[Cell] = field(default_factory=set, repr=False)
    conditions: dict[str, int] = field(default_factory=dict, repr=False, compare=False)


def check_labelled(labels: LabelFile, path: Path) -> None:
    """Raise InputError for a file whose items all lack a label, as a sheet to fill in does."""
    if labels.n_unlabelled and not labels.cells and not any(labels.annotations.values()):
        raise InputError(f"{path}: none of its {labels.n_unlabelled:,} items has a label yet")


def check_same_things(
    path: Path, key_names: Sequence[str], other: Path, other_names: Sequence[str]
) -> None:
    """Raise InputError unless both files name what they label by the same ids."""
    if key_names != other_names:
        keys = " and ".join(", ".join(names) for names in (key_names, other_names))
        raise InputError(f"{path} and {other}: labels of different things ({keys})")


class Cells:
    """Labels as they are read; the same cell twice is mentioned, with two labels an error."""

    def __init__(self, problems: Problems) -> None:
        self.labels: dict[Cell, str | None] = {}
        self.scores: dict[Cell, float] = {}
        self.probabilities: dict[Cell, dict[str, float]] = {}
        self.lines: dict[Cell, int] = {}
        self.rationales: dict[Cell, str] = {}
        self.votes: dict[Cell, dict[str, str | None]] = {}
        self.adjudicated: set[Cell] = set()
        self.problems = problems

    def add(
        self,
        path: Path,
        number: int,
        cell: Cell,
        label: str | None,
        score: float | None = None,
        probabilities: dict[str, float] | None = None,
        votes: dict[str, str | None] | None = None,
        method: str | None = None,
    ) -> None:
        """Add the label that stands in this line; None: the cell is there without one."""
        self.lines.setdefault(cell, number)
        if cell not in self.labels:
            self.labels[cell] = label
            if score is not None:
                self.scores[cell] = score
            if probabilities is not None:
                self.probabilities[cell] = probabilities
            if votes is not None:
                self.votes[cell] = votes
            if method == ADJUDICATED:
                self.adjudicated.add(cell)
        elif self.labels[cell] == label:
            what = f"cell {' '.join(cell)} occurs twice with label {show(label)}"
            self.problems.keep(path, number, "duplicate_cell", f"{what}; counted once")
        else:
            what = f"cell {' '.join(cell)} has {show(label)} here and {show(self.labels[cell])}"
            self.problems.error(path, number, "duplicate_cell", f"{what} before, wanted one label")

    def of(self, kind: LabelKind) -> LabelFile:
        """As `file`, with the scale and the ids of a kind."""
        scale = grade_scale(self.labels.values()) if kind == "relevance" else SCALES[kind]
        return self.file(kind, scale, KEYS[kind])

    def file(self, kind: LabelKind, scale: tuple[str, ...], key: tuple[str, ...]) -> LabelFile:
        """What was added, with the cells without a label counted."""
        cells = {cell: label for cell, label in self.labels.items() if label is not None}
        return LabelFile(
            kind,
            scale,
            cells,
            key,
            n_unlabelled=len(self.labels) - len(cells),
            scores=self.scores,
            probabilities=self.probabilities,
            lines=self.lines,
            rationales=self.rationales,
            votes=self.votes,
            adjudicated=self.adjudicated,
        )


def grade_scale(labels: Iterable[str | None]) -> tuple[str, ...]:
    """Every whole grade from the lowest to the highest of these, 0 to 3 at least."""
    grades = [int(label) for label in labels if label is not None]
    return tuple(map(str, range(min([0, *grades]), max([HIGHEST_GRADE, *grades]) + 1)))


def known_scale(kind: LabelKind, labels: set[str]) -> tuple[str, ...] | None:
    """The scale that has all these labels: one of ours, or their range as whole numbers.

    None where there is none, or it would have more than MOST_LABELS.
    """
    first = SCALES.get(kind, NUGGET_SCALE)
    for scale in (first, NUGGET_SCALE, SUPPORT_SCALE, *OTHER_SCALES):
        if labels and labels <= set(scale):
            return scale
    if (ends := ends_of(kind, labels)) is None or ends[1] - ends[0] >= MOST_LABELS:
        return None
    return tuple(map(str, range(ends[0], ends[1] + 1)))


def ends_of(kind: LabelKind, labels: Iterable[str]) -> tuple[int, int] | None:
    """The lowest and highest of labels that are whole numbers; grades have 0 to 3 at least.

    None where there are none, or other labels.
    """
    with suppress(ValueError):
        numbers = {label: int(label) for label in labels}
        if any(str(number) != label for label, number in numbers.items()):
            return None  # 1_000, or digits of another script
        if kind == "relevance":
            numbers |= {"0": 0, str(HIGHEST_GRADE): HIGHEST_GRADE}
        return (min(numbers.values()), max(numbers.values())) if numbers else None
    return None
