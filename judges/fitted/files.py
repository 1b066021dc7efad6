"""Judge files: the state of a judge fitted to labels, as JSON data that holds no code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, JsonValue, model_validator

from ...records.reading.settings import read_json_file
from ...records.rows import Row
from .correction import Correction

Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
FORMAT: Literal["nuggetjudge-judge-1"] = "nuggetjudge-judge-1"


class FittedPrompt(Row):
    """The instructions and worked examples of one predictor."""

    instructions: str = Field(min_length=1)
    demos: tuple[dict[str, JsonValue], ...] = ()


class JudgeFile(Row):
    """A fitted judge. `judges.NAME.state` in a config loads it.

    `scale`: its labels, worst to best; () of a judge that makes lists.
    `logprobs`: whether the scores that it was fitted to came from log-probabilities; `window`: how
    many items a call had.
    `fitted_on` names the topics whose labels are in it, which a later fit must not be tested on.
    `words` are the weights of the lexical score by word stem. `fitted` says how the file came
    about: method, labels, split, model, figures before and after; nothing reads it but people.
    """

    format: Literal["nuggetjudge-judge-1"] = FORMAT
    judge: str
    version: str
    scale: tuple[str, ...] = ()
    model: str
    logprobs: bool = False
    window: int | None = None
    prompts: dict[str, FittedPrompt] = Field(default_factory=dict)
    correction: Correction | None = None
    fitted_on: tuple[str, ...] = ()
    fitted: dict[str, JsonValue] = Field(default_factory=dict)
    words: dict[str, Weight] | None = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        correction = self.correction
        n_labels = None if correction is None else correction.n_labels
        if correction is not None and n_labels not in (None, len(correction.labels or self.scale)):
            labels = ", ".join(self.scale)
            raise ValueError(f"correction: it is for {n_labels} labels, the scale is {labels}")
        return self

    def check(self, judge: str, version: str, scale: Sequence[str], model: str) -> None:
        """Raise ValueError unless this is a file for that judge, answered by that model."""
        if self.judge != judge:
            raise ValueError(f"it is a file of the {self.judge} judge, wanted {judge}")
        if self.version != version:
            what = f"it was fitted to version {self.version} of the {judge} judge"
            raise ValueError(f"{what}, this is {version}; fit it again")
        if self.scale != tuple(scale):
            what = f"its labels are {', '.join(self.scale)}"
            raise ValueError(f"{what}, those of the judge {', '.join(scale)}")
        if self.model != model and (self.correction is not None or self.words is not None):
            what = f"its cut-offs were fitted to scores of {self.model}"
            raise ValueError(f"{what}, which say nothing of {model}; fit it again")

    def check_scores(self, logprobs: bool, window: int) -> None:
        """Raise ValueError if its cut-offs are for scores that this judge does not give."""
        if self.correction is not None and self.window not in (None, window):
            what = f"its cut-offs were fitted to calls of up to {self.window} items"
            raise ValueError(f"{what}, this judge takes {window} (window); fit it again")
        if self.correction is not None and self.logprobs != logprobs:
            how = ("with", "without") if self.logprobs else ("without", "with")
            what = f"its cut-offs were fitted {how[0]} log-probabilities, this model is asked"
            raise ValueError(f"{what} {how[1]} (logprobs); fit it again")

    def text(self) -> str:
        """The file's content, the same for equal files."""
        return json.dumps(self.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"


def read_judge_file(path: Path) -> JudgeFile:
    """Read a judge file. Raises: InputError with file, line and what was wanted."""
    return read_json_file(path, JudgeFile, FORMAT, "a judge file")
