"""Kinds of judgements, each declared once: ids, labels and their gains, and the rows of its files.

A kind of this package stands beside the reader of its rows; another package names its own by an
entry point of the group `nuggetjudge.kinds`: NAME = "module:object", a Kind.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from ..reading.fields import Line
from ..reading.problems import InputError
from ..rows import Label

Cell = tuple[str, ...]  # the ids of one item
# A row, the item, its label (None: not judged), and how sure the judge was.
Labelled = tuple[Line, Cell, str | None, Mapping[str, Any]]

# The label that is meant, given those that are known; and whether the spelling is one of ours.
Spell = Callable[[Any, Sequence[str] | None], tuple[str | None, bool]]

GROUP = "nuggetjudge.kinds"  # of entry points
OTHER = "other"  # the kind of labels that no kind is declared for
_HOME = __name__.rpartition(".labels")[0]
_BUILT_IN = {
    "nuggets": f"{_HOME}.nuggets:NUGGET_KIND",
    "support": f"{_HOME}.support:SUPPORT_KIND",
    "ratings": f"{_HOME}.questions:RATING_KIND",
    "keypoints": f"{_HOME}.key_points:KEY_POINT_KIND",
    "rubric": f"{_HOME}.tools.rubric_verdicts:CRITERION_KIND",
    "relevance": f"{_HOME}.relevance:RELEVANCE_KIND",
}


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind of judgements, as its program, its judge and every reader of labels see it.

    Attributes:
        name: in label files, configs and on the command line.
        key: the ids that name an item, in label files and results.
        scale: the labels, worst to best; those of a Label class with what each means.
        gains: what each label is worth, in [0, 1].
        many: what its items are called; "": as the kind. length_of: the text whose length counts
            for it, and what that is called; (): all that the judge reads.
        judge: the judge that gives such labels; "": none that is asked alone.
        rows: the kind of files with such judgements, see `file_kind`; "": plain label files alone.
        read: the judgements in objects of such files. Errors: see the reader of the rows.
        files: what tells the files of this kind from others: by kind of file, whether an object
            is the first of one.
        spell: what a label file means by a label; None: labels are compared as they are written.
        turn: the item and label of a row that may name its ids in another order; None: none may.
        words: TOML with the words in which people who label meet it; None: the app has them.
        has_more_grades: whether a file may have higher and lower whole grades than `scale`.
    """

    name: str
    key: tuple[str, ...]
    scale: type[Label] | tuple[str, ...]
    gains: Mapping[str, float]
    many: str = ""
    length_of: tuple[str, str] | tuple[()] = ()
    judge: str = ""
    rows: str = ""
    read: Callable[[Iterable[Line]], Iterator[Labelled]] | None = None
    files: Mapping[str, Callable[[Mapping[str, Any]], bool]] = field(default_factory=dict)
    spell: Spell | None = None
    turn: Callable[[Cell, str | None], tuple[Cell, str | None]] | None = None
    words: Path | None = None
    has_more_grades: bool = False

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels as text, worst to best."""
        return tuple(getattr(label, "value", label) for label in self.scale)


@cache
def _built_in() -> dict[str, Kind]:
    return {name: _load(place) for name, place in _BUILT_IN.items()}


def _load(place: str) -> Kind:
    module, _, attribute = place.partition(":")
    kind: Kind = getattr(import_module(module), attribute)
    return kind


@cache  # looking through all that is installed takes long
def _installed(path: tuple[str, ...]) -> dict[str, Kind]:
    """The kinds of other packages on the import path; one that cannot be loaded is left out."""
    found = {}
    for entry in entry_points(group=GROUP):
        try:
            kind = entry.load()
        except Exception:  # another package's code may raise anything
            continue
        if isinstance(kind, Kind):
            found[kind.name] = kind
    return found


def declared_kinds() -> dict[str, Kind]:
    """All kinds by name, the built-in ones first."""
    return _built_in() | _installed(tuple(sys.path))


def kinds_of_labels() -> tuple[str, ...]:
    """The kinds that labels of a file may be of; labels of no declared kind are OTHER."""
    return (*declared_kinds(), OTHER)


def find_kind(name: str) -> Kind | None:
    """A kind by its name; None: none is declared."""
    return _built_in().get(name) or declared_kinds().get(name)


def kind_named(name: str) -> Kind:
    """As `find_kind`. Raises: InputError if there is none."""
    if (kind := find_kind(name)) is None:
        raise InputError(f"there is no kind of labels {name!r}, only {', '.join(declared_kinds())}")
    return kind


def kind_of_key(key: tuple[str, ...]) -> Kind | None:
    """The kind whose items have these ids; None: none is declared."""
    return next((kind for kind in declared_kinds().values() if kind.key == key), None)


def kind_of_rows(name: str) -> Kind | None:
    """The kind whose judgements are in files of this kind; None: none is declared."""
    return next((kind for kind in declared_kinds().values() if name and kind.rows == name), None)


def kind_of_object(row: Mapping[str, Any]) -> str | None:
    """The kind of file that an object is of, by what the kinds declare."""
    for kind in declared_kinds().values():
        for name, is_of in kind.files.items():
            if is_of(row):
                return name
    return None
