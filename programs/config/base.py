"""What all sections of a config have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from ...records.reading.problems import Problems

GROUP = "nuggetjudge.settings"  # of entry points: NAME = "module:Class", a Section with defaults
INPUTS = "nuggetjudge.data"  # of entry points: NAME = "module:object", an Input
Whole = Annotated[int, Field(lt=2**63)]  # what the manifest, JSON, can hold


class Flag(NamedTuple):
    """How the command line has a setting, where that does not follow from its place.

    Attributes:
        panel: the heading of `--help` that it stands under, instead of its section's name.
    """

    panel: str = ""


class Section(BaseModel):
    """Settings that are checked once: an unknown one is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)


S = TypeVar("S", bound=Section)


def installed_sections() -> dict[str, type[Section]]:
    """The sections that programs of other packages bring, by their names in a config.

    One that cannot be imported is left out: the config that has it says that there is none.
    """
    return _installed(GROUP)


@dataclass(frozen=True)
class Input:
    """Files that a program of another package is given: a field of `data:`.

    Attributes:
        description: of the setting.
        suffixes: of the files that are taken of a folder.
        read: what they hold by topic; in the Collection it is `given[NAME]`.
    """

    description: str
    suffixes: tuple[str, ...]
    read: Callable[[Sequence[Path], Problems], Mapping[str, Any]]


@cache
def installed_inputs() -> dict[str, Input]:
    """The inputs that programs of other packages bring, by name; left out as sections are."""
    return _installed(INPUTS)


def _installed(group: str) -> dict[str, Any]:
    found = {}
    for entry in sorted(entry_points(group=group), key=lambda each: each.name):
        with suppress(Exception):  # another package's code may raise anything
            found[entry.name] = entry.load()
    return found
