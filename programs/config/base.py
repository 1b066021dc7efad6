"""What all sections of a config have in common."""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import entry_points
from typing import Annotated, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, Field

GROUP = "nuggetjudge.settings"  # of entry points: NAME = "module:Class", a Section with defaults
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
    found: dict[str, type[Section]] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda each: each.name):
        with suppress(Exception):  # another package's code may raise anything
            found[entry.name] = entry.load()
    return found
