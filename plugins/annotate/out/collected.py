"""Collects the labels for an export: by cell, of one kind and one condition."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ....programs.scoring.human_labels import RANDOM
from ....records.kinds import Cell
from ....records.reading.problems import InputError
from ..store.events import Condition, Label, Verdict
from ..store.kinds import Kind
from ..store.people import Person, check_people, list_kinds


@dataclass(frozen=True)
class Collected:
    """Labels of one kind and condition, by cell and by person.

    Attributes:
        labels: the first label of each person; None labels, "cannot tell", included.
        checks: repeats and controls, which measure people and are not labels of the cell.
        verdicts: the latest verdict of cells in `labels`.
        flags: cell -> the notes of people who flagged it, by person.
        n_doubled: labels that a person gave here and in an imported file.
    """

    kind: Kind
    condition: Condition
    labels: dict[Cell, dict[str, Label]]
    checks: list[tuple[str, Label]] = field(default_factory=list)
    verdicts: dict[Cell, Verdict] = field(default_factory=dict)
    flags: dict[Cell, dict[str, str]] = field(default_factory=dict)
    n_doubled: int = 0

    @property
    def people(self) -> list[str]:
        """The annotators, sorted."""
        return sorted({name for by in self.labels.values() for name in by})

    def is_random(self, cell: Cell) -> bool:
        """Whether somebody got the cell at random; such cells are a sample of their topic."""
        return any(label.chosen_by == RANDOM for label in self.labels[cell].values())


def choose_kind(folder: Path, people: Sequence[Person], kind: Kind | None) -> Kind:
    """The kind to export. Raises: InputError if it is missing, or `kind` must choose one."""
    kinds = list_kinds(people)
    if kind is None and len(kinds) == 1:
        return kinds[0]
    if kind is None and kinds:
        raise InputError(f"{folder}: has labels of {', '.join(kinds)}; choose one with --kind")
    if kind is None or kind not in kinds:
        what = f"no labels of {kind}" if kind else "nobody has labelled anything"
        raise InputError(f"{folder}: {what} yet{', wanted ' if kinds else ''}{', '.join(kinds)}")
    return kind


def collect(
    folder: Path, *, kind: Kind | None = None, condition: Condition | None = None
) -> Collected:
    """The labels that the people of a folder gave its cells.

    Args:
        kind, condition: which labels to take; None: the only ones.

    Raises: InputError if there are none, or if the folder has several kinds or both conditions and
        the argument is None: people agree more often with a judge's label that they see.
    """
    people = check_people(folder)
    kind = choose_kind(folder, people, kind)
    all_labels = [(person.name, label) for person in people for label in person.labels(kind)]
    condition = _condition(folder, (label for _, label in all_labels), condition)
    labels: dict[Cell, dict[str, Label]] = {}
    checks = []
    for name, label in all_labels:
        if label.condition != condition:
            continue
        if label.repeat or label.is_control:
            checks.append((name, label))
        else:
            labels.setdefault(label.cell, {})[name] = label
    return Collected(
        kind,
        condition,
        dict(sorted(labels.items())),
        sorted(checks, key=lambda one: (one[1].cell, one[0], one[1].repeat)),
        _verdicts(people, kind, condition, labels),
        _flags(people, kind),
        sum(_n_doubled(person, kind) for person in people),
    )


def _condition(folder: Path, labels: Iterable[Label], wanted: Condition | None) -> Condition:
    n = Counter[Condition](label.condition for label in labels)
    if wanted is None and len(n) > 1:
        each = " and ".join(f"{n[name]:,} {name}" for name in sorted(n))
        what = "which are never mixed; choose one with --condition"
        raise InputError(f"{folder}: has {each} labels, {what}")
    if wanted is not None and not n[wanted]:
        there = f", wanted {next(iter(n))}" if n else ""
        raise InputError(f"{folder}: --condition {wanted}: no such label{there}")
    if not n:
        raise InputError(f"{folder}: no labels are left: all were removed or undone")
    return next(iter(n)) if wanted is None else wanted


def _verdicts(
    people: Iterable[Person],
    kind: Kind,
    condition: Condition,
    labels: dict[Cell, dict[str, Label]],
) -> dict[Cell, Verdict]:
    verdicts: dict[Cell, Verdict] = {}
    for person in people:
        for verdict in person.here.verdicts():
            if (verdict.kind, verdict.condition) != (kind, condition):
                continue
            if verdict.cell not in labels:
                continue
            before = verdicts.get(verdict.cell)
            if before is None or (verdict.at and before.at and verdict.at > before.at):
                verdicts[verdict.cell] = verdict
    return verdicts


def _flags(people: Iterable[Person], kind: Kind) -> dict[Cell, dict[str, str]]:
    flags: dict[Cell, dict[str, str]] = {}
    for person in people:
        for flag in person.here.flags():
            if flag.kind == kind:
                flags.setdefault(flag.cell, {})[person.name] = flag.why
    return flags


def _n_doubled(person: Person, kind: Kind) -> int:
    both = [{x.key for x in s.labels() if x.kind == kind} for s in (person.here, person.imported)]
    return len(both[0] & both[1])
