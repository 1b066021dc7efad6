"""The table of tasks (built in, or of other packages by entry points), and what measures mean."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from ...metrics.answer_scores import SUFFIX
from ...records.reading.problems import InputError
from ..config.base import BUILT_IN, PROGRAMS, program_names
from .program import Program
from .scoreboard import Meaning
from .scoreboard import is_of_answered as _is_of_answered


@cache
def program(name: str) -> Program:
    """A program by its name.

    An entry point names a Program, or a class or function that makes one.

    Raises: InputError if there is none of this name, or it cannot be loaded.
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        made: Program = getattr(import_module(module), attribute)()
        return made
    for entry in entry_points(group=PROGRAMS, name=name):
        try:
            loaded: Any = entry.load()
            loaded = loaded if isinstance(loaded, Program) else loaded()
        except Exception as error:  # another package's code may raise anything
            what = f"cannot be loaded ({type(error).__name__}: {' '.join(str(error).split())})"
            raise InputError(f"program {name}: {entry.value} {what}") from error
        if not isinstance(loaded, Program) or loaded.name != name:
            raise InputError(f"program {name}: {entry.value} is no Program of that name")
        return loaded
    names = ", ".join(program_names())
    raise InputError(f"there is no program {name!r} here, only {names}; is its package installed?")


def programs() -> list[Program]:
    """All programs, in the order in which they run and their scores stand.

    One of another package that cannot be loaded is left out: only who names it is stopped by it.
    """
    loaded = []
    for name in program_names():
        with suppress(InputError):
            loaded.append(program(name))
    return loaded


def chosen(names: Collection[str]) -> list[Program]:
    """Those of these names, in that order. Raises: InputError if one cannot be loaded."""
    in_order = program_names()
    others = [name for name in names if name not in in_order]
    return [program(name) for name in (*(n for n in in_order if n in names), *others)]


def empty_notes() -> dict[str, Any]:
    """What stands in a manifest of which no program has anything to note."""
    return {name: value for one in programs() for name, value in one.notes.items()}


def judgement_files() -> list[str]:
    """The files that programs write judgements to."""
    return list(dict.fromkeys(name for one in programs() for name in one.files))


def program_files() -> list[str]:
    """All files that programs write, what follows from judgements included."""
    return list(dict.fromkeys(n for one in programs() for n in (*one.files, *one.derived)))


def is_of_answered(measure: str) -> bool:
    """Whether a run that did not answer a topic has no value there, and not 0."""
    programs()  # which say so of their measures
    return _is_of_answered(measure)


def meaning(measure: str) -> Meaning:
    """What a measure says; of one that no program explains, what its name says."""
    name, _, cut = measure.partition("@")
    for one in programs():
        if written := one.meanings.get(name):
            about = Meaning(written) if isinstance(written, str) else written
            return about._replace(text=f"{about.text[:-1]}, of the first {cut}.") if cut else about
    if name.endswith(SUFFIX):
        about = meaning(name.removesuffix(SUFFIX))
        text = f"{about.text[:-1]}, by the judge's probabilities."
        return about._replace(text=text, says="")
    if name.startswith("share_"):
        label = name.removeprefix("share_")
        return Meaning(f"Share of the items that are labelled {label}.", False, False)
    return Meaning("What the items earn by their labels, on average.")
