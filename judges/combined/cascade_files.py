"""Cascade files: from which confidence on labels of a first stage are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from ...records.reading.settings import read_json_file
from ...records.rows import Row
from .confidence import LENGTH, LEXICAL, Chance, ConfidenceKind, Finite, Scale

FORMAT: Literal["nuggetjudge-cascade-1"] = "nuggetjudge-cascade-1"


class Guarantee(Row):
    """Kept labels are right in a share `agree`, in a share `with` of fits to such topics."""

    agree: Annotated[float, Field(gt=0, lt=1)]
    confidence: Annotated[float, Field(gt=0.5, lt=1, alias="with")] = 0.9
    unit: Literal["topic", "item"] = "topic"


class CascadeFile(Row):
    """A fitted cascade. `judges.NAME.cascade.state` in a config loads it.

    Attributes:
        scale: labels of the judge, worst to best. cut: see `Scale`; "": none.
        members: those whose votes it knows; (): the first stage is a single judge.
        threshold: a label of the first stage is kept from this confidence on.
        guarantee, share: what the threshold was chosen for, where that was given.
        chance: of `calibrated` confidence. models: who answered, where that is known.
        fitted_on: topics whose labels are in it. fitted: how it came about, for people.
    """

    format: Literal["nuggetjudge-cascade-1"] = FORMAT
    judge: str
    scale: tuple[str, ...] = Field(min_length=2)
    is_ordered: bool = True
    cut: str = ""
    members: tuple[str, ...] = ()
    how: str = ""
    confidence: ConfidenceKind
    threshold: Finite
    guarantee: Guarantee | None = None
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    chance: Chance | None = None
    models: dict[str, str] = Field(default_factory=dict)
    fitted_on: tuple[str, ...] = ()
    fitted: dict[str, JsonValue] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.chance is None) is (self.confidence == "calibrated"):
            raise ValueError("chance: wanted with confidence calibrated, and only then")
        if self.cut and self.cut not in self.scale[1:]:
            raise ValueError(f"cut: wanted one of {', '.join(self.scale[1:])}, got {self.cut}")
        return self

    @property
    def labels(self) -> Scale:
        """The scale as confidence takes it."""
        cut = self.scale.index(self.cut) if self.cut else None
        return Scale(self.scale, self.is_ordered, cut)

    @property
    def needs_lexical(self) -> bool:
        """Whether it goes by the lexical twin's score."""
        return self.chance is not None and LEXICAL in self.chance.weights

    @property
    def needs_length(self) -> bool:
        """Whether it goes by the length of the judged text."""
        return self.chance is not None and LENGTH in self.chance.weights

    def text(self) -> str:
        """The file's content, the same for equal files."""
        row = self.model_dump(mode="json", by_alias=True)
        return json.dumps(row, indent=2, ensure_ascii=False) + "\n"


def read_cascade_file(path: Path) -> CascadeFile:
    """Read a cascade file. Raises: InputError with file, line and what was wanted."""
    return read_json_file(path, CascadeFile, FORMAT, "a cascade file")
