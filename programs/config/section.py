"""What the sections of a config share."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Whole = Annotated[int, Field(lt=2**63)]  # what the manifest, JSON, can hold


class Section(BaseModel):
    """A part of a config: frozen, and without settings that nobody knows."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False, defer_build=True)
