"""The table of programs: the built-in ones, and those of other packages by their entry points."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from ..config.names import BUILT_IN, GROUP, program_names
from .program import Program


@cache
def program(name: str) -> Program:
    """A program by its name. Raises: KeyError if there is none; TypeError if it is something else.

    An entry point names a Program, or a class or function that makes one.
    """
    found: Any
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        found = getattr(import_module(module), attribute)
    else:
        entries = list(entry_points(group=GROUP, name=name))
        if not entries:
            raise KeyError(name)
        found = entries[0].load()
    made = found if isinstance(found, Program) else found()
    if not isinstance(made, Program) or made.name != name:
        raise TypeError(f"the entry point {name!r} of {GROUP} is no Program of that name")
    return made


def programs() -> list[Program]:
    """All programs, in the order in which they run and their scores stand."""
    return [program(name) for name in program_names()]


def chosen(names: object) -> list[Program]:
    """Those of these names, in that order."""
    return [one for one in programs() if one.name in tuple(names)]  # type: ignore[arg-type]


def empty_notes() -> dict[str, Any]:
    """What stands in a manifest of which no program has anything to note."""
    return {name: value for one in programs() for name, value in one.notes.items()}


def judgement_files() -> list[str]:
    """The files that programs write judgements to."""
    return list(dict.fromkeys(name for one in programs() for name in one.files))


def program_files() -> list[str]:
    """All files that programs write, what follows from judgements included."""
    return list(dict.fromkeys(n for one in programs() for n in (*one.files, *one.derived)))
