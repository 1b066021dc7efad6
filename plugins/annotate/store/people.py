"""Everybody's events in a folder: those of people here, and labels that came from elsewhere."""

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

IMPORTED = "imported"  # folder beside the journals, of journals that were made of label files


@dataclass(frozen=True)
class Person:
    """What one person did: here, and in label files that were imported under their name."""

    name: str
    here: State
    imported: State

    def labels(self, kind: Kind) -> list[Label]:
        """The labels of a kind that hold, "cannot tell", repeats and controls included.

        One that the person gave here stands before an imported one of the same cell.
        """
        latest: dict[tuple[Cell, int], Label] = {}
        for state in (self.here, self.imported):
            for label in state.labels():
                if label.kind == kind:
                    latest.setdefault((label.cell, label.repeat), label)
        return list(latest.values())

    def state(self) -> State:
        """What holds of both, as one state that cannot be undone; edits of banks aside."""
        merged = State()
        for state in (self.imported, self.here):
            for action in state.holding():
                merged.add(action)
        return merged


def list_people(folder: Path) -> list[Person]:
    """Everybody with a journal in a folder of labels, or in its imported ones, by name.

    Journals that are being written can be read too. Raises: InputError for an invalid line.
    """
    here, imported = _journals(folder), _journals(folder / IMPORTED)
    return [
        Person(name, _state(here.get(name)), _state(imported.get(name)))
        for name in sorted({*here, *imported})
    ]


def check_people(folder: Path) -> list[Person]:
    """As `list_people`. Raises: InputError also where there is nobody."""
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder; wanted the folder of the labels (--dir)")
    if not (people := list_people(folder)):
        raise InputError(f"{folder}: no *{SUFFIX} in it, wanted the --dir of judge annotate")
    return people


def list_kinds(people: Iterable[Person]) -> list[Kind]:
    """The kinds of things that these people labelled or edited, sorted."""
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
