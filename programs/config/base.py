"""What all sections of a config have in common."""

from __future__ import annotations

from typing import Annotated, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

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
