"""The events of all people in a folder: given here, or imported."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ....records.kinds import Cell
from ....records.reading.problems import InputError
from .events import Label
from .journal import SUFFIX, read_state
from .kinds import Kind
from .state import State

IMPORTED = "imported"  # folder next to the journals, with the journals of imported label files


@dataclass(frozen=True)
class Person:
    """The actions of one person: here, and in imported label files with their name."""

    name: str
    here: State
    imported: State

    def labels(self, kind: Kind) -> list[Label]:
        """The current labels of a kind, with "cannot tell", repeats and controls.

        A label that the person gave here replaces an imported label of the same cell.
        """
        latest: dict[tuple[Cell, int], Label] = {}
        for state in (self.here, self.imported):
            for label in state.labels():
                if label.kind == kind:
                    latest.setdefault((label.cell, label.repeat), label)
        return list(latest.values())

    def state(self) -> State:
        """Both together as one state without undo and without edits of banks."""
        merged = State()
        for state in (self.imported, self.here):
            for action in state.holding():
                merged.add(action)
        return merged


def list_people(folder: Path) -> list[Person]:
    """All people with a journal in a folder of labels, or an imported one, by name.

    Journals can be read while they are written. Raises: InputError for an invalid line.
    """
    here, imported = _journals(folder), _journals(folder / IMPORTED)
    return [
        Person(name, _state(here.get(name)), _state(imported.get(name)))
        for name in sorted({*here, *imported})
    ]


def check_people(folder: Path) -> list[Person]:
    """As `list_people`. Raises: InputError also if there is nobody."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder; give the --dir of judge annotate")
    if not (people := list_people(folder)):
        raise InputError(f"{folder}: has no *{SUFFIX}; give the --dir of judge annotate")
    return people


def list_kinds(people: Iterable[Person]) -> list[Kind]:
    """The kinds that these people labelled or edited, sorted."""
    kinds: set[Kind] = set()
    for person in people:
        for state in (person.here, person.imported):
            kinds |= {label.kind for label in state.labels()}
            kinds |= {verdict.kind for verdict in state.verdicts()}
            if any(True for _ in state.list_edited_topics()):
                kinds.add("bank")
    return sorted(kinds)


def _journals(folder: Path) -> dict[str, Path]:
    return {path.name.removesuffix(SUFFIX): path for path in folder.glob(f"*{SUFFIX}")}


def _state(path: Path | None) -> State:
    return State() if path is None else read_state(path)
