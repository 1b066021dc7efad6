"""Labels by cell: what is compared between two judges, and on which scale."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ..reading.fields import show
from ..reading.problems import InputError, Problems
from .declared import Cell as Cell
from .declared import declared_kinds, find_kind, kind_named

ADJUDICATED = "adjudicated"  # `method` of a label that the adjudicator of a jury gave
VERIFIED = "verified"  # `method` of a label that was judged once more,
FIRST, VERIFIER = "first", "verifier"  # and who gave which of its votes

OTHER_SCALES = (  # of no declared kind
    ("no", "yes"),
    ("false", "true"),
    ("not_said", "unsupported", "uncited", "supported"),
)
HIGHEST_GRADE = 3  # of UMBRELA's scale; a file with higher grades has a longer one
MOST_LABELS = 101  # of a scale, as 0 to 100: tables of labels have a cell for each pair of them


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

    kind: str
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

    def of(self, kind: str) -> LabelFile:
        """As `file`, with the scale and the ids of a kind."""
        declared = kind_named(kind)
        scale = grade_scale(self.labels.values()) if declared.has_more_grades else declared.labels
        return self.file(kind, scale, declared.key)

    def file(self, kind: str, scale: tuple[str, ...], key: tuple[str, ...]) -> LabelFile:
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


def known_scale(kind: str, labels: set[str]) -> tuple[str, ...] | None:
    """The scale that has all these labels: one of ours, or their range as whole numbers.

    None where there is none, or it would have more than MOST_LABELS.
    """
    own = [known.labels] if (known := find_kind(kind)) is not None else []
    of_kinds = (  # whole numbers without a kind of their own have the range that they have
        each.labels for each in declared_kinds().values() if not each.labels[0].isdecimal()
    )
    for scale in (*own, *OTHER_SCALES, *of_kinds):
        if labels and labels <= set(scale):
            return scale
    if (ends := ends_of(kind, labels)) is None or ends[1] - ends[0] >= MOST_LABELS:
        return None
    return tuple(map(str, range(ends[0], ends[1] + 1)))


def ends_of(kind: str, labels: Iterable[str]) -> tuple[int, int] | None:
    """The lowest and highest of labels that are whole numbers; grades have 0 to 3 at least.

    None where there are none, or other labels.
    """
    with suppress(ValueError):
        numbers = {label: int(label) for label in labels}
        if any(str(number) != label for label, number in numbers.items()):
            return None  # 1_000, or digits of another script
        if is_graded(kind):
            numbers |= {"0": 0, str(HIGHEST_GRADE): HIGHEST_GRADE}
        return (min(numbers.values()), max(numbers.values())) if numbers else None
    return None


def is_graded(kind: str) -> bool:
    """Whether labels of this kind are whole grades, of which a file may have higher ones."""
    return (known := find_kind(kind)) is not None and known.has_more_grades
