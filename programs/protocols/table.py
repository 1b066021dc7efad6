"""The table of tasks (built in, or from other packages), and the meanings of measures."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from ...metrics.answer_scores import SUFFIX
from ...records.reading.problems import InputError
from ..config.base import BUILT_IN, PROGRAMS, program_names
from .judgements import POINTS
from .program import Program
from .scoreboard import Meaning
from .scoreboard import is_of_answered as _is_of_answered

_LOADED: dict[str, Program] = {}


@cache
def program(name: str) -> Program:
    """Return the task of this name. Its module is imported at the first call.

    An entry point names a Program, or a class or function that makes one.

    Raises: InputError for an unknown name, or a task that cannot be loaded.
    """
    _LOADED[name] = _load(name)
    return _LOADED[name]


def _load(name: str) -> Program:
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        made: Program = getattr(import_module(module), attribute)()
        return made
    for entry in entry_points(group=PROGRAMS, name=name):
        try:
            loaded: Any = entry.load()
            loaded = loaded if isinstance(loaded, Program) else loaded()
        except Exception as error:  # code of another package may raise any error
            what = f"cannot be loaded ({type(error).__name__}: {' '.join(str(error).split())})"
            raise InputError(f"program {name}: {entry.value} {what}") from error
        if not isinstance(loaded, Program) or loaded.name != name:
            raise InputError(f"program {name}: {entry.value} is not a Program with this name")
        return loaded
    names = ", ".join(program_names())
    raise InputError(f"unknown program {name!r}; wanted one of {names}, or install its package")


def programs() -> list[Program]:
    """Return all tasks, in the order in which they run and are scored.

    A task of another package that cannot be loaded is left out; it is an error only by name.
    """
    loaded = []
    for name in program_names():
        with suppress(InputError):
            loaded.append(program(name))
    return loaded


@cache
def point_units() -> Mapping[str, str]:
    """Return the units of reference items with their plurals."""
    units = {unit: f"{unit}s" for unit in POINTS}
    for one in programs():
        if one.words is not None and one.matrix == "points":
            units[one.words.item] = one.words.several or f"{one.words.item}s"
    return units


def choose(names: Collection[str]) -> list[Program]:
    """Return the tasks of these names, in order. Raises: InputError if one cannot be loaded."""
    in_order = program_names()
    others = [name for name in names if name not in in_order]
    return [program(name) for name in (*(n for n in in_order if n in names), *others)]


def list_loaded() -> list[Program]:
    """Return the loaded tasks, in the order of `programs`."""
    return [_LOADED[name] for name in program_names() if name in _LOADED]


def program_files(names: Collection[str]) -> list[str]:
    """Return all files that these tasks write, including files computed from judgements.

    Raises: InputError if a task cannot be loaded.
    """
    files = (name for one in choose(names) for name in (*one.files, *one.derived))
    return list(dict.fromkeys(files))


def is_of_answered(measure: str) -> bool:
    """Return whether an unanswered topic has no value in this measure, instead of 0."""
    meaning(measure)  # loads the program that says so
    return _is_of_answered(measure)


def meaning(measure: str) -> Meaning:
    """Return the meaning of a measure; derived from its name if no task explains it."""
    name, _, cut = measure.partition("@")
    if (about := _find_meaning(list_loaded(), name)) is None and not name.endswith(SUFFIX):
        about = _find_meaning(programs(), name)
    if about is not None:
        return about._replace(text=f"{about.text[:-1]}, of the first {cut}.") if cut else about
    if name.endswith(SUFFIX):
        about = meaning(name.removesuffix(SUFFIX))
        text = f"{about.text[:-1]}, by the judge's probabilities."
        return about._replace(text=text, says="")
    if name.startswith("share_"):
        label = name.removeprefix("share_")
        return Meaning(f"Share of the items that are labelled {label}.", False, False)
    return Meaning("Mean gain of the items' labels.")


def _find_meaning(programs: Iterable[Program], name: str) -> Meaning | None:
    written = next((one.meanings[name] for one in programs if name in one.meanings), None)
    return Meaning(written) if isinstance(written, str) else written
